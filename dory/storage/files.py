"""THE way this house touches the disk: atomic replacement, locked appends, tails, torn ends.

Durability: when ``replace`` or ``append`` returns, the bytes have been handed to the disk with
fsync, and so has the directory entry of a new file. A crash leaves the old content or the new,
never a mixture; an append that was cut off is told from a whole one by its missing newline. POSIX
only (``flock``); an ``OSError`` passes through unchanged, the loop maps it where it decides what to
do.

Opening what others may have put something else in place of. Regular files only: a pipe would make
the house wait, a device never come to its end, and a symlink lead to a file that is nobody's to
read or write here. The kind is asked of the open file: nothing can be swapped.
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


def open_regular(path: Path | str, flags: int = os.O_RDONLY, folder: int | None = None) -> int:
    """A descriptor of the regular file ``path``, below the open directory ``folder`` if given; the
    caller closes it. Else an ``OSError``.
    """
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, 0o666, dir_fd=folder)
    kind = os.fstat(fd).st_mode
    if not stat.S_ISREG(kind):
        os.close(fd)
        number, words = (
            (errno.EISDIR, "Is a directory")
            if stat.S_ISDIR(kind)
            else (errno.EINVAL, "Not a regular file")
        )
        raise OSError(number, words, str(path))
    return fd


def sync_folder(folder: Path) -> None:
    """Make created, renamed and removed names in ``folder`` durable."""
    with _opened(folder) as fd:
        os.fsync(fd)


def replace(
    path: Path, content: bytes, drafts: Path | None = None, sure: Callable[[], None] = lambda: None
) -> None:
    """Write ``content`` as the whole of ``path``, atomically and durably. The folder must exist.

    The draft of it is made in the same folder, or in ``drafts`` on the same file system, where
    ``sweep`` will find what a kill leaves. When it is on the disk, ``sure`` is called: if that
    raises, nothing was written.
    """
    with _opened(path.parent) as folder, _opened(drafts or path.parent) as beside:
        replace_in(folder, path.name, content, beside, sure)


def replace_in(
    folder: int, name: str, content: bytes, drafts: int, sure: Callable[[], None]
) -> None:
    """``replace`` for a file of the open directory ``folder``: no path is walked, so no symlink can
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
    """Remove the drafts that killed writers left in ``folder``; those younger than ``age`` seconds
    may belong to one that still lives.
    """
    for draft in folder.glob(f".{'[0-9a-f]' * 16}.tmp"):
        with suppress(
            FileNotFoundError
        ):  # its writer has just finished, or somebody else sweeps too
            if time.time() - draft.lstat().st_mtime >= age:
                draft.unlink()


def write_at(path: Path, offset: int, content: bytes) -> bytes:
    """Make ``path`` end with ``content`` at ``offset``; one writer only. What others wrote there is
    moved to ``<name>.torn`` and returned.
    """
    fresh = not path.exists()
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        found = os.pread(fd, max(0, os.fstat(fd).st_size - offset), offset)
        foreign = b"" if content.startswith(found) else found.removeprefix(content)
        if foreign:
            _set_aside(path, foreign)
        if not found.startswith(
            content
        ):  # what a full disk could not take again is not given up first
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
    """Append whole lines under the file's lock; any number of processes may do so. A new file gets
    ``heading`` first.

    A torn end (see ``whole``), left by a writer that died, is moved to ``<name>.torn`` first and
    returned; the lines ``on_torn`` then stand before ``content``. When the disk refuses, the file
    is as it was. Writers that know of no lock may append whole lines, too.
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
    """The bytes of ``path`` from ``offset``, read under a shared lock so that no half-written
    append is seen. Missing file: nothing.
    """
    try:
        with open(open_regular(path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def whole(content: bytes, goes_on: bytes = b"") -> int:
    """How many bytes of ``content`` are whole: up to the last newline. Behind a line that ends with
    ``goes_on`` another one has to follow.
    """
    end = content.rfind(b"\n") + 1
    while goes_on and content.endswith(goes_on + b"\n", 0, end):
        end = content.rfind(b"\n", 0, end - 1) + 1
    return end


def whole_end(path: Path, goes_on: bytes = b"") -> int:
    """The size of ``path`` without a torn end: the next ``append`` will not cut what stands before.
    Missing file: 0.
    """
    try:
        with open(open_regular(path), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            return os.fstat(file.fileno()).st_size - len(_torn_end(file.fileno(), goes_on))
    except FileNotFoundError:
        return 0


def size(path: Path) -> int:
    """Bytes in ``path``; 0 when it does not exist."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def tail(path: Path, lines: int) -> list[bytes]:
    """The last ``lines`` whole lines without their newlines, read from the end: the cost does not
    grow with the file.
    """
    remaining, block, found = size(path), 16384, b""
    with open(path, "rb") as file:
        while remaining and found.count(b"\n") <= lines:
            step = min(block, remaining)
            remaining -= step
            file.seek(remaining)
            found = file.read(step) + found
    return found.split(b"\n")[:-1][-lines:] if lines else []


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield fd
    finally:
        os.close(fd)


def _write_all(fd: int, content: bytes, offset: int | None = None) -> None:
    """A write may be short (a nearly full disk); go on until it is whole or the system says why
    not.
    """
    view = memoryview(content)
    if offset is not None:
        os.lseek(fd, offset, os.SEEK_SET)
    while view:
        view = view[os.write(fd, view) :]


def _resting_torn_end(fd: int, goes_on: bytes) -> bytes:
    """The torn end of ``fd`` once it has not grown for a while: a writer that knows of no lock may
    be in the middle of its line.
    """
    size = -1
    while (torn := _torn_end(fd, goes_on)) and size != os.fstat(fd).st_size:
        size = os.fstat(fd).st_size
        time.sleep(0.1)
    return torn


def _torn_end(fd: int, goes_on: bytes) -> bytes:
    start, found = os.fstat(fd).st_size, b""
    while start and not whole(found, goes_on):
        step = min(4096, start)
        start -= step
        found = os.pread(fd, step, start) + found
    return found[whole(found, goes_on) :]


def _set_aside(path: Path, content: bytes) -> None:
    """Nothing that somebody wrote is thrown away: it goes to the end of ``<name>.torn``."""
    with open(path.with_name(f"{path.name}.torn"), "ab") as aside:
        aside.write(content.removesuffix(b"\n") + b"\n")
        aside.flush()
        os.fsync(aside.fileno())
