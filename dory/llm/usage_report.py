"""What a life has cost so far, for ``/usage`` and ``agent.py HASH --usage``: its ``usage.jsonl``
added up by day and purpose.

The file is read one line at a time and may grow beside it; only sums are kept, and of the days only
the last ones.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import get_args

from dory import clock
from dory.llm import usage_log
from dory.storage import files
from dory.text import formatting
from dory.text.formatting import money, table
from dory.types import Purpose, Usage

DAYS = 7
"""Of the last so many days in which there were calls each has its own rows."""
_PURPOSES = get_args(Purpose)
_HEADING = ("day (UTC)", "purpose", "calls", "prompt tokens", "from cache", "answer tokens", "cost")


@dataclass(slots=True)
class Sum:
    """Of some calls. ``asked`` are the prompt tokens of those whose provider says how many of them
    were ``cached``, ``unpriced`` those whose price is not known.
    """

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    asked: int = 0
    cached: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def add(self, one: Usage) -> None:
        """One call more."""
        self.calls += 1
        self.prompt += one.prompt
        self.completion += one.completion
        if one.cached is not None:
            self.asked += one.prompt
            self.cached += one.cached
        self.dollars += one.dollars or 0.0
        self.unpriced += one.dollars is None

    @property
    def cost(self) -> str:
        """For a person: what is not known is never told as 0."""
        if self.unpriced == self.calls:
            return "unknown"
        known = money(self.dollars) if self.dollars else "free"
        return known + (
            f" and {self.unpriced} call{'s' * (self.unpriced > 1)} of unknown price"
            if self.unpriced
            else ""
        )

    def cells(self) -> tuple[str, ...]:
        """The columns behind day and purpose."""
        hits = f"{self.cached / self.asked:.1%}" if self.asked else "not told"
        return f"{self.calls:,}", f"{self.prompt:,}", hits, f"{self.completion:,}", self.cost


class UsageReport:
    """All the sums of one file. A second look reads only what was added since the first; only one
    thread may look.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin()

    def report(self) -> str:
        """The sums as they are now, as a table for a person, and which lines could not be counted."""
        strange = self._read()
        rows = [row for day in sorted(self._days) for row in _rows(day, self._days[day])]
        told = [
            table([_HEADING, *rows, *_rows("in all", self._total)])
            if rows
            else "no model call has been made yet"
        ]
        if self._missed:
            told.append(
                f"not served from the cache as it could be, {clock.minute(self._missed.at)} UTC: {formatting.one_line(self._missed.text)}"
            )
        told += [
            f"not counted: {count} line{'s' * (count > 1)} of {self._path.name} {what}"
            for what, count in sorted(strange.items())
        ]
        return "\n".join(told)

    def _begin(self) -> None:
        self._offset = 0
        self._missed: usage_log.Missed | None = None
        self._total: dict[str, Sum] = {}
        self._days: dict[str, dict[str, Sum]] = {}
        self._strange: Counter[str] = Counter()

    def _read(self) -> Counter[str]:
        """Go on where the last look ended; returns how many lines could not be counted, by what
        they are.
        """
        end = files.whole_end(self._path)
        if end < self._offset:  # a person put another file there
            self._begin()
        cut = Counter[str]()
        for call in usage_log.read(self._path, self._offset, end):
            if isinstance(call, usage_log.Call):
                self._add(call)
            elif isinstance(call, usage_log.Missed):
                self._missed = call
            else:
                (cut if call == usage_log.CUT else self._strange)[call] += 1
        self._offset = end
        return self._strange + cut

    def _add(self, call: usage_log.Call) -> None:
        """One call more; calls come in the order of their days, but for a clock that was put back."""
        purpose, day = (
            call.usage.purpose if call.usage.purpose in _PURPOSES else "other",
            call.at.astimezone(UTC).date().isoformat(),
        )
        for sums in (self._total, self._days.setdefault(day, {})):
            sums.setdefault(purpose, Sum()).add(call.usage)
            sums.setdefault("all", Sum()).add(call.usage)
        if len(self._days) > DAYS:
            del self._days[min(self._days)]


def _rows(day: str, sums: dict[str, Sum]) -> Iterator[tuple[str, ...]]:
    """One for each purpose, and one for all if there are several."""
    shown = [name for name in sums if name != "all"] + ["all"] * (len(sums) > 2)
    for number, name in enumerate(shown):
        yield ("" if number else day, name, *sums[name].cells())
