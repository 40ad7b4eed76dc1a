"""SQLite: connections to a file that is ours, or a refusal; and its exceptions as those of this house. Nowhere else is it known what they mean.

Whose a file is stands in its ``application_id``, its version in ``user_version``; a foreign one is refused with a ``FormatError``.

Damage becomes a ``FormatError``, a lock that is not given up ``Busy``, a full or failing disk an ``OSError``. What has no code of its own, such
as a text that cannot be decoded, comes of damage as well. A ``ProgrammingError`` is a mistake of the caller's, and stays what it is.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dory.errors import Busy, DoryError, FormatError

APPLICATION = int.from_bytes(b"Dory")
VERSION = 1
LOG_PAGES = 16384
"""Pages of log, 4 KiB each, after which a write copies them back itself."""
PATIENCE = 10.0
"""Seconds to wait for another process's lock."""
_SMALLEST = 512  # bytes in a database that has anything in it
_CACHE = 8 * 1024  # KiB of pages in memory: what a search needs does not grow with the file
_PRAGMAS = ("synchronous=FULL", f"wal_autocheckpoint={LOG_PAGES}", f"cache_size=-{_CACHE}", "temp_store=MEMORY")
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_FAILURES = {
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "there is no room left on the disk: free some"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "the disk failed"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "it cannot be opened: check the folder and its rights"),
    sqlite3.SQLITE_READONLY: (errno.EACCES, "it may not be written: check its rights"),
    sqlite3.SQLITE_PERM: (errno.EACCES, "it may not be opened: check its rights"),
}


class Database:
    """The file at ``path``, in which there are the tables of the ``schema``. Raises what SQLite does, and for a file that is none of Dory's, or
    not of this version, a ``FormatError``.
    """

    def __init__(self, path: Path, readonly: bool) -> None:
        self.path, self._readonly = path, readonly
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
        """For a store that writes. A ``fresh`` file begins to be, and is nobody's until it is stamped."""
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
            connection = self._opened("ro" if log.exists() else "rw")  # the latter takes a log away that it brought
        except sqlite3.OperationalError as error:
            if code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or _size(log):
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
        if not connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone():
            raise DoryError("this Python's SQLite has no FTS5, which search needs: take a Python whose sqlite3 was built with it")
        ((owner,), (version,)) = (connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (owner, version, tables) == (0, 0, 0):
            if 0 < _size(self.path) < _SMALLEST:
                raise damaged(self.path, "cut short")
        elif owner != APPLICATION:
            raise FormatError(f"{self.path} is a database of another program: move it away, and it is begun anew")
        elif version != VERSION:
            raise FormatError(f"{self.path} is of version {version}, this Dory reads {VERSION}: update Dory")

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
    return FormatError(f"{path} is damaged ({how}): put it and its -wal back from a backup, or move it away, and it is begun anew")


def _size(path: Path) -> int:
    """Bytes in a file; 0 when it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
