"""Two agents in one room and in this process, each with the real loop's parts and the offline
model, and a clock that only the script moves.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Self

from bench.common.stepping import Alone, Hourglass, rest
from bench.fortnight.script import BEGINS, PATH, Day, read
from dory.config.dream_schedule import DreamSettings
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
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
_WEEK = 7 * 24.0
"""Hours. Nobody dreams by itself before somebody asks for it."""


class Fortnight:
    """The home, both agents in it, and what was said so far."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.clock = Hourglass(BEGINS)
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
            rest(self.agents.values())  # time has passed, and somebody may have waited for that
            self.agents[IRIS].me.rooms.say(ROOM, "USER", said.name.lower(), said.text, self.clock())
            rest(self.agents.values())

    def heard(self) -> list[Line]:
        """Everything that was said in the room."""
        return list(self.agents[IRIS].me.rooms.messages(ROOM))

    def command(self, name: str, command: str, argument: str = "") -> str:
        """What a person would be answered to a command."""
        return next(
            entry for entry in self.agents[name].extensions.commands() if entry.name == command
        ).run(argument)

    def _woken(self, hash: str, settings: Config) -> Alone:
        self._held.enter_context(locks.held(self.home / "agents" / hash))
        me = Identity(self.home, hash, self.clock)
        me.begin()
        return Alone(me, settings, OfflineModel(), False, ShutdownSignal())
