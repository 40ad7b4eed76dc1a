"""One process per identity: a lock on its folder. The kernel releases it however its holder dies.

The file ``lock`` in the folder names the holder for people. A stale or foreign pid in it locks
nothing, and removing the file releases nothing.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dory.errors import Busy
from dory.text.prompt_files import invocation

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder`` for this process. Raises ``Busy``, with the pid of the holder, if another
    process holds it.
    """
    fd = os.open(folder, _FOLDER)
    try:
        if not _locked(fd):
            stop = f"{invocation('agent.py')} --stop {folder.name[:8]}"
            way = f"talk to it with {invocation('chat.py')}, or stop it first, with {stop}"
            raise Busy(f"{folder.name} runs already, as process {holder(folder)}: {way}")
        (folder / "lock").write_text(f"{os.getpid()}\n")
        yield
    finally:
        os.close(fd)


def holder(folder: Path) -> int | None:
    """Return the pid of the process that holds ``folder``: 0 if it is not known, None if no process
    does.
    """
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _pid(folder / "lock")
    finally:
        os.close(fd)
    return None


def _pid(path: Path) -> int:
    try:
        pid = path.read_bytes()[:20].strip()
    except OSError:
        return 0
    return int(pid) if pid.isdigit() else 0


def _locked(fd: int) -> bool:
    """Try to lock for a fifth of a second, as ``holder`` in another process locks for a moment."""
    for _ in range(20):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False
