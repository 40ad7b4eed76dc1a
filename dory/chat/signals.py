"""The signals that end a visit: noted at whatever moment they come, obeyed where the visit can end
in good order.

A handler that raises may strike behind the taking of a lock and before the block that gives it
back; a thread that needs the lock then waits for ever, and the loop that waits for the thread, too.
So a handler only takes note, and whoever waits for something looks here: the screen, and those who
wait for an agent to come or to go, who so never lose its process. Only the visit of a script is
broken off where it stands: it has one thread, and is blocked for as long as those at the pipe's
other ends please.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dory.process.signals import SIGNALS


class Signals:
    """``number`` is the first that came, 0 while none has; ``requests`` counts Ctrl-C and SIGTERM,
    which the impatient repeat.
    """

    def __init__(self) -> None:
        """Take note from now on. A signal that is ignored stays so: whoever started the process
        (``nohup``) wants it.
        """
        self.number = self.requests = 0
        self._at_once = False
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def note(self, number: int) -> None:
        """Behave as if the signal had come."""
        self.number = self.number or number

    def forget(self) -> None:
        """The visit goes on."""
        self.number = self.requests = 0

    def obey(self) -> None:
        """If a signal has come, end the visit: raises ``SystemExit`` with the exit code that a
        shell gives to its victims.
        """
        if self.number:
            self._at_once = False  # what puts things away must not be broken off
            sys.exit(128 + self.number)

    @contextmanager
    def obeyed_at_once(self) -> Iterator[None]:
        """A block that a signal breaks off."""
        self._at_once = True
        self.obey()
        try:
            yield
        finally:
            self._at_once = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requests += number != signal.SIGHUP
        self.note(number)
        if self._at_once:
            self.obey()
