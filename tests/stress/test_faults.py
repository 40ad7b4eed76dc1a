"""The fault harness: a quick run of the whole of it as a process, its bounds, its model, and that
it finds what is wrong.
"""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dory.identity.context import Entry
from dory.text.prompt_files import ROOT
from dory.types import Line
from stress.faults import bounds, report
from stress.faults.__main__ import Share, lived, shares
from stress.faults.diligent import Diligent
from stress.faults.matrix import CHUNKS, FUNCTIONS, SUMMARIES, TURNS, Case
from stress.faults.stage import Stage
from stress.faults.trial import Outcome, untrue, wrong
from tests.support.toy_life import prompt

ALL_FAULTS = {
    *(("turn", case.name) for case in TURNS),
    *(("functions", case.name) for case in FUNCTIONS),
    *(("segment", case.name) for case in CHUNKS),
    *(("summarise", case.name) for case in SUMMARIES),
    ("hard limit", "connection refused"),
    ("busy room", "503"),
}


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        pytest.param("connection refused", {("turn", "connection refused")}, id="one fault"),
        pytest.param(
            "functions refused", {("functions", "functions refused")}, id="one fault of functions"
        ),
        pytest.param("", ALL_FAULTS, id="every fault", marks=pytest.mark.slow),
    ],
)
def test_an_agent_survives_a_failing_model_answers_afterwards_and_keeps_within_its_calls(
    only: str, expected: set[tuple[str, str]]
) -> None:
    command = [sys.executable, "-m", "stress.faults", "--quick", "--json", "--only", only]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    figures = json.loads(run.stdout.splitlines()[-1])
    assert figures["violations"] == []
    tried = {(fault["where"], fault["name"]) for fault in figures["faults"]}
    assert tried >= expected
    for fault in figures["faults"]:
        assert fault["calls"] <= fault["bound"]
        if fault["where"] != "hard limit":
            assert fault["answered"] == fault["lines"] >= 1
    assert figures["calls"] >= len(tried)


def test_the_whole_matrix_holds_every_fault_of_the_turns_for_the_compactions_too() -> None:
    whole = {
        (where, case.name)
        for share in shares(quick=False, only="")
        for where, _, case in share.trials
    }
    assert whole >= {
        (where, case.name) for where in ("turn", "segment") for case in TURNS if case.fault
    }
    assert {
        case.name[:3] for share in shares(quick=False, only="429") for _, _, case in share.trials
    } == {"429"}


def test_a_lasting_fault_costs_a_few_calls_however_much_is_said() -> None:
    assert [bounds.tries(seconds, lines=1) for seconds in (29, 30, 90, bounds.HOUR)] == [
        1,
        2,
        3,
        10,
    ]
    assert [bounds.tries(seconds, lines=10**6) for seconds in (0.5, 1, 3, 7, bounds.HOUR)] == [
        1,
        2,
        3,
        4,
        124,
    ]
    assert bounds.tries(bounds.HOUR, lines=3) <= 12


HEARD = [
    Entry(number, number, "heard", "dev", f"[USER:ada 2026-01-01T00:00:00Z] K{number} hello")
    for number in (1, 2)
]
BOTH = Entry(3, 3, "response", "now", "SAY dev K1 is heard.\nSAY dev K2 is heard.")


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        (HEARD, "SAY dev K1 is heard.\nSAY dev K2 is heard."),
        ([*HEARD, BOTH], "WAIT"),
        (
            [*HEARD, Entry(3, 3, "response", "now", "")],
            "SAY dev K1 is heard.\nSAY dev K2 is heard.",
        ),
        (
            [
                *HEARD,
                BOTH,
                Entry(4, 4, "result", "SAY dev", "said in dev"),
                Entry(5, 5, "error", "SAY dev", "cut off"),
            ],
            "SAY dev K2 is heard.",
        ),
        ([*HEARD, Entry(3, 9, "compacted", "◱hash=0123456789abcdef gist=x◲", "a summary")], "WAIT"),
    ],
)
def test_the_diligent_model_answers_everything_once(entries: list[Entry], says: str) -> None:
    assert Diligent().complete(prompt(*entries), "turn").text == says


def line(kind: str, text: str) -> Line:
    return Line("dev", kind, "somebody", "2026-01-01T00:00:00Z", text, 0)


def test_a_missing_a_doubled_and_a_strange_answer_are_found(tmp_path: Path) -> None:
    heard = [line("AGENT", f"{mark} is heard.") for mark in ("K1", "K2", "K2", "K4")] + [
        line("AGENT", "leaked"),
        line("USER", "leaked, too"),
    ]
    assert list(wrong(tmp_path, ["K1", "K2", "K3"], heard, folded=["K4", "K5"])) == [
        "K2 was answered 2 times",
        "K3 was answered 0 times",
        "it said 'leaked'",
    ]
    assert not list(wrong(tmp_path, ["K1"], heard[:1]))


TOLD = Case("503", notice="overloaded")


@pytest.mark.parametrize(
    ("case", "notices", "answers", "problems"),
    [
        (TOLD, ["it is overloaded"], 0, 0),
        (TOLD, [], 0, 1),
        (TOLD, ["it is overloaded", "it is overloaded still"], 0, 1),
        (TOLD, ["it is overloaded\nreally"], 0, 1),
        (TOLD, ["it is away"], 0, 1),
        (replace(TOLD, notice=""), ["it is overloaded"], 0, 1),
        (replace(TOLD, notice="", comes_to="well"), [], 3, 0),
        (replace(TOLD, notice="", comes_to="well"), [], 2, 1),
    ],
)
def test_what_people_were_not_told_as_they_should_is_found(
    case: Case, notices: list[str], answers: int, problems: int
) -> None:
    assert (
        len(list(untrue(case, Outcome("turn", case.name, lines=3, notices=notices), answers)))
        == problems
    )


def test_too_many_calls_are_found_and_told() -> None:
    outcome = Outcome("turn", "503", lines=1, calls=9, bound=4)
    outcome.settle(
        ["K1"], [line("AGENT", "K1 is heard."), line("NOTICE", "I cannot think now")], []
    )
    assert outcome.violations == ["9 calls were made, 4 are the most"]
    assert outcome.notices == ["I cannot think now"] and outcome.answered == 1
    assert "WRONG: 9 calls were made, 4 are the most" in report.row(outcome)
    assert report.wrong([outcome]) == ["turn, 503: 9 calls were made, 4 are the most"]


@pytest.mark.slow
def test_an_agent_that_dies_is_found_and_the_next_one_goes_on(tmp_path: Path) -> None:
    def live(stage: Stage, case: Case) -> Outcome:
        if case.name == "deadly":
            stage.house.kill()
        stage.wait(lambda: True if case.name != "deadly" else stage.house.lives, "live on")
        return Outcome("turn", case.name)

    share = Share([("turn", live, Case("deadly")), ("turn", live, Case("harmless"))], 40_000, 5.0)
    first, second = lived(share, tmp_path)
    assert "the agent's process has ended" in first.violations[0] and not second.violations
