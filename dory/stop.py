"""How a process is asked to end: Ctrl-C, SIGTERM, or a terminal that was closed.

The first request is only noted, and the loop ends after the step that it is at; a second one ends the process at once, which loses nothing
either. A signal that whoever started the process wants ignored (``nohup``) stays so.
"""

import os
import signal
import time
from contextlib import suppress
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STEP = 0.05  # seconds


class Stop:
    """The request, from the moment ``listen`` is called."""

    def __init__(self) -> None:
        self.asked = False  # no lock or event: a handler runs in the middle of whatever the same thread is doing

    def listen(self) -> None:
        """Take the signals over. Main thread only."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._ask)

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond a request."""
        until = time.monotonic() + seconds
        while not self.asked and time.monotonic() < until:
            time.sleep(min(seconds, _STEP))

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            os._exit(128 + number)
        self.asked = True
        with suppress(OSError):  # a terminal that was closed
            os.write(2, b"stopping after this step; once more stops at once\n")  # not print: the loop may be in the middle of one
