"""A process seen from outside, to the nanosecond: the processor time that it has used, its largest
memory. Linux only.

Also what every process that is measured is given: this one's environment, without keys and settings
that would lead to another model, with compiled modules kept in a folder of the bench's own. Each
command runs once before it counts, as an installed program would.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common.household import environment
from dory.text.prompt_files import ROOT


def surroundings(compiled: Path) -> dict[str, str]:
    """The environment of a process that is measured."""
    kept = {
        name: value for name, value in environment().items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    return kept | {"PYTHONPYCACHEPREFIX": str(compiled)}


def processor_seconds(pid: int) -> float:
    """What the process ``pid`` has used so far, all its threads together."""
    return time.clock_gettime(~pid << 3 | 2)  # its clock, as clock_getcpuclockid(3) computes it


def peak_bytes(pid: int) -> int:
    """The most memory that it has held."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return 1024 * next(
        int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")
    )


_STARTER = """
import os, resource, sys, time
nowhere = os.open(os.devnull, os.O_RDWR)
began = time.monotonic()
actions = [(os.POSIX_SPAWN_DUP2, nowhere, fd) for fd in (0, 1, 2)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, used = os.wait4(pid, 0)
wall = (time.monotonic() - began) * 1e3
processor = (used.ru_utime + used.ru_stime) * 1e3
print([os.waitstatus_to_exitcode(status), processor, wall, used.ru_maxrss / 1024])
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took: milliseconds of processor time and on the wall, megabytes at most.
    Medians of some runs.
    """

    processor: float
    wall: float
    memory: float


def side_by_side(
    commands: Mapping[str, Sequence[str]], runs: int, compiled: Path
) -> dict[str, Spent]:
    """Each command, in turns, so that what else the machine does meets all alike. Raises
    ``CalledProcessError``.
    """
    by_name: dict[str, list[Spent]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, command in commands.items():
            by_name[name].append(_spent(command, compiled))
    return {name: median(every_run[1:]) for name, every_run in by_name.items()}


def median(runs: Sequence[Spent]) -> Spent:
    """Of each figure by itself."""
    return Spent(
        *(statistics.median(getattr(run, name) for run in runs) for name in Spent.__slots__)
    )


def _spent(command: Sequence[str], compiled: Path) -> Spent:
    """By way of a small process, for a process begins with the largest memory of the one that
    started it.
    """
    starter = [sys.executable, "-S", "-c", _STARTER, *command]
    ended = subprocess.run(
        starter, cwd=ROOT, env=surroundings(compiled), capture_output=True, check=True
    )
    code, *figures = json.loads(ended.stdout.splitlines()[-1])
    if code:
        raise subprocess.CalledProcessError(code, list(command))
    return Spent(*figures)
