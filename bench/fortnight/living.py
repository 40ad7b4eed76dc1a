"""Two agents in one room and in this process, each with the real loop's parts and the offline
model, and a clock that only the script moves.
"""

import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from agent import Agent
from bench.fortnight.script import BEGINS, PATH, Day, read
from dory.config.dream_schedule import DreamSettings
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import DoryError
from dory.extensions import NAMES, checked
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.storage import locks
from dory.types import Line

ROOM, IRIS, OTTO = "harbour", "iris", "otto"
LIMIT = 4000
"""Tokens of context; a real agent has 40,000, and does not fade within a fortnight of so few words.
"""
_LOOK, _REST = timedelta(milliseconds=20), 0.001
_MOST = 20_000
"""Steps within which both must have come to rest after something was said."""
_WEEK = 7 * 24.0
"""Hours. Nobody dreams by itself before somebody asks for it."""


class Hourglass:
    """A clock that moves on a little with every look, and to any later moment."""

    def __init__(self) -> None:
        self.at = BEGINS

    def __call__(self) -> datetime:
        """Now."""
        self.at += _LOOK
        return self.at


class Alone(Agent):
    """An agent at whose terminal nobody sits."""

    def say(self, text: str) -> None:
        """Nobody is there."""


class Fortnight:
    """The home, both agents in it, and what was said so far."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.clock = Hourglass()
        self._held = ExitStack()
        settings = checked(
            Config(
                model=OFFLINE,
                context_limit=LIMIT,
                extensions=", ".join(NAMES),
                dream=DreamSettings(_WEEK),
            )
        )
        hashes = {name: boot(home, name, ROOM, self.clock) for name in (IRIS, OTTO)}
        self.agents = {name: self._woken(hash, settings) for name, hash in hashes.items()}
        self.names = {name: agent.me.name for name, agent in self.agents.items()}
        self.days = read(PATH.read_text(encoding="utf-8"), self.names)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def live(self) -> None:
        """All of it, from the first day to the last. Raises ``DoryError`` when an agent does not
        come to rest.
        """
        for day in self.days:
            self.spend(day)

    def spend(self, day: Day) -> None:
        """One day."""
        for said in day.said:
            self.clock.at = max(self.clock.at, said.at)
            self._rest()  # time has passed, and somebody may have waited for that
            self.agents[IRIS].me.rooms.say(ROOM, "USER", said.name.lower(), said.text, self.clock())
            self._rest()

    def heard(self) -> list[Line]:
        """Everything that was said in the room."""
        return self.agents[IRIS].me.rooms.read(ROOM, 0)

    def command(self, name: str, command: str, argument: str = "") -> str:
        """What a person would be answered to a command."""
        return next(
            entry for entry in self.agents[name].extensions.commands() if entry.name == command
        ).run(argument)

    def _rest(self) -> None:
        """Step until nobody has anything left to do."""
        for _ in range(_MOST):
            working = [self._step(agent) for agent in self.agents.values()]
            if not any(working):
                return
        raise DoryError(f"after {_MOST} steps somebody is still busy")

    def _step(self, agent: Agent) -> bool:
        """As the loop does, but it waits for what goes on beside: what is said must not depend on
        the machine. Whether there was any.
        """
        news = agent.inbox.receive()
        agent.compaction.step(agent.budget.open())
        if due := agent.me.state.awake and agent.model_call.ready(news):
            agent.turn()
        agent.extensions.step()
        waits = 0
        while agent.extensions.under_way() or agent.compaction.under_way:
            if (waits := waits + 1) > _MOST:
                raise DoryError(
                    f"{agent.me.name} does not come to an end: {agent.extensions.under_way()}"
                )
            time.sleep(_REST)
            agent.compaction.step(agent.budget.open())
            agent.extensions.step()
        return bool(news or due or waits)

    def _woken(self, hash: str, settings: Config) -> Agent:
        self._held.enter_context(locks.held(self.home / "agents" / hash))
        me = Identity(self.home, hash, self.clock)
        me.begin()
        return Alone(me, settings, OfflineModel(), False, ShutdownSignal())
