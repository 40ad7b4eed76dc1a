"""The notes as files, ``agents/<self>/notes/*.md``, which people edit with any editor.

Two more tables of the agent's SQLite file:

    note_file      which file a note has, how the note was called, and the digest of the file's
                   content when both said the same
    note_folder    one row once there is the folder: up to which change the agent was told what
                   people did there, and whether that has to wait for a lost ``memory.sqlite``

The SQLite file is the store of record. ``step`` makes both say the same, in two passes:

*Out.* A note that was changed is *due* (``note_due``, in the transaction of the change). Its file
is written, then the row. A kill in between leaves the note due, and the file is found as it should
be.

*In.* A file whose digest is not that of its row was changed by somebody else. What it says becomes
the note, in one transaction with the row: the file stays as it is, byte for byte. A file without a
row is a new note, or one that was moved.

If a note is due and its file was changed as well, the file wins: it is what the person sees. The
other version is in the log of changes.

A file may be seen while it is being saved. So one that was just written is looked at again before
it is taken, an empty one is not taken at all, and a missing one is missed for ``GRACE`` seconds
before its note is removed. If all are missing at once, the folder was lost, and is written again.
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dory.errors import ToolError
from dory.extensions.notes import note_file
from dory.extensions.notes.incoming import PERSON, Incoming
from dory.extensions.notes.note_file import SUFFIX
from dory.extensions.notes.store import Note, Notes
from dory.storage.changes import AGENT
from dory.storage.database import NAME, Store
from dory.storage.watched_files import FileStamp
from dory.turn import sandbox

FOLDER = "notes"
PAUSE = 0.2
"""Seconds between two looks at the folder, and more if a look takes long."""
GRACE = 0.4
"""Seconds for which a file has to be missing until its note is removed."""
_REST = 20
"""Times that a look took, for which none follows."""
_QUIET = 250_000_000
"""Nanoseconds since the last write to a file, after which it is taken to be whole."""
_BATCH = 50
"""Files that are written between two turns."""
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


class NoteFiles:
    """The folder of one agent's notes. For the loop's thread.

    Raises what the ``Store`` raises, and an ``OSError`` if the disk refuses.
    """

    def __init__(
        self,
        folder: Path,
        store: Store,
        notes: Notes,
        redact: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``folder`` is the agent's."""
        self._root = folder
        self._store = store
        self._notes = notes
        self._incoming = Incoming(notes, redact)
        self._clock = clock
        self._next_look = 0.0
        self._seen: dict[str, FileStamp] = {}
        """The files that say what their notes say, with their stamps."""
        self._last: dict[str, FileStamp] = {}
        """All files as the last look saw them."""
        self._missing: dict[str, float] = {}
        """Since when files are missing."""
        self._refused: dict[str, FileStamp] = {}
        """The files that cannot be taken."""
        self._told: set[str] = set()
        self.problems: list[str] = []
        """What is wrong in the folder, for people and the agent; whoever tells it empties this."""
        store.tables(*(() if store.readonly else _SCHEMA))

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

    def step(self) -> None:
        """Write the files that are due, then take in what people have changed."""
        if self._begun():
            self._write_due()
            now = self._clock()
            if now >= self._next_look:
                self.look()
                self._next_look = now + max(PAUSE, _REST * (self._clock() - now))

    def look(self, own: str = "") -> None:
        """Take in what others have changed. ``own`` is a file that the agent has just edited; it
        is its change, and need not be waited for.
        """
        if not self._begun():
            return
        rows = {row.path: row for row in self._rows()}
        files = dict(self._files())
        lost = self.lost
        if own:
            if own in files:
                self._take(own, files[own], rows, files, AGENT)
            return
        for path, stamp in files.items():
            quiet = abs(time.time_ns() - stamp.modified) > _QUIET or self._last.get(path) == stamp
            if self._seen.get(path) != stamp and self._refused.get(path) != stamp and quiet:
                who = f"notes/{path}, after {NAME} was lost" if lost else f"{PERSON}{path}"
                self._take(path, stamp, rows, files, who)
        self._last = files
        self._miss({row.path for row in self._rows()} - files.keys(), bool(files))

    def _begun(self) -> bool:
        """Whether the folder can be used. If there is one, and neither a row nor a note, then the
        SQLite file was lost: the row is written before the folder is made.
        """
        folder = self._root / FOLDER
        if not self._store.number("SELECT count(*) FROM note_folder"):
            empty = not self._notes.newest("Note", 1)
            with self._store.writing() as connection:
                told = self._store.number("SELECT max(number) FROM change")
                values = (told, folder.exists() and empty)
                connection.execute("INSERT INTO note_folder VALUES (1, ?, ?)", values)
                connection.execute(
                    "INSERT OR IGNORE INTO note_due SELECT id FROM note WHERE kind = 'Note'"
                    " AND id NOT IN (SELECT id FROM note_file)"
                )
            self._seen.clear()
        with suppress(FileExistsError):
            folder.mkdir()
            with self._store.writing() as connection:  # it was lost, if there are any
                connection.execute("INSERT OR IGNORE INTO note_due SELECT id FROM note_file")
        if not folder.is_dir() or folder.is_symlink():
            self._tell_problem(f"{FOLDER}/ is no folder: move it away, and the notes are put there")
            return False
        return True

    def _tell_problem(self, text: str) -> None:
        """Once, however often it is met."""
        if text not in self._told:
            self._told.add(text)
            self.problems.append(text)

    def _rows(self) -> list[Row]:
        rows = self._store.rows("SELECT id, path, name, digest FROM note_file")
        return [Row(*row) for row in rows]

    def _row(self, id: int) -> Row | None:
        sql = "SELECT id, path, name, digest FROM note_file WHERE id = ?"
        rows = self._store.rows(sql, (id,))
        return Row(*rows[0]) if rows else None

    def _files(self) -> Iterator[tuple[str, FileStamp]]:
        """Path and stamp of each file that may be a note's. Editors and desktops leave others."""
        root = self._root / FOLDER
        for folder, folders, names in os.walk(root, onerror=_fail):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.startswith((".", "~", "#")) or not name.lower().endswith(SUFFIX):
                    continue
                shown = Path(folder, name).relative_to(root).as_posix()
                with suppress(FileNotFoundError):
                    status = os.lstat(Path(folder, name))
                    if stat.S_ISREG(status.st_mode) and shown.isprintable():
                        yield shown, FileStamp.of(status)

    def _content(self, path: str) -> bytes:
        """The content of a file, empty if there is none. Raises ``ToolError`` if it is no file."""
        shown = f"{FOLDER}/{path}"
        return sandbox.whole(self._root, shown.split("/"), shown)

    def _take(
        self,
        path: str,
        stamp: FileStamp,
        rows: dict[str, Row],
        files: dict[str, FileStamp],
        who: str,
    ) -> None:
        """Take in a file that ``who`` has changed since it was last seen, if it says something
        else.
        """
        try:
            content = self._content(path)
            if not content.strip():
                return
            row = rows.get(path)
            if not (row and row.digest == digest(content)):
                row = row or self._moved(content, stamp, rows, files)
                text = self._incoming.text(path, content)
                with self._store.writing():
                    id = row.id if row else None
                    at_once = id is not None and self._due(id)
                    id = self._incoming.take(path, text, id, self._on, who, at_once)
                    if id is None:
                        return
                    self._keep(id, path, content, text.aliases)
        except ToolError as error:
            self._refused[path] = stamp
            self._tell_problem(str(error))
            return
        if stamp.settled:
            self._seen[path] = stamp

    def _on(self, note: Note) -> bool:
        """Whether a note has a file, which says what it is."""
        row = self._row(note.id)
        return bool(row and (self._root / FOLDER / row.path).exists())

    def _moved(
        self, content: bytes, stamp: FileStamp, rows: dict[str, Row], files: dict[str, FileStamp]
    ) -> Row | None:
        """The row of the file that was moved to where this one is, if one was."""
        for row in rows.values():
            if row.path not in files and self._row(row.id) == row:
                before = self._seen.get(row.path) or self._last.get(row.path)
                if row.digest == digest(content) or (before and before.file == stamp.file):
                    return row
        return None

    def _keep(
        self, id: int, path: str, content: bytes, aliases: Sequence[str] | None = None
    ) -> None:
        """Note that a note and its file say the same. If the file has only these ``aliases``, but
        the note also one from before the file was renamed, the file is due.
        """
        note = self._notes.numbered(id)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM note_file WHERE id = ? OR path = ?", (id, path))
            if note:
                values = (id, path, note.name, digest(content))
                connection.execute("INSERT INTO note_file VALUES (?, ?, ?, ?)", values)
            connection.execute("DELETE FROM note_due WHERE id = ?", (id,))
            if note and aliases is not None and set(note.aliases) - set(aliases):
                connection.execute("INSERT INTO note_due VALUES (?)", (id,))

    def _miss(self, missing: set[str], others: bool) -> None:
        """Remove the notes whose files are ``missing`` for long enough. ``others``: there are files
        in the folder.
        """
        now = self._clock()
        self._missing = {path: self._missing.get(path, now) for path in missing}
        gone = {path for path, since in self._missing.items() if now - since >= GRACE}
        rows = [row for row in self._rows() if row.path in gone]
        if not rows:
            return
        with self._store.writing() as connection:
            if not others and len(rows) > 1:
                connection.executemany(
                    "INSERT OR IGNORE INTO note_due VALUES (?)", ((row.id,) for row in rows)
                )
                self.problems.append(
                    f"all files of {FOLDER}/ were gone at once: they are written again; to remove"
                    " notes, delete their files one by one, or ask for it"
                )
                return
            for row in rows:
                if not self._due(row.id):  # the agent has changed it meanwhile: it is written again
                    self._incoming.remove(row.id, f"{PERSON}{row.path}")
                    connection.execute("DELETE FROM note_file WHERE id = ?", (row.id,))
                    connection.execute("DELETE FROM note_due WHERE id = ?", (row.id,))

    def _due(self, id: int) -> bool:
        return bool(self._store.number("SELECT count(*) FROM note_due WHERE id = ?", id))

    def _write_due(self) -> None:
        for (id,) in self._store.rows("SELECT id FROM note_due ORDER BY id LIMIT ?", (_BATCH,)):
            note, row = self._notes.numbered(id), self._row(id)
            try:
                if note:
                    self._write(note, row)
                else:
                    self._remove(id, row)
            except ToolError as error:  # somebody is saving it now, or has put a folder there
                self._tell_problem(str(error))

    def _write(self, note: Note, row: Row | None) -> None:
        path = self._path(note, row)
        present = self._content(path)
        text = note_file.written(note, PurePosixPath(path).stem).encode("utf-8", "replace")
        known = row.digest if row and row.path == path else ""
        if present.strip() and present != text and digest(present) != known:
            self._conflict(note, path, present)
            return
        if present != text:
            shown = f"{FOLDER}/{path}"
            sandbox.write(self._root, shown.split("/"), shown, present, text)
        if row and row.path != path:
            self._unlink(row)
        self._keep(note.id, path, text)

    def _conflict(self, note: Note, path: str, present: bytes) -> None:
        """A note is due, and its file was changed as well: the file wins."""
        text = self._incoming.text(path, present)
        with self._store.writing():
            who = f"{PERSON}{path}"
            if self._incoming.take(path, text, note.id, self._on, who, at_once=True) is not None:
                self._keep(note.id, path, present, text.aliases)

    def _path(self, note: Note, row: Row | None) -> str:
        """Where the file of a note belongs: where it is, unless the note was renamed."""
        if row and row.name == note.name:
            return row.path
        stem = note_file.stem_of(note.name)
        folder = PurePosixPath(row.path).parent if row else PurePosixPath()
        taken = {note_file.same_place(other.path) for other in self._rows() if other.id != note.id}
        number, path = 1, f"{folder / stem}{SUFFIX}"
        while note_file.same_place(path) in taken:
            number += 1
            path = f"{folder / stem}-{number}{SUFFIX}"
        return path

    def _remove(self, id: int, row: Row | None) -> None:
        """Remove the file of a note that is gone, unless somebody has changed it meanwhile: then it
        is a note of theirs.
        """
        if row:
            self._unlink(row)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM note_file WHERE id = ?", (id,))
            connection.execute("DELETE FROM note_due WHERE id = ?", (id,))

    def _unlink(self, row: Row) -> None:
        with suppress(ToolError):
            if digest(self._content(row.path)) == row.digest:
                (self._root / FOLDER / row.path).unlink(missing_ok=True)


def problems(store: Store) -> Iterator[str]:
    """What is wrong in the table of files, for the check. That a file differs from its row, or is
    missing, is no problem: a person has changed it, and it is taken in when the agent runs.
    """
    if not (store.has("note_file") and store.has("note_folder")):
        return
    gone = "id NOT IN (SELECT id FROM note) AND id NOT IN (SELECT id FROM note_due)"
    for (path,) in store.rows(f"SELECT path FROM note_file WHERE {gone} ORDER BY id"):
        yield f"{FOLDER}/{path} is kept for a note that is not there"
    unwritten = (
        "kind = 'Note' AND id NOT IN (SELECT id FROM note_file UNION SELECT id FROM note_due)"
    )
    begun = "EXISTS (SELECT 1 FROM note_folder)"
    for (name,) in store.rows(f"SELECT name FROM note WHERE {unwritten} AND {begun} ORDER BY id"):
        yield f"the note {name} has no file in {FOLDER}/, and none is due"
    for (path,) in store.rows("SELECT path FROM note_file ORDER BY path"):
        if path.startswith("/") or ".." in path.split("/") or not path.lower().endswith(SUFFIX):
            yield f"a note has the file {path[:70]!r}, which is none of {FOLDER}/"


def _fail(error: OSError) -> None:
    """A folder that cannot be listed is no folder without files."""
    raise error


def digest(content: bytes) -> str:
    """What tells whether a file is as it was."""
    return hashlib.sha256(content).hexdigest()[:32]
