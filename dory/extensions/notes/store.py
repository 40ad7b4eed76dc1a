"""Notes, which the agent writes, and archives, which compaction leaves.

Three tables of the agent's SQLite file:

    note          id (rising, never used again), name, kind, content, when, the blob of an archive's
                  original
    alias         every name of every entry; names and aliases share one namespace
    note_writes   how many writes there have been

Every write is one transaction together with its index entry, and durable when it returns. A write
that fails changes nothing; what cannot be done is refused before it begins. ``search`` returns weak
hits too: its caller decides which are good enough.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from dory.errors import ToolError
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import Store

Kind = Literal["Note", "Archive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NAME_LIMIT = 80
"""Characters of a name."""
CONTENT_LIMIT = 20_000
"""Characters of a note. An archive holds a summary, whose length is not checked."""
_NAME = re.compile(r"(?!.*->)[^\s◱◲\[\]\"]+")
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY AUTOINCREMENT, name UNIQUE,"
    " kind TEXT, content TEXT, at INTEGER, hash TEXT)",
    "CREATE INDEX IF NOT EXISTS note_hash ON note (hash)",
    "CREATE TABLE IF NOT EXISTS alias"
    " (name TEXT PRIMARY KEY, id INTEGER REFERENCES note) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS alias_id ON alias (id)",
    "CREATE TABLE IF NOT EXISTS note_writes (id INTEGER PRIMARY KEY, count INTEGER)",
)
_COUNT_WRITE = (
    "INSERT INTO note_writes VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = count + 1"
)


@dataclass(frozen=True, slots=True)
class Note:
    """A note or an archive.

    ``aliases`` are its other names; ``hash`` is the blob of the stretch that an archive sums up.
    """

    id: int
    name: str
    kind: Kind
    content: str
    at: datetime
    hash: str | None = None
    aliases: tuple[str, ...] = ()


class Notes:
    """The notes and archives of one agent.

    Raises a ``ToolError`` that says what to do if it cannot do what was asked, and what the
    ``Store`` raises.
    """

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index
        store.tables(*_SCHEMA)

    def __iter__(self) -> Iterator[Note]:
        """All entries, newest first."""
        return iter(self._select("ORDER BY id DESC"))

    @property
    def writes(self) -> int:
        """How many writes there have been."""
        return self._store.number("SELECT sum(count) FROM note_writes")

    def find(self, name: str) -> Note | None:
        """The entry with this name or alias."""
        if not name.isprintable():
            return None
        return self._first("JOIN alias USING (id) WHERE alias.name = ?", name)

    def get(self, name: str) -> Note:
        """The entry with this name or alias; a ``ToolError`` that lists similar ones if none."""
        note = self.find(name)
        if note:
            return note
        near = ", ".join(note.name for note, _ in self.search(name, 3))
        hint = f"; similar ones: {near}" if near else ""
        raise ToolError(f"there is no note {name[:NAME_LIMIT]!r}{hint}")

    def numbered(self, id: int) -> Note | None:
        """The entry with that id."""
        return self._first("WHERE id = ?", id)

    def archive_of(self, hash: str) -> Note | None:
        """The archive of the stretch whose original is the blob ``hash``."""
        return self._first("WHERE hash = ?", hash)

    def newest(self, kind: Kind, limit: int) -> list[Note]:
        """The newest entries of one kind."""
        return self._select("WHERE kind = ? ORDER BY id DESC LIMIT ?", kind, limit)

    @property
    def hashes(self) -> set[str]:
        """The blobs of all archives."""
        rows = self._store.rows("SELECT hash FROM note WHERE hash IS NOT NULL")
        return {hash for (hash,) in rows}

    def add(
        self, name: str, content: str, kind: Kind, at: datetime, hash: str | None = None
    ) -> Note:
        """Add an entry."""
        check(name, content, kind)
        holder = self.find(name)
        if holder:
            raise ToolError(
                f"{_taken(name, holder)}: NOTE_WRITE changes it, or choose another name"
            )
        with self._writing() as connection:
            values = (name, kind, content, int(at.timestamp()), hash)
            insert = "INSERT INTO note VALUES (NULL, ?, ?, ?, ?, ?)"
            id = connection.execute(insert, values).lastrowid or 0
            connection.execute("INSERT INTO alias VALUES (?, ?)", (name, id))
            return self._indexed(id)

    def rename(self, name: str, new: str) -> Note:
        """Give an entry another name; the old one stays as an alias."""
        note = self.get(name)
        holder = self.find(check_name(new))
        if holder and (holder.id != note.id or new == note.name):
            raise ToolError(f"{_taken(new, holder)}: choose another name")
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (new, note.id))
            connection.execute("UPDATE note SET name = ? WHERE id = ?", (new, note.id))
            return self._indexed(note.id)

    def alias(self, name: str, alias: str) -> Note | None:
        """Give an entry an alias.

        If ``alias`` was an alias of another entry, that entry loses it and is returned.
        """
        note = self.get(name)
        holder = self.find(check_name(alias))
        if holder and alias in (holder.name, *note.aliases):
            raise ToolError(f"{_taken(alias, holder)}: choose another one")
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO alias VALUES (?, ?)", (alias, note.id))
        return holder

    def write(self, name: str, content: str) -> Note:
        """Replace the content of an entry."""
        note = self.get(name)
        check(note.name, content, note.kind)
        if content == note.content:
            raise ToolError(f"{note.name} would not change: it holds that already")
        with self._writing() as connection:
            connection.execute("UPDATE note SET content = ? WHERE id = ?", (content, note.id))
            return self._indexed(note.id)

    def remove(self, name: str) -> Note:
        """Remove an entry and all its aliases."""
        note = self.get(name)
        with self._writing() as connection:
            connection.execute("DELETE FROM alias WHERE id = ?", (note.id,))
            connection.execute("DELETE FROM note WHERE id = ?", (note.id,))
            self._index.remove(note.kind, note.id)
        return note

    def search(self, query: str, limit: int = 10) -> list[tuple[Note, float]]:
        """The best entries of both kinds with their scores; of equal ones the newer comes first.

        Names and contents are searched. Any text is a query.
        """
        scored: list[tuple[Note, float]] = []
        for hit in self._index.search(query, limit, KINDS):
            note = self.numbered(hit.document.origin)
            if note:
                scored.append((note, hit.score))
        return sorted(scored, key=lambda result: (-result[1], -result[0].id))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._store.writing() as connection:
            yield connection
            connection.execute(_COUNT_WRITE)

    def _indexed(self, id: int) -> Note:
        (note,) = self._select("WHERE id = ?", id)
        self._index.remove(note.kind, id)
        self._index.add(document(note))
        return note

    def _first(self, where: str, value: object) -> Note | None:
        return next(iter(self._select(where, value)), None)

    def _select(self, where: str, *values: object) -> list[Note]:
        sql = f"SELECT id, note.name, kind, content, at, hash FROM note {where}"
        return [
            Note(id, name, kind, content, self._store.moment(at), hash, self._aliases(id, name))
            for id, name, kind, content, at, hash in self._store.rows(sql, values)
        ]

    def _aliases(self, id: int, name: str) -> tuple[str, ...]:
        sql = "SELECT name FROM alias WHERE id = ? AND name <> ? ORDER BY name"
        return tuple(alias for (alias,) in self._store.rows(sql, (id, name)))


def check_name(name: str) -> str:
    """Return ``name`` if an entry may have it, else raise a ``ToolError``."""
    if not _NAME.fullmatch(name) or len(name) > NAME_LIMIT or not name.isprintable():
        raise ToolError(
            f"{name[:NAME_LIMIT]!r} is no name for a note: "
            f"one word of at most {NAME_LIMIT} characters, such as lisbon-hotel"
        )
    return name


def check(name: str, content: str, kind: Kind) -> None:
    """Raise a ``ToolError`` unless an entry of that kind may have this name and content."""
    check_name(name)
    if not content.strip():
        raise ToolError(
            f"{name} needs a content: write it behind the name, "
            "or below the line between <<END and END"
        )
    if kind == "Note" and len(content) > CONTENT_LIMIT:
        raise ToolError(
            f"{name} would have {len(content)} characters, a note may have {CONTENT_LIMIT}: "
            "shorten it, or make two of it"
        )


def document(note: Note) -> Document:
    """The entry as it is indexed, without its aliases."""
    return Document(note.kind, note.id, note.at, f"{note.name}\n{note.content}", hash=note.hash)


def _taken(name: str, holder: Note) -> str:
    return f"{name!r} is {'the name' if holder.name == name else 'another name'} of {holder.name}"
