"""Restarts the agent after a failure of the disk (full, read-only, or gone), or when there was no
memory left. Meanwhile the agent takes no turns. It says so once, and goes on when the cause is
gone.

A restart is the same as after a kill: what was not committed is undone, everything else is read
anew. So there is one way of recovery, and the kills of ``stress.chaos`` test it for both.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar

from dory.errors import DoryError
from dory.process.failures import Backoff
from dory.process.signals import ShutdownSignal, Stopped
from dory.storage import held


class Supervised(Protocol):
    """What is restarted: an agent in this process."""

    def run(self) -> None:
        """Run until told to stop."""

    def announce(self, text: str) -> None:
        """Tell people one line."""


AnyAgent = TypeVar("AnyAgent", bound=Supervised)

FIRST_PAUSE = 2.0
"""Seconds before the first attempt to restart. Each further pause is twice as long."""
LAST_PAUSE = 300.0
"""Seconds that a pause lasts at most."""
_OUTLASTED = (DoryError, OSError, MemoryError)
"""What the agent is restarted after."""
LASTING = 3600.0
"""Seconds without a failure after which the pauses begin anew. An attempt may include a model call,
and the time that it takes must not count as recovery.
"""


def supervise(agent: AnyAgent, wake: Callable[[str], AnyAgent], stop: ShutdownSignal) -> None:
    """Run ``agent`` until the process is asked to end. After a failure, run the agent that ``wake``
    makes from its files, given the reason. Raises ``Displaced`` if its folder is another one by
    now: that cause does not go, and nothing may be written.
    """
    backoff = Backoff(FIRST_PAUSE, LAST_PAUSE)
    last_cause = ""
    while not stop.asked:
        started = time.monotonic()
        try:
            agent.run()
        except Stopped:
            return
        except _OUTLASTED as error:
            held.check()  # a vanished folder shows as any error of the disk
            now = time.monotonic()
            if now - started > LASTING:
                backoff.succeeded()
                last_cause = ""
            cause = _cause(error)
            backoff.failed(now)
            agent = _restarted(cause, agent, wake, stop, backoff.pause, quiet=cause == last_cause)
            last_cause = cause


def _restarted(
    cause: str,
    agent: AnyAgent,
    wake: Callable[[str], AnyAgent],
    stop: ShutdownSignal,
    pause: float,
    quiet: bool,
) -> AnyAgent:
    """Try until the agent can be woken. ``quiet``: people have been told of this cause."""
    if not quiet:
        with suppress(MemoryError):
            agent.announce(
                f"{cause}: I take no turns until that is mended; what was saved is safe, and I"
                " look again by myself"
            )
    while True:
        stop.wait(pause)
        if stop.asked:
            return agent
        held.check()
        with suppress(*_OUTLASTED):
            woken = wake(
                f"You could not go on ({cause}); what had not been saved by then is undone."
            )
            if not quiet:
                woken.announce("I go on")
            return woken


def _cause(error: Exception) -> str:
    """The error in words, with its file if it names one."""
    if isinstance(error, MemoryError):
        return "This machine has no memory left"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror} ({error.filename})" if error.filename else error.strerror
    return str(error)
