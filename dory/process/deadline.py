"""Ends this process soon after a signal, whatever its main thread is doing then.

Python runs a signal handler in the main thread, between two steps of its interpreter. A query of
SQLite or a look-up of a host's name can last for minutes without one. So the number of the signal
also goes into a pipe, from which a thread reads it (``after``). That thread needs the interpreter's
lock, which one regular expression holds as long as it searches. But such a search looks for
signals, and their handler (``arm``) starts a timer that needs no lock. The exit code of that timer
is always 1, and instead of a line it prints a stack.
"""

import faulthandler
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from dory.process import whereabouts
from dory.process.jobs import Job

GRACE = 0.7
"""Seconds after the signal in which the process can end in good order."""
_TIMER = 0.9
"""Seconds after which the timer ends it. It comes second because it cannot say why."""


@contextmanager
def after(number: signal.Signals) -> Iterator[None]:
    """Within the block, the process has ``GRACE`` seconds to leave the block after the signal. Then
    it ends with the exit code of the signal. Main thread only.
    """
    ended = threading.Event()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    Job(lambda: _watch(reading, number, ended), "deadline")  # without a thread the timer has to do
    try:
        yield
    finally:
        ended.set()
        faulthandler.cancel_dump_traceback_later()
        signal.set_wakeup_fd(before)
        os.close(writing)  # the thread closes the other end


def arm() -> None:
    """End the process in a moment, unless the block of ``after`` is left before. It may be called
    by a signal handler.
    """
    with suppress(RuntimeError, OSError, ValueError):
        faulthandler.dump_traceback_later(_TIMER, exit=True, file=2)


def cut_off(number: int, frame: FrameType | None = None) -> NoReturn:
    """End the process at once with the exit code of the signal, and say where it stood. A signal
    handler gives the ``frame`` that it has interrupted.
    """
    line = (
        f"cut off by {signal.Signals(number).name}: {whereabouts.main_thread(frame)};"
        " what was saved is whole\n"
    )
    with suppress(OSError):  # the terminal may be closed
        os.write(2, line.encode("utf-8", "replace"))
    os._exit(128 + number)


def _watch(reading: int, number: signal.Signals, ended: threading.Event) -> None:
    """End the process ``GRACE`` seconds after the signal."""
    try:
        while received := os.read(reading, 1):
            if received[0] == number and not ended.wait(GRACE):
                cut_off(number)
    finally:
        os.close(reading)
