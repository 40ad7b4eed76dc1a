"""A backup of identities as of one instant, also while they run.

An agent can be killed at any instant and resumed from what is on the disk then. So a copy of one
instant is a right one. To get it, commits are paused (``locks.paused``): the agent goes on up to
its next commit and waits there. Then its folder is copied, and once more from the beginning if
anything in it has changed meanwhile, because a tool or work beside the loop was still writing. The
agents wait for seconds at most; they go on by themselves if a backup takes longer, and it fails.

SQLite's file is copied by SQLite itself. Rooms are copied up to the size that they had: they only
grow. Blobs never change; they are copied last, and the agents do not wait for them. With one agent
go the blobs whose names stand anywhere in its files, in its rooms or in these blobs.
"""

import hashlib
import os
import re
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from dory import clock, regular_files
from dory.errors import Busy, DoryError
from dory.identity import state
from dory.identity.process import LOG
from dory.storage import archive, database, files, hostile_database, locks
from dory.storage.archive import Entry, Manifest, Packed
from dory.storage.blobs import Blobs
from dory.storage.rooms import is_id
from dory.storage.watched_files import FileStamp

PATIENCE = 8.0
"""Seconds that agents may be kept waiting: less than they wait (``locks.PAUSE``)."""
_TEXTS = ("dory.yaml", "SOUL.md", "SEGMENT.md", "SUMMARISE.md")
_CHUNK = 2**20
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")
_HASH = re.compile(rb"[0-9a-f]{16,64}")
_OWN = ("lock", LOG)
"""What a process notes about itself."""
_ASIDE = ("subs", "local")
"""Folders that are not copied: links to rooms, and what can be made again."""


class Snapshot:
    """What was copied, in one temporary file, and what had to be left out."""

    def __init__(self, home: Path, spool: IO[bytes], scratch: Path) -> None:
        self.home = home
        self.scratch = scratch
        """A folder with room for a copy of the SQLite file."""
        self.left_out: list[str] = []
        self._spool = spool
        self._places: dict[str, int] = {}
        self._entries: dict[str, Entry] = {}
        self._hashes = set[bytes]()

    @property
    def entries(self) -> list[Entry]:
        """The files, in the order in which they were copied."""
        return list(self._entries.values())

    def content(self, entry: Entry) -> Iterator[bytes]:
        """What was copied of a file."""
        self._spool.seek(self._places[entry.path])
        remaining = entry.size
        while remaining:
            chunk = self._spool.read(min(_CHUNK, remaining))
            remaining -= len(chunk)
            yield chunk

    def forget(self) -> None:
        """Begin anew."""
        self._spool.seek(0)
        self._spool.truncate()
        self._entries.clear()
        self._hashes.clear()
        self.left_out.clear()

    def add(self, source: Path, limit: int | None = None, path: str = "") -> None:
        """Copy a regular file, at most ``limit`` bytes of it."""
        path = path or source.relative_to(self.home).as_posix()
        with regular_files.opened(source) as file:
            self._copy(path, file, limit)

    def identity(self, folder: Path) -> None:
        """Copy what is in an agent's folder, subscriptions aside."""
        for path in _walk(folder):
            shown = path.relative_to(self.home).as_posix()
            if path.is_symlink() or not path.is_file() or not archive.legal(shown):
                self.left_out.append(shown)
            elif not path.name.startswith(database.NAME) or path.parent != folder:
                self.add(path)
        if (folder / database.NAME).exists():
            with tempfile.TemporaryDirectory(prefix=".dory-", dir=self.scratch) as temporary:
                copy = Path(temporary) / database.NAME
                database.copy(folder / database.NAME, copy)
                self.add(copy, path=(folder / database.NAME).relative_to(self.home).as_posix())
                self._hashes.update(_in_tables(copy))

    def blobs(self, blobs: Blobs, everything: bool) -> None:
        """Copy the blobs that are referred to, or all."""
        known = {path.stem.encode(): path for path in blobs.walk()}
        due = set(known) if everything else self._hashes & known.keys()
        done = set[bytes]()
        while due:
            self._hashes = set()  # what these name
            for hash in sorted(due):
                try:
                    blobs.get(hash.decode())
                    self.add(known[hash])
                except (DoryError, OSError) as error:
                    self.left_out.append(f"{known[hash].relative_to(self.home)} ({error})")
            done |= due
            due = (self._hashes & known.keys()) - done

    def names(self, hash: str) -> None:
        """Note that a blob belongs to what is copied."""
        self._hashes.add(hash.encode())

    def _copy(self, path: str, file: IO[bytes], limit: int | None) -> None:
        digest = hashlib.sha256()
        start = self._spool.seek(0, os.SEEK_END)
        size = 0
        while limit is None or size < limit:
            chunk = file.read(_CHUNK if limit is None else min(_CHUNK, limit - size))
            if not chunk:
                break
            self._spool.write(chunk)
            digest.update(chunk)
            size += len(chunk)
        self._places[path] = start
        self._entries[path] = Entry(path, size, digest.hexdigest())
        self._spool.seek(start)
        last = b""
        while chunk := self._spool.read(_CHUNK):
            self._hashes.update(_HASH.findall(last[-64:] + chunk))
            last = chunk


def take(
    home: Path, folders: Sequence[Path], target: Path, at: datetime, everything: bool
) -> Snapshot:
    """Write a backup of the agents in ``folders`` to ``target``, with ``everything`` that the home
    holds or with what these need. Raises ``Busy`` if they change faster than they can be copied.
    """
    with tempfile.TemporaryFile(dir=target.parent) as spool:
        snapshot = Snapshot(home, spool, target.parent)
        packed = _agents(snapshot, folders, everything)
        for name in _TEXTS:
            if (home / name).is_file():
                snapshot.add(home / name)
        for folder in folders:
            snapshot.names(folder.name)
        snapshot.blobs(Blobs(home / "blobs"), everything)
        manifest = Manifest(clock.exact(at), packed, snapshot.entries)
        archive.write(target, manifest, snapshot.content)
    return snapshot


def _agents(snapshot: Snapshot, folders: Sequence[Path], everything: bool) -> list[Packed]:
    """Copy the agents and their rooms, as of one instant."""
    with ExitStack() as paused:
        for folder in folders:
            paused.enter_context(locks.paused(folder, PATIENCE))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            snapshot.forget()
            before = _stamps(folders)
            with suppress(FileNotFoundError):  # renamed meanwhile
                packed = [Packed(folder.name, _rooms(folder)) for folder in folders]
                for folder in folders:
                    snapshot.identity(folder)
                _chats(snapshot, folders, everything)
                if before == _stamps(folders):
                    return packed
            time.sleep(0.05)
    names = ", ".join(folder.name[:8] for folder in folders)
    raise Busy(
        f"{names} changed all the time for {PATIENCE:g} seconds: try again, or stop it first"
    )


def _chats(snapshot: Snapshot, folders: Sequence[Path], everything: bool) -> None:
    """Copy the rooms that the agents have ever been in, and their open links."""
    chats = snapshot.home / "chats"
    known = set[str]()
    for folder in folders:
        known |= state.load(folder / "state.json").rooms.keys() | set(_rooms(folder))
    if everything:
        known |= {path.stem for path in chats.glob("*.md")}
    for room in sorted(filter(is_id, known)):
        path = chats / f"{room}.md"
        if path.is_file():
            snapshot.add(path, files.whole_end(path))
        if path.with_name(f"{room}.md.torn").is_file():
            snapshot.add(path.with_name(f"{room}.md.torn"))
    hashes = {folder.name for folder in folders}
    for path in sorted((snapshot.home / "links").glob("*.json")):
        if hashes & set(path.name.partition(".")[0].split("-")) and path.is_file():
            snapshot.add(path)


def _rooms(folder: Path) -> list[str]:
    """The rooms that an agent is subscribed to."""
    links = (folder / "subs").iterdir() if (folder / "subs").is_dir() else ()
    return sorted(link.stem for link in links if link.suffix == ".md" and is_id(link.stem))


def _walk(folder: Path) -> Iterator[Path]:
    """Every path below an agent's folder that is no folder, in order."""
    for root, inside, names in os.walk(folder):
        inside.sort()
        here = Path(root)
        if here == folder:
            inside[:] = [name for name in inside if name not in _ASIDE]
            names = [name for name in names if name not in _OWN]
        linked = [name for name in inside if (here / name).is_symlink()]
        for name in sorted([*names, *linked]):
            if not _DRAFT.fullmatch(name):
                yield here / name


def _stamps(folders: Sequence[Path]) -> dict[Path, FileStamp | None]:
    return {
        path: FileStamp.at(path, follow_symlinks=False)
        for folder in folders
        for path in _walk(folder)
        if not path.name.endswith("-shm")  # which readers write, too
    }


def _in_tables(path: Path) -> Iterator[bytes]:
    """What may be the name of a blob in the tables of a SQLite file."""
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error):
        tables = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for table, definition in tables:
            if not hostile_database.is_passive(str(definition)):
                continue
            with suppress(sqlite3.Error):  # the check tells of damage
                for row in connection.execute(f'SELECT * FROM "{table}"'):
                    for value in row:
                        if isinstance(value, str):
                            yield from _HASH.findall(value.encode("utf-8", "replace"))
