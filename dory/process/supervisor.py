"""Trouble below: the disk is full, read-only, or gone. The agent then takes no turns, says so once,
and goes on when the cause is gone.

It comes back as after a kill: what was not committed is undone, everything else is read anew. So
there is one way of recovery, and the kills of ``stress.chaos`` prove it for both.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from dory.errors import DoryError
from dory.process.signals import ShutdownSignal


class Supervised(Protocol):
    """What is to survive: an agent in this process."""

    def run(self) -> None:
        """Live until told to stop."""

    def announce(self, text: str) -> None:
        """Tell people one line."""


L = TypeVar("L", bound=Supervised)

FIRST_PAUSE, LAST_PAUSE, LASTING = 2.0, 300.0, 3600.0
"""Seconds between two attempts: the first and the longest, doubled from one to the next; and after
how many without trouble the count begins anew. An attempt may cost a model call, so the time that
one takes must not pass for recovery.
"""


def supervise(agent: L, wake: Callable[[str], L], stop: ShutdownSignal) -> None:
    """Let ``agent`` live until the process is asked to end; after trouble, the one that ``wake``
    makes of its files, given the reason.
    """
    pause, known = FIRST_PAUSE, ""
    while not stop.asked:
        woke = time.monotonic()
        try:
            agent.run()
        except (DoryError, OSError) as error:
            if time.monotonic() - woke > LASTING:
                pause, known = FIRST_PAUSE, ""
            why = _cause(error)
            agent = _outlasted(why, agent, wake, stop, pause, told=why == known)
            pause, known = min(2 * pause, LAST_PAUSE), why


def _outlasted(
    why: str, agent: L, wake: Callable[[str], L], stop: ShutdownSignal, pause: float, told: bool
) -> L:
    if not told:
        agent.announce(
            f"{why}: I take no turns until that is mended; what was saved is safe, and I look again by myself"
        )
    while True:
        stop.wait(pause)
        if stop.asked:
            return agent
        with suppress(DoryError, OSError):
            woken = wake(
                f"Your files could not be read or written ({why}); what had not been saved by then is undone."
            )
            if not told:
                woken.announce("I go on")
            return woken


def _cause(error: Exception) -> str:
    """The error in words, with the file if it names one."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror} ({error.filename})" if error.filename else error.strerror
    return str(error)
