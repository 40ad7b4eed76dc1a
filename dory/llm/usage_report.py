"""What a life has cost so far, for ``/usage`` and ``agent.py HASH --usage``: the calls in its
``usage.jsonl``, added up by day and purpose.

The file is read one line at a time and may grow meanwhile. Only sums are kept, and only those of
the last days.
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
"""The last days with calls; each has rows of its own."""
_PURPOSES = get_args(Purpose)
_HEADING = ("day (UTC)", "purpose", "calls", "prompt tokens", "from cache", "answer tokens", "cost")


@dataclass(slots=True)
class Sum:
    """The sum of some calls. ``asked`` are the prompt tokens of the calls whose provider says how
    many were ``cached``. ``unpriced`` is the number of calls whose price is not known.
    """

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    asked: int = 0
    cached: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def add(self, usage: Usage) -> None:
        """Add one call."""
        self.calls += 1
        self.prompt += usage.prompt
        self.completion += usage.completion
        if usage.cached is not None:
            self.asked += usage.prompt
            self.cached += usage.cached
        if usage.dollars is None:
            self.unpriced += 1
        else:
            self.dollars += usage.dollars

    @property
    def cost(self) -> str:
        """The cost in words. An unknown cost is never shown as 0."""
        if self.unpriced == self.calls:
            return "unknown"
        known = money(self.dollars) if self.dollars else "free"
        if not self.unpriced:
            return known
        return f"{known} and {_counted(self.unpriced, 'call')} of unknown price"

    def cells(self) -> tuple[str, ...]:
        """The columns after day and purpose."""
        hits = f"{self.cached / self.asked:.1%}" if self.asked else "not told"
        return f"{self.calls:,}", f"{self.prompt:,}", hits, f"{self.completion:,}", self.cost


class UsageReport:
    """The sums of one file. A second report reads only what was added since the first. For one
    thread only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin()

    def report(self) -> str:
        """Return the sums as a table, and how many lines could not be counted."""
        uncounted = self._read()
        rows = [row for day in sorted(self._days) for row in _rows(day, self._days[day])]
        parts = ["no model call has been made yet"]
        if rows:
            parts = [table([_HEADING, *rows, *_rows("in all", self._total)])]
        if self._missed:
            parts.append(
                f"not served from the cache as it could be, {clock.minute(self._missed.at)} UTC:"
                f" {formatting.one_line(self._missed.text)}"
            )
        for reason, count in sorted(uncounted.items()):
            parts.append(f"not counted: {_counted(count, 'line')} of {self._path.name} {reason}")
        return "\n".join(parts)

    def _begin(self) -> None:
        self._offset = 0
        self._missed: usage_log.Missed | None = None
        self._total: dict[str, Sum] = {}
        self._days: dict[str, dict[str, Sum]] = {}
        self._uncounted: Counter[str] = Counter()

    def _read(self) -> Counter[str]:
        """Read on where the last report ended. Returns how many lines could not be counted, by
        reason.
        """
        end = files.whole_end(self._path)
        if end < self._offset:  # a person put another file there
            self._begin()
        cut = Counter[str]()
        for line in usage_log.read(self._path, self._offset, end):
            if isinstance(line, usage_log.Call):
                self._add(line)
            elif isinstance(line, usage_log.Missed):
                self._missed = line
            elif line == usage_log.CUT:
                cut[line] += 1  # not kept: it may be complete next time
            else:
                self._uncounted[line] += 1
        self._offset = end
        return self._uncounted + cut

    def _add(self, call: usage_log.Call) -> None:
        """Add one call. Calls come in the order of their days, unless the clock was put back."""
        purpose = call.usage.purpose if call.usage.purpose in _PURPOSES else "other"
        day = call.at.astimezone(UTC).date().isoformat()
        for sums in (self._total, self._days.setdefault(day, {})):
            sums.setdefault(purpose, Sum()).add(call.usage)
            sums.setdefault("all", Sum()).add(call.usage)
        if len(self._days) > DAYS:
            del self._days[min(self._days)]


def _rows(day: str, sums: dict[str, Sum]) -> Iterator[tuple[str, ...]]:
    """One row for each purpose, and one for all if there are several."""
    names = [name for name in sums if name != "all"]
    if len(names) > 1:
        names.append("all")
    for number, name in enumerate(names):
        yield ("" if number else day, name, *sums[name].cells())


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
