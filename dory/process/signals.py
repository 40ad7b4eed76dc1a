"""Shutdown signals: Ctrl-C, SIGTERM, and the signal of a terminal that was closed.

The first one is only noted, and the loop ends after its current step. A second one ends the process
at once, which loses nothing either. A signal that is ignored at the start (``nohup``) stays
ignored.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL = 0.05
"""Seconds between two calls of ``has_changed`` while waiting."""
IDLE = 0.5
"""Seconds after which a sleeping agent looks at everything else."""


def take_over(handler: Callable[[int, FrameType | None], None]) -> None:
    """Let ``handler`` receive each of ``SIGNALS`` that is not ignored. Main thread only."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


class ShutdownSignal:
    """Whether the process was asked to end, from the call of ``listening`` on."""

    def __init__(self) -> None:
        # not a lock or an event: a handler interrupts the very thread that may hold it
        self.asked = False

    def listening(self) -> Self:
        """Install the signal handlers, and return itself. Main thread only."""
        take_over(self._ask)
        return self

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
            os._exit(128 + number)
        self.asked = True
        with suppress(OSError):  # the terminal may be closed
            # not print: the handler may have interrupted one
            os.write(2, b"stopping after this step; once more stops at once\n")
