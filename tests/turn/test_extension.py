"""An extension as others will be written, and the boundary that keeps its failures from the rest."""

from pathlib import Path

import pytest

from dory.turn.extension import Command, EpochSection, Extension, Outcome, Tool, Work
from dory.turn.inbox import Inbox
from dory.turn.model_call import ModelCall
from dory.turn.tool_runner import ToolRunner
from dory.types import Call, Event
from tests.support.compacting import House, Scripted


class Bell(Extension):
    """An extension as others will be written: a tool, a command, a section, events, and work beside
    the loop.
    """

    name = "bell"
    live = True

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken
        self.rung = 0
        self.heard = 0
        self.worked = 0

    def tools(self) -> list[Tool]:
        return [Tool("RING", "RING", self.ring)]

    def ring(self, call: Call) -> Outcome:
        self.rung += 1
        return Outcome("rung")

    def commands(self) -> list[Command]:
        return [Command("bell", "/bell  how often it rang", lambda _: f"rung {self.rung} times")]

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


def with_extension(house: House, bell: Bell) -> None:
    agent, me = house.agent, house.me
    agent.extensions.members.append(bell)
    agent.tool_runner = ToolRunner(me, agent.extensions.tools(), 1000)
    agent.inbox = Inbox(me, agent.extensions.commands(), agent.say)
    agent.model_call = ModelCall(me, house.model, agent.inbox, agent.say)


def test_a_extension_adds_a_tool_a_command_a_section_and_work(tmp_path: Path) -> None:
    house = House(
        tmp_path, Scripted(turn=lambda prompt: "RING" if "rung 0 times" in prompt.text else "WAIT")
    )
    bell = Bell()
    with_extension(house, bell)
    house.say("ring the bell")
    house.live(lambda: house.asleep() and bell.worked == 1)
    house.say("/bell")
    house.live(lambda: house.lines("NOTICE") == ["rung 1 times"])
    assert "[#bell]\nrung 1 times\n[#memory" in house.model.asked[-1][1].text
    assert bell.heard == 1


def test_a_still_section_is_made_once_an_epoch_and_again_only_after_it_failed() -> None:
    still, bell = EpochSection(), Bell()

    def cracked() -> str:
        raise RuntimeError("cracked")

    with pytest.raises(RuntimeError, match="cracked"):
        still.at(0, cracked)
    assert still.epoch == -1
    assert still.at(0, bell.section) == "rung 0 times"
    bell.rung = 1
    assert [still.at(epoch, bell.section) for epoch in (0, 1, 1)] == [
        "rung 0 times",
        "rung 1 times",
        "rung 1 times",
    ]


def test_a_extension_that_fails_is_told_of_once_and_the_turn_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=lambda prompt: "SAY dev ok"))
    with_extension(house, Bell(broken=True))
    for _ in range(2):
        house.say("hello")
        house.live(lambda: len(house.lines("AGENT")) == len(house.lines("USER")) and house.asleep())
    told = [entry.body for entry in house.me.context if "extension" in entry.body]
    assert told == ["the extension bell failed at its event: RuntimeError: cracked"]
