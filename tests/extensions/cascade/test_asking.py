"""What is asked for and what comes back: COMPACT_MEMORIES of the agent, and answers that are no
summaries.
"""

from pathlib import Path

import pytest

from dory.extensions.cascade.store import Summaries
from dory.types import Prompt
from tests.support.cascading import SMALL, copied, happen, lined
from tests.support.compacting import House, Scripted, act
from tests.support.household import bodies
from tests.support.remembering import step


def told(house: House, kind: str) -> list[str]:
    return bodies(house.me.context.entries, kind)


def test_the_agent_forces_a_run_and_is_told_of_its_end(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(cascade=lambda prompt: "It was so."), cascade=SMALL)
    house.wake()
    happen(house, 9)
    act(house, "COMPACT_MEMORIES")
    assert told(house, "result") == [
        "summing up 2 events, from event 1 on; a notice tells you when it is done"
    ]
    step(house)
    ((first, last),) = lined(house)
    assert told(house, "notice")[-1] == (
        f"Summed up: events {first}–{last} of your life (READ_FILE LIFE.md {first}-{last}):"
        " It was so."
    )
    act(house, f"READ_FILE LIFE.md {first}-{last}")
    assert "thing 2 of this life" in told(house, "result")[-1]


def test_who_asks_while_a_run_is_under_way_is_told_of_its_end_too(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(cascade=lambda prompt: "It was so."), cascade=SMALL)
    house.wake()
    happen(house, 13, stepping=False)
    house.model.released.clear()
    house.agent.extensions.step()
    act(house, "COMPACT_MEMORIES")
    assert told(house, "error") == [
        "the events are being summed up already; a notice tells you when it is done"
    ]
    house.model.released.set()
    step(house)
    assert told(house, "notice")[-1].startswith("Summed up: events 1–")


def test_the_agent_is_told_what_is_missing_for_a_run(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL)
    happen(house, 6)
    act(house, "COMPACT_MEMORIES")  # its response is the seventh event
    assert told(house, "error") == [
        "too few events: there are 7, and the newest 8 stay as they are; 2 more are missing"
    ]


def test_the_agent_is_told_when_its_run_fails_also_after_other_failures(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(cascade=lambda prompt: ""), cascade=SMALL)
    happen(house, 13)
    for _ in range(2):
        act(house, "COMPACT_MEMORIES")
        step(house)
    failed = [text for text in told(house, "notice") if text.startswith("COMPACT_MEMORIES: ")]
    assert len(failed) == 2 and all("had no summary to give" in text for text in failed)


@pytest.mark.parametrize(
    "refused", ["…", "SAY dev hello", "Here is a summary of the memories:", "It went on. " * 99]
)
def test_an_answer_that_is_no_summary_is_refused_and_the_model_is_asked_once_more(
    tmp_path: Path, refused: str
) -> None:
    def answer(prompt: Prompt) -> str:
        return answers.pop(0)

    answers = [refused, "Summary: It was so."]
    house = House(tmp_path, Scripted(cascade=answer), cascade=SMALL, extensions="cascade")
    happen(house, 13)
    recent = Summaries(house.me.folder).recent
    assert recent and recent.text == "It was so."
    answers = ["Long ago.", refused, refused, *["It was so."] * 9]
    happen(house, 17)
    kept = Summaries(house.me.folder)
    assert kept.recent == recent and kept.longterm is None
    happen(house, 21)
    assert copied(house) == [(1, 5), (6, 9), (10, 13)]
