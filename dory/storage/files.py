"""The only way to write files: atomic replacement, locked appends, tails, torn ends.

Durability: when ``replace`` or ``append`` returns, the bytes were written to the disk with fsync,
and so was the directory entry of a new file. After a crash a file has the old content or the new
one, never a mixture. An append that was cut off is recognised by its missing newline. POSIX only
(``flock``). An ``OSError`` passes through unchanged; the loop decides what to do.

``open_regular`` is for paths at which others may have put something else. It opens regular files
only: reading a pipe would block, a device may never end, and a symlink may lead to a file that must
not be read or written here. The kind is checked on the open file, so it cannot be exchanged in
between.
"""

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TAIL_BLOCK = 16384
"""Bytes that ``tail`` reads at a time."""


def open_regular(path: Path | str, flags: int = os.O_RDONLY, folder: int | None = None) -> int:
    """Open the regular file ``path``, below the open directory ``folder`` if given, and return its
    descriptor. Raises ``OSError`` if it is no regular file.
    """
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, 0o666, dir_fd=folder)
    kind = os.fstat(fd).st_mode
    if not stat.S_ISREG(kind):
        os.close(fd)
        if stat.S_ISDIR(kind):
            raise OSError(errno.EISDIR, "Is a directory", str(path))
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return fd


def sync_folder(folder: Path) -> None:
    """Make the names that were created, renamed or removed in ``folder`` durable."""
    with _opened(folder) as fd:
        os.fsync(fd)


def replace(
    path: Path, content: bytes, drafts: Path | None = None, sure: Callable[[], None] = lambda: None
) -> None:
    """Write ``content`` as the whole of ``path``, atomically and durably. The folder must exist.

    The content is first written to a draft, in the same folder or in ``drafts`` on the same file
    system, where ``sweep`` finds what a kill leaves. Then ``sure`` is called: if it raises, the
    file stays as it is.
    """
    with _opened(path.parent) as folder, _opened(drafts or path.parent) as drafts_folder:
        replace_in(folder, path.name, content, drafts_folder, sure)


def replace_in(
    folder: int, name: str, content: bytes, drafts: int, sure: Callable[[], None]
) -> None:
    """``replace`` for a file in the open directory ``folder``. No path is walked, so no symlink can
    lead elsewhere.
    """
    temporary = f".{secrets.token_hex(8)}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=drafts)
    try:
        try:
            _write_all(fd, content)
            os.fsync(fd)
        finally:
            os.close(fd)
        sure()
        os.rename(temporary, name, src_dir_fd=drafts, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=drafts)
        raise
    os.fsync(folder)


def sweep(folder: Path, age: float = 0.0) -> None:
    """Remove the drafts that killed writers left in ``folder``. Drafts younger than ``age`` seconds
    stay: their writers may be alive.
    """
    for draft in folder.glob(f".{'[0-9a-f]' * 16}.tmp"):
        # its writer may have just finished, or another process may be sweeping
        with suppress(FileNotFoundError):
            if time.time() - draft.lstat().st_mtime >= age:
                draft.unlink()


def write_at(path: Path, offset: int, content: bytes) -> bytes:
    """Make ``path`` end with ``content`` at byte ``offset``. For one writer only.

    What others wrote there is moved to ``<name>.torn`` and returned.
    """
    fresh = not path.exists()
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        present = os.pread(fd, max(0, os.fstat(fd).st_size - offset), offset)
        foreign = b"" if content.startswith(present) else present.removeprefix(content)
        if foreign:
            _set_aside(path, foreign)
        # what is there already is not written again, as a full disk might not take it
        if not present.startswith(content):
            _write_all(fd, content, offset)
        os.ftruncate(fd, offset + len(content))
        os.fsync(fd)
    finally:
        os.close(fd)
    if fresh:
        sync_folder(path.parent)
    return foreign


def append(
    path: Path, content: bytes, heading: bytes = b"", goes_on: bytes = b"", on_torn: bytes = b""
) -> bytes:
    """Append whole lines under the file's lock. Any number of processes may do so.

    A new file gets ``heading`` first. A torn end (see ``whole``), left by a writer that died, is
    moved to ``<name>.torn`` and returned; the lines ``on_torn`` are then written before
    ``content``. If the disk refuses, the file stays as it was. Programs that do not use the lock
    may append whole lines, too.
    """
    fresh = not path.exists()
    fd = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        torn = _resting_torn_end(fd, goes_on)
        if torn:
            _set_aside(path, torn)
            os.ftruncate(fd, os.fstat(fd).st_size - len(torn))
        size = os.fstat(fd).st_size
        try:
            _write_all(fd, (b"" if size else heading) + (on_torn if torn else b"") + content)
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)
    if fresh:
        sync_folder(path.parent)
    return torn


def read_from(path: Path, offset: int, limit: int = -1) -> bytes:
    """Return the bytes of ``path`` from ``offset``, at most ``limit``; none if it is missing. The
    shared lock keeps a half-written append from being seen.
    """
    try:
        with open(open_regular(path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def whole(content: bytes, goes_on: bytes = b"") -> int:
    """Return how many bytes of ``content`` are whole lines. A line that ends with ``goes_on`` is
    whole only together with the next one.
    """
    end = content.rfind(b"\n") + 1
    while goes_on and content.endswith(goes_on + b"\n", 0, end):
        end = content.rfind(b"\n", 0, end - 1) + 1
    return end


def whole_end(path: Path, goes_on: bytes = b"") -> int:
    """Return the size of ``path`` without a torn end; 0 if it is missing. The next ``append`` keeps
    everything up to there.
    """
    try:
        with open(open_regular(path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return os.fstat(file.fileno()).st_size - len(_torn_end(file.fileno(), goes_on))
    except FileNotFoundError:
        return 0


def size(path: Path) -> int:
    """Return the bytes in ``path``; 0 if it is missing."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def tail(path: Path, lines: int) -> list[bytes]:
    """Return the last ``lines`` whole lines, without their newlines. They are read from the end, so
    the cost does not grow with the file.
    """
    if not lines:
        return []
    start = size(path)
    content = b""
    with open(path, "rb") as file:
        while start and content.count(b"\n") <= lines:
            step = min(_TAIL_BLOCK, start)
            start -= step
            file.seek(start)
            content = file.read(step) + content
    return content.split(b"\n")[:-1][-lines:]


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def _write_all(fd: int, content: bytes, offset: int | None = None) -> None:
    """Write all of ``content``. One system call may write a part only, as on a nearly full disk."""
    rest = memoryview(content)
    if offset is not None:
        os.lseek(fd, offset, os.SEEK_SET)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _resting_torn_end(fd: int, goes_on: bytes) -> bytes:
    """The torn end of ``fd`` once it has stopped growing. A program that does not use the lock may
    be in the middle of its line.
    """
    size = -1
    while (torn := _torn_end(fd, goes_on)) and size != os.fstat(fd).st_size:
        size = os.fstat(fd).st_size
        time.sleep(0.1)
    return torn


def _torn_end(fd: int, goes_on: bytes) -> bytes:
    start = os.fstat(fd).st_size
    end = b""
    while start and not whole(end, goes_on):
        step = min(4096, start)
        start -= step
        end = os.pread(fd, step, start) + end
    return end[whole(end, goes_on) :]


def _set_aside(path: Path, content: bytes) -> None:
    """Append ``content`` to ``<name>.torn``: nothing that somebody wrote is thrown away."""
    with open(path.with_name(f"{path.name}.torn"), "ab") as aside:
        aside.write(content.removesuffix(b"\n") + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
