"""The notes as files, ``agents/<self>/notes/*.md``, which people edit with any editor.

The SQLite file is the store of record. ``step`` makes both say the same, in two passes:

*Out.* A note that was changed is *due*, from the transaction of the change on. Its file is
written, then its row in ``file_table.py``. A kill in between leaves the note due, and the file is
found as it should be.

*In.* A file whose digest is not that of its row was changed by somebody else. What it says becomes
the note, in one transaction with the row: the file stays as it is, byte for byte. A file without a
row is a new note, or one that was moved.

If a note is due and its file was changed as well, the file wins: it is what the person sees. The
other version is in the log of changes.

A file may be seen while it is being saved. So one that was just written is looked at again before
it is taken, an empty one is not taken at all, and a missing one is missed for ``GRACE`` seconds
before its note is removed. If all are missing at once, the folder was lost, and is written again.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from dory.errors import ToolError
from dory.extensions.notes import note_file
from dory.extensions.notes.file_table import FOLDER, SUFFIX, FileTable, Row, digest
from dory.extensions.notes.incoming import PERSON, Incoming
from dory.extensions.notes.store import Note, Notes
from dory.storage.changes import AGENT
from dory.storage.database import NAME, Store
from dory.storage.watched_files import FileStamp
from dory.turn import sandbox

PAUSE = 0.2
"""Seconds between two looks at the folder, and more if a look takes long."""
GRACE = 0.4
"""Seconds for which a file has to be missing until its note is removed."""
_REST = 10
"""Times that a look took, for which none follows."""
_QUIET = 250_000_000
"""Nanoseconds since the last write to a file, after which it is taken to be whole."""
_BATCH = 20
"""Files that are written between two turns."""


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
        self.table = FileTable(store)
        self._incoming = Incoming(notes, redact)
        self._clock = clock
        self._next_look = 0.0
        self._files: dict[str, FileStamp] = {}
        """All files as the last look saw them."""
        self._same: dict[str, FileStamp] = {}
        """The files that say what their notes say, with their stamps."""
        self._refused: dict[str, FileStamp] = {}
        """The files that cannot be taken."""
        self._missing: dict[str, float] = {}
        """Since when files are missing."""
        self._told: set[str] = set()
        self.problems: list[str] = []
        """What is wrong in the folder, for people and the agent; whoever tells it empties this."""

    def step(self) -> None:
        """Write the files that are due, then take in what people have changed."""
        if self._begun():
            self._write_due()
            now = self._clock()
            if now >= self._next_look:
                self._look()
                self._next_look = now + max(PAUSE, _REST * (self._clock() - now))

    def look(self, own: str = "") -> None:
        """Take in what others have changed. If the agent has just edited the file ``own``, only
        that is taken in, at once, as the agent's change.
        """
        if self._begun():
            self._look(own)

    def path(self, note: Note) -> str:
        """The file of a note as READ_FILE takes it; empty if it has none yet."""
        row = self.table.row(note.id)
        return f"{FOLDER}/{row.path}" if row else ""

    def _begun(self) -> bool:
        """Whether the folder can be used. If there is one, and neither a row nor a note, then the
        SQLite file was lost: the row is written before the folder is made.
        """
        folder = self._root / FOLDER
        if not self.table.begun:
            self.table.begin(lost=folder.exists() and not self._notes.newest("Note", 1))
            self._same.clear()
        if not os.path.lexists(folder):
            folder.mkdir()
            self.table.write_again(row.id for row in self.table.rows())  # it was lost, if any
        if not folder.is_dir() or folder.is_symlink():
            self._tell(f"{FOLDER}/ is no folder: move it away, and the notes are put there")
            return False
        return True

    def _tell(self, problem: str) -> None:
        """Once, however often it is met."""
        if problem not in self._told:
            self._told.add(problem)
            self.problems.append(problem)

    def _look(self, own: str = "") -> None:
        before, self._files = self._files, dict(sorted(self._listed()))
        rows = {row.path: row for row in self.table.rows()}
        lost = self.table.lost
        taken = False
        for path, stamp in self._files.items():
            quiet = abs(time.time_ns() - stamp.modified) > _QUIET or before.get(path) == stamp
            known = stamp in (self._same.get(path), self._refused.get(path))
            if path == own or (quiet and not known and not own):
                who = f"notes/{path}, after {NAME} was lost" if lost else f"{PERSON}{path}"
                self._take(path, rows, AGENT if own else who, before)
                taken = True
        if not own:
            present = self.table.rows() if taken else rows.values()
            self._miss([row for row in present if row.path not in self._files])

    def _listed(self) -> Iterator[tuple[str, FileStamp]]:
        """Path and stamp of each file that may be a note's. Editors and desktops leave others."""
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self._root / FOLDER / folder) as found:
                    entries = list(found)
            except FileNotFoundError:  # somebody has just moved it
                continue
            for entry in entries:
                path = f"{folder}{entry.name}"
                if entry.name.startswith((".", "~", "#")) or not path.isprintable():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
                elif path.lower().endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        yield path, FileStamp.of(entry.stat(follow_symlinks=False))

    def _content(self, path: str) -> bytes:
        """The content of a file, empty if there is none. Raises ``ToolError`` if it is no file."""
        shown = f"{FOLDER}/{path}"
        return sandbox.whole(self._root, shown.split("/"), shown)

    def _take(
        self, path: str, rows: dict[str, Row], who: str, before: dict[str, FileStamp]
    ) -> None:
        """Take in a file that ``who`` has changed since it was last seen, if it says something
        else. ``before`` are the files of the look before.
        """
        stamp = self._files[path]
        try:
            content = self._content(path)
            if not content.strip():
                return
            row = rows.get(path)
            if not (row and row.digest == digest(content)):
                row = row or self._moved(content, stamp, rows, before)
                if not self._taken(path, content, row.id if row else None, who):
                    return
        except ToolError as error:
            self._refused[path] = stamp
            self._tell(str(error))
            return
        if stamp.settled:
            self._same[path] = stamp

    def _taken(self, path: str, content: bytes, id: int | None, who: str) -> bool:
        """Let the note ``id``, or a new one, be as the file says; whether it says anything.

        A file that was renamed lacks the name that its note had before: it is written anew.
        """
        text = self._incoming.text(path, content)
        with self._store.writing():
            at_once = id is not None and self.table.is_due(id)
            note = self._incoming.take(path, text, id, self._on, who, at_once)
            if note:
                self.table.keep(note, path, content)
                if set(note.aliases) - set(text.aliases):
                    self.table.write_again([note.id])
        return note is not None

    def _on(self, note: Note) -> bool:
        """Whether a note has a file, which says what it is."""
        row = self.table.row(note.id)
        return bool(row and (self._root / FOLDER / row.path).exists())

    def _moved(
        self, content: bytes, stamp: FileStamp, rows: dict[str, Row], before: dict[str, FileStamp]
    ) -> Row | None:
        """The row of the file that was moved to where this one is, if one was."""
        for row in rows.values():
            if row.path not in self._files and self.table.row(row.id) == row:
                last = self._same.get(row.path) or before.get(row.path)
                if row.digest == digest(content) or (last and last.file == stamp.file):
                    return row
        return None

    def _miss(self, missing: list[Row]) -> None:
        """Remove the notes whose files are missing for long enough."""
        now = self._clock()
        self._missing = {row.path: self._missing.get(row.path, now) for row in missing}
        gone = [row for row in missing if now - self._missing[row.path] >= GRACE]
        if len(gone) > 1 and not self._files:
            self.table.write_again(row.id for row in gone)
            self.problems.append(
                f"all files of {FOLDER}/ were gone at once: they are written again; to remove"
                " notes, delete their files one by one, or ask for it"
            )
            return
        for row in gone:
            if not self.table.is_due(row.id):  # else the agent has changed it: it is written again
                with self._store.writing():
                    self._incoming.remove(row.id, f"{PERSON}{row.path}")
                    self.table.forget(row.id)

    def _write_due(self) -> None:
        for id in self.table.due(_BATCH):
            note, row = self._notes.numbered(id), self.table.row(id)
            try:
                if note:
                    self._write(note, row)
                else:
                    self._remove(id, row)
            except ToolError as error:  # somebody is saving it now, or has put a folder there
                self._tell(str(error))

    def _write(self, note: Note, row: Row | None) -> None:
        path = self._path(note, row)
        present = self._content(path)
        text = note_file.written(note, PurePosixPath(path).stem).encode("utf-8", "replace")
        known = row.digest if row and row.path == path else ""
        if present.strip() and present != text and digest(present) != known:
            self._taken(path, present, note.id, f"{PERSON}{path}")
            return
        if present != text:
            shown = f"{FOLDER}/{path}"
            sandbox.write(self._root, shown.split("/"), shown, present, text)
        if row and row.path != path:
            self._unlink(row)
        self.table.keep(note, path, text)

    def _path(self, note: Note, row: Row | None) -> str:
        """Where the file of a note belongs: where it is, unless the note was renamed."""
        if row and row.name == note.name:
            return row.path
        stem = note_file.stem_of(note.name)
        folder = PurePosixPath(row.path).parent if row else PurePosixPath()
        others = [other.path for other in self.table.rows() if other.id != note.id]
        taken = set(map(note_file.same_place, others))
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
        self.table.forget(id)

    def _unlink(self, row: Row) -> None:
        with suppress(ToolError):
            if digest(self._content(row.path)) == row.digest:
                (self._root / FOLDER / row.path).unlink(missing_ok=True)
