"""Notes, which the agent writes, and archives, which compaction leaves.

The tables in the agent's SQLite file:

    note          id (rising, never used again), name, kind, content, when, the blob of an archive's
                  original
    alias         every name of every entry, and alias_key: see ``name_table.py``
    note_head     front matter that a person has given a note in its file, beyond Dory's own fields
    note_writes   how many writes there have been
    note_due      the notes whose files in ``notes/`` are not as the notes are

Every write is one transaction together with its index entry and its row in the log of changes, and
durable when it returns. A write that fails changes nothing; what cannot be done is refused before
it begins. Archives are in no log and have no files: nobody changes them. ``search`` returns weak
hits too: its caller decides which are good enough.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from dory.errors import ToolError
from dory.extensions.notes import links, name_table
from dory.extensions.notes.names import NAME_LIMIT, check_name, key, made_of, spellings
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.changes import Changes, Snapshot
from dory.storage.database import Store

LAYER = "notes"
"""Of its changes in the log."""
Kind = Literal["Note", "Archive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CONTENT_LIMIT = 20_000
"""Characters of a note. An archive holds a summary, whose length is not checked."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY AUTOINCREMENT, name UNIQUE,"
    " kind TEXT, content TEXT, at INTEGER, hash TEXT)",
    "CREATE INDEX IF NOT EXISTS note_hash ON note (hash)",
    *name_table.SCHEMA,
    "CREATE TABLE IF NOT EXISTS note_writes (id INTEGER PRIMARY KEY, count INTEGER)",
)
_NEWER = (
    "CREATE TABLE IF NOT EXISTS note_head (id INTEGER PRIMARY KEY, text TEXT)",
    "CREATE TABLE IF NOT EXISTS note_due (id INTEGER PRIMARY KEY)",
    *name_table.NEWER,
)
"""Tables that an older file lacks."""
_COUNT_WRITE = (
    "INSERT INTO note_writes VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET count = count + 1"
)


@dataclass(frozen=True, slots=True)
class Note:
    """A note or an archive.

    ``aliases`` are its other names; ``hash`` is the blob of the stretch that an archive sums up;
    ``head`` is what a person has written into the front matter of its file, beyond name, aliases
    and time.
    """

    id: int
    name: str
    kind: Kind
    content: str
    at: datetime
    hash: str | None = None
    aliases: tuple[str, ...] = ()
    head: str = ""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, without their ``#``."""
        return links.tags(self.head, self.content)

    @property
    def snapshot(self) -> Snapshot:
        """The note as the log of changes keeps it."""
        return {
            "id": self.id,
            "name": self.name,
            "content": self.content,
            "at": int(self.at.timestamp()),
            "aliases": list(self.aliases),
            "head": self.head,
        }


class Notes:
    """The notes and archives of one agent.

    Raises a ``ToolError`` that says what to do if it cannot do what was asked, and what the
    ``Store`` raises.
    """

    def __init__(self, store: Store, index: Index, changes: Changes | None = None) -> None:
        self._store = store
        self._index = index
        self._names = name_table.NameTable(store)
        self.changes = changes or Changes(store)
        store.tables(*_SCHEMA, *(() if store.readonly else _NEWER))

    def __iter__(self) -> Iterator[Note]:
        """All entries, newest first."""
        return iter(self._select("ORDER BY id DESC"))

    @property
    def writes(self) -> int:
        """How many writes there have been."""
        return self._store.number("SELECT sum(count) FROM note_writes")

    def find(self, name: str) -> Note | None:
        """The entry with this name or alias; if there is none, the only one with a name that
        differs in case alone.
        """
        if not name.isprintable():
            return None
        exact = (self._names.exact(spelling) for spelling in spellings(name))
        id = next((id for id in exact if id is not None), None)
        return self.numbered(self._names.alike(name) if id is None else id)

    def called(self, name: str) -> Note | None:
        """The entry with this name or alias, also if it is written as people do."""
        return self.find(name) or self.numbered(self._names.alike(made_of(name)))

    def get(self, name: str) -> Note:
        """The entry with this name or alias, also if it is written as people do; a ``ToolError``
        that lists similar ones if there is none.
        """
        if note := self.called(name):
            return note
        near = self._names.nearest(name) or [note.name for note, _ in self.search(name, 3)]
        hint = f"; similar ones: {', '.join(near)}" if near else ""
        raise ToolError(f"there is no note {name[:NAME_LIMIT]!r}{hint}")

    def numbered(self, id: int | None) -> Note | None:
        """The entry with that id; None without one."""
        return self._first("WHERE id = ?", id)

    def archive_of(self, hash: str) -> Note | None:
        """The archive of the stretch whose original is the blob ``hash``."""
        return self._first("WHERE hash = ?", hash)

    def newest(self, kind: Kind, limit: int) -> list[Note]:
        """The newest entries of one kind."""
        return self._select("WHERE kind = ? ORDER BY id DESC LIMIT ?", kind, limit)

    def listed(self, offset: int, limit: int) -> list[Note]:
        """All entries, first the notes and then the archives, the newest first."""
        return self._select("ORDER BY kind DESC, id DESC LIMIT ? OFFSET ?", limit, offset)

    @property
    def next_id(self) -> int:
        """An id that no entry has ever had."""
        sql = "SELECT max(seq) FROM sqlite_sequence WHERE name = 'note'"
        return self._store.number(sql) + 1

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._store.number("SELECT count(*) FROM note")

    def linking(self, note: Note) -> list[str]:
        """The names of other notes that link to a note, by any of its names, the newest first."""
        names = {name.casefold() for name in (note.name, *note.aliases)}
        sql = "SELECT id, name, content FROM note WHERE instr(content, ?) AND kind = 'Note'"
        rows = self._store.rows(f"{sql} ORDER BY id DESC", (links.MARK,))
        return [
            name
            for id, name, content in rows
            if id != note.id and not names.isdisjoint(map(str.casefold, links.linked(content)))
        ]

    @property
    def hashes(self) -> set[str]:
        """The blobs of all archives."""
        rows = self._store.rows("SELECT hash FROM note WHERE hash IS NOT NULL")
        return {hash for (hash,) in rows}

    def add(
        self, name: str, content: str, kind: Kind, at: datetime, hash: str | None = None
    ) -> Note:
        """Add an entry."""
        name = check(name, content, kind)
        holder = self.find(name)
        if holder:
            raise ToolError(
                f"{_taken(name, holder)}: NOTE_WRITE changes it, or choose another name"
            )
        with self._writing("added") as connection:
            values = (name, kind, content, int(at.timestamp()), hash)
            insert = "INSERT INTO note VALUES (NULL, ?, ?, ?, ?, ?)"
            id = connection.execute(insert, values).lastrowid or 0
            self._names.give(connection, name, id)
            return self._indexed(id)

    def rename(self, name: str, new: str) -> Note:
        """Give an entry another name; the old one stays as an alias."""
        note = self.get(name)
        new = check_name(new)
        holder = self.find(new)
        if holder and (holder.id != note.id or new == note.name):
            raise ToolError(f"{_taken(new, holder)}: choose another name")
        with self._writing("renamed", note) as connection:
            self._names.give(connection, new, note.id)
            connection.execute("UPDATE note SET name = ? WHERE id = ?", (new, note.id))
            return self._indexed(note.id)

    def alias(self, name: str, alias: str) -> Note | None:
        """Give an entry an alias.

        If ``alias`` was an alias of another entry, that entry loses it and is returned.
        """
        note = self.get(name)
        alias = check_name(alias)
        holder = self.find(alias)
        own = holder is not None and holder.id == note.id
        kept = (note.name, *note.aliases) if own else ()
        if holder and (alias in kept or (not own and key(alias) == key(holder.name))):
            raise ToolError(f"{_taken(alias, holder)}: choose another one")
        with self._writing("gave another name to", note, *filter(None, [holder])) as connection:
            if holder and not own:
                lost = [other for other in holder.aliases if key(other) == key(alias)]
                self._names.take(connection, lost)
            self._names.give(connection, alias, note.id)
        return None if own else holder

    def write(self, name: str, content: str) -> Note:
        """Replace the content of an entry."""
        note = self.get(name)
        check(note.name, content, note.kind)
        if content == note.content:
            raise ToolError(f"{note.name} would not change: it holds that already")
        with self._writing("changed", note) as connection:
            connection.execute("UPDATE note SET content = ? WHERE id = ?", (content, note.id))
            return self._indexed(note.id)

    def set_head(self, name: str, head: str) -> Note:
        """Give an entry what a person has written into its front matter."""
        note = self.get(name)
        with self._writing("changed", note) as connection:
            connection.execute("INSERT OR REPLACE INTO note_head VALUES (?, ?)", (note.id, head))
            return self._indexed(note.id)

    def remove(self, name: str) -> Note:
        """Remove an entry and all its aliases."""
        note = self.get(name)
        with self._writing("removed", note) as connection:
            self._delete(connection, note)
        return note

    def snapshot(self, item: int) -> Snapshot | None:
        """The note with that id as the log of changes keeps it."""
        note = self.numbered(item)
        return note.snapshot if note else None

    def put(self, states: Mapping[int, Snapshot | None]) -> None:
        """Let these notes be so, all or none, without logging it. It does not count as a write:
        those tell after a crash what the agent has done.

        Raises a ``ToolError`` if another note has one of their names.
        """
        wanted = filter(None, states.values())
        for name in (name for state in wanted for name in (state["name"], *state["aliases"])):
            holder = self.find(name)
            if holder and holder.id not in states:
                raise ToolError(f"{_taken(name, holder)}: rename that one first")
        with self._store.writing() as connection:
            for note in [self.numbered(id) for id in states]:
                if note:
                    self._delete(connection, note)
            for state in filter(None, states.values()):
                id, name = state["id"], state["name"]
                values = (id, name, "Note", state["content"], state["at"], None)
                connection.execute("INSERT INTO note VALUES (?, ?, ?, ?, ?, ?)", values)
                for known in (name, *state["aliases"]):
                    self._names.give(connection, known, id)
                if state["head"]:
                    head = (id, state["head"])
                    connection.execute("INSERT INTO note_head VALUES (?, ?)", head)
                self._indexed(id)
            self._due(connection, list(states))

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
    def _writing(self, what: str, *notes: Note) -> Iterator[sqlite3.Connection]:
        """A transaction that changes these ``notes``, or adds one. It is logged, and the files of
        the notes are due.
        """
        with self._store.writing() as connection:
            newest = self._store.number("SELECT max(id) FROM note")
            yield connection
            connection.execute(_COUNT_WRITE)
            ids = [note.id for note in notes]
            ids += [
                id for (id,) in connection.execute("SELECT id FROM note WHERE id > ?", [newest])
            ]
            after = [note for id in ids if (note := self.numbered(id)) and note.kind == "Note"]
            before = [note for note in notes if note.kind == "Note"]
            if before or after:
                name = (after or before)[0].name
                self.changes.record(
                    LAYER,
                    what,
                    name,
                    [note.snapshot for note in before],
                    [note.snapshot for note in after],
                )
                self._due(connection, [note.id for note in before or after])

    def _due(self, connection: sqlite3.Connection, ids: Sequence[int]) -> None:
        connection.executemany("INSERT OR IGNORE INTO note_due VALUES (?)", ((id,) for id in ids))

    def _delete(self, connection: sqlite3.Connection, note: Note) -> None:
        self._names.remove(connection, note.id)
        connection.execute("DELETE FROM note WHERE id = ?", (note.id,))
        connection.execute("DELETE FROM note_head WHERE id = ?", (note.id,))
        self._index.remove(note.kind, note.id)

    def _indexed(self, id: int) -> Note:
        (note,) = self._select("WHERE id = ?", id)
        self._index.remove(note.kind, id)
        self._index.add(document(note))
        return note

    def _first(self, where: str, value: object) -> Note | None:
        return next(iter(self._select(where, value)), None)

    def _select(self, where: str, *values: object) -> list[Note]:
        head = "''"
        if not self._store.readonly or self._store.has("note_head"):
            head = "ifnull((SELECT text FROM note_head WHERE note_head.id = note.id), '')"
        sql = f"SELECT id, note.name, kind, content, at, hash, {head} FROM note {where}"
        rows = self._store.rows(sql, values)
        return [
            Note(
                id,
                name,
                kind,
                content,
                self._store.moment(at),
                hash,
                self._names.others(id, name),
                head,
            )
            for id, name, kind, content, at, hash, head in rows
        ]


def check(name: str, content: str, kind: Kind) -> str:
    """Return the name that ``name`` means. Raise a ``ToolError`` unless an entry of that kind may
    have this name and content.
    """
    name = check_name(name)
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
    return name


def document(note: Note) -> Document:
    """The entry as it is indexed: with the tags of its front matter, without its aliases. A note
    goes by its name; that of an archive was made up.
    """
    words = " ".join(f"#{tag}" for tag in links.tags(note.head, ""))
    text = "\n".join(filter(None, (note.name, note.content, words)))
    name = note.name if note.kind == "Note" else ""
    return Document(note.kind, note.id, note.at, text, name, hash=note.hash)


def _taken(name: str, holder: Note) -> str:
    which = "the name" if key(holder.name) == key(name) else "another name"
    return f"{name!r} is {which} of {holder.name}"
