"""Shutdown signals: Ctrl-C, SIGTERM, and the signal of a terminal that was closed.

The first Ctrl-C, and a terminal that is closed, are only noted, and the loop ends after its current
step. SIGTERM is honoured within a second: what waits for a model stops waiting, and a step that has
not ended by then is cut off (``process/deadline.py``), which loses nothing, as a kill loses
nothing. A second signal ends the process at once.

The exit code says which it was: 0 if the step came to its end, and 128 and the number of the signal
(143 for SIGTERM) if something was cut off. Then one line says where it stood. So whoever supervises
the process can tell the two. A signal that is ignored at the start (``nohup``) stays ignored.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Self

from dory.process import deadline

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL = 0.05
"""Seconds between two calls of ``has_changed`` while waiting."""
IDLE = 0.5
"""Seconds after which a sleeping agent looks at everything else."""


class Stopped(BaseException):
    """The process was asked to end within a second, and what it was doing can be left. No
    ``Exception``, so that nothing takes it for a failure.
    """


def take_over(handler: Callable[[int, FrameType | None], None]) -> None:
    """Let ``handler`` receive each of ``SIGNALS`` that is not ignored. Main thread only."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


class ShutdownSignal:
    """Whether the process was asked to end while it was ``listening``."""

    def __init__(self) -> None:
        # not a lock or an event: a handler interrupts the very thread that may hold it
        self.asked = False
        self._soon = False

    @contextmanager
    def listening(self) -> Iterator[Self]:
        """Receive the signals within the block. Main thread only."""
        before = {number: signal.getsignal(number) for number in SIGNALS}
        take_over(self._ask)
        try:
            with deadline.after(signal.SIGTERM):
                yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def check(self) -> None:
        """Raise ``Stopped`` if the process was asked to end within a second. For a step that waits
        for something else.
        """
        if self._soon:
            raise Stopped

    def wait(self, seconds: float, has_changed: Callable[[], bool] = lambda: False) -> None:
        """Sleep for ``seconds``, but end earlier when the process is asked to end, or when
        ``has_changed`` returns True. It is called twenty times a second.
        """
        until = time.monotonic() + seconds
        while not self.asked and time.monotonic() < until:
            time.sleep(min(seconds, POLL))
            if has_changed():
                break

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            deadline.cut_off(number, frame)
        self.asked = True
        self._soon = number == signal.SIGTERM
        if self._soon:
            deadline.arm()
            return
        with suppress(OSError):  # the terminal may be closed
            # not print: the handler may have interrupted one
            os.write(2, b"stopping after this step; once more stops at once\n")
