"""The store of long-term memories: what the agent chose to keep for good, and summaries of it.

Two tables of the agent's SQLite file:

    memory         id (rising, never used again), kind, text, when, origin, the id of its summary,
                   whether it waits for the index
    memory_taken   what was ever copied from another agent: the origin, a hash of the text, and when
                   the memory was made

A memory is active until a ``Summary`` stands for it. Then it is archived: it stays in the table for
good, the search finds it, and ``restore`` brings it back. Summaries can be summed up in turn.

A memory that was copied from another agent has an ``origin``. It is copied only once, even if it
was removed since, and a copied summary stands for nothing here. Another text of the same origin is
another memory, because a store that was begun anew counts from 1 again; but if it was made in the
same second, it is a memory that was corrected there, and is known.

Every write is one transaction together with its index entries and its row in the log of changes
(``extensions/memories/log.py``). Only copies are indexed later, by ``catch_up``, because there may
be very many.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from dory.errors import FormatError, ToolError
from dory.extensions.memories.log import MemoryLog
from dory.extensions.memories.record import (
    KINDS,
    NARRATIVE_LIMIT,
    PERSON,
    TEXT_LIMIT,
    Kind,
    Memory,
    check,
    numbered,
    sound,
)
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.changes import LINK, SELF_CARE, Changes
from dory.storage.database import Store, marks
from dory.text import formatting

CEILING = 100_000
"""Tokens of all active memories and summaries; nothing is added beyond it before self-care."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " kind TEXT NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL,\n"
    " origin TEXT NOT NULL, summary INTEGER REFERENCES memory, waits INTEGER NOT NULL)",
    "CREATE INDEX IF NOT EXISTS memory_summary ON memory (summary, kind)",
    "CREATE INDEX IF NOT EXISTS memory_waits ON memory (id) WHERE waits",
    "CREATE TABLE IF NOT EXISTS memory_taken (origin TEXT PRIMARY KEY) WITHOUT ROWID",
)
_KEY = re.compile(r"(.*) ([0-9a-f]{16}) (-?\d+)", re.ASCII | re.DOTALL)
_INSERT = "INSERT INTO memory (kind, text, at, origin, waits) VALUES (?, ?, ?, ?, ?)"
_ACTIVE = "summary IS NULL AND kind = ?"
_EMPTY = (
    "kind = 'Summary' AND origin = ''"
    " AND id NOT IN (SELECT summary FROM memory WHERE summary IS NOT NULL)"
)
"""Summaries of nothing."""
_ASTRAY = (
    "summary <= id OR summary IS NOT NULL"
    " AND summary NOT IN (SELECT id FROM memory WHERE kind = 'Summary' AND origin = '')"
)
"""Memories whose summary is none."""


class MemoryStore:
    """The long-term memories of one agent.

    Raises a ``ToolError`` that says what to do if it cannot do what was asked, and what the
    ``Store`` raises.
    """

    kinds: tuple[str, ...] = KINDS

    def __init__(self, store: Store, index: Index, changes: Changes | None = None) -> None:
        self._store = store
        self._index = index
        self.log = MemoryLog(store, index, changes or Changes(store))
        self.behind = True  # whether copies may wait for the index
        store.tables(*_SCHEMA)

    @property
    def count(self) -> int:
        """How many memories are active, without summaries."""
        return self.within(0, self.newest)

    @property
    def newest(self) -> int:
        """The highest id."""
        return self._store.number("SELECT max(id) FROM memory")

    @property
    def ever(self) -> int:
        """The highest id that was ever given."""
        sql = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'memory'"
        return self._store.number(sql)

    @property
    def tokens(self) -> int:
        """How many tokens all active memories and summaries have."""
        return sum(self.tokens_of(kind) for kind in KINDS)

    @property
    def stamp(self) -> str:
        """A text that every ``add`` and every ``remove`` changes."""
        return f"{self.newest} {self._store.number('SELECT count(*) FROM memory')}"

    def tokens_of(self, kind: Kind) -> int:
        """How many tokens the active memories of one kind have."""
        sizes = "sum(length(text)), sum(length(CAST(text AS BLOB)))"
        ((characters, size),) = self._store.rows(
            f"SELECT {sizes} FROM memory WHERE {_ACTIVE}", (kind,)
        )
        return formatting.tokens_of(characters or 0, size or 0)

    def within(self, after: int, until: int, kind: Kind = "Memory") -> int:
        """How many active memories of one kind have an id above ``after``, up to ``until``."""
        sql = f"SELECT count(*) FROM memory WHERE {_ACTIVE} AND id > ? AND id <= ?"
        return self._store.number(sql, kind, after, until)

    def find(self, id: int) -> Memory | None:
        """The memory with that id, active or archived."""
        return next(iter(self._select("WHERE id = ?", id)), None)

    def get(self, id: int) -> Memory:
        """The memory with that id; a ``ToolError`` if there is none."""
        memory = self.find(id)
        if not memory:
            raise ToolError(
                f"there is no memory {id}: RETRIEVE_SPECIFIC_MEMORIES <keywords> finds those that "
                "there are, with their ids"
            )
        return memory

    def active(
        self, kind: Kind = "Memory", limit: int = -1, after: int = 0, newest: bool = False
    ) -> list[Memory]:
        """The active memories of one kind behind the id ``after``, oldest or ``newest`` first."""
        order = "id DESC" if newest else "id"
        where = f"WHERE {_ACTIVE} AND id > ? ORDER BY {order} LIMIT ?"
        return self._select(where, kind, after, limit)

    def everything(self) -> Iterator[Memory]:
        """The active memories and all summaries, oldest first: what a link carries."""
        return iter(self._select("WHERE summary IS NULL OR kind = 'Summary' ORDER BY id"))

    def written_by_person(self, text: str) -> Memory | None:
        """The active memory of a ``PERSON`` with just this text."""
        where = f"WHERE {_ACTIVE} AND origin = ? AND text = ? ORDER BY id DESC LIMIT 1"
        return next(iter(self._select(where, "Memory", PERSON, text)), None)

    def page(self, offset: int, length: int) -> list[Memory]:
        """A stretch of all that is active: the summaries, then the memories, newest first."""
        return self._select(
            "WHERE summary IS NULL ORDER BY kind DESC, id DESC LIMIT ? OFFSET ?", length, offset
        )

    def originals(self, id: int, offset: int = 0, length: int = -1) -> list[Memory]:
        """For what a summary stands, oldest first, or a stretch of it."""
        return self._select("WHERE summary = ? ORDER BY id LIMIT ? OFFSET ?", id, length, offset)

    def stands_for(self, id: int) -> int:
        """For how many memories or summaries a summary stands."""
        return self._store.number("SELECT count(*) FROM memory WHERE summary = ?", id)

    def add(self, text: str, at: datetime, origin: str = "") -> Memory:
        """Add a memory: the agent's own, or one of a ``PERSON``."""
        if not text.strip():
            raise ToolError(
                "remember what? write ADD_TO_LONGTERM_MEMORY <text>, or the text below the line "
                "between <<END and END"
            )
        self._bound("Memory", text)
        with self.log.change("added"):
            return self._insert("Memory", text, at, origin)

    def correct(self, id: int, text: str) -> Memory:
        """Replace the text of a memory or a summary by what a person says; returns it as it is now.

        Id, kind and time stay, and the origin of a copy, so that agents that have copied it know it
        again. One of the agent's own has the origin ``PERSON`` from then on.
        """
        memory = self.get(id)
        if not text.strip():
            raise ToolError(f"what is right? write /correct {id} and the whole text")
        counted = text if memory.summary else memory.text  # what is archived does not count
        self._bound(memory.kind, text, formatting.tokens(counted))
        # a summary with an origin would stand for nothing here
        origin = memory.origin or (PERSON if memory.kind == "Memory" else "")
        corrected = replace(memory, text=text, origin=origin)
        with self.log.change("corrected", [id]) as connection:
            sql = "UPDATE memory SET text = ?, origin = ? WHERE id = ?"
            connection.execute(sql, (text, corrected.origin, id))
            if not self._store.number("SELECT waits FROM memory WHERE id = ?", id):
                self._index.remove(memory.kind, id)
                self._index.add(corrected.document)
        return corrected

    def remove(self, id: int) -> Memory:
        """Remove an active memory, or a copied summary."""
        memory = self.get(id)
        if memory.summary:
            raise ToolError(
                f"{memory.title}, stays there: a person can say "
                f"/restore-memories {memory.summary}, then it can be removed"
            )
        if memory.kind == "Summary" and not memory.origin:
            raise ToolError(
                f"summary {id} stands for others, and stays: a person can say "
                f"/restore-memories {id}, which brings them back"
            )
        with self.log.change("removed", [id]) as connection:
            connection.execute("DELETE FROM memory WHERE id = ?", (id,))
            self._index.remove(memory.kind, id)
        return memory

    def narrate(self, ids: Sequence[int], narrative: str, at: datetime) -> Memory | None:
        """Let a new summary stand for these memories.

        Returns None and changes nothing if one of them is not active any more.
        """
        where = f"id IN ({marks(ids)}) AND summary IS NULL"
        if self._store.number(f"SELECT count(*) FROM memory WHERE {where}", *ids) < len(ids):
            return None
        changed = self.log.change(f"summed up {len(ids)} memories in", members=ids)
        with self.log.changes.by(SELF_CARE), changed as connection:
            summary = self._insert("Summary", narrative, at)
            connection.execute(f"UPDATE memory SET summary = ? WHERE {where}", (summary.id, *ids))
        return summary

    def restore(self, id: int) -> int:
        """Make the memories of a summary active again and delete the summary; returns how many."""
        summary = self.get(id)
        if summary.kind == "Memory" or summary.origin:
            raise ToolError(
                f"nothing stands behind {summary.title}: /memories lists the summaries that stand "
                "for something"
            )
        if summary.summary:
            raise ToolError(
                f"summary {id} is itself summed up in summary {summary.summary}: "
                f"say /restore-memories {summary.summary} first"
            )
        members = [member.id for member in self._select("WHERE summary = ?", id)]
        with self.log.change("brought back the memories of", [id], members) as connection:
            sql = "UPDATE memory SET summary = NULL WHERE summary = ?"
            restored = connection.execute(sql, (id,)).rowcount
            connection.execute("DELETE FROM memory WHERE id = ?", (id,))
            self._index.remove("Summary", id)
        return restored

    def search(self, query: str, limit: int = 10) -> list[Memory]:
        """The best memories for any words, archived ones too.

        If the query is the id of a memory, that memory comes first.
        """
        ids: list[int] = []
        if named := numbered(query):
            ids.append(named)
        ids += [hit.document.origin for hit in self._index.search(query, limit, KINDS)]
        memories = [self.find(id) for id in dict.fromkeys(ids)]
        return [memory for memory in memories if memory][:limit]

    def take(self, copies: Sequence[Memory], at: datetime) -> tuple[int, int]:
        """Copy memories that came from another agent, all or nothing.

        Returns how many are new, and how many were known. No copy is dated later than ``at``,
        whatever the other agent's clock said. Raises ``FormatError`` if no store can have sent
        them.
        """
        check(copies)
        by_link = self.log.changes.by(LINK)
        with by_link, self.log.change("copied memories, up to", copies=True) as connection:
            known = set[str]()
            for (key,) in connection.execute("SELECT origin FROM memory_taken"):
                known.update(_known_by(key))
            keyed = {_key(copy): copy for copy in copies}
            new = {key: copy for key, copy in keyed.items() if known.isdisjoint(_names(copy))}
            connection.executemany("INSERT INTO memory_taken VALUES (?)", ((key,) for key in new))
            rows = (
                (copy.kind, copy.text, int(min(copy.at, at).timestamp()), copy.origin, 1)
                for copy in new.values()
            )
            connection.executemany(_INSERT, rows)
        self.behind = True
        return len(new), len(copies) - len(new)

    def catch_up(self, limit: int) -> None:
        """Index at most ``limit`` of the copies that wait for the index."""
        waiting = self._select("WHERE waits ORDER BY id LIMIT ?", limit)
        if waiting:
            with self._store.writing() as connection:
                for memory in waiting:
                    self._index.add(memory.document)
                sql = "UPDATE memory SET waits = 0 WHERE waits AND id <= ?"
                connection.execute(sql, (waiting[-1].id,))
        self.behind = len(waiting) == limit

    def documents(self) -> Iterator[Document]:
        """All that has to be in the index."""
        return (memory.document for memory in self._select("WHERE NOT waits ORDER BY id"))

    def way(self, kind: str, origin: int) -> str:
        """The tool line that shows the full text of a hit; empty if the memory is gone."""
        return f"RETRIEVE_SPECIFIC_MEMORIES {origin}" if self.find(origin) else ""

    def heard_in(self, kind: str, origin: int) -> list[str]:
        """None: a memory may come from any room."""
        return []

    def problems(self) -> Iterator[str]:
        """What is wrong in the table, one line each."""
        for where, problem in (
            (_EMPTY, "stands for nothing"),
            (_ASTRAY, "is archived in what is no summary of it"),
        ):
            for (id,) in self._store.rows(f"SELECT id FROM memory WHERE {where} ORDER BY id"):
                yield f"the memory {id} {problem}"
        for (id,) in self._store.rows("SELECT id FROM memory ORDER BY id"):
            with suppress(FormatError):  # a time that cannot be, or a text that is none
                if sound(self.get(id)):
                    continue
            yield f"the memory {id} cannot be read: put the file back from a backup"

    def _select(self, where: str, *values: object) -> list[Memory]:
        sql = f"SELECT id, kind, text, at, origin, summary FROM memory {where}"
        return [
            Memory(id, kind, text, self._store.moment(at), origin, summary)
            for id, kind, text, at, origin, summary in self._store.rows(sql, values)
        ]

    def _bound(self, kind: Kind, text: str, before: int = 0) -> None:
        """Raise unless a text is short enough for its kind, and all memories are with it, where
        ``before`` tokens stand now.
        """
        limit = TEXT_LIMIT if kind == "Memory" else NARRATIVE_LIMIT
        if len(text) > limit:
            raise ToolError(
                f"that has {len(text):,} characters, a {kind.lower()} may have {limit:,}: "
                "say it shorter, or make two of it"
            )
        tokens = self.tokens
        more = formatting.tokens(text) - before
        if more > 0 and tokens + more > CEILING:
            raise ToolError(
                f"your memories hold {tokens:,} tokens of at most {CEILING:,}: "
                "care for yourself first, with SELF_CARE at home"
            )

    def _insert(self, kind: Kind, text: str, at: datetime, origin: str = "") -> Memory:
        with self._store.writing() as connection:
            values = (kind, text, int(at.timestamp()), origin, 0)
            memory = Memory(
                connection.execute(_INSERT, values).lastrowid or 0, kind, text, at, origin
            )
            self._index.add(memory.document)
        return memory


def _key(copy: Memory) -> str:
    """What ``memory_taken`` holds of a copy."""
    digest = hashlib.sha256(copy.text.encode()).hexdigest()[:16]
    return f"{copy.origin} {digest} {int(copy.at.timestamp())}"


def _names(copy: Memory) -> tuple[str, str, str]:
    """By what a copy may be known: its origin, that and its text, that and its time."""
    origin_and_text, _, second = _key(copy).rpartition(" ")
    return copy.origin, origin_and_text, f"{copy.origin} at {second}"


def _known_by(key: str) -> tuple[str, ...]:
    """By what a copy with that key is known again. In an older store it is the key itself: the
    origin and a hash, or the origin alone.
    """
    if not (match := _KEY.fullmatch(key)):
        return (key,)
    origin, digest, second = match.groups()
    return f"{origin} {digest}", f"{origin} at {second}"
