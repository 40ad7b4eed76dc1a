"""Which note has which file. Two tables of the agent's SQLite file:

    note_file      which file a note has, how the note was called, and the digest of the file's
                   content when both said the same
    note_folder    one row once there is the folder: up to which change the agent was told what
                   people did there, and whether it has to be told that ``memory.sqlite`` was lost

The file of a note that is *due* (``note_due``, see ``store.py``) has to be written or removed.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dory.extensions.notes.store import Note
from dory.storage.database import Store

FOLDER = "notes"
SUFFIX = ".md"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS note_file (id INTEGER PRIMARY KEY, path TEXT UNIQUE, name TEXT,"
    " digest TEXT)",
    "CREATE TABLE IF NOT EXISTS note_folder (id INTEGER PRIMARY KEY, told INTEGER, lost INTEGER)",
)


@dataclass(frozen=True, slots=True)
class Row:
    """The file of a note: its path below the folder, the note's name and the file's digest when
    both said the same.
    """

    id: int
    path: str
    name: str
    digest: str


class FileTable:
    """The tables of one agent. Raises what the ``Store`` raises."""

    def __init__(self, store: Store) -> None:
        self._store = store
        if not store.readonly:  # a file from before there were files of notes lacks them
            store.tables(*_SCHEMA)

    @property
    def begun(self) -> bool:
        """Whether there is the folder."""
        return bool(self._store.number("SELECT count(*) FROM note_folder"))

    def begin(self, lost: bool) -> None:
        """Note that there will be the folder. All notes without a file are due."""
        with self._store.writing() as connection:
            told = self._store.number("SELECT max(number) FROM change")
            connection.execute("INSERT INTO note_folder VALUES (1, ?, ?)", (told, lost))
            connection.execute(
                "INSERT OR IGNORE INTO note_due SELECT id FROM note WHERE kind = 'Note'"
                " AND id NOT IN (SELECT id FROM note_file)"
            )

    @property
    def told(self) -> int:
        """The newest change of which the agent was told what people did."""
        return self._store.number("SELECT max(told) FROM note_folder")

    @property
    def lost(self) -> bool:
        """Whether the SQLite file was lost, and nobody was told yet."""
        return bool(self._store.number("SELECT max(lost) FROM note_folder"))

    def tell(self, told: int) -> None:
        """Note that the agent was told of everything up to that change."""
        with self._store.writing() as connection:
            connection.execute("UPDATE note_folder SET told = ?, lost = 0", (told,))

    def rows(self) -> list[Row]:
        """The files of all notes."""
        rows = self._store.rows("SELECT id, path, name, digest FROM note_file")
        return [Row(*row) for row in rows]

    def row(self, id: int) -> Row | None:
        """The file of a note."""
        sql = "SELECT id, path, name, digest FROM note_file WHERE id = ?"
        rows = self._store.rows(sql, (id,))
        return Row(*rows[0]) if rows else None

    def keep(self, note: Note, path: str, content: bytes) -> None:
        """Note that a note and its file say the same. It is no longer due."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM note_file WHERE id = ? OR path = ?", (note.id, path))
            values = (note.id, path, note.name, digest(content))
            connection.execute("INSERT INTO note_file VALUES (?, ?, ?, ?)", values)
            connection.execute("DELETE FROM note_due WHERE id = ?", (note.id,))

    def forget(self, id: int) -> None:
        """Note that a note and its file are gone."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM note_file WHERE id = ?", (id,))
            connection.execute("DELETE FROM note_due WHERE id = ?", (id,))

    def due(self, limit: int) -> list[int]:
        """The ids of notes that are due, the oldest first."""
        rows = self._store.rows("SELECT id FROM note_due ORDER BY id LIMIT ?", (limit,))
        return [id for (id,) in rows]

    def is_due(self, id: int) -> bool:
        """Whether a note is due."""
        return bool(self._store.number("SELECT count(*) FROM note_due WHERE id = ?", id))

    def write_again(self, ids: Iterable[int]) -> None:
        """Let these notes be due."""
        with self._store.writing() as connection:
            rows: Sequence[tuple[int]] = [(id,) for id in ids]
            connection.executemany("INSERT OR IGNORE INTO note_due VALUES (?)", rows)


def digest(content: bytes) -> str:
    """What tells whether a file is as it was."""
    return hashlib.sha256(content).hexdigest()[:32]


def problems(store: Store) -> Iterator[str]:
    """What is wrong in the tables, for the check. That a file differs from its row, or is missing,
    is no problem: a person has changed it, and it is taken in when the agent runs.
    """
    if not all(store.has(table) for table in ("note_due", "note_file", "note_folder")):
        return
    no_note = "id NOT IN (SELECT id FROM note) AND id NOT IN (SELECT id FROM note_due)"
    for (path,) in store.rows(f"SELECT path FROM note_file WHERE {no_note} ORDER BY id"):
        yield f"{FOLDER}/{path} is kept for a note that is not there"
    no_file = "id NOT IN (SELECT id FROM note_file UNION SELECT id FROM note_due)"
    begun = "EXISTS (SELECT 1 FROM note_folder) AND kind = 'Note'"
    for (name,) in store.rows(f"SELECT name FROM note WHERE {begun} AND {no_file} ORDER BY id"):
        yield f"the note {name} has no file in {FOLDER}/, and none is due"
    for (path,) in store.rows("SELECT path FROM note_file ORDER BY path"):
        if path.startswith("/") or ".." in path.split("/") or not path.lower().endswith(SUFFIX):
            yield f"a note has the file {path[:70]!r}, which is none of {FOLDER}/"
