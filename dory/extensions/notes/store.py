"""Notes and archives: what the agent writes on purpose, and what compaction leaves behind. Three
tables of the agent's one SQLite file.

    note          id (rising, never used again), name, kind, content, when, the blob of an archive's original
    alias         every name by which an entry is known, its own included: names and aliases share one namespace
    note_writes   how many writes there have been

Every write is one transaction together with its index entry, and durable when it returns; one that
fails changes nothing, and what cannot be done is refused before it begins. How much of a hit is too
little to be one, the caller of ``search`` decides.
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
NAME_LIMIT, CONTENT_LIMIT = 80, 20_000
"""Characters of a name, and of what a note holds; an archive holds a summary, which is as long as
it is.
"""
_NAME = re.compile(r"(?!.*->)[^\s◱◲\[\]\"]+")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY AUTOINCREMENT, name UNIQUE, kind TEXT, content TEXT, at INTEGER, hash TEXT);
CREATE INDEX IF NOT EXISTS note_hash ON note (hash);
CREATE TABLE IF NOT EXISTS alias (name TEXT PRIMARY KEY, id INTEGER REFERENCES note) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS alias_id ON alias (id);
CREATE TABLE IF NOT EXISTS note_writes (id INTEGER PRIMARY KEY, count INTEGER)"""


@dataclass(frozen=True, slots=True)
class Note:
    """One entry. ``aliases`` are its other names, ``hash`` is the blob of the stretch that an
    archive sums up.
    """

    id: int
    name: str
    kind: Kind
    content: str
    at: datetime
    hash: str | None = None
    aliases: tuple[str, ...] = ()


class Notes:
    """The entries of one agent. Raises a ``ToolError`` that says what to do when it cannot do what
    was asked, and what the store raises.
    """

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index
        store.tables(_SCHEMA)

    def __iter__(self) -> Iterator[Note]:
        """All entries, the newest first."""
        return iter(self._found("ORDER BY id DESC"))

    @property
    def writes(self) -> int:
        """How many writes there have been."""
        return self._store.number("SELECT sum(count) FROM note_writes")

    def find(self, name: str) -> Note | None:
        """The entry that is known by ``name``."""
        return (
            self._first("JOIN alias USING (id) WHERE alias.name = ?", name)
            if name.isprintable()
            else None
        )

    def get(self, name: str) -> Note:
        """The entry that is known by ``name``; a ``ToolError`` that names similar ones if there is
        none.
        """
        if found := self.find(name):
            return found
        near = [note.name for note, _ in self.search(name, 3)]
        raise ToolError(
            f"there is no note {name[:NAME_LIMIT]!r}"
            + (f"; similar ones: {', '.join(near)}" if near else "")
        )

    def numbered(self, id: int) -> Note | None:
        """The entry with that id."""
        return self._first("WHERE id = ?", id)

    def archive_of(self, hash: str) -> Note | None:
        """The archive of the stretch whose original is the blob ``hash``."""
        return self._first("WHERE hash = ?", hash)

    def newest(self, kind: Kind, limit: int) -> list[Note]:
        """The newest entries of one kind."""
        return self._found("WHERE kind = ? ORDER BY id DESC LIMIT ?", kind, limit)

    @property
    def hashes(self) -> set[str]:
        """The blobs of all archives."""
        return {
            hash for (hash,) in self._store.rows("SELECT hash FROM note WHERE hash IS NOT NULL")
        }

    def add(
        self, name: str, content: str, kind: Kind, at: datetime, hash: str | None = None
    ) -> Note:
        """A new entry."""
        check(name, content, kind)
        if holder := self.find(name):
            raise ToolError(
                f"{_taken(name, holder)}: NOTE_WRITE changes it, or choose another name"
            )
        with self._writing() as connection:
            values = (name, kind, content, int(at.timestamp()), hash)
            id = (
                connection.execute(
                    "INSERT INTO note VALUES (NULL, ?, ?, ?, ?, ?)", values
                ).lastrowid
                or 0
            )
            connection.execute("INSERT INTO alias VALUES (?, ?)", (name, id))
            return self._indexed(id)

    def rename(self, name: str, new: str) -> Note:
        """Another canonical name; the old one stays as an alias."""
        note, holder = self.get(name), self.find(check_name(new))
        if holder and (holder.id != note.id or new == note.name):
            raise ToolError(f"{_taken(new, holder)}: choose another name")
        with self._writing() as connection:
            connection.execute("INSERT OR IGNORE INTO alias VALUES (?, ?)", (new, note.id))
            connection.execute("UPDATE note SET name = ? WHERE id = ?", (new, note.id))
            return self._indexed(note.id)

    def alias(self, name: str, alias: str) -> Note | None:
        """Another name for an entry. An alias of another one is pointed to this one; that other
        entry is returned.
        """
        note, holder = self.get(name), self.find(check_name(alias))
        if holder and alias in (holder.name, *note.aliases):
            raise ToolError(f"{_taken(alias, holder)}: choose another one")
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO alias VALUES (?, ?)", (alias, note.id))
        return holder

    def write(self, name: str, content: str) -> Note:
        """Another content."""
        note = self.get(name)
        check(note.name, content, note.kind)
        if content == note.content:
            raise ToolError(f"{note.name} would not change: it holds that already")
        with self._writing() as connection:
            connection.execute("UPDATE note SET content = ? WHERE id = ?", (content, note.id))
            return self._indexed(note.id)

    def remove(self, name: str) -> Note:
        """Take an entry and all its aliases out."""
        note = self.get(name)
        with self._writing() as connection:
            connection.execute("DELETE FROM alias WHERE id = ?", (note.id,))
            connection.execute("DELETE FROM note WHERE id = ?", (note.id,))
            self._index.remove(note.kind, note.id)
        return note

    def search(self, query: str, limit: int = 10) -> list[tuple[Note, float]]:
        """Entries of both kinds with their scores, ranked by names and contents, of equals the
        newer one first. Any text is a query.
        """
        found = [
            (self.numbered(hit.document.origin), hit.score)
            for hit in self._index.search(query, limit, KINDS)
        ]
        return sorted(
            ((note, score) for note, score in found if note),
            key=lambda result: (-result[1], -result[0].id),
        )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._store.writing() as connection:
            yield connection
            connection.execute(
                "INSERT INTO note_writes VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = count + 1"
            )

    def _indexed(self, id: int) -> Note:
        (note,) = self._found("WHERE id = ?", id)
        self._index.remove(note.kind, id)
        self._index.add(document(note))
        return note

    def _first(self, where: str, value: object) -> Note | None:
        return next(iter(self._found(where, value)), None)

    def _found(self, where: str, *values: object) -> list[Note]:
        rows = self._store.rows(
            f"SELECT id, note.name, kind, content, at, hash FROM note {where}", values
        )
        return [
            Note(id, name, kind, text, self._store.moment(at), hash, self._aliases(id, name))
            for id, name, kind, text, at, hash in rows
        ]

    def _aliases(self, id: int, name: str) -> tuple[str, ...]:
        return tuple(
            alias
            for (alias,) in self._store.rows(
                "SELECT name FROM alias WHERE id = ? AND name <> ? ORDER BY name", (id, name)
            )
        )


def check_name(name: str) -> str:
    """``name`` itself if an entry may be called so, else a ``ToolError``."""
    if not _NAME.fullmatch(name) or len(name) > NAME_LIMIT or not name.isprintable():
        raise ToolError(
            f"{name[:NAME_LIMIT]!r} is no name for a note: one word of at most {NAME_LIMIT} characters, such as lisbon-hotel"
        )
    return name


def check(name: str, content: str, kind: Kind) -> None:
    """Raise a ``ToolError`` unless an entry of that kind may have this name and content."""
    check_name(name)
    if not content.strip():
        raise ToolError(
            f"{name} needs a content: write it behind the name, or below the line between <<END and END"
        )
    if kind == "Note" and len(content) > CONTENT_LIMIT:
        raise ToolError(
            f"{name} would have {len(content)} characters, a note may have {CONTENT_LIMIT}: shorten it, or make two of it"
        )


def document(note: Note) -> Document:
    """The entry as it is indexed: its aliases contribute nothing."""
    return Document(note.kind, note.id, note.at, f"{note.name}\n{note.content}", hash=note.hash)


def _taken(name: str, holder: Note) -> str:
    return f"{name!r} is {'the name' if holder.name == name else 'another name'} of {holder.name}"
