"""The agent's one SQLite file, ``agents/<self>/memory.sqlite``. Rooms keep tables of their own in it; this one opens it and commits.

A missing file reads as an empty one, and it appears with the first write. ``writing`` is all or nothing and durable when it returns: WAL with
``synchronous=FULL``, one fsync for a commit. Copying the log back into the file is left to ``tidy``, which runs beside the loop; should nobody
call it, the write that finds 64 MiB of log does it.

``storage/database.py`` opens it, or refuses with a ``FormatError`` what is none of ours, and maps what SQLite raises. A file that was deleted, moved away
or exchanged is let go of before the next use, a damaged one at once.

A ``Store`` belongs to the thread that made it. Other threads and processes open one of their own, at any time, with ``readonly=True``: they see
whole commits and hold nobody up, and leave no log behind where there was none. They read where nothing can be written, too.
"""

import errno
import sqlite3
from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dory.errors import FormatError
from dory.storage import database, files

NAME = "memory.sqlite"


class Store:
    """The file at ``path``. Every method raises as the module says."""

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self.path, self._readonly = path, readonly
        self._database = database.Database(path, readonly)
        self._connection: sqlite3.Connection | None = None
        self._empty: sqlite3.Connection | None = None

    def tables(self, *statements: str) -> None:
        """Have these there whenever the store is used, so it is called before that: ``CREATE … IF NOT EXISTS``, several with ``;`` between."""
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
        """The time that stands in the file as so many ``seconds`` since 1970. Raises a ``FormatError`` for one that there is not."""
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (TypeError, ValueError, OverflowError, OSError) as error:
            raise database.damaged(self.path, error) from error

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
            self._connection = self._database.readable() if self._readonly else self._database.writable(fresh=False)
        if self._connection:
            return self._connection
        self._empty = self._empty or self._database.empty()
        return self._empty

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            with database.mapped(self.path):
                yield
        except FormatError:
            if not self._within:
                self.close()
            raise


def marks(values: Sized) -> str:
    """A mark for each of these, as a query has them between the brackets of ``IN``."""
    return ", ".join("?" * len(values))
