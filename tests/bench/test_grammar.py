"""bench.grammar: what the model writes with a grammar is right, and what it cannot run is told."""

from pathlib import Path

import pytest

from bench import grammar
from dory.errors import ConfigError
from tests.support.llama import model_file


@pytest.mark.slow
def test_both_modes_answer_everything_and_the_grammar_makes_answers_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar, "SAID", grammar.SAID[:2])
    found = grammar.measure(model_file(), tmp_path)
    assert [sums["answers"] for sums in found.values()] == [2, 2]
    assert found["auto"]["right"] >= found["off"]["right"]


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no file"):
        grammar.measure(tmp_path / "gone.gguf", tmp_path)
