"""Watches the loop: each of its steps has a budget of time. A thread beside the loop prints that a
step takes longer, once, with the place where it stands. It does no more than that, as rooms and the
state belong to the loop's thread: when the step has ended, the loop tells people and the agent.

Time in which a step waits for a model does not count. Nothing is cut off: a step may be slow
because a disk is. Whoever wants to end the process can (``process/deadline.py``).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from dory.process import whereabouts
from dory.process.jobs import Job

P = ParamSpec("P")
T = TypeVar("T")

BUDGET = 60.0
"""Seconds. On a slow disk, with a long life, a step takes a few."""
_LOOK = 1.0
"""Seconds between two looks at the step."""


class Watchdog:
    """``show`` prints a line that a step takes too long. It is called on a thread of its own."""

    def __init__(self, show: Callable[[str], object], budget: float = BUDGET) -> None:
        self._show = show
        self._budget = budget
        self._name = ""
        self._since = 0.0
        self._late = ""
        self._stood = ""
        """Where the late step stood when it was noticed."""
        self._ended = threading.Event()
        self._notices: list[str] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the steps within the block. Without another thread, nobody watches."""
        self._ended.clear()
        Job(self._watch, "watchdog")
        try:
            yield
        finally:
            self._ended.set()

    def run(self, name: str, step: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a step of the loop, and return what it returns."""
        self._name = name
        self._since = time.monotonic()
        try:
            return step(*args, **options)
        finally:
            self.alive()
            self._name = ""

    def alive(self) -> None:
        """The step waits for something else, or has ended."""
        now = time.monotonic()
        if self._late:
            self._notices.append(
                f"the step '{self._late}' took {now - self._since:.0f} seconds, in which nothing"
                f" else was done; it stood at {self._stood}"
            )
            self._late = ""
        self._since = now

    def ended(self) -> list[str]:
        """What people and the agent are told of steps that took too long and have ended."""
        notices, self._notices = self._notices, []
        return notices

    def _watch(self) -> None:
        while not self._ended.wait(min(_LOOK, self._budget)):
            name, since = self._name, self._since
            if name and name != self._late and time.monotonic() - since > self._budget:
                self._stood = whereabouts.main_thread()
                self._late = name
                self._show(
                    f"the step '{name}' takes longer than {self._budget:g} seconds, and I do"
                    f" nothing else meanwhile; it stands at {self._stood}"
                )
