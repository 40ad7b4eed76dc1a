"""Who goes first at an endpoint that answers few calls at once."""

import threading
import time
from collections.abc import Callable

import pytest

from dory.config.profiles import Profile
from dory.control import Control
from dory.errors import Cancelled
from dory.llm.slots import Slots
from dory.offline.server import Server
from dory.process.jobs import Job
from tests.support.wire import Fish

SOON = 10.0


class Work:
    """Background work, each of whose calls goes on until it is released or cancelled."""

    def __init__(self, slots: Slots, control: Control | None = None) -> None:
        self.calls = 0
        self.begun = threading.Semaphore(0)
        self.release = threading.Event()
        self.job = Job(lambda: slots.beside(self._call, control or Control()), "work")

    def _call(self, own: Control) -> str:
        self.calls += 1
        self.begun.release()
        with own.ended_by(self.release.set):
            assert self.release.wait(SOON)
        if own.cancelled:
            self.release.clear()
        own.check()
        return "done"


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def known(count: int) -> Slots:
    return Slots(Profile("m", "https://example.com/v1"), count)


def test_with_one_slot_a_turn_ends_a_background_call_which_is_made_again_afterwards() -> None:
    slots = known(1)
    work = Work(slots)
    assert work.begun.acquire(timeout=SOON)

    def turn() -> str:
        assert work.calls == 1 and not work.begun.acquire(timeout=0.05)
        return "answer"

    assert slots.turn(turn, Control()) == "answer"
    assert work.begun.acquire(timeout=SOON), "the same call, made again"
    work.release.set()
    assert work.job.result() == "done" and work.calls == 2


def test_with_one_slot_background_calls_are_made_one_by_one() -> None:
    slots = known(1)
    first, second = Work(slots), Work(slots)
    until(lambda: first.calls + second.calls == 1)
    time.sleep(0.05)
    assert first.calls + second.calls == 1
    for work in (first, second):
        work.release.set()
    assert first.job.result() == second.job.result() == "done"


def test_with_more_slots_one_is_kept_for_the_turn_and_nothing_is_ended() -> None:
    slots = known(3)
    works = [Work(slots) for _ in range(3)]
    until(lambda: sum(work.calls for work in works) == 2)
    assert slots.turn(lambda: "answer", Control()) == "answer"
    assert sum(work.calls for work in works) == 2
    for work in works:
        work.release.set()
    assert [work.job.result() for work in works] == ["done"] * 3


def test_without_knowing_the_slots_nobody_waits() -> None:
    slots = known(0)
    works = [Work(slots) for _ in range(3)]
    until(lambda: all(work.calls for work in works))
    assert slots.turn(lambda: "answer", Control()) == "answer"
    for work in works:
        work.release.set()
    assert [work.job.result() for work in works] == ["done"] * 3


def test_background_work_that_is_cancelled_by_its_own_side_ends() -> None:
    slots, control = known(1), Control()
    running, waiting = Work(slots, control), Work(slots, control)
    until(lambda: running.calls + waiting.calls == 1)
    control.cancel()
    for work in (running, waiting):
        assert work.job.wait(SOON) and isinstance(work.job.error, Cancelled)


def test_the_call_of_a_turn_is_ended_from_outside_once() -> None:
    slots, control = known(1), Control()
    assert not slots.end_turn()
    began = threading.Event()

    def call() -> None:
        began.set()
        control.wait(SOON)

    job = Job(lambda: slots.turn(call, control), "turn")
    assert began.wait(SOON) and slots.end_turn()
    assert job.wait(SOON) and isinstance(job.error, Cancelled)
    assert slots.turn(lambda: "answer", Control()) == "answer"


def test_a_turn_that_is_about_to_begin_can_be_ended_too() -> None:
    slots = known(1)
    assert slots.end_turn(next_one=True)
    with pytest.raises(Cancelled):
        slots.turn(lambda: "answer", Control())
    assert slots.turn(lambda: "answer", Control()) == "answer"


def test_a_server_in_the_own_network_is_asked_how_many_slots_it_has() -> None:
    with Server(Fish(), slots=3) as server:
        slots = Slots(Profile("m", server.base_url))
        assert slots.turn(lambda: "at once", Control()) == "at once"
        until(lambda: slots._count == 3)
