"""SQLite's exceptions as those of this house; nowhere else is it known what they mean.

Damage becomes a ``FormatError``, a lock that is not given up ``Busy``, a full or failing disk an ``OSError``. What has no code of its own, such
as a text that cannot be decoded, comes of damage as well. A ``ProgrammingError`` is a mistake of the caller's, and stays what it is.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from dory.errors import Busy, FormatError

_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_FAILURES = {
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "there is no room left on the disk: free some"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "the disk failed"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "it cannot be opened: check the folder and its rights"),
    sqlite3.SQLITE_READONLY: (errno.EACCES, "it may not be written: check its rights"),
    sqlite3.SQLITE_PERM: (errno.EACCES, "it may not be opened: check its rights"),
}


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


def moment(path: Path, seconds: int) -> datetime:
    """The time that stands in the file as so many ``seconds``. Raises a ``FormatError`` for one that there is not."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise damaged(path, error) from error
