"""The neural link through kills, and with very many memories: the copy is whole or absent, and
nothing is done twice.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from dory import check
from dory.extensions.link import requests
from dory.extensions.memories.record import Memory
from dory.turn.extension import Tool
from dory.types import Call
from tests.support.household import NOON, Killed, copy_of, mishap
from tests.support.linked import ASK, SHARE, Linked, pair

HERS = ["Ada keeps bees.", "Bees dance."]
HIS = ["Bob sails.", "The boat is green.", "Wind is wet."]
MANY = 50_000


def _run(name: str) -> Callable[[Linked, Linked], object]:
    return lambda agent, partner: tool(agent, name).run(Call(name, partner.me.name))


def _work(agent: Linked, partner: Linked) -> None:
    agent.step()


def tool(agent: Linked, name: str) -> Tool:
    return next(tool for tool in agent.link.tools() if tool.name == name)


STEPS = [(0, _run(ASK)), (1, _work), (1, _run(SHARE)), (1, _work), (0, _work), (1, _work)]
"""A link from its beginning to its end: whose step it is, the asker's or the sharer's, and what it
does.
"""


class Lives:
    """A link that can be gone through from each of its steps on, in copies of the home as it was
    there.
    """

    def __init__(self, folder: Path) -> None:
        (folder / "0").mkdir(parents=True)
        self.folder = folder
        self.agents = pair(folder / "0")
        self.times = list[list[datetime]]()
        self.agents[1].learn(*HIS[1:])
        for number, (who, step) in enumerate(STEPS, 1):
            self._sleep()
            self.times.append([agent.clock.at for agent in self.agents])
            self._wake(copy_of(folder / str(number - 1), folder / str(number)))
            step(self.agents[who], self.agents[1 - who])
        self._sleep()

    def kill(self, number: int, at: int) -> bool:
        """Kill whose step it is at the ``at``-th change of the disk in it, and wake it again;
        whether there were so many.
        """
        self._sleep()  # no process lives on in a home that is exchanged
        shutil.rmtree(self.folder / "copy", ignore_errors=True)
        for agent, time in zip(self.agents, self.times[number], strict=True):
            agent.clock.at = time
        self._wake(copy_of(self.folder / str(number), self.folder / "copy"))
        who, step = STEPS[number]
        with mishap(at, Killed()) as kill:
            step(self.agents[who], self.agents[1 - who])
        self._sleep()
        self._wake(self.folder / "copy")
        return kill.struck

    def go_on(self) -> None:
        """As both would who want it: what was done before the kill is refused as done already."""
        ada, bob = self.agents
        if len(ada.remembered) == len(HERS):
            assert ada.ask(bob).startswith(("asked", "you have asked"))
        bob.step()
        assert bob.share(ada).startswith(
            ("your memories go", "you share them", f"{ada.me.name} does not ask")
        )
        for agent in (bob, ada, bob):
            agent.step()

    def _wake(self, home: Path) -> None:
        for agent in self.agents:
            agent.wake(home)

    def _sleep(self) -> None:
        for agent in self.agents:
            agent.sleep()


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    return Lives(tmp_path_factory.mktemp("lives") / "home")


@pytest.mark.parametrize("number", range(len(STEPS)))
def test_a_kill_at_any_write_of_either_side_leaves_the_copy_whole_or_absent_and_doubles_nothing(
    lives: Lives, number: int
) -> None:
    ada, bob = lives.agents
    at = 1
    while lives.kill(number, at):
        assert len(ada.remembered) in (len(HERS), len(HERS + HIS))
        lives.go_on()
        assert [text for text, _ in ada.remembered] == HERS + HIS and [
            text for text, _ in bob.remembered
        ] == HIS
        for agent, words in (
            (ada, "3 are new to you, 0 you knew"),
            (bob, "asks for your memories"),
        ):
            assert sum(words in text for text in agent.told) == 1
        assert list((bob.home / requests.FOLDER).glob("*.json")) == []
        assert ada.link.listed("").count("from") == bob.link.listed("").count("to") == 1
        assert list(check.problems(bob.home)) == []
        at += 1
    assert at > 1


def test_after_a_kill_in_the_middle_of_a_tool_its_mark_tells_whether_it_acted(
    tmp_path: Path,
) -> None:
    ada, bob = pair(tmp_path)
    for agent, partner, name in ((ada, bob, ASK), (bob, ada, SHARE)) * 2:
        agent.later(minutes=3 if name == ASK else 0)
        call = Call(name, partner.me.name)
        mark = tool(agent, name).mark(call)
        assert not tool(agent, name).acted(call, mark)
        tool(agent, name).run(call)
        assert tool(agent, name).acted(call, mark)
        assert not tool(agent, name).acted(
            replace(call, args="cleo"), tool(agent, name).mark(replace(call, args="cleo"))
        )
    for agent in (ada, bob):
        agent.sleep()


def test_fifty_thousand_memories_are_one_blob_and_one_transaction_and_wait_for_the_index(
    tmp_path: Path,
) -> None:
    ada, bob = pair(tmp_path)
    rows = [
        Memory(
            0, "Memory", f"On day {number} the tide was {number * 7919}.", NOON, f"cleo {number}"
        )
        for number in range(MANY)
    ]
    assert bob.bank.take(rows, bob.clock()) == (MANY, 0)
    ada.ask(bob)
    bob.step()
    assert bob.share(ada).startswith("your memories go")
    bob.step()
    before = ada.index.extent()
    commits = list[str]()
    with ada.store.writing() as connection:
        connection.set_trace_callback(
            lambda statement: commits.append(statement) if statement == "COMMIT" else None
        )
    ada.step()
    assert ada.bank.count == MANY + 1 + len(HERS) and commits == ["COMMIT"] * 2
    assert ada.index.extent() == before
    assert f"{MANY + 1} are new to you, 0 you knew" in ada.told[-1]
    exchanged = [path for path in ada.me.blobs.walk() if path.stat().st_size > MANY]
    assert len(exchanged) == 1
    for agent in (ada, bob):
        agent.sleep()
