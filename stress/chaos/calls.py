"""Kills inside a system call, and system calls that fail: ``strace`` injects them into the agent,
SQLite included, where no named point can be.

A point of this kind is named by the calls and the file, for example ``inside pwrite64 of
memory.sqlite-wal`` or ``ENOSPC from fsync``. A kill comes before the kernel has done what it was
asked for. An error comes several times in a row, and the agent has to outlast it.
"""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

LOG = "strace.log"
"""The file in the home that names the injected calls."""
_POINT = re.compile(r"(inside|[A-Z]+) (?:from )?(\w+)(?: of (.+))?")
_ERRORS_IN_A_ROW = 4
_SETS = {
    "rename": "?rename,?renameat,?renameat2",
    "unlink": "?unlink,?unlinkat",
    "sync": "fsync,fdatasync",
}
"""Calls that mean the same. What a machine does not have, it leaves out."""
_ROOMS = "chats"


@cache
def available() -> bool:
    """Whether there is a strace that may trace here."""
    if not shutil.which("strace"):
        return False
    tried = ["strace", "-D", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


def is_call(point: str) -> bool:
    """Whether a point is one of this kind."""
    return _POINT.fullmatch(point) is not None


def fails(point: str) -> bool:
    """Whether the calls fail there, instead of the process being killed."""
    return is_call(point) and not point.startswith("inside")


def under(point: str, occurrence: int, home: Path, identity: Path | None) -> list[str]:
    """The command behind which an agent comes to such a point, at the ``occurrence``-th call in one
    of its threads. ``identity`` is its folder if there is one yet.
    """
    match = _POINT.fullmatch(point)
    assert match
    what, name, file = match.groups()
    calls = _SETS.get(name, name)
    when = str(occurrence) if what == "inside" else f"{occurrence}..{occurrence + _ERRORS_IN_A_ROW}"
    deed = "signal=KILL" if what == "inside" else f"error={what}"
    # With -D strace is not the parent, so that a kill of the process kills the agent.
    command = ["strace", "-D", "-f", "-qq", "-o", str(home / LOG)]
    if file and identity:
        folder = home / _ROOMS if file.endswith("room") else identity
        name = file.removesuffix(" room") + ".md" if file.endswith("room") else file
        command += ["-P", str((folder / name).resolve())]
    return [*command, "-e", f"trace={calls}", "-e", f"inject={calls}:{deed}:when={when}"]


def injected(home: Path) -> bool:
    """Whether any call has failed in the last process of this kind."""
    try:
        return "(INJECTED)" in (home / LOG).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False
