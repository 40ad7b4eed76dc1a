"""A life of several days: a real agent with the offline model. Its clock moves on whenever somebody
speaks.
"""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent import Agent
from dory.config.settings import Config
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.text.prompt_files import DURABLE

MORNING = datetime(2026, 3, 2, 8, tzinfo=UTC)
LIMIT = 3000
"""Tokens of context: so little that what was said in the morning has faded by noon."""
_THINGS = (
    "kettle",
    "ladder",
    "compass",
    "lantern",
    "violin",
    "anvil",
    "teapot",
    "globe",
    "mirror",
    "hammock",
    "barometer",
    "accordion",
)
_PLACES = (
    "attic",
    "cellar",
    "pantry",
    "workshop",
    "greenhouse",
    "hallway",
    "stable",
    "boathouse",
    "library",
    "garage",
)


class Days:
    """One identity in ``home``, and the people around it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.at = MORNING
        self._chance = random.Random(7)
        self._said = 0
        self.hash = boot(home, "dory", "dev", self.now)
        self.wake()

    def now(self) -> datetime:
        """The clock of everything."""
        return self.at

    def wake(self) -> None:
        """As after a restart."""
        self.me = Identity(self.home, self.hash, self.now)
        self.me.begin()
        self.agent = Agent(
            self.me, Config(context_limit=LIMIT), OfflineModel(), False, ShutdownSignal()
        )
        self.rest()

    def say(self, text: str, name: str = "ada") -> None:
        """Somebody says something, the agent answers, and eight minutes pass."""
        self.me.rooms.say("dev", "USER", name, text, self.at)
        self.rest()
        self.at += timedelta(minutes=8)

    def talk(self, times: int) -> None:
        """Of things that are no facts of anybody."""
        for _ in range(times):
            self._said += 1
            thing, other, place = (
                self._chance.choice(words) for words in (_THINGS, _THINGS, _PLACES)
            )
            self.say(
                f"Number {self._said}, the {thing}, was carried to the {place}, and "
                f"what is left of the {other} lies beside it.",
                "bob",
            )

    def night(self) -> None:
        """Until eight in the morning."""
        morning = (self.at + timedelta(days=1)).replace(hour=8, minute=0)
        while self.at < morning:
            self.at += timedelta(hours=1)
            self.rest()
        self.at = morning

    def rest(self) -> None:
        """Let the agent do all that there is to do, as its loop does, but what works beside the
        loop is waited for each time: so all that happens follows from what was said.
        """
        agent, due = self.agent, True
        while due:
            news = agent.inbox.receive()
            self._until_done(agent.compaction.step, lambda: agent.compaction.under_way)
            if due := self.me.state.awake and agent.model_call.ready(news):
                agent.turn()
            self._until_done(agent.extensions.step, lambda: bool(agent.extensions.under_way()))

    def _until_done(self, step: Callable[[], None], under_way: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        step()
        while under_way():
            assert time.monotonic() < deadline
            time.sleep(0.0005)
            step()

    def lines(self, *names: str) -> list[str]:
        """What stands in some durable files."""
        texts = [
            (self.me.folder / name).read_text(encoding="utf-8")
            for name in names or DURABLE
            if (self.me.folder / name).exists()
        ]
        return [line for text in texts for line in text.splitlines() if line]
