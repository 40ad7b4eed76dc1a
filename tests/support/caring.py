"""Agents that care for themselves, and a model whose answers a test chooses."""

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from dory.control import Control
from dory.errors import WindowExceeded
from dory.extensions import Stores
from dory.extensions.memories.record import Kind, Memory
from dory.extensions.memories.self_care import SelfCare
from dory.extensions.memories.self_care_extension import SelfCareExtension
from dory.identity.identity import Identity
from dory.text.formatting import tokens
from dory.turn.extension import Extension
from dory.turn.extension_host import ExtensionHost
from dory.types import Batch, Call, Prompt, Purpose, Reply, Usage
from tests.support.household import NOON, Killed, Living, Mishap, bodies


class Telling:
    """A ``Model`` that says what its rule makes of a prompt, and whose window has so many
    characters.
    """

    name = "telling"

    def __init__(self, rule: Callable[[str], str], window: int = 10**9, cut: bool = False) -> None:
        self._rule = rule
        self._window = window
        self._cut = cut
        self.asked: list[str] = []

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """As a ``Model``."""
        self.asked.append(prompt.text)
        if len(prompt.text) > self._window:
            raise WindowExceeded("too long")
        return Reply(
            self._rule(prompt.text),
            "",
            Usage(purpose, self.name, tokens(prompt.text), None, 1, 0.0),
            self._cut,
        )


class Caring(Living):
    """A household whose agent cares for itself, by a model that says what ``tell`` makes of a
    prompt.
    """

    tell: Callable[[str], str] = staticmethod(lambda prompt: "It was so.")

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        self.bank = past.bank
        self.care = SelfCare(past.store, past.bank)
        self.told: list[str] = []
        self.troubles: list[str] = []
        self.model = Telling(lambda prompt: self.tell(prompt))
        self.sources: list[Callable[[int], Batch | None]] = []
        self.extension = self.caring()
        return [self.extension]

    def caring(self) -> SelfCareExtension:
        """As the next process would have it."""
        return SelfCareExtension(
            self.me, self.bank, self.care, self.sources, self.model, self.told.append, places=True
        )

    def hold(self, count: int, size: int = 80, kind: Kind = "Memory") -> None:
        """So many distinct memories; as copies, which are not indexed here."""
        start = self.bank.newest
        texts = (
            f"thing {number} ".ljust(size, "x") for number in range(start + 1, start + count + 1)
        )
        self.bank.take(
            [
                Memory(0, kind, text, NOON, f"dory-2 {number}")
                for number, text in enumerate(texts, start + 1)
            ],
            NOON,
        )

    def begin(self) -> None:
        self.extension = self.caring()
        self.host = ExtensionHost([self.extension], self.troubles.append, lambda: self.clock.at)
        self.extension.care(Call("SELF_CARE"))

    def tend(self, batches: int = 10_000) -> None:
        """As between turns, for so many batches or until there is nothing left to do."""
        for _ in range(batches):
            if not (work := self.extension.background()):
                break
            work()()

    def step(self) -> None:
        """As the loop does between turns, until no work is under way."""
        self.host.step()
        while self.host.under_way():
            self.host.step()

    @property
    def originals(self) -> dict[int, str]:
        """All memories there are, active or archived."""
        return dict(self.past.store.rows("SELECT id, text FROM memory WHERE kind = 'Memory'"))

    @property
    def active(self) -> dict[int, str]:
        return {memory.id: memory.text for memory in self.bank.active()}

    @property
    def notices(self) -> list[str]:
        return [
            text
            for text in bodies(self.me.context.entries, "notice")
            if text.startswith("Self-care")
        ]


def long(prompt: str) -> str:
    """A model that hardly shortens anything."""
    return prompt.replace("\n", ". ")


@contextmanager
def killed(at: int) -> Iterator[Mishap]:
    """As ``household.mishap``, by a kill before the ``at``-th statement that SQLite is given."""
    left = at
    outcome = Mishap()

    def announced(frame: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if (
            event == "c_call"
            and isinstance(getattr(function, "__self__", None), sqlite3.Connection)
            and function.__name__ == "execute"
        ):
            left -= 1
            if not left:
                outcome.struck = True
                raise Killed

    sys.setprofile(announced)
    try:
        yield outcome
    except Killed:
        assert outcome.struck
    finally:
        sys.setprofile(None)
