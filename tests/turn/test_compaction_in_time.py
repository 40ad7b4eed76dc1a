"""A compaction's calls go out in as few rounds as they can, and turns are taken while they are
under way.
"""

import threading
from itertools import pairwise
from pathlib import Path

import pytest

from bench.turn import forgetting, report
from dory.control import Control
from dory.types import Message, Prompt, Purpose, Reply
from tests.support.compacting import House, Scripted, kinds, summary

NINE = 9


class Rounds(Scripted):
    """Holds every call of a compaction until it is let go, so that the calls that wait at the same
    time are one round.
    """

    def __init__(self) -> None:
        super().__init__(segment=forgetting.parts, summarise=lambda prompt: summary("a crate", 5))
        self.arrived = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        if purpose != "turn":
            self.arrived.release()
            assert self.go.acquire(timeout=10)
        return super().complete(prompt, purpose)


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path, Rounds(), context_limit=2000)
    made.hear(36)
    return made


def test_nine_chunks_take_three_rounds_of_calls_and_turns_are_taken_in_each(house: House) -> None:
    model = house.model
    assert isinstance(model, Rounds)
    house.compaction.start()
    for round, calls in enumerate((1, 1, NINE - 1)):
        for _ in range(calls):
            assert model.arrived.acquire(timeout=10)
        house.say(f"question {round}")
        house.agent.inbox.receive()
        house.compaction.step()
        house.agent.turn()
        assert house.me.state.turn == round + 1 and house.compaction.under_way
        assert not model.arrived.acquire(blocking=False), "no call of the next round has been made"
        model.go.release(calls)
    house.finish()
    assert "compacted" in kinds(house.me.context.entries)


def test_the_parts_that_the_bench_names_are_nine_and_cover_the_run() -> None:
    told = forgetting.parts(
        Prompt((Message("user", "hello\n\n[#segment 1-2 5-40]\nName the chunks."),))
    )
    ranges = [tuple(map(int, line.split()[0].split("-"))) for line in told.splitlines()]
    assert len(ranges) == NINE and ranges[0][0] == 5 and ranges[-1][1] == 40
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))


def test_promises_that_do_not_hold_are_named() -> None:
    held = {
        "--help, of python -c pass": 4.0,
        "compaction, s": 3.2,
        "turn_ms at 9 / 8, of the youngest": 1.2,
    }
    assert report.broken(held) == []
    assert len(report.broken({name: 10 * value for name, value in held.items()})) == 3
