"""Self-care: the agent's wish to have its memories summed up, and which of them come next. One row
of the agent's SQLite file.

The wish covers the memories that there are when it is made. They go in batches, the oldest first;
when there is none left, and the summaries come to more than ``HELD``, they are summed up again, the
oldest first, until they do not. A narrative has at most half as many characters as what it stands
for, or a few, and stands for several: so this ends, whatever a model says. What a batch has become
shows in the bank, and what was passed over is noted here, so a wish goes on after a kill where it
was.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from functools import partial

from dory.errors import ToolError
from dory.extensions.memories.store import CEILING, TEXT_LIMIT, Memory, MemoryStore
from dory.storage.database import Store
from dory.text.formatting import tokens_of
from dory.types import Batch

LEAST = 30
"""Memories below which there is nothing to care for."""
FULL = CEILING - tokens_of(TEXT_LIMIT)
"""Tokens above which the next memory may not fit: then there is, however few they are."""
HELD = 50_000
"""Tokens that are active at most afterwards."""
GROUP = 32_000
"""Characters of summaries, about, that are summed up again at once."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS self_care (id INTEGER PRIMARY KEY, last INTEGER, due INTEGER, passed INTEGER, summed INTEGER, narrated INTEGER)"


@dataclass(frozen=True, slots=True)
class SelfCareRun:
    """``due`` memories up to the id ``last`` are to be summed up, ``narrated`` of them are; the
    batches up to the memory ``passed``, and groups of summaries up to ``summed``, were tried, and
    stay as they are. Without a ``last`` it is for what there is beside the bank.
    """

    last: int
    due: int
    passed: int = 0
    summed: int = 0
    narrated: int = 0


class SelfCare:
    """The wish of one agent, if it has one. Raises what the store raises."""

    def __init__(self, store: Store, bank: MemoryStore) -> None:
        self._store = store
        self._bank = bank
        store.tables(_SCHEMA)

    @property
    def wish(self) -> SelfCareRun | None:
        """What is not done yet."""
        return next(
            (
                SelfCareRun(*row)
                for row in self._store.rows(
                    "SELECT last, due, passed, summed, narrated FROM self_care"
                )
            ),
            None,
        )

    @property
    def extent(self) -> str:
        """What the bank holds, in words."""
        memories, summaries = self._bank.count, self._bank.within(0, self._bank.newest, "Summary")
        counted = f"{memories:,} {'memory' if memories == 1 else 'memories'} and {summaries:,} {'summary' if summaries == 1 else 'summaries'}"
        return f"{counted}, {self._bank.tokens:,} of {CEILING:,} tokens"

    def begin(self, others: bool = False) -> SelfCareRun:
        """A wish for all that there is now; for the ``others`` alone, if something is due beside
        the bank and of this there is too little. Raises a ``ToolError`` when there is too little of
        all, or one is not done yet.
        """
        if wish := self.wish:
            raise ToolError(
                f"self-care is under way, with {self.done(wish):,} of {wish.due:,} memories done: you will be told when it has ended"
            )
        enough = (count := self._bank.count) >= LEAST or self._bank.tokens > FULL
        if not (enough or others):
            raise ToolError(
                f"you have {count} memories, self-care is for {LEAST} or more: go on living, and come back to it"
            )
        wish = SelfCareRun(self._bank.newest, count) if enough else SelfCareRun(0, 0)
        self._save(wish)
        return wish

    def done(self, wish: SelfCareRun) -> int:
        """How many of the memories have been seen to, one way or the other."""
        return wish.due - self._bank.within(wish.passed, wish.last)

    def stayed(self, wish: SelfCareRun) -> int:
        """How many of them stay as they are so far."""
        return self._bank.within(0, wish.passed)

    def batch(self, size: int) -> Batch | None:
        """What comes next: at most ``size`` memories, or some summaries; None when all is done, or
        nothing was wished.
        """
        wish = self.wish
        if not (wish and wish.last):
            return None
        if rows := [
            one for one in self._bank.active("Memory", size, wish.passed) if one.id <= wish.last
        ]:
            return self._batch(rows, replace(wish, passed=rows[-1].id))
        rows = self._group(self._bank.active("Summary", size, wish.summed))
        if self._bank.tokens_of("Summary") <= HELD or len(rows) < 2:
            return None
        return self._batch(rows, replace(wish, summed=rows[-1].id))

    def end(self) -> None:
        """The wish is fulfilled."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM self_care")

    def _save(self, wish: SelfCareRun) -> None:
        with self._store.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO self_care VALUES (1, ?, ?, ?, ?, ?)", astuple(wish)
            )

    def _batch(self, rows: Sequence[Memory], passed: SelfCareRun) -> Batch:
        lines = tuple(f"{one.at:%Y-%m-%d}{one.source}: {one.text}" for one in rows)
        what = "memories" if rows[0].kind == "Memory" else "summaries"
        return Batch(
            f"{what} {rows[0].id} to {rows[-1].id}",
            lines,
            partial(self._keep, rows),
            partial(self._save, passed),
        )

    def _keep(self, rows: Sequence[Memory], narrative: str, at: datetime) -> None:
        with self._store.writing():
            made, wish = self._bank.narrate([one.id for one in rows], narrative, at), self.wish
            if made and wish and rows[0].kind == "Memory":
                self._save(replace(wish, narrated=wish.narrated + len(rows)))

    def _group(self, rows: Sequence[Memory]) -> list[Memory]:
        """The first of them, as many as are summed up again at once: two or more."""
        found, size = list[Memory](), 0
        for one in rows:
            if len(found) >= 2 and size + len(one.text) > GROUP:
                break
            found.append(one)
            size += len(one.text)
        return found
