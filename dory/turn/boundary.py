"""Where an exception of an extension ends, so that it never reaches the turn. Here alone any
exception is caught.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dory.errors import DoryError, ToolError
from dory.process.failures import TellOnce

T = TypeVar("T")
R = TypeVar("R")


class Boundary:
    """Keeps exceptions of extensions from the turn. Each text is reported once: an extension may
    fail at every event, and a report is an event itself.
    """

    def __init__(self, report: Callable[[str], object]) -> None:
        self._report = TellOnce(report)

    @contextmanager
    def around(self, name: str, where: str) -> Iterator[None]:
        """Report whatever the extension ``name`` raises in the block."""
        try:
            yield
        except Exception as error:
            self.report(name, where, error)

    def report(self, name: str, where: str, error: BaseException) -> None:
        """Report a failure of the extension ``name``."""
        self._report(f"the extension {name} failed at its {where}: {type(error).__name__}: {error}")

    def guarded(self, name: str, where: str, run: Callable[[T], R]) -> Callable[[T], R]:
        """``run``, which raises only errors that its caller expects; others are reported."""

        def guarded(argument: T) -> R:
            failure: Exception = ToolError(
                f"{where} failed inside; it is reported, go on without it"
            )
            with self.around(name, where):
                try:
                    return run(argument)
                except (DoryError, OSError) as expected:
                    failure = expected
            raise failure

        return guarded
