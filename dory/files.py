"""THE way this house touches the disk: atomic replacement, locked appends, tails, torn ends, process locks.

Durability: when ``replace`` or ``append`` returns, the bytes have been handed to the disk with fsync, and so has the directory entry of a new
file. A crash leaves the old content or the new, never a mixture; an append that was cut off is told from a whole one by its missing newline.
POSIX only (``flock``); an ``OSError`` passes through unchanged, the loop maps it where it decides what to do.
"""

import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make created, renamed and removed names in ``folder`` durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(path: Path, content: bytes) -> None:
    """Write ``content`` as the whole of ``path``, atomically and durably. The folder must exist."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        replace_in(folder, path.name, content)
    finally:
        os.close(folder)


def replace_in(folder: int, name: str, content: bytes) -> None:
    """``replace`` for a file of the open directory ``folder``: no path is walked, so no symlink can lead elsewhere."""
    temporary = f".{secrets.token_hex(8)}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        try:
            _write_all(fd, content)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def write_at(path: Path, offset: int, content: bytes) -> None:
    """Make ``path`` end with ``content`` at ``offset``, cutting off what a crash left behind it. One writer only."""
    fresh = not path.exists()
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        os.ftruncate(fd, offset)
        _write_all(fd, content, offset)
        os.fsync(fd)
    finally:
        os.close(fd)
    if fresh:
        sync_folder(path.parent)


def append(path: Path, content: bytes, heading: bytes = b"") -> bytes:
    """Append whole lines under the file's lock; any number of processes may do so. A new file gets ``heading`` first.

    A torn end (bytes after the last newline, left by a writer that died) is moved to ``<name>.torn`` first and returned.
    """
    fresh = not path.exists()
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        torn = _cut_torn_end(path, fd)
        size = os.fstat(fd).st_size
        _write_all(fd, content if size else heading + content)
        os.fsync(fd)
    finally:
        os.close(fd)
    if fresh:
        sync_folder(path.parent)
    return torn


def read_from(path: Path, offset: int, limit: int = -1) -> bytes:
    """The bytes of ``path`` from ``offset``, read under a shared lock so that no half-written append is seen. Missing file: nothing."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def size(path: Path) -> int:
    """Bytes in ``path``; 0 when it does not exist."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def tail(path: Path, lines: int) -> list[bytes]:
    """The last ``lines`` whole lines without their newlines, read from the end: the cost does not grow with the file."""
    remaining, block, found = size(path), 16384, b""
    with open(path, "rb") as file:
        while remaining and found.count(b"\n") <= lines:
            step = min(block, remaining)
            remaining -= step
            file.seek(remaining)
            found = file.read(step) + found
    return found.split(b"\n")[:-1][-lines:] if lines else []


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold ``path`` as this process's lock; yields False when another process holds it. The kernel frees it however the holder dies."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        mine = _taken(fd)
        if mine:
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        yield mine
    finally:
        os.close(fd)


def holder(path: Path) -> int | None:
    """The pid of the process that holds the lock ``path``; None when it is free."""
    try:
        with open(path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                pid = file.read(20).strip()
                return int(pid) if pid.isdigit() else 0
            return None
    except FileNotFoundError:
        return None


def _taken(fd: int) -> bool:
    """Try for a fifth of a second: whoever asks for the ``holder`` has the lock for a moment, too."""
    for _ in range(20):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False


def _write_all(fd: int, content: bytes, offset: int | None = None) -> None:
    """A write may be short (a nearly full disk); go on until it is whole or the system says why not."""
    view = memoryview(content)
    if offset is not None:
        os.lseek(fd, offset, os.SEEK_SET)
    while view:
        view = view[os.write(fd, view) :]


def _cut_torn_end(path: Path, fd: int) -> bytes:
    end = os.fstat(fd).st_size
    start = end
    torn = b""
    while start and b"\n" not in torn:
        step = min(4096, start)
        start -= step
        torn = os.pread(fd, step, start) + torn
    torn = torn[torn.rfind(b"\n") + 1 :]
    if torn:
        with open(path.with_name(f"{path.name}.torn"), "ab") as aside:
            aside.write(torn + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        os.ftruncate(fd, end - len(torn))
    return torn
