"""Background jobs: one callable in one daemon thread. The loop collects the result later.

The threads are daemons, because a second Ctrl-C must end the process at once, even if a model call
hangs.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """Runs ``function`` in the background from now on. Only the thread that made the job may ask
    for its result.
    """

    def __init__(self, function: Callable[[], T], name: str) -> None:
        self._function = function
        self._value: T | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = self._function()
        except BaseException as error:  # the top of a thread; result() raises it in the loop
            self._error = error

    def wait(self, seconds: float | None = None) -> bool:
        """Wait, at most ``seconds`` if given. Returns whether the job has ended."""
        self._thread.join(seconds)
        return self.done

    @property
    def done(self) -> bool:
        """Whether the job has ended, with or without an error."""
        return not self._thread.is_alive()

    @property
    def error(self) -> BaseException | None:
        """What the job has raised, if anything."""
        return self._error

    def result(self) -> T:
        """Wait for the job, and return what it returned. Raises what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def in_parallel(functions: Sequence[Callable[[], T]], name: str) -> list[T]:
    """Run all at once and return their results in order. The first error is raised when all have
    ended.
    """
    jobs = [Job(function, f"{name}-{number}") for number, function in enumerate(functions)]
    for job in jobs:
        job.wait()
    return [job.result() for job in jobs]
