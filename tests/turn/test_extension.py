"""An extension as others will be written, and the boundary that keeps its failures from the
rest.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from dory.errors import FormatError, SpendingLimit
from dory.turn.delivery import Delivery
from dory.turn.extension import (
    Command,
    Extension,
    Freshness,
    Outcome,
    PartlyDone,
    Postponed,
    Tool,
    Work,
    WorkFailed,
)
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.turn.model_call import ModelCall
from dory.turn.tool_runner import ToolRunner
from dory.types import Call, Event, Prompt
from tests.support.compacting import House, Scripted
from tests.support.household import Time


class Bell(Extension):
    """An extension as others will be written: a tool, a command, a section, events, and work beside
    the loop.
    """

    name = "bell"
    freshness: Freshness = "turn"

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken
        self.rung = 0
        self.heard = 0
        self.worked = 0

    def ring(self, call: Call) -> Outcome:
        self.rung += 1
        return Outcome("rung")

    def count(self, _: str) -> str:
        return f"rung {self.rung} times"

    def section(self) -> str:
        return f"rung {self.rung} times"

    def on_event(self, event: Event) -> None:
        if self.broken:
            raise RuntimeError("cracked")
        self.heard += event.kind == "heard"

    def background(self) -> Work | None:
        if self.worked:
            return None
        return lambda: self.done

    def done(self) -> None:
        self.worked += 1

    TOOLS = (Tool("RING", ring),)
    COMMANDS = (Command("/bell  how often it rang", count),)


def with_extension(house: House, bell: Bell) -> None:
    agent, me = house.agent, house.me
    agent.extensions.members.append(bell)
    agent.tool_runner = ToolRunner(me, agent.extensions.tools(), 1000)
    agent.delivery = Delivery(me, house.config, agent.tool_runner)
    agent.inbox = Inbox(me, agent.extensions.commands(), agent.say)
    agent.model_call = ModelCall(me, house.model, agent.inbox.serve, agent.say)


def test_a_extension_adds_a_tool_a_command_a_section_and_work(tmp_path: Path) -> None:
    def turn(prompt: Prompt) -> str:
        return "RING" if "rung 0 times" in prompt.text else "SAY dev it rings"

    house = House(tmp_path, Scripted(turn=turn))
    bell = Bell()
    with_extension(house, bell)
    house.say("ring the bell")
    house.live(lambda: house.asleep() and bell.worked == 1)
    house.say("/bell")
    house.live(lambda: house.lines("NOTICE") == ["rung 1 times"])
    assert "[#bell]\nrung 1 times\n[#memory" in house.model.asked[-1][1].text
    assert bell.heard == 1


def test_a_section_of_an_epoch_is_made_once_an_epoch_and_again_only_after_it_failed() -> None:
    class Once(Bell):
        freshness = "epoch"

        def section(self) -> str:
            if self.broken:
                raise RuntimeError("cracked")
            return super().section()

    bell, told = Once(broken=True), list[str]()
    host = ExtensionHost([bell], told.append)
    assert host.sections("epoch", epoch=0) == {} and "cracked" in told[0]
    bell.broken = False
    assert host.sections("epoch", "change", epoch=0) == {"bell": "[#bell]\nrung 0 times"}
    bell.rung = 1
    shown = [host.sections("epoch", epoch=epoch)["bell"] for epoch in (0, 1, 1)]
    assert [section.partition("\n")[2] for section in shown] == [
        "rung 0 times",
        "rung 1 times",
        "rung 1 times",
    ]
    assert host.sections("change", "turn", epoch=2) == {}


class Worker(Extension):
    """Background work that ends as the test says."""

    name = "worker"
    pauses = (10.0, 40.0)

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.tries = 0

    def background(self) -> Work | None:
        self.tries += 1
        if self.error:
            raise self.error
        return lambda: lambda: None


def tried(host: ExtensionHost, worker: Worker, clock: Time, seconds: int) -> list[int]:
    """The seconds at which the host asks for work."""
    start, times = clock.at, list[int]()
    for second in range(seconds):
        clock.at = start + timedelta(seconds=second)
        before = worker.tries
        host.step()
        times += [second] * (worker.tries > before)
    return times


def test_failed_work_is_tried_again_after_a_pause_that_grows_and_told_once() -> None:
    worker, clock, told = Worker(), Time(), list[str]()
    host = ExtensionHost([worker], told.append, lambda: clock.at)
    worker.error = WorkFailed("no luck at 1")
    assert tried(host, worker, clock, 120) == [0, 10, 30, 70, 110]
    worker.error = WorkFailed("no luck at 2")
    clock.at += timedelta(seconds=60)
    host.step()
    assert told == ["no luck at 1"]
    worker.error = None
    clock.at += timedelta(seconds=60)
    for _ in range(2):
        host.step()
        while host.under_way() and worker.tries < 9:
            host.step()
    worker.error = WorkFailed("no luck at 3")
    while len(told) == 1:
        host.step()
    assert told[1:] == ["no luck at 3"], "there was a success between them"


@pytest.mark.parametrize(
    ("error", "seconds"),
    [(SpendingLimit("spent"), [0, 10, 20, 30]), (Postponed("later"), [0, 10, 30])],
)
def test_of_work_that_has_to_wait_nobody_is_told(error: Exception, seconds: list[int]) -> None:
    worker, clock, told = Worker(), Time(), list[str]()
    worker.error = error
    host = ExtensionHost([worker], told.append, lambda: clock.at)
    assert tried(host, worker, clock, 35) == seconds
    assert told == []


def test_damage_that_work_met_is_told_and_the_work_goes_on_at_once() -> None:
    class Damaged(Worker):
        def background(self) -> Work | None:
            self.tries += 1
            raise PartlyDone from FormatError("torn")

    worker, clock, told = Damaged(), Time(), list[str]()
    host = ExtensionHost([worker], told.append, lambda: clock.at)
    assert tried(host, worker, clock, 3) == [0, 1, 2]
    assert told == ["the extension worker failed at its background work: FormatError: torn"]


def test_a_extension_that_fails_is_told_of_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=lambda prompt: "SAY dev ok"))
    with_extension(house, Bell(broken=True))
    for _ in range(2):
        house.say("hello")
        house.live(lambda: len(house.lines("AGENT")) == len(house.lines("USER")) and house.asleep())
    told = [entry.body for entry in house.me.context if "extension" in entry.body]
    assert told == ["the extension bell failed at its event: RuntimeError: cracked"]
