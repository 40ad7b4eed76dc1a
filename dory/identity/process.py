"""An agent that lives on behind the terminal: started in a session of its own, writing to
``agents/<self>/agent.log``, and asked to end.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dory.errors import DoryError
from dory.storage import files, locks

LOG = "agent.log"
"""Below ``agents/<self>/``: what the agent would have shown in a terminal."""
_PATIENCE = 30.0
"""Seconds that an agent may take to wake, or to end its step."""


def launch(program: Path, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a program that writes to the end of ``log``. It has a process session of its own, so a
    terminal's Ctrl-C and end do not reach it.
    """
    with open(log, "ab") as output:
        return subprocess.Popen(
            [sys.executable, str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def start(program: Path, folder: Path, flags: Sequence[str]) -> int:
    """Run ``program`` for the identity in ``folder``; returns its pid once it is awake. Raises
    ``DoryError`` with its last lines if it ends.
    """
    begin = files.size(folder / LOG)
    process = launch(program, [folder.name, *flags], folder / LOG)

    def awake() -> bool:
        if process.poll() is not None:
            raise DoryError(f"it did not wake: {_words(folder, begin)}")
        return b"\n" in files.read_from(folder / LOG, begin) and locks.holder(folder) == process.pid

    if not _soon(awake):
        raise DoryError(
            f"it is not awake after {_PATIENCE:g} seconds, as process {process.pid}: see {folder / LOG}"
        )
    return process.pid


def stop(folder: Path) -> int | None:
    """Ask the agent of ``folder`` to end after its step; returns the pid it had, or None when it
    did not run. ``DoryError``: it goes on.
    """
    pid = locks.holder(folder)
    if pid is None:
        return None
    if not pid:
        raise DoryError(f"{folder.name} runs, but {folder / 'lock'} does not tell as which process")
    os.kill(pid, signal.SIGTERM)
    if not _soon(lambda: locks.holder(folder) != pid):
        raise DoryError(
            f"process {pid} is still at its step after {_PATIENCE:g} seconds: ask again, which ends it at once and loses nothing"
        )
    return pid


def _soon(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _words(folder: Path, begin: int) -> str:
    """The end of what it wrote, on one line."""
    return " | ".join(
        files.read_from(folder / LOG, begin).decode("utf-8", "replace").splitlines()[-3:]
    )
