"""The agent's one SQLite file, ``agents/<self>/memory.sqlite``. Rooms keep tables of their own in it; this one opens it and commits.

A missing file reads as an empty one, and it appears with the first write. ``writing`` is all or nothing and durable when it returns: WAL with
``synchronous=FULL``, one fsync for a commit. Copying the log back into the file is left to ``tidy``, which runs beside the loop; should nobody
call it, the write that finds 64 MiB of log does it.

Whose file it is stands in ``application_id``, its version in ``user_version``; a foreign one is refused with a ``FormatError``, and what SQLite
raises is mapped by ``sqlite.py``. A file that was deleted, moved away or exchanged is let go of before the next use, a damaged one at once.

A ``Store`` belongs to the thread that made it. Other threads and processes open one of their own, at any time, with ``readonly=True``: they see
whole commits and hold nobody up, and leave no log behind where there was none. They read where nothing can be written, too.
"""

import errno
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dory import files, sqlite
from dory.errors import DoryError, FormatError

NAME = "memory.sqlite"
APPLICATION = int.from_bytes(b"Dory")
VERSION = 1
LOG_PAGES = 16384
"""Pages of log, 4 KiB each, after which a write copies them back itself."""
PATIENCE = 10.0
"""Seconds to wait for another process's lock."""
_SMALLEST = 512  # bytes in a database that has anything in it
_CACHE = 8 * 1024  # KiB of pages in memory: what a search needs does not grow with the file
_PRAGMAS = ("synchronous=FULL", f"wal_autocheckpoint={LOG_PAGES}", f"cache_size=-{_CACHE}", "temp_store=MEMORY")


class Store:
    """The file at ``path``. Every method raises as the module says."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self.path, self._readonly = path, readonly
        self._schema: list[str] = []
        self._file: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = None
        self._empty: sqlite3.Connection | None = None

    def tables(self, *statements: str) -> None:
        """Have these there whenever the store is used: ``CREATE … IF NOT EXISTS``, to be called before it is."""
        self._schema += statements

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a query finds, as tuples; nothing in a file that is not there."""
        with self._mapped():
            return self._reading().execute(sql, values).fetchall()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end of the block, or nothing of it happened. Inside another one it is part of that."""
        if self._readonly:
            raise PermissionError(errno.EACCES, "it was opened for reading only", str(self.path))
        with self._mapped():
            if self._connection and self._within:
                yield self._connection
                return
            fresh = not self._there()
            connection = self._connection = self._connection or self._opened("rwc" if fresh else "rw")
            connection.execute("BEGIN IMMEDIATE")
            try:
                if fresh:
                    self._stamp(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if self._within:  # SQLite ends it by itself when the disk is full
                    connection.execute("ROLLBACK")
                if fresh:
                    self.close()
                raise
            if fresh:
                files.sync_folder(self.path.parent)

    def tidy(self) -> None:
        """Copy the log back into the file. Slow; to be called beside the loop, by a store of that thread's own."""
        if self.path.exists():
            self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def problems(self) -> list[str]:
        """What SQLite finds wrong with its file, one line each; reads all of it."""
        try:
            return [f"{self.path.name}: {found}" for (found,) in self.rows("PRAGMA integrity_check(5)") if found != "ok"]
        except FormatError as error:
            return [str(error)]

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        for connection in filter(None, (self._connection, self._empty)):
            connection.close()
        self._connection = self._empty = self._file = None

    @property
    def _within(self) -> bool:
        return bool(self._connection and self._connection.in_transaction)

    def _there(self) -> bool:
        """Whether the file is; what is written to one that was there before would be lost."""
        file = _file(self.path)
        if file != self._file and not self._within:
            self.close()
        return file is not None

    def _reading(self) -> sqlite3.Connection:
        if self._there() and not self._connection:
            self._connection = self._for_reading() if self._readonly else self._opened("rw")
        if self._connection:
            return self._connection
        if not self._empty:
            self._empty = sqlite3.connect(":memory:", isolation_level=None)
            self._create(self._empty)
        return self._empty

    def _for_reading(self) -> sqlite3.Connection | None:
        """None for a file whose first write did not come to its end."""
        log = self.path.with_name(f"{self.path.name}-wal")
        try:
            connection = self._opened("ro" if log.exists() else "rw")  # the latter takes a log away that it brought
        except sqlite3.OperationalError as error:
            if sqlite.code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or files.size(log):
                raise
            connection = self._opened("ro&immutable=1")  # no log can be made there, and none has to be read
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            connection.close()
            return None
        try:
            self._create(connection)  # makes nothing, and fails if there is something to make
        except sqlite3.OperationalError as error:
            connection.close()
            raise FormatError(f"{self.path} was last written by an older Dory: wake its agent once, and it is brought up to date") from error
        return connection

    def _opened(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            self._file = _file(self.path)
            self._check(connection)
            for pragma in (f"query_only={self._readonly}", *_PRAGMAS):
                connection.execute(f"PRAGMA {pragma}")
            if not self._readonly:
                connection.execute("PRAGMA journal_mode=WAL")
                if mode == "rw":
                    connection.execute("BEGIN IMMEDIATE")
                    self._stamp(connection)
                    connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise unless the file is one of Dory's, or nothing was ever written to it."""
        if not connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone():
            raise DoryError("this Python's SQLite has no FTS5, which search needs: take a Python whose sqlite3 was built with it")
        ((owner,), (version,)) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (owner, version, tables) == (0, 0, 0):
            if 0 < files.size(self.path) < _SMALLEST:
                raise sqlite.damaged(self.path, "cut short")
        elif owner != APPLICATION:
            raise FormatError(f"{self.path} is a database of another program: move it away, and it is begun anew")
        elif version != VERSION:
            raise FormatError(f"{self.path} is of version {version}, this Dory reads {VERSION}: update Dory")

    def _stamp(self, connection: sqlite3.Connection) -> None:
        """What is there already is not written again."""
        if connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")
        self._create(connection)

    def _create(self, connection: sqlite3.Connection) -> None:
        for statement in self._schema:
            connection.execute(statement)

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            with sqlite.mapped(self.path):
                yield
        except FormatError:
            if not self._within:
                self.close()
            raise


def _file(path: Path) -> tuple[int, int] | None:
    """Which file stands at ``path``."""
    try:
        found = path.stat()
        return found.st_dev, found.st_ino
    except FileNotFoundError:
        return None
