"""Taking the lock of an open file (``flock``) within a while: whoever may read a file may hold its
lock for as long as they like.
"""

import fcntl
import os
import time
from pathlib import Path

from dory.errors import Held

PATIENCE = 10.0
"""Seconds that a lock is waited for. Dory holds one for as long as the disk takes to write a line;
forty writers that stand in a line need about a second.
"""
LATER = 1.0
"""Seconds that are waited for the lock of a file into which the next attempt can write as well."""
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.02
"""Seconds between two attempts: short at first, as most locks are given back at once."""


def take(fd: int, how: int, path: Path, until: float) -> None:
    """Lock the open file ``fd``; ``how`` is ``LOCK_SH`` or ``LOCK_EX``. Raises ``Held`` if another
    program still holds it at ``until``, seconds by the monotonic clock.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise Held(path, _holder(fd)) from None
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _holder(fd: int) -> int:
    """The process that has locked the file, as far as the system tells; else 0."""
    inode = str(os.fstat(fd).st_ino)
    try:
        locks = Path("/proc/locks").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    for lock in locks:
        # 1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF (proc_locks(5))
        fields = lock.split()
        if fields[1:2] == ["FLOCK"] and fields[5].rpartition(":")[2] == inode:
            return max(0, int(fields[4]))
    return 0
