"""Agents of one home for the tests of the neural link, each with the objects of its process."""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Self

from dory.config.settings import Config
from dory.extensions import Stores
from dory.extensions.link.extension import LinkExtension
from dory.identity.create import boot
from dory.storage import locks
from dory.turn.tool_runner import ToolRunner
from tests.support.household import Household, Time, bodies

ASK = "NEURAL_LINK_REQUEST_MEMORY"
SHARE = "NEURAL_LINK_SHARE_MEMORY"


class Linked(Household):
    """One of them, awake from the beginning."""

    def __init__(self, home: Path, clock: Time | None = None) -> None:
        self.home = home
        self.clock = clock or Time()
        self.config = Config()
        self.secrets = ("hunter2-hunter2",)
        self.hash = boot(home, "dory", "dev", self.clock, self.secrets)
        self.lock = ExitStack()
        self.log = list[str]()
        self.wake().me.begin()

    def wake(self, home: Path | None = None) -> Self:
        """As the next process, in the same home or in a copy."""
        self.sleep()
        self.home = home or self.home
        self.lock.enter_context(locks.held(self.home / "agents" / self.hash))
        self.restart()
        past = Stores(self.me.folder, self.me.blobs)
        self.lock.callback(past.store.close)
        self.bank = past.bank
        self.store = past.store
        self.index = past.index
        self.relationships = past.relationships
        self.link = LinkExtension(
            self.me,
            past.store,
            self.bank,
            past.relationships,
            self.log.append,
            past.dialogues.linked,
        )
        self.dialogues = past.dialogues
        self.hands = ToolRunner(
            self.me, [*self.tools.tools(), *self.link.tools()], self.config.result_limit
        )
        self.hands.report_interruption()
        return self

    def sleep(self) -> None:
        """End its process."""
        self.lock.close()

    def step(self) -> None:
        """What the loop does between turns, until nothing is left to do."""
        while work := self.link.background():
            work()()

    def ask(self, other: "Linked") -> str:
        return self.result(f"{ASK} {other.me.name}").body

    def share(self, other: "Linked") -> str:
        return self.result(f"{SHARE} {other.me.name}").body

    def later(self, **amount: float) -> None:
        self.clock.at += timedelta(**amount)

    def learn(self, *texts: str) -> None:
        for text in texts:
            self.bank.add(text, self.clock())

    @property
    def told(self) -> list[str]:
        return bodies(self.me.context.entries, "notice")

    @property
    def remembered(self) -> list[tuple[str, str]]:
        """Text and origin of what it has, the oldest first."""
        return [(memory.text, memory.origin) for memory in self.bank.everything()]


def pair(home: Path) -> tuple[Linked, Linked]:
    """Two on one machine, which has one clock."""
    ada = Linked(home)
    bob = Linked(home, ada.clock)
    ada.learn("Ada keeps bees.", "Bees dance.")
    bob.learn("Bob sails.")
    return ada, bob
