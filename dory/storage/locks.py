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
        (folder / "lock").write_text(f"{os.getpid()} {_birth(os.getpid())}\n")
        yield
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
        named, _, birth = (folder / "lock").read_text("ascii", "replace").strip().partition(" ")
    except OSError:
        return False
    return named == str(pid) and birth in ("", _birth(pid))


def _pid(path: Path) -> int:
    try:
        pid = path.read_bytes()[:100].partition(b" ")[0].strip()
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
