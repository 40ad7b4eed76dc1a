"""Ways of forgetting, behind one interface: a way is asked to ``step`` between two turns, and
does with the context what is due.

dory        compaction as it is in the product
one-call    the same with ``compaction: one-call``
halving     at the limit the older half becomes one reference with a mechanical gist; no model, and
            UNCOMPACT brings it back
window      at the limit the oldest 30 % become one summary, by a model call; the original is gone
summary     at the limit everything but the newest third becomes one summary, by a model call; the
            original is gone
truncation  what is too much goes, the oldest first

All of them leave alone what the agent is at, and what it has opened for its turns; with too little
left to forget they wait, as the product does, until the context is at the hard limit. Those with a
model ask it as cheaply as Dory does: by the live prompt with one instruction at its end, which the
provider has cached.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from math import ceil
from pathlib import Path
from typing import Protocol

from bench.forgetting.meter import Meter
from bench.forgetting.reader import SECTION, room
from dory.config.settings import Config
from dory.identity import context
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.text import references
from dory.turn import segments
from dory.turn.compaction import LEAST_ELIGIBLE, Compaction
from dory.turn.prompt import PromptBuilder
from dory.turn.uncompact import fold, pinned
from dory.types import Compacted

WINDOW_SHARE, HALF, OLD = 0.3, 0.5, 2 / 3
"""Of the context's characters."""


@dataclass(frozen=True, slots=True)
class Mind:
    """The parts of an agent that forgetting works on."""

    me: Identity
    settings: Config
    model: Meter
    prompts: PromptBuilder
    on_compacted: Callable[[Compacted], None]
    log: Callable[[str], None]


class Forgetting(Protocol):
    """One way, for one life."""

    def step(self) -> int:
        """Between two turns: forget what is due. Returns how many model calls, one after the other,
        the next turn had to wait for.
        """
        ...


class Dory:
    """The product's compaction. Its calls are made beside the loop; that they have ended before the
    next turn is assumed, not measured.
    """

    calls = "two-phase"

    def __init__(self, mind: Mind) -> None:
        self._mind = mind
        settings = replace(mind.settings, compaction=self.calls)
        self._compaction = Compaction(
            mind.me, settings, mind.model, mind.prompts, mind.on_compacted, mind.log
        )

    def step(self) -> int:
        """As the loop does. A turn waits at the hard limit only."""
        waited = 0
        if self._compaction.at_hard_limit:
            before = self._mind.model.calls.total()
            self._compaction.make_room(lambda: None)
            waited = self._in_a_row(self._mind.model.calls.total() - before)
        self._compaction.step()
        while self._compaction.under_way:
            time.sleep(0.002)
            self._compaction.step()
        return waited

    def _in_a_row(self, calls: int) -> int:
        """Two calls go alone, the others ``workers`` at a time."""
        return min(calls, 2) + ceil(max(0, calls - 2) / self._mind.settings.workers)


class OneCall(Dory):
    """The same, each compaction in one call."""

    calls = "one-call"


class _Rival:
    """At the limit, ``_forget`` the oldest entries that make up ``share`` of the context."""

    share = 0.0

    def __init__(self, mind: Mind) -> None:
        self._mind = mind
        self._me = mind.me

    def step(self) -> int:
        """At once, in the way of the turn."""
        if not self._surplus:
            return 0
        if fold(self._me, self._me.context):
            self._me.new_epoch()
        old = self._oldest() if self._surplus else []
        if not old:
            return 0
        before = self._mind.model.calls.total()
        new = self._forget(old)
        for entry in old:
            self._me.state.opened.pop(str(entry.first), None)
        self._me.context.replace(old, new)
        self._me.new_epoch()
        return self._mind.model.calls.total() - before

    @property
    def _surplus(self) -> int:
        """Tokens of context beyond the limit."""
        return max(
            0, self._me.tokens(self._me.context.characters) - self._mind.settings.context_limit
        )

    def _oldest(self) -> list[Entry]:
        """What has to go: the beginning of the context, as far as nothing in it must stay; nothing
        if that is too little to be worth an epoch. At the hard limit something must go, whatever it
        is.
        """
        stays, entries, settings = pinned(self._me), self._me.context.entries, self._mind.settings
        free = list(takewhile(lambda entry: entry.first not in stays, entries))
        if sum(entry.size for entry in free) < self._me.context.characters * LEAST_ELIGIBLE:
            free = (
                list(entries[:-1])
                if self._surplus >= settings.hard_limit - settings.context_limit
                else []
            )
        sizes = accumulate(entry.size for entry in free)
        return free[: 1 + sum(size < self._wanted for size in sizes)]

    @property
    def _wanted(self) -> float:
        """Characters that have to go."""
        return self.share * self._me.context.characters

    def _forget(self, old: list[Entry]) -> list[Entry]:
        """What stands in place of ``old``."""
        raise NotImplementedError


class Halving(_Rival):
    """One reference, without a model."""

    share = HALF

    def _forget(self, old: list[Entry]) -> list[Entry]:
        draft = segments.mechanical(tuple(old))
        hash = self._me.blobs.stash(
            draft.original, kind="context", gist=draft.gist, at=self._me.now()
        )
        return [context.compacted(old[0].first, old[-1].last, hash, draft.gist, draft.summary)]


class Window(_Rival):
    """One summary of the oldest part, by a model."""

    share = WINDOW_SHARE

    def _forget(self, old: list[Entry]) -> list[Entry]:
        asked = (
            Path(__file__)
            .with_name("condense.md")
            .read_text(encoding="utf-8")
            .format(room=room(old))
            .strip()
        )
        prompt, _ = self._mind.prompts.live()
        reply = self._mind.model.complete(
            prompt.fork(f"[#{SECTION} {segments.listed([old])}]\n{asked}"), "summarise"
        )
        notice = f"summary of what stood here\n{reply.text.strip()[: 2 * room(old)]}"
        return [
            Entry(
                old[0].first,
                old[-1].last,
                "result",
                "READ_FILE summary",
                references.escape(self._me.redact(notice)),
            )
        ]


class Summary(Window):
    """One summary of everything old, by a model."""

    share = OLD


class Truncation(_Rival):
    """Nothing."""

    @property
    def _wanted(self) -> float:
        return self._surplus * self._me.state.characters_per_token

    def _forget(self, old: list[Entry]) -> list[Entry]:
        return []


WAYS: dict[str, Callable[[Mind], Forgetting]] = {
    "dory": Dory,
    "halving": Halving,
    "window": Window,
    "summary": Summary,
    "truncation": Truncation,
}
VARIANTS: dict[str, Callable[[Mind], Forgetting]] = {"one-call": OneCall}
"""Choices within Dory's own way, which are lived only if they are named."""
