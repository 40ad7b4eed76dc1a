"""SQLite: connections to a file that is ours, or a refusal; and its exceptions as those of this
house. Nowhere else is it known what they mean.

Whose a file is stands in its ``application_id``, its version in ``user_version``; a foreign one is
refused with a ``FormatError``.

Damage becomes a ``FormatError``, a lock that is not given up ``Busy``, a full or failing disk an
``OSError``. What has no code of its own, such as a text that cannot be decoded, comes of damage as
well. A ``ProgrammingError`` is a mistake of the caller's, and stays what it is.

The agent's one SQLite file, ``agents/<self>/memory.sqlite``. Rooms keep tables of their own in it;
this one opens it and commits.

A missing file reads as an empty one, and it appears with the first write. ``writing`` is all or
nothing and durable when it returns: WAL with ``synchronous=FULL``, one fsync for a commit. Copying
the log back into the file is left to ``tidy``, which runs beside the loop; should nobody call it,
the write that finds 64 MiB of log does it.

``storage/database.py`` opens it, or refuses with a ``FormatError`` what is none of ours, and maps
what SQLite raises. A file that was deleted, moved away or exchanged is let go of before the next
use, a damaged one at once.

A ``Store`` belongs to the thread that made it. Other threads and processes open one of their own,
at any time, with ``readonly=True``: they see whole commits and hold nobody up, and leave no log
behind where there was none. They read where nothing can be written, too.
"""

import errno
import sqlite3
from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dory.errors import Busy, DoryError, FormatError, UnknownVersion
from dory.storage import files

APPLICATION = int.from_bytes(b"Dory")
VERSION = 1
LOG_PAGES = 16384
"""Pages of log, 4 KiB each, after which a write copies them back itself."""
PATIENCE = 10.0
"""Seconds to wait for another process's lock."""
_SMALLEST = 512  # bytes in a database that has anything in it
_CACHE = 8 * 1024  # KiB of pages in memory: what a search needs does not grow with the file
_PRAGMAS = (
    "synchronous=FULL",
    f"wal_autocheckpoint={LOG_PAGES}",
    f"cache_size=-{_CACHE}",
    "temp_store=MEMORY",
)
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_FAILURES = {
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "there is no room left on the disk: free some"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "the disk failed"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "it cannot be opened: check the folder and its rights"),
    sqlite3.SQLITE_READONLY: (errno.EACCES, "it may not be written: check its rights"),
    sqlite3.SQLITE_PERM: (errno.EACCES, "it may not be opened: check its rights"),
}


class Database:
    """The file at ``path``, in which there are the tables of the ``schema``. Raises what SQLite
    does, and for a file that is none of Dory's, or not of this version, a ``FormatError``.
    """

    def __init__(self, path: Path, readonly: bool) -> None:
        self.path = path
        self._readonly = readonly
        self.schema: list[str] = []
        self.opened: tuple[int, int] | None = None
        """Which file it was that was opened last."""

    @property
    def standing(self) -> tuple[int, int] | None:
        """Which file stands at the path now; None for none."""
        try:
            found = self.path.stat()
            return found.st_dev, found.st_ino
        except FileNotFoundError:
            return None

    def empty(self) -> sqlite3.Connection:
        """One that has the tables and nothing in them, in memory."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        self._create(connection)
        return connection

    def writable(self, fresh: bool) -> sqlite3.Connection:
        """For a store that writes. A ``fresh`` file begins to be, and is nobody's until it is
        stamped.
        """
        return self._opened("rwc" if fresh else "rw")

    def stamp(self, connection: sqlite3.Connection) -> None:
        """Make a file Dory's. What is there already is not written again."""
        if connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")
        self._create(connection)

    def readable(self) -> sqlite3.Connection | None:
        """For one that only reads; None for a file whose first write did not come to its end."""
        log = self.path.with_name(f"{self.path.name}-wal")
        try:
            connection = self._opened(
                "ro" if log.exists() else "rw"
            )  # the latter takes a log away that it brought
        except sqlite3.OperationalError as error:
            if code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or _size(log):
                raise
            connection = self._opened(
                "ro&immutable=1"
            )  # no log can be made there, and none has to be read
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            connection.close()
            return None
        try:
            self._create(connection)  # makes nothing, and fails if there is something to make
        except sqlite3.OperationalError as error:
            connection.close()
            raise FormatError(
                f"{self.path} was last written by an older Dory: wake its agent once, and it is brought up to date"
            ) from error
        return connection

    def _opened(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
        try:
            self.opened = self.standing
            self._check(connection)
            for pragma in (f"query_only={self._readonly}", *_PRAGMAS):
                connection.execute(f"PRAGMA {pragma}")
            if not self._readonly:
                connection.execute("PRAGMA journal_mode=WAL")
                if mode == "rw":
                    connection.execute("BEGIN IMMEDIATE")
                    self.stamp(connection)
                    connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Raise unless the file is one of Dory's, or nothing was ever written to it."""
        if not connection.execute(
            "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
        ).fetchone():
            raise DoryError(
                "this Python's SQLite has no FTS5, which search needs: take a Python whose sqlite3 was built with it"
            )
        ((owner,), (version,)) = (
            connection.execute(f"PRAGMA {name}").fetchone()
            for name in ("application_id", "user_version")
        )
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (owner, version, tables) == (0, 0, 0):
            if 0 < _size(self.path) < _SMALLEST:
                raise damaged(self.path, "cut short")
        elif owner != APPLICATION:
            raise FormatError(
                f"{self.path} is a database of another program: move it away, and it is begun anew"
            )
        elif version != VERSION:
            raise UnknownVersion(self.path, version, VERSION)

    def _create(self, connection: sqlite3.Connection) -> None:
        for statement in self.schema:
            connection.execute(statement)


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Within this block SQLite works on the file at ``path``."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        if code(error) in _HELD:
            raise Busy(f"{path} is held by another process: try again, or stop that one") from error
        if code(error) in _FAILURES:
            number, told = _FAILURES[code(error)]
            raise OSError(number, f"{told} ({error})", str(path)) from error
        raise damaged(path, error) from error


def code(error: sqlite3.DatabaseError) -> int:
    """Its primary result code. Those that Python itself raises have none, which is the general one."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def damaged(path: Path, how: object) -> FormatError:
    """The error that a damaged file is told with."""
    return FormatError(
        f"{path} is damaged ({how}): put it and its -wal back from a backup, or move it away, and it is begun anew"
    )


def _size(path: Path) -> int:
    """Bytes in a file; 0 when it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


NAME = "memory.sqlite"


class Store:
    """The file at ``path``. Every method raises as the module says."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self.path = path
        self._readonly = readonly
        self._database = Database(path, readonly)
        self._connection: sqlite3.Connection | None = None
        self._empty: sqlite3.Connection | None = None

    def tables(self, *statements: str) -> None:
        """Have these there whenever the store is used, so it is called before that: ``CREATE … IF
        NOT EXISTS``, several with ``;`` between.
        """
        self._database.schema += [one for each in statements for one in each.split(";")]

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a query finds, as tuples; nothing in a file that is not there."""
        with self._mapped():
            return self._reading().execute(sql, values).fetchall()

    def number(self, sql: str, *values: Any) -> int:
        """The only value that a query gives, a number; 0 for none."""
        ((number,),) = self.rows(sql, values)
        return int(number or 0)

    def moment(self, seconds: int) -> datetime:
        """The time that stands in the file as so many ``seconds`` since 1970. Raises a
        ``FormatError`` for one that there is not.
        """
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (TypeError, ValueError, OverflowError, OSError) as error:
            raise damaged(self.path, error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end of the block, or nothing of it happened. Inside
        another one it is part of that.
        """
        if self._readonly:
            raise PermissionError(errno.EACCES, "it was opened for reading only", str(self.path))
        with self._mapped():
            if self._connection and self._within:
                yield self._connection
                return
            fresh = not self._there()
            connection = self._connection = self._connection or self._database.writable(fresh)
            connection.execute("BEGIN IMMEDIATE")
            try:
                if fresh:
                    self._database.stamp(connection)
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
        """Copy the log back into the file. Slow; to be called beside the loop, by a store of that
        thread's own.
        """
        if self.path.exists():
            self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def problems(self) -> list[str]:
        """What SQLite finds wrong with its file, one line each; reads all of it."""
        try:
            return [
                f"{self.path.name}: {found}"
                for (found,) in self.rows("PRAGMA integrity_check(5)")
                if found != "ok"
            ]
        except FormatError as error:
            return [str(error)]

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        for connection in filter(None, (self._connection, self._empty)):
            connection.close()
        self._connection = self._empty = self._database.opened = None

    @property
    def _within(self) -> bool:
        return bool(self._connection and self._connection.in_transaction)

    def _there(self) -> bool:
        """Whether the file is; what is written to one that was there before would be lost."""
        file = self._database.standing
        if file != self._database.opened and not self._within:
            self.close()
        return file is not None

    def _reading(self) -> sqlite3.Connection:
        if self._there() and not self._connection:
            self._connection = (
                self._database.readable()
                if self._readonly
                else self._database.writable(fresh=False)
            )
        if self._connection:
            return self._connection
        self._empty = self._empty or self._database.empty()
        return self._empty

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            with mapped(self.path):
                yield
        except FormatError:
            if not self._within:
                self.close()
            raise


def marks(values: Sized) -> str:
    """A mark for each of these, as a query has them between the brackets of ``IN``."""
    return ", ".join("?" * len(values))
