"""The one SQLite file of an agent, ``agents/<self>/memory.sqlite``.

Other modules keep their tables in it. This one opens the file, commits, and maps the exceptions of
SQLite, whose meaning is known nowhere else.

**Whose file it is.** ``application_id`` says that the file is Dory's, ``user_version`` its version.
A foreign file and an unknown version are refused with a ``FormatError``. A known older version is
migrated when it is first opened for writing:

    1    the table ``vector`` had a column of signatures, which were derived from the numbers

**Missing and replaced files.** A missing file reads as an empty one. It is created by the first
write. A file that was deleted, moved away or replaced is closed before the next use, a damaged one
at once.

**Generation.** Each commit that changed something also records what ``generation.Stamp`` holds.
From that ``identity/generations.py`` knows whether the agent's files are of the same time.

**Durability.** ``writing`` is all or nothing, and durable when it returns: WAL with
``synchronous=FULL``, one fsync for a commit. ``tidy`` copies the log back into the file and runs in
a thread of its own. If nobody calls it, the write that finds 64 MiB of log does it.

**Threads and processes.** A ``Store`` belongs to the thread that made it. Other threads and
processes open their own with ``readonly=True``, at any time. They see whole commits, block nobody,
and leave no log behind where there was none. They also work where nothing can be written.

**Errors.** Damage becomes a ``FormatError``, a lock that is not released becomes ``Busy``, a full
or failing disk becomes an ``OSError``. Errors without a code of their own, such as text that cannot
be decoded, come from damage as well. A ``ProgrammingError`` is a mistake in the calling code and
passes through.
"""

import errno
import sqlite3
from collections.abc import Iterator, Sequence, Sized
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dory.errors import Busy, DoryError, FormatError, UnknownVersion
from dory.storage import files, generation, held
from dory.storage.watched_files import FileStamp

NAME = "memory.sqlite"
APPLICATION = int.from_bytes(b"Dory")
VERSION = 2
LOG_PAGES = 16384
"""Pages of log, 4 KiB each, after which a write copies them back itself."""
LOCK_TIMEOUT = 10.0
"""Seconds to wait for another process's lock."""
_OLDER = (1,)
"""Versions that are migrated by a writer. A reader reads them as they are."""
_SMALLEST = 512
"""Bytes in a database that has anything in it."""
_CACHE = 8 * 1024
"""KiB of pages in memory. What a search needs does not grow with the file."""
_PRAGMAS = (
    "synchronous=FULL",
    f"wal_autocheckpoint={LOG_PAGES}",
    f"cache_size=-{_CACHE}",
    "temp_store=MEMORY",
)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_DISK_ERRORS = {
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "there is no room left on the disk: free some"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "the disk failed"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "it cannot be opened: check the folder and its rights"),
    sqlite3.SQLITE_READONLY: (errno.EACCES, "it may not be written: check its rights"),
    sqlite3.SQLITE_PERM: (errno.EACCES, "it may not be opened: check its rights"),
}


class Store:
    """The file at ``path``. Every method raises what the module says."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self.tie = generation.Tie()
        """To be set before the first write, if there is a ``state.json``."""
        self._schema: list[str] = []
        self._connection: sqlite3.Connection | None = None
        self._opened_file: tuple[int, int] | None = None
        """Which file ``_connection`` was opened on."""
        self._empty: sqlite3.Connection | None = None
        """The tables without content, in memory, in place of a missing file."""

    def tables(self, *statements: str) -> None:
        """Add tables to the schema, before the store is first used.

        Each statement is ``CREATE … IF NOT EXISTS``, or several with ``;`` between. A trigger has
        ``;`` inside, so it stands alone.
        """
        for statement in statements:
            trigger = statement.startswith("CREATE TRIGGER")
            self._schema += [statement] if trigger else statement.split(";")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a query as tuples; none if the file is missing."""
        with self._guarded():
            return self._reading().execute(sql, values).fetchall()

    def number(self, sql: str, *values: Any) -> int:
        """Return the only value of a query, a number; 0 for NULL."""
        ((number,),) = self.rows(sql, values)
        return int(number or 0)

    def has(self, table: str) -> bool:
        """Whether the file has a table. A reader asks for one that an older Dory did not make, and
        that it has not named in ``tables``.
        """
        return bool(
            self.number(
                "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?", table
            )
        )

    def moment(self, seconds: int) -> datetime:
        """Return the time that the file holds as ``seconds`` since 1970.

        Raises ``FormatError`` if there is no such time.
        """
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (TypeError, ValueError, OverflowError, OSError) as error:
            raise damaged(self.path, error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction: committed at the end of the block, or not at all.

        Inside another transaction it is a part of that one.
        """
        if self.readonly:
            raise PermissionError(errno.EACCES, "it was opened for reading only", str(self.path))
        held.check()
        with self._guarded():
            if self._connection and self._in_transaction:
                yield self._connection
                return
            fresh = not self._file_exists()
            if not self._connection:
                self._connection = self._open("rwc" if fresh else "rw")
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            before = connection.total_changes
            try:
                if fresh:
                    self._bring_up_to_date(connection)
                yield connection
                held.check()
                changes = self.tie.changes
                if connection.total_changes != before:
                    changes = generation.stamped(connection, self.tie)
                connection.execute("COMMIT")
                self.tie.changes = changes
            except BaseException:
                if self._in_transaction:  # SQLite ends it by itself when the disk is full
                    connection.execute("ROLLBACK")
                if fresh:
                    self.close()
                raise
            if fresh:
                files.sync_folder(self.path.parent)

    def tidy(self) -> None:
        """Copy the log back into the file. Slow: call it from another thread, on its own store."""
        if self.path.exists():
            self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def problems(self) -> list[str]:
        """Return what SQLite finds wrong with the file, one line each. Reads the whole file."""
        try:
            results = [result for (result,) in self.rows("PRAGMA integrity_check(5)")]
        except FormatError as error:
            return [str(error)]
        return [f"{self.path.name}: {result}" for result in results if result != "ok"]

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        for connection in (self._connection, self._empty):
            if connection:
                connection.close()
        self._connection = None
        self._empty = None
        self._opened_file = None

    @property
    def _in_transaction(self) -> bool:
        return bool(self._connection and self._connection.in_transaction)

    def _file_exists(self) -> bool:
        """Whether there is a file now. Closes one that was deleted or replaced: what would be
        written to it would be lost.
        """
        file = self._file()
        if file != self._opened_file and not self._in_transaction:
            self.close()
        return file is not None

    def _file(self) -> tuple[int, int] | None:
        stamp = FileStamp.at(self.path)
        return stamp.file if stamp else None

    def _reading(self) -> sqlite3.Connection:
        """A connection to read with; to empty tables in memory if there is no file."""
        if self._file_exists() and not self._connection:
            self._connection = self._open_readonly() if self.readonly else self._open("rw")
        if self._connection:
            return self._connection
        if not self._empty:
            self._empty = sqlite3.connect(":memory:", isolation_level=None)
            self._create_tables(self._empty)
        return self._empty

    def _open_readonly(self) -> sqlite3.Connection | None:
        """A connection for reading; None if the first write of the file was never finished."""
        log = self.path.with_name(f"{self.path.name}-wal")
        try:
            # A connection of mode "rw" removes the log that it has to make.
            connection = self._open("ro" if log.exists() else "rw")
        except sqlite3.OperationalError as error:
            unwritable = code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not unwritable or files.size(log):
                raise
            # No log can be made there, and there is none to be read.
            connection = self._open("ro&immutable=1")
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            connection.close()
            return None
        try:
            self._create_tables(connection)  # creates nothing, and fails if a table is missing
        except sqlite3.OperationalError as error:
            connection.close()
            raise FormatError(
                f"{self.path} was last written by an older Dory: wake its agent once, and it is"
                " brought up to date"
            ) from error
        return connection

    def _open(self, mode: str) -> sqlite3.Connection:
        """Open the file in a ``mode`` of SQLite's URIs. With "rwc" it is Dory's only once
        ``_bring_up_to_date`` was committed.
        """
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None)
        try:
            self._opened_file = self._file()
            _check(connection, self.path)
            for pragma in (f"query_only={self.readonly}", *_PRAGMAS):
                connection.execute(f"PRAGMA {pragma}")
            if not self.readonly:
                connection.execute("PRAGMA journal_mode=WAL")
                if mode == "rw":
                    connection.execute("BEGIN IMMEDIATE")
                    self._bring_up_to_date(connection)
                    connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Mark a new file as Dory's, migrate an older one, create missing tables. If nothing is
        missing, nothing is written.
        """
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            _drop_signatures(connection)
            connection.execute(f"PRAGMA application_id={APPLICATION}")
            connection.execute(f"PRAGMA user_version={VERSION}")
        self._create_tables(connection)

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        for statement in self._schema:
            connection.execute(statement)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Map SQLite's exceptions, and close a damaged file."""
        try:
            with mapped(self.path):
                yield
        except FormatError:
            if not self._in_transaction:
                self.close()
            raise


def copy(path: Path, target: Path) -> None:
    """Copy the file at ``path``, as of one instant and with its log, to the new file ``target``,
    also while others write to it.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with (
        mapped(path),
        closing(sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT)) as source,
        closing(sqlite3.connect(target)) as copied,
    ):
        source.backup(copied)


@contextmanager
def mapped(path: Path) -> Iterator[None]:
    """Map what SQLite raises in this block, while it works on the file at ``path``."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        if code(error) in _LOCKED:
            raise Busy(f"{path} is held by another process: try again, or stop that one") from error
        if code(error) in _DISK_ERRORS:
            number, explanation = _DISK_ERRORS[code(error)]
            raise OSError(number, f"{explanation} ({error})", str(path)) from error
        raise damaged(path, error) from error
    except UnicodeDecodeError as error:  # SQLite's own message quotes what is damaged
        raise damaged(path, error) from error


def code(error: sqlite3.DatabaseError) -> int:
    """The primary result code of an error. Errors that Python raises have the general one."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def damaged(path: Path, how: object) -> FormatError:
    """The error for a damaged file."""
    return FormatError(
        f"{path} is damaged ({how}): put it and its -wal back from a backup; or stop its agent, and"
        f" 'python -m dory.recall {path.parent.name[:8]} --rebuild' saves what can be read; or move"
        " it away, and it is begun anew"
    )


def marks(values: Sized) -> str:
    """One ``?`` for each value, as they stand between the brackets of ``IN``."""
    return ", ".join("?" * len(values))


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise unless the file is Dory's and of a known version, or nothing was ever written to it."""
    fts5 = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
    if not connection.execute(fts5).fetchone():
        raise DoryError(
            "this Python's SQLite has no FTS5, which search needs: take a Python whose sqlite3 was"
            " built with it"
        )
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (owner, version, tables) == (0, 0, 0):
        if 0 < files.size(path) < _SMALLEST:
            raise damaged(path, "cut short")
    elif owner != APPLICATION:
        raise FormatError(
            f"{path} is a database of another program: move it away, and it is begun anew"
        )
    elif version != VERSION and version not in _OLDER:
        raise UnknownVersion(path, version, VERSION)


def _drop_signatures(connection: sqlite3.Connection) -> None:
    """Migrate from version 1."""
    columns = connection.execute("SELECT name FROM pragma_table_info('vector')").fetchall()
    if ("signature",) in columns:
        connection.execute("ALTER TABLE vector DROP COLUMN signature")
