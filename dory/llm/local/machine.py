"""What fits on this machine: how long a context beside which model, and whether a download."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from dory import regular_files
from dory.errors import ConfigError
from dory.llm.local.gguf import Model

WINDOW = 16_384
"""Tokens of the window that a model gets if they fit: a processor reads some hundred a second, so
more would only make a person wait.
"""
LEAST_WINDOW = 4096
"""Tokens below which an agent cannot live."""
BESIDE = 1 / 2
"""How much more, as a share of the window, the server has for the calls beside the turns."""
_STEP = 1024
_WORK = 400_000_000
"""Bytes that the server needs beside model and context."""
_SHARE = 0.9
"""Of the free memory that may be used."""
_RESERVE = 1_000_000_000
"""Bytes of a disk that stay free."""
_GROUP = Path("/sys/fs/cgroup")
"""Where the limits of a container are told."""


def window(model: Model, memory: int, wanted: int = 0) -> int:
    """Tokens of the window that a model gets where so many bytes of ``memory`` are free; ``wanted``
    if a person has said how many. Raises ``ConfigError`` if the machine is too small.
    """
    most = model.window or WINDOW
    aim = min(wanted or WINDOW, most)
    free = int(memory * _SHARE) - model.size - _WORK
    fitting = int(free / (model.token * (1 + BESIDE))) if model.token else aim
    fitting = aim if fitting >= aim else fitting // _STEP * _STEP
    if fitting >= (aim if wanted else min(LEAST_WINDOW, aim)):
        return fitting
    needed = needs(model, aim if wanted else min(LEAST_WINDOW, aim))
    raise ConfigError(
        f"this machine is too small for that model: it needs {_shown(needed)} of free memory, and"
        f" {_shown(memory)} are free; choose a smaller one"
    )


def needs(model: Model, window: int) -> int:
    """Bytes of free memory that a model needs with such a window."""
    return int((model.size + _WORK + window * (1 + BESIDE) * model.token) / _SHARE)


def free_memory() -> int:
    """Bytes that a new process may use without taking memory from others."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    free = total // 2  # where nobody tells
    with suppress(OSError, ValueError):
        for line in _text(Path("/proc/meminfo")).splitlines():
            if line.startswith("MemAvailable:"):
                free = int(line.split()[1]) * 1024
    with suppress(OSError, ValueError):
        limit, used = (int(_text(_GROUP / f"memory.{name}")) for name in ("max", "current"))
        free = min(free, max(limit - used, 0))
    return free


def _text(path: Path) -> str:
    return regular_files.content(path).decode()


def check_disk(folder: Path, size: int, free: int | None = None) -> None:
    """Raise ``ConfigError`` unless ``folder`` has room for a download of so many bytes. ``free``:
    the bytes that are free there, if they are known.
    """
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free if free is None else free
    if free < size + _RESERVE:
        raise ConfigError(
            f"there is too little room in {folder}: the model needs {_shown(size + _RESERVE)}, and"
            f" {_shown(free)} are free"
        )


def _shown(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
