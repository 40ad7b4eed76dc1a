"""The memory bank: what the agent chose to keep for good, and the summaries into which self-care
turns it. Tables of its one SQLite file.

    memory         id (rising, never used again), kind, text, when, origin, the summary that stands for it, whether it waits for the index
    memory_taken   what was ever copied from another bank: each origin, and behind it a hash of the text

A memory is active until a ``Summary`` stands for it. Then it is archived: it stays in the table for
good, is found, and comes back with ``restore``. Summaries are summed up in their turn. What was
copied from another agent has an ``origin``; it is copied once, also if it was removed since, and a
copied summary stands for nothing here. Another text of the same origin is another memory: a bank
that was begun anew counts from 1 again.

Every write is one transaction together with its index entries, but for copies: of these there may
be very many, and ``catch_up`` indexes them.

What stands in a memory bank: its entries, how long they may be, and what of them is indexed. Pure.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from dory import clock
from dory.errors import FormatError, ToolError
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import Store, marks
from dory.text import formatting
from dory.text.formatting import encodable

Kind = Literal["Memory", "Summary"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXT_LIMIT, NARRATIVE_LIMIT, ORIGIN_LIMIT = 2_000, 8_000, 100
"""Characters of a memory, of a summary, and of an origin."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry. ``origin`` is empty for what is the agent's own, else the name of who first had
    it, and its id there; ``summary`` is the id of what stands for it, None while it is active.
    """

    id: int
    kind: Kind
    text: str
    at: datetime
    origin: str = ""
    summary: int | None = None

    @property
    def title(self) -> str:
        """What it is, of when, from whom, and where it stands: ``memory 17 of 2026-03-02, from
        dory-5d41402a 9, in summary 501``.
        """
        archived = f", in summary {self.summary}" if self.summary else ""
        return (
            f"{self.kind.lower()} {self.id} of {clock.minute(self.at)[:10]}{self.source}{archived}"
        )

    @property
    def source(self) -> str:
        """From whom it was copied; empty for what is the agent's own."""
        return f", from {formatting.one_line(self.origin, ORIGIN_LIMIT)}" if self.origin else ""

    @property
    def document(self) -> Document:
        """As it is indexed."""
        return Document(self.kind, self.id, self.at, self.text)


def sound(one: Memory) -> bool:
    """Whether it can be written into a bank and read again as it is, whoever has filled it in."""
    readable = (
        isinstance(one.text, str)
        and encodable(one.text) == one.text
        and isinstance(one.origin, str)
    )
    dated = isinstance(one.at, datetime) and one.at.utcoffset() == timedelta(0)
    return (
        readable
        and dated
        and one.kind in KINDS
        and one.text.strip() != ""
        and len(one.text) <= NARRATIVE_LIMIT
    )


def check(copies: Iterable[Memory]) -> None:
    """Raise a ``FormatError`` unless a bank could have sent these."""
    for one in copies:
        named = (
            isinstance(one.origin, str)
            and 0 < len(one.origin) <= ORIGIN_LIMIT
            and one.origin.isprintable()
            and not set("◱◲") & set(one.origin)
        )
        if not (named and sound(one)):
            raise FormatError(
                f"{formatting.one_line(str(one.origin))!r} is no memory of a bank, or says not whose it is: nothing was copied"
            )


CEILING = 100_000
"""Tokens of all that is active; nothing is added beyond it before the agent has cared for itself.
"""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL,
 origin TEXT NOT NULL, summary INTEGER REFERENCES memory, waits INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS memory_summary ON memory (summary, kind);
CREATE INDEX IF NOT EXISTS memory_waits ON memory (id) WHERE waits;
CREATE TABLE IF NOT EXISTS memory_taken (origin TEXT PRIMARY KEY) WITHOUT ROWID"""
_INSERT = "INSERT INTO memory (kind, text, at, origin, waits) VALUES (?, ?, ?, ?, ?)"
_EMPTY = "kind = 'Summary' AND origin = '' AND id NOT IN (SELECT summary FROM memory WHERE summary IS NOT NULL)"
_ASTRAY = "summary <= id OR summary IS NOT NULL AND summary NOT IN (SELECT id FROM memory WHERE kind = 'Summary' AND origin = '')"


class MemoryStore:
    """The bank of one agent. Raises a ``ToolError`` that says what to do when it cannot do what was
    asked, and what the store raises.
    """

    kinds: tuple[str, ...] = KINDS

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index
        self.behind = True  # whether copies may wait for the index
        store.tables(_SCHEMA)

    @property
    def count(self) -> int:
        """How many memories are active; summaries are not counted."""
        return self.within(0, self.newest)

    @property
    def newest(self) -> int:
        """The highest id."""
        return self._store.number("SELECT max(id) FROM memory")

    @property
    def tokens(self) -> int:
        """What all that is active comes to."""
        return sum(map(self.tokens_of, KINDS))

    @property
    def stamp(self) -> str:
        """Something that every ``add`` and every ``remove`` changes."""
        return f"{self.newest} {self._store.number('SELECT count(*) FROM memory')}"

    def tokens_of(self, kind: Kind) -> int:
        """What the active ones of a kind come to."""
        return formatting.tokens_of(
            self._store.number(
                "SELECT sum(length(text)) FROM memory WHERE summary IS NULL AND kind = ?", kind
            )
        )

    def within(self, after: int, until: int, kind: Kind = "Memory") -> int:
        """How many active ones of a kind there are between these ids, the second among them."""
        return self._store.number(
            "SELECT count(*) FROM memory WHERE summary IS NULL AND kind = ? AND id > ? AND id <= ?",
            kind,
            after,
            until,
        )

    def find(self, id: int) -> Memory | None:
        """The entry with that id, active or archived."""
        return next(iter(self._found("WHERE id = ?", id)), None)

    def get(self, id: int) -> Memory:
        """The same; a ``ToolError`` if there is none."""
        if not (found := self.find(id)):
            raise ToolError(
                f"there is no memory {id}: RETRIEVE_SPECIFIC_MEMORIES <keywords> finds those that there are, with their ids"
            )
        return found

    def active(
        self, kind: Kind = "Memory", limit: int = -1, after: int = 0, newest: bool = False
    ) -> list[Memory]:
        """The active ones of a kind, behind the id ``after``, the oldest first; or the ``newest``."""
        order = "id DESC" if newest else "id"
        return self._found(
            f"WHERE summary IS NULL AND kind = ? AND id > ? ORDER BY {order} LIMIT ?",
            kind,
            after,
            limit,
        )

    def everything(self) -> Iterator[Memory]:
        """The active memories and all summaries, the oldest first: what a link carries."""
        return iter(self._found("WHERE summary IS NULL OR kind = 'Summary' ORDER BY id"))

    def add(self, text: str, at: datetime) -> Memory:
        """A new memory."""
        if not text.strip():
            raise ToolError(
                "remember what? write ADD_TO_LONGTERM_MEMORY <text>, or the text below the line between <<END and END"
            )
        if len(text) > TEXT_LIMIT:
            raise ToolError(
                f"that has {len(text):,} characters, a memory may have {TEXT_LIMIT:,}: say it shorter, or make two of it"
            )
        if (tokens := self.tokens) + formatting.tokens(text) > CEILING:
            raise ToolError(
                f"your memories hold {tokens:,} tokens of at most {CEILING:,}: care for yourself first, with SELF_CARE at home"
            )
        return self._inserted("Memory", text, at)

    def remove(self, id: int) -> Memory:
        """Take an active memory out, or a copied summary."""
        one = self.get(id)
        if one.summary:
            raise ToolError(
                f"{one.title}, stays there: a person can say /restore-memories {one.summary}, then it can be removed"
            )
        if one.kind == "Summary" and not one.origin:
            raise ToolError(
                f"summary {id} stands for others, and stays: a person can say /restore-memories {id}, which brings them back"
            )
        with self._store.writing() as connection:
            connection.execute("DELETE FROM memory WHERE id = ?", (id,))
            self._index.remove(one.kind, id)
        return one

    def narrate(self, ids: Sequence[int], narrative: str, at: datetime) -> Memory | None:
        """Let a new summary stand for these; None, and nothing is changed, when one of them is not
        active any more.
        """
        those = f"id IN ({marks(ids)}) AND summary IS NULL"
        if self._store.number(f"SELECT count(*) FROM memory WHERE {those}", *ids) < len(ids):
            return None
        with self._store.writing() as connection:
            made = self._inserted("Summary", narrative, at)
            connection.execute(f"UPDATE memory SET summary = ? WHERE {those}", (made.id, *ids))
        return made

    def restore(self, id: int) -> int:
        """Have those back for which a summary stands, in its place; returns how many."""
        one = self.get(id)
        if one.kind == "Memory" or one.origin:
            raise ToolError(
                f"nothing stands behind {one.title}: /memories lists the summaries that stand for something"
            )
        if one.summary:
            raise ToolError(
                f"summary {id} is itself summed up in summary {one.summary}: say /restore-memories {one.summary} first"
            )
        with self._store.writing() as connection:
            restored = connection.execute(
                "UPDATE memory SET summary = NULL WHERE summary = ?", (id,)
            ).rowcount
            connection.execute("DELETE FROM memory WHERE id = ?", (id,))
            self._index.remove("Summary", id)
        return restored

    def search(self, query: str, limit: int = 10) -> list[Memory]:
        """The best for any words, archived ones among them; first of all the one whose id the query
        is.
        """
        named = [int(query)] if query.isascii() and query.isdecimal() and len(query) < 19 else []
        ids = dict.fromkeys(
            [*named, *(hit.document.origin for hit in self._index.search(query, limit, KINDS))]
        )
        return [one for one in map(self.find, ids) if one][:limit]

    def take(self, copies: Sequence[Memory], at: datetime) -> tuple[int, int]:
        """Copy what came from another bank, all or nothing: how many are new, how many were known.
        None is younger than ``at``, whatever the other's clock said. Raises ``FormatError`` for
        what no bank could have sent.
        """
        check(copies)
        with self._store.writing() as connection:
            known = {origin for (origin,) in connection.execute("SELECT origin FROM memory_taken")}
            keyed = {
                f"{one.origin} {hashlib.sha256(one.text.encode()).hexdigest()[:16]}": one
                for one in copies
            }
            new = {
                key: one for key, one in keyed.items() if not {key, one.origin} & known
            }  # of the latter no hash was kept
            connection.executemany("INSERT INTO memory_taken VALUES (?)", ((key,) for key in new))
            rows = (
                (one.kind, one.text, int(min(one.at, at).timestamp()), one.origin, 1)
                for one in new.values()
            )
            connection.executemany(_INSERT, rows)
        self.behind = True
        return len(new), len(copies) - len(new)

    def catch_up(self, limit: int) -> None:
        """Index so many of the copies that wait for it."""
        rows = self._found("WHERE waits ORDER BY id LIMIT ?", limit)
        if rows:
            with self._store.writing() as connection:
                for one in rows:
                    self._index.add(one.document)
                connection.execute(
                    "UPDATE memory SET waits = 0 WHERE waits AND id <= ?", (rows[-1].id,)
                )
        self.behind = len(rows) == limit

    def documents(self) -> Iterator[Document]:
        """What has to be in the index."""
        return (one.document for one in self._found("WHERE NOT waits ORDER BY id"))

    def way(self, kind: str, origin: int) -> str:
        """How one that was found is to be had word for word; empty when it is gone."""
        return f"RETRIEVE_SPECIFIC_MEMORIES {origin}" if self.find(origin) else ""

    def problems(self) -> Iterator[str]:
        """What is wrong in the table, one line each."""
        for where, told in (
            (_EMPTY, "stands for nothing"),
            (_ASTRAY, "is archived in what is no summary of it"),
        ):
            for (id,) in self._store.rows(f"SELECT id FROM memory WHERE {where} ORDER BY id"):
                yield f"the memory {id} {told}"
        for (id,) in self._store.rows("SELECT id FROM memory ORDER BY id"):
            with suppress(FormatError):  # a time that there is not, or a text that is none
                if sound(self.get(id)):
                    continue
            yield f"the memory {id} cannot be read: put the file back from a backup"

    def _found(self, where: str, *values: object) -> list[Memory]:
        rows = self._store.rows(
            f"SELECT id, kind, text, at, origin, summary FROM memory {where}", values
        )
        return [
            Memory(id, kind, text, self._store.moment(at), origin, summary)
            for id, kind, text, at, origin, summary in rows
        ]

    def _inserted(self, kind: Kind, text: str, at: datetime) -> Memory:
        with self._store.writing() as connection:
            made = Memory(
                connection.execute(_INSERT, (kind, text, int(at.timestamp()), "", 0)).lastrowid
                or 0,
                kind,
                text,
                at,
            )
            self._index.add(made.document)
        return made
