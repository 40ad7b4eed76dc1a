"""Background jobs: one callable in one thread. The loop collects the result later.

The process does not wait for such threads at its end: a second Ctrl-C must end it at once, even if
a model call hangs. If there is no thread or no memory for a job, that is its error: it is told
where the result is asked for, like any other. ``threading`` is of no use for that: its ``start``
waits for ever for a thread that has died of a lack of memory before it ran.
"""

import _thread
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from dory.errors import NoRoom

T = TypeVar("T")


class _Token:
    """What only the thread of a job holds: it is gone when the thread is, however that ended."""


class Job(Generic[T]):
    """Runs ``function`` in the background from now on. Only the thread that made the job may ask
    for its result.
    """

    def __init__(self, function: Callable[[], T], name: str) -> None:
        self._function = function
        self._value: T | None = None
        self._error: BaseException | None = NoRoom(f"this machine has no memory left for {name}")
        self._over = False
        self._ends: SimpleQueue[object] = SimpleQueue()
        token = _Token()
        self._token = weakref.ref(token, self._ends.put)
        self.started = True
        try:
            _thread.start_new_thread(self._run, (token,))
        except (RuntimeError, MemoryError):  # "can't start new thread"
            self.started = False
            self._error = NoRoom(f"this machine has no thread left for {name}")

    def _run(self, token: _Token) -> None:
        del token  # an error keeps this frame, and must not keep that
        try:
            self._value = self._function()
            self._error = None
        except MemoryError:  # without what it would keep alive
            return
        except BaseException as error:  # the top of a thread; result() raises it in the loop
            self._error = error

    def wait(self, seconds: float | None = None) -> bool:
        """Wait, at most ``seconds`` if given. Returns whether the job has ended."""
        if not self._over:
            with suppress(Empty):
                self._ends.get(timeout=seconds)
                self._over = True
        return self._over

    @property
    def done(self) -> bool:
        """Whether the job has ended, with or without an error."""
        return self.wait(0)

    @property
    def error(self) -> BaseException | None:
        """What the job has raised, if anything."""
        return self._error if self.done else None

    def result(self) -> T:
        """Wait for the job, and return what it returned. Raises what it raised."""
        self.wait()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def in_parallel(functions: Sequence[Callable[[], T]], name: str) -> list[T]:
    """Run all at once and return their results in order. The first error is raised when all have
    ended. What gets no thread runs afterwards, in this one.
    """
    jobs = [Job(function, f"{name}-{number}") for number, function in enumerate(functions)]
    for job in jobs:
        job.wait()
    return [
        job.result() if job.started else function()
        for job, function in zip(jobs, functions, strict=True)
    ]
