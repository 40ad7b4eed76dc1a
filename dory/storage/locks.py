"""One process per identity: a lock on its folder. The kernel releases it however its holder dies.

The file ``lock`` in the folder names the holder: its pid, and when that process was born, as pids
are given anew. A stale or foreign pid in it locks nothing and is nobody's, and removing the file
releases nothing.
"""

import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dory.errors import Busy
from dory.regular_files import content, open_regular, overwrite
from dory.storage import held as held_folders
from dory.text.typed_commands import command, program

PAUSE = 10.0
"""Seconds that a commit waits for a backup, which goes without the agent then."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder`` for this process. Raises ``Busy``, with the pid of the holder, if another
    process holds it. Within the block nothing is written any more once the folder is moved away.
    """
    fd = os.open(folder, _FOLDER)
    try:
        if not _locked(fd):
            stop = command(folder.parent.parent, "agent.py", "--stop", folder.name[:8])
            way = f"talk to it with {program('chat.py')}, or stop it first, with {stop}"
            raise Busy(f"{folder.name} runs already, as process {holder(folder)}: {way}")
        held_folders.claim(folder, fd)
        overwrite(folder / "lock", f"{os.getpid()} {_birth(os.getpid())}\n".encode())
        yield
    finally:
        held_folders.release(folder)
        os.close(fd)


@contextmanager
def committing(folder: Path) -> Iterator[None]:
    """Within the block the agent commits. Waits while a backup is made."""
    with _marked(folder) as fd:
        _locked(fd, fcntl.LOCK_SH, PAUSE)  # else whoever pauses it for longer would stop its life
        yield


@contextmanager
def paused(folder: Path, patience: float) -> Iterator[None]:
    """Within the block the agent in ``folder`` commits nothing, for ``PAUSE`` seconds at most.
    Raises ``Busy`` if a commit or another backup lasts longer than ``patience`` seconds.
    """
    with _marked(folder) as fd:
        if not _locked(fd, fcntl.LOCK_EX, patience):
            raise Busy(f"another backup of {folder.name} is being made: try again when it is done")
        yield


@contextmanager
def _marked(folder: Path) -> Iterator[int]:
    """The open file ``lock``, on which commits and backups take turns."""
    fd = open_regular(folder / "lock", os.O_RDONLY | os.O_CREAT)
    try:
        yield fd
    finally:
        os.close(fd)


def holder(folder: Path) -> int | None:
    """Return the pid of the process that holds ``folder``: 0 if it is not known, None if no process
    does. Whoever sends a signal asks ``wrote`` first.
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


def wrote(folder: Path, pid: int) -> bool:
    """Whether the process ``pid`` is the one that took the lock of ``folder``, and no other process
    has this pid by now. Of a lock that an older Dory took only the pid is known.
    """
    try:
        named, _, birth = content(folder / "lock").decode("ascii", "replace").strip().partition(" ")
    except OSError:
        return False
    return named == str(pid) and birth in ("", _birth(pid))


def _pid(path: Path) -> int:
    try:
        pid = content(path)[:100].partition(b" ")[0].strip()
    except OSError:
        return 0
    return int(pid) if pid.isdigit() and len(pid) < 10 else 0


def _birth(pid: int) -> str:
    """When a process was born: the boot of the machine, and the clock's ticks since then. Empty if
    there is no such process.
    """
    try:
        # behind the name in brackets, which may hold anything, the 20th field (proc_pid_stat(5))
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {ticks}"
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return ""
    listed = ["ps", "-o", "lstart=", "-p", str(pid)]  # where there is no /proc
    return subprocess.run(listed, capture_output=True, text=True, check=False).stdout.strip()


def _locked(fd: int, how: int = fcntl.LOCK_EX, patience: float = 0.2) -> bool:
    """Try to lock for so many seconds: ``holder`` in another process locks for a moment."""
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
