"""Starting and stopping an agent in the background: in a session of its own, with its output in
``agents/<self>/agent.log``.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dory.config.command_line import concealed
from dory.errors import DoryError
from dory.regular_files import open_regular
from dory.storage import files, locks

LOG = "agent.log"
"""The file below ``agents/<self>/`` with what the agent would have shown in a terminal."""
AWAKE = "is awake; its identity is"
"""What stands between its name and its hash in the first line of an agent's greeting."""
_TIMEOUT = 30.0
"""Seconds that an agent may take to wake, or to end its step."""


def launch(program: Path, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start ``agent.py``, which writes to the end of ``log``. It has a process session of its own,
    so a terminal's Ctrl-C and end do not reach it. Its command line shows no secrets.
    """
    shown, variables = concealed(arguments)
    with open(open_regular(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as output:
        return subprocess.Popen(
            [sys.executable, str(program), *shown],
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def start(program: Path, folder: Path, flags: Sequence[str]) -> int:
    """Run ``program`` for the identity in ``folder``, and return its pid once it is awake.

    Raises ``DoryError``, with its last lines, if it ends before. Whatever is raised, no process is
    left behind, but for one that is merely slow to wake.
    """
    begin = files.size(folder / LOG)
    process = launch(program, [folder.name, *flags], folder / LOG)

    def awake() -> bool:
        if process.poll() is not None:
            raise DoryError(f"it did not wake: {_last_lines(folder, begin)}")
        return b"\n" in files.read_from(folder / LOG, begin) and locks.holder(folder) == process.pid

    try:
        is_awake = _becomes_true(awake)
    except BaseException:
        process.kill()  # safe at any instant, and nobody would know of it
        process.wait()
        raise
    if not is_awake:
        raise DoryError(
            f"it is not awake after {_TIMEOUT:g} seconds, as process {process.pid}: see"
            f" {folder / LOG}"
        )
    return process.pid


def stop(folder: Path) -> int | None:
    """Ask the agent of ``folder`` to end after its step, and return the pid that it had; None if it
    did not run. Raises ``DoryError`` if it does not end.
    """
    pid = locks.holder(folder)
    if pid is None:
        return None
    if not pid or not locks.wrote(folder, pid):
        raise DoryError(f"{folder.name} runs, but {folder / 'lock'} does not tell as which process")
    _terminate(folder, pid)
    if not _becomes_true(lambda: locks.holder(folder) != pid):
        raise DoryError(
            f"process {pid} is still at its step after {_TIMEOUT:g} seconds: ask again, which ends"
            " it at once and loses nothing"
        )
    return pid


def _terminate(folder: Path, pid: int) -> None:
    """Send SIGTERM to the process ``pid`` if it still holds ``folder``, and to no other one that
    may have got this pid since.
    """
    try:
        if not hasattr(os, "pidfd_open"):
            os.kill(pid, signal.SIGTERM)
            return
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if locks.wrote(folder, pid):
            signal.pidfd_send_signal(process, signal.SIGTERM)
    except ProcessLookupError:
        pass
    finally:
        os.close(process)


def _becomes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _last_lines(folder: Path, begin: int) -> str:
    """The last lines of its output from byte ``begin`` on, joined to one line."""
    output = files.read_from(folder / LOG, begin).decode("utf-8", "replace")
    return " | ".join(output.splitlines()[-3:])
