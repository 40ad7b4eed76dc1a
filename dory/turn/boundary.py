"""The boundary around the faculties, which keeps the failure of one from the others and from the turn: here alone any exception is caught."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from dory.errors import DoryError, ToolError

T = TypeVar("T")
R = TypeVar("R")


class Boundary:
    """What is caught goes to ``report``, in a line that says whose failure it was; the same one once, for a faculty may fail at every event,
    and what is reported is an event itself.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._told: set[str] = set()

    @contextmanager
    def around(self, name: str, where: str) -> Iterator[None]:
        """Catch and report whatever the faculty ``name`` raises within the block."""
        try:
            yield
        except Exception as error:
            told = f"the faculty {name} failed at its {where}: {type(error).__name__}: {error}"
            if told not in self._told:
                self._told.add(told)
                self._report(told)

    def guarded(self, name: str, where: str, run: Callable[[T], R]) -> Callable[[T], R]:
        """``run``, whose unforeseen failure is one that whoever called it can be told of."""

        def guarded(argument: T) -> R:
            failure: Exception = ToolError(f"{where} failed inside; it is reported, go on without it")
            with self.around(name, where):
                try:
                    return run(argument)
                except (DoryError, OSError) as foreseen:  # whoever called knows what to do with these
                    failure = foreseen
            raise failure

        return guarded
