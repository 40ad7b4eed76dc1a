"""bench.dream: what it prints of two days."""

import json

import pytest

from bench import dream


def test_two_days_show_a_dream_its_record_and_its_versions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert dream.main(["--json"]) == 0
    printed = capsys.readouterr().out
    figures = json.loads(printed.splitlines()[-1])
    assert (
        figures["dreams"] >= 2
        and figures["calls"] > figures["dreams"]
        and figures["tokens.asked"] < figures["turns.tokens.asked"]
    )
    assert (
        "Dream: USER +2, MEMORY −1" in printed
        and "USER.md: + Ada's dog is called Rex\n  Ada told it" in printed
        and "## What it decided, and why" in printed
    )
    assert "\nUSER.md\n\nAda's dog is called Rex\nAda's birthday is on 5 May\n" in printed
