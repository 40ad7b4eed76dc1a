"""A step of the loop that takes too long is told once, with where it stands; then to the agent."""

import threading
import time
from pathlib import Path

import pytest

from dory.process.watchdog import Watchdog
from tests.support.compacting import House, Scripted


def test_a_step_that_takes_too_long_is_told_once_and_the_agent_hears_of_it_afterwards() -> None:
    told: list[str] = []
    late = threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        late.set()

    def slow() -> str:
        assert late.wait(60)
        return "done"

    watchdog = Watchdog(tell, budget=0.05)
    with watchdog.watching():
        assert watchdog.run("turn", slow) == "done"
    (line,) = told
    assert "the step 'turn' takes longer than 0.05 seconds" in line and " in slow" in line
    (notice,) = watchdog.ended()
    assert "the step 'turn' took " in notice and " in slow" in notice
    assert watchdog.ended() == []


def test_a_step_that_waits_for_something_else_is_not_late() -> None:
    told: list[str] = []
    watchdog = Watchdog(told.append, budget=0.3)

    def waits() -> None:
        for _ in range(60):
            watchdog.alive()
            threading.Event().wait(0.01)

    with watchdog.watching():
        watchdog.run("turn", waits)
    assert told == [] == watchdog.ended()


def test_rooms_are_told_by_the_loop_when_the_step_has_ended_and_not_by_the_thread(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, Scripted())
    house.agent.watchdog = Watchdog(house.agent.watchdog._show, budget=0.05)

    def slow() -> None:
        printed = ""
        while "the step 'turn' takes longer" not in printed:
            time.sleep(0.01)
            printed += capsys.readouterr().err

    with house.agent.watchdog.watching():
        house.agent.watchdog.run("turn", slow)
    assert house.lines("NOTICE") == []
    house.agent.step()
    (told,) = house.lines("NOTICE")
    assert told.startswith("the step 'turn' took ") and " in slow" in told
    assert told in house.me.context.entries[-1].body
