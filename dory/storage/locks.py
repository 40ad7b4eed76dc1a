"""One process per identity: a lock on its folder, which the kernel frees however its holder dies,
and beside it who holds it.

What stands in the file ``lock`` is only told to people: a stale or foreign pid in it holds nothing,
and removing it frees nothing.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dory.errors import Busy

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder`` for this process. Raises ``Busy`` with the pid of the other process that
    holds it.
    """
    fd = os.open(folder, _FOLDER)
    try:
        if not _taken(fd):
            way = (
                f"talk to it with chat.py, or stop it first, with agent.py --stop {folder.name[:8]}"
            )
            raise Busy(f"{folder.name} runs already, as process {holder(folder)}: {way}")
        (folder / "lock").write_text(f"{os.getpid()}\n")
        yield
    finally:
        os.close(fd)


def holder(folder: Path) -> int | None:
    """The pid of the process that holds ``folder``, 0 if it is not known; None when nobody does."""
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(folder / "lock")
    finally:
        os.close(fd)
    return None


def _named(path: Path) -> int:
    try:
        pid = path.read_bytes()[:20].strip()
    except OSError:
        return 0
    return int(pid) if pid.isdigit() else 0


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
