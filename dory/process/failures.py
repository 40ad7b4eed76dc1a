"""Failures that repeat: how long to wait before the next try, and telling people only once."""

from collections.abc import Callable


class Backoff:
    """The pause after failures in a row: ``first`` seconds, doubled by each further failure, at
    most ``longest``. Times are seconds by any clock; if the clock is put back, the pause is over.
    """

    def __init__(self, first: float, longest: float) -> None:
        self.first = first
        self.longest = longest
        self.failures = 0
        self._failed_at = 0.0

    @property
    def pause(self) -> float:
        """Seconds between the last failure and the next try; 0 when the last try succeeded."""
        if not self.failures:
            return 0.0
        doublings = min(self.failures - 1, 20)
        return min(self.first * 2.0**doublings, self.longest)

    def ready(self, now: float) -> bool:
        """Whether a try may be made."""
        return not self._failed_at <= now < self._failed_at + self.pause

    def failed(self, now: float) -> None:
        """A try failed."""
        self.failures += 1
        self._failed_at = now

    def succeeded(self) -> None:
        """A try succeeded: the next failure pauses for ``first`` seconds again."""
        self.failures = 0


class TellOnce:
    """Passes each text to ``tell`` once until ``forget``. Texts of the same ``kind`` count
    as one.
    """

    def __init__(
        self, tell: Callable[[str], object], kind: Callable[[str], str] = lambda text: text
    ) -> None:
        self._tell = tell
        self._kind = kind
        self._told: set[str] = set()

    def __call__(self, text: str) -> None:
        """Pass the text on, unless one of its kind was."""
        kind = self._kind(text)
        if kind not in self._told:
            self._told.add(kind)
            self._tell(text)

    def forget(self) -> None:
        """All is well: what comes from now on is news."""
        self._told.clear()
