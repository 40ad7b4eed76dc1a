"""Self-care: the agent's wish to have its memories summed up, and which of them come next.

The wish is one row of the agent's SQLite file. It covers the memories that there are when it is
made. They are summed up in batches, oldest first. When none is left and all summaries have more
than ``HELD`` tokens, the oldest summaries are summed up again until they have not. A narrative has
at most half as many characters as what it stands for, or a few, and stands for several memories or
summaries: so this ends, whatever a model answers.

The outcome of a batch is in the store of memories, and what was skipped is noted in the wish. So a
wish continues after a kill where it was.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from functools import partial

from dory import clock
from dory.errors import ToolError
from dory.extensions.memories.record import TEXT_LIMIT, Memory
from dory.extensions.memories.store import CEILING, MemoryStore
from dory.storage.database import Store
from dory.text import formatting
from dory.text.packing import fitting
from dory.types import Batch

LEAST = 30
"""Memories that are needed for self-care."""
FULL = CEILING - formatting.tokens_of(TEXT_LIMIT, 4 * TEXT_LIMIT)
"""Tokens above which the next memory may not fit, whatever its script: then self-care takes fewer
memories as well.
"""
HELD = 50_000
"""Tokens of summaries that are active at most when self-care has ended."""
GROUP = 32_000
"""Characters of the summaries that are summed up again at once, unless two alone have more."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS self_care (id INTEGER PRIMARY KEY, last INTEGER, due INTEGER,"
    " passed INTEGER, summed INTEGER, narrated INTEGER)"
)


@dataclass(frozen=True, slots=True)
class SelfCareRun:
    """A wish: ``due`` memories up to the id ``last`` are to be summed up, ``narrated`` of them are.

    Memories up to the id ``passed`` and summaries up to ``summed`` were skipped after a failure,
    and stay as they are. ``last`` is 0 if the wish is only for what other extensions have to sum
    up.
    """

    last: int
    due: int
    passed: int = 0
    summed: int = 0
    narrated: int = 0


class SelfCare:
    """The wish of one agent, if it has one. Raises what the ``Store`` raises."""

    def __init__(self, store: Store, bank: MemoryStore) -> None:
        self._store = store
        self._bank = bank
        store.tables(_SCHEMA)

    @property
    def wish(self) -> SelfCareRun | None:
        """The wish that is not done yet."""
        rows = self._store.rows("SELECT last, due, passed, summed, narrated FROM self_care")
        return SelfCareRun(*rows[0]) if rows else None

    @property
    def extent(self) -> str:
        """How much the store of memories holds, in words."""
        memories = formatting.plural(self._bank.count, "memory", "memories")
        summaries = self._bank.within(0, self._bank.newest, "Summary")
        return (
            f"{memories} and {formatting.plural(summaries, 'summary', 'summaries')}, "
            f"{self._bank.tokens:,} of {CEILING:,} tokens"
        )

    @property
    def enough(self) -> bool:
        """Whether there are enough memories for a wish."""
        return self._bank.count >= LEAST or self._bank.tokens > FULL

    def begin(self, others: bool = False) -> SelfCareRun:
        """Make a wish for all memories that there are now.

        If there are too few, but ``others`` have something to sum up, the wish is for them only.
        Raises a ``ToolError`` if there is too little of both, or if a wish is not done yet.
        """
        if wish := self.wish:
            raise ToolError(
                f"self-care is under way, with {self.done(wish):,} of"
                f" {formatting.plural(wish.due, 'memory', 'memories')} done: "
                "you will be told when it has ended"
            )
        count = self._bank.count
        enough = self.enough
        if not (enough or others):
            raise ToolError(
                f"you have {formatting.plural(count, 'memory', 'memories')}, self-care is for"
                f" {LEAST} or more: "
                "go on living, and come back to it"
            )
        wish = SelfCareRun(self._bank.newest, count) if enough else SelfCareRun(0, 0)
        self._save(wish)
        return wish

    def done(self, wish: SelfCareRun) -> int:
        """How many memories of the wish are summed up or skipped."""
        return wish.due - self._bank.within(wish.passed, wish.last)

    def stayed(self, wish: SelfCareRun) -> int:
        """How many memories of the wish were skipped."""
        return self._bank.within(0, wish.passed)

    def batch(self, size: int) -> Batch | None:
        """The next batch: at most ``size`` memories, or some summaries.

        None if everything is done, or nothing was wished.
        """
        wish = self.wish
        if not (wish and wish.last):
            return None
        oldest = self._bank.active("Memory", size, wish.passed)
        memories = [memory for memory in oldest if memory.id <= wish.last]
        if memories:
            return self._batch(memories, replace(wish, passed=memories[-1].id))
        summaries = self._bank.active("Summary", size, wish.summed)
        count = fitting((len(summary.text) for summary in summaries), GROUP, least=2)
        if self._bank.tokens_of("Summary") <= HELD or count < 2:
            return None
        return self._batch(summaries[:count], replace(wish, summed=summaries[count - 1].id))

    def end(self) -> None:
        """Delete the wish: it is fulfilled."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM self_care")

    def _save(self, wish: SelfCareRun) -> None:
        with self._store.writing() as connection:
            sql = "INSERT OR REPLACE INTO self_care VALUES (1, ?, ?, ?, ?, ?)"
            connection.execute(sql, astuple(wish))

    def _batch(self, memories: Sequence[Memory], skipped: SelfCareRun) -> Batch:
        """These memories as a batch; ``skipped`` is the wish after skipping them."""
        what = "memories" if memories[0].kind == "Memory" else "summaries"
        lines = (f"{clock.day(memory.at)}{memory.source}: {memory.text}" for memory in memories)
        return Batch(
            f"{what} {memories[0].id} to {memories[-1].id}",
            tuple(lines),
            partial(self._keep, memories),
            partial(self._save, skipped),
        )

    def _keep(self, memories: Sequence[Memory], narrative: str, at: datetime) -> None:
        with self._store.writing():
            summary = self._bank.narrate([memory.id for memory in memories], narrative, at)
            wish = self.wish
            if summary and wish and memories[0].kind == "Memory":
                self._save(replace(wish, narrated=wish.narrated + len(memories)))
