"""The only way to write files: atomic replacement, locked appends, tails, torn ends.

Durability: when ``replace`` or ``append`` returns, the bytes were written to the disk with fsync,
and so was the directory entry of a new file. After a crash a file has the old content or the new
one, never a mixture. An append that was cut off is recognised by its missing newline. POSIX only
(``flock``). An ``OSError`` passes through unchanged; the loop decides what to do.

What is no regular file is never opened (``regular_files``).
"""

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dory.errors import Held
from dory.regular_files import open_regular, opened
from dory.storage import file_locks, held
from dory.storage.file_locks import PATIENCE

_TAIL_BLOCK = 16384
"""Bytes that ``tail`` reads at a time."""
_FIRST_BLOCK = 4096
_BLOCK = 1 << 20
"""Bytes that are looked at together for a torn end, however long that is: first few, then many."""
_EXCHANGES = 1000
"""How often in a row a file may be replaced while its lock is taken, before that is given up."""
_RESTING = 0.5
"""Seconds that a torn end may take to stop growing."""


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
    held.check()
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
    held.check()
    fresh = not path.exists()
    fd = open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        present = os.pread(fd, max(0, os.fstat(fd).st_size - offset), offset)
        foreign = b"" if content.startswith(present) else present.removeprefix(content)
        if foreign:
            _set_aside(path, [foreign])
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
    path: Path,
    content: bytes,
    heading: bytes = b"",
    goes_on: bytes = b"",
    on_torn: bytes = b"",
    patience: float = PATIENCE,
) -> int:
    """Append whole lines under the file's lock. Any number of processes may do so. Raises ``Held``
    if another program holds the lock for longer than ``patience`` seconds.

    A new file gets ``heading`` first. A torn end (see ``whole``), left by a writer that died or
    does not come to an end, is moved to ``<name>.torn``; the lines ``on_torn`` are then written
    before ``content``. Returns how many bytes that were. If the disk refuses, the file stays as it
    was. Programs that do not use the lock may append whole lines, too.
    """
    held.check()
    with _locked(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, fcntl.LOCK_EX, patience) as fd:
        torn = _set_torn_end_aside(fd, path, goes_on)
        size = os.fstat(fd).st_size
        try:
            _write_all(fd, (b"" if size else heading) + (on_torn if torn else b"") + content)
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, size)
            raise
    if not size:
        sync_folder(path.parent)
    return torn


def read_from(path: Path, offset: int, limit: int = -1) -> bytes:
    """Return the bytes of ``path`` from ``offset``, at most ``limit``; none if it is missing. The
    end may be a half-written append (see ``whole``).
    """
    try:
        with opened(path) as file:
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def read_shared(path: Path, offset: int, limit: int, patience: float = PATIENCE) -> bytes:
    """``read_from`` under the shared lock: what a program rewrites while it holds the lock is not
    seen half. Raises ``Held`` if it holds it for longer than ``patience`` seconds.
    """
    try:
        with _locked(path, os.O_RDONLY, fcntl.LOCK_SH, patience) as fd:
            return os.pread(fd, limit, offset)
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
        with opened(path) as file:
            return _torn_start(file.fileno(), goes_on)
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
    with opened(path) as file:
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


@contextmanager
def _locked(path: Path, flags: int, how: int, patience: float) -> Iterator[int]:
    """The open file at ``path``, locked. A program may have replaced it while it held the lock, as
    ``flock FILE sed -i`` does. Then the new file is the one to lock: nobody would read the old one.
    """
    until = time.monotonic() + patience
    for _ in range(_EXCHANGES):
        fd = open_regular(path, flags)
        try:
            file_locks.take(fd, how, path, until)
            if _stands_at(fd, path):
                yield fd
                return
        finally:
            os.close(fd)
    raise Held(path)


def _stands_at(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _set_torn_end_aside(fd: int, path: Path, goes_on: bytes) -> int:
    """Move the torn end of ``fd`` to ``<name>.torn``; how many bytes that were.

    A program that does not use the lock may be in the middle of its line, so the end must have
    stopped growing. But a line that goes on for too long is never ended: the others need not wait.
    """
    until = time.monotonic() + _RESTING
    while (start := _torn_start(fd, goes_on)) < (size := os.fstat(fd).st_size):
        time.sleep(0.1)
        if os.fstat(fd).st_size == size or time.monotonic() >= until:
            break
    torn = os.fstat(fd).st_size - start
    if torn:
        _set_aside(path, _blocks(fd, start, start + torn))
        os.ftruncate(fd, start)
    return torn


def _torn_start(fd: int, goes_on: bytes) -> int:
    """The byte at which the torn end of ``fd`` begins; its size if it has none. It is looked for
    from the end, each byte once.
    """
    end = os.fstat(fd).st_size
    step = _FIRST_BLOCK
    while end:
        start = max(0, end - step)
        lead = min(start, len(goes_on))  # what decides about a newline at the very beginning
        block = os.pread(fd, end - start + lead, start - lead)
        if (behind := whole(block, goes_on)) > lead:
            return start - lead + behind
        end, step = start, _BLOCK
    return 0


def _blocks(fd: int, start: int, end: int) -> Iterator[bytes]:
    while start < end and (block := os.pread(fd, min(_BLOCK, end - start), start)):
        yield block
        start += len(block)


def _set_aside(path: Path, blocks: Iterable[bytes]) -> None:
    """Append to ``<name>.torn``: nothing that somebody wrote is thrown away."""
    aside = open_regular(f"{path}.torn", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        last = b"\n"
        for block in blocks:
            _write_all(aside, block)
            last = block[-1:]
        if last != b"\n":
            _write_all(aside, b"\n")
        os.fsync(aside)
    finally:
        os.close(aside)
