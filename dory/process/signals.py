"""How a process is asked to end: Ctrl-C, SIGTERM, or a terminal that was closed.

The first request is only noted, and the loop ends after the step that it is at; a second one ends
the process at once, which loses nothing either. A signal that whoever started the process wants
ignored (``nohup``) stays so.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL, IDLE = 0.05, 0.5
"""Seconds between two looks at what may have stirred, and after which an agent that sleeps looks at
everything else.
"""


def take_over(handler: Callable[[int, FrameType | None], None]) -> None:
    """Let ``handler`` receive each of ``SIGNALS`` that is not ignored. Main thread only."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


class ShutdownSignal:
    """The request, from the moment it is ``listening``."""

    def __init__(self) -> None:
        # no lock or event: a handler runs in the middle of whatever the same thread is doing
        self.asked = False

    def listening(self) -> Self:
        """Itself, with the signals taken over. Main thread only."""
        take_over(self._ask)
        return self

    def wait(self, seconds: float, stirred: Callable[[], bool] = lambda: False) -> None:
        """Sleep, but not beyond a request, nor when something has ``stirred``, which is asked
        twenty times a second.
        """
        until = time.monotonic() + seconds
        while not self.asked and time.monotonic() < until:
            time.sleep(min(seconds, POLL))
            if stirred():
                break

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            os._exit(128 + number)
        self.asked = True
        with suppress(OSError):  # a terminal that was closed
            os.write(
                2, b"stopping after this step; once more stops at once\n"
            )  # not print: the loop may be in the middle of one
