"""Work beside the loop: one callable in one daemon thread, its outcome collected later by the loop.

Daemon threads, because a second Ctrl-C must end the process at once even when a model call hangs.
"""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Job(Generic[T]):
    """Run ``function`` beside the loop from now on. Only the thread that made the job may ask for
    its result.
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
        except (
            BaseException
        ) as error:  # the thread's top: whatever it was, the loop raises it again in result()
            self._error = error

    def wait(self, seconds: float | None = None) -> bool:
        """Wait, at most ``seconds`` if given; True when the work has ended."""
        self._thread.join(seconds)
        return self.done

    @property
    def done(self) -> bool:
        """Whether the work has ended, well or badly."""
        return not self._thread.is_alive()

    @property
    def error(self) -> BaseException | None:
        """What the ended work raised, if it did."""
        return self._error

    def result(self) -> T:
        """What the work returned; raises what it raised. Waits for it if it still runs."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def in_parallel(functions: list[Callable[[], T]], name: str) -> list[T]:
    """Run all at once and return their results in order; the first error is raised after all have
    ended.
    """
    jobs = [Job(function, f"{name}-{number}") for number, function in enumerate(functions)]
    for job in jobs:
        job.wait()
    return [job.result() for job in jobs]
