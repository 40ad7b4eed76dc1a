"""The signals that end a chat. A handler only notes a signal; the chat obeys it where it can end
cleanly.

A handler that raises may interrupt the main thread after it has taken a lock and before the block
that releases the lock. A thread that needs the lock then waits for ever, and so does the loop that
waits for the thread. So the handler only sets an attribute, and everything that waits reads it: the
screen, and the code that waits for an agent to start or to stop, which must not lose the agent's
process.

The client for scripts is the exception: there a signal raises at once. It has one thread, and may
block in a read or a write for as long as the programs at the other ends of its pipes please.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from dory.process.signals import take_over


class Signals:
    """``number`` is the first signal that came, 0 while none has. ``requests`` counts Ctrl-C and
    SIGTERM, which a person may repeat to wait no longer.
    """

    def __init__(self) -> None:
        """Take note from now on. A signal that the process was started to ignore (``nohup``) stays
        ignored.
        """
        self.number = 0
        self.requests = 0
        self._at_once = False
        take_over(self._handle)

    def note(self, number: int) -> None:
        """Behave as if the signal had come."""
        self.number = self.number or number

    def forget(self) -> None:
        """Forget what has come: the session goes on."""
        self.number = 0
        self.requests = 0

    def obey(self) -> None:
        """If a signal has come, raise ``SystemExit`` with the exit code that a shell gives for it:
        128 and its number.
        """
        if self.number:
            self._at_once = False  # the cleaning up that follows must not be interrupted
            sys.exit(128 + self.number)

    @contextmanager
    def obeyed_at_once(self) -> Iterator[None]:
        """A block that a signal interrupts."""
        self._at_once = True
        self.obey()
        try:
            yield
        finally:
            self._at_once = False

    @contextmanager
    def only_noted(self) -> Iterator[None]:
        """A block that a signal does not interrupt, also within one that it would. It is obeyed
        behind the block.
        """
        at_once, self._at_once = self._at_once, False
        try:
            yield
        finally:
            self._at_once = at_once
        if at_once:
            self.obey()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGHUP:
            self.requests += 1
        self.note(number)
        if self._at_once:
            self.obey()
