"""What ``/memory-status`` tells: how full the windows are, what the summaries cover and say, and
when the next ones are made. Pure.

    memories: 150
    immediate window    [████████████████████] 64 of 64, verbatim
    short-term window   [██████··············] 21 of 64 have left that one since 2026-11-21 07:38; summed up at 193, 43 more
    short-term summary: memories 1 to 65, of 2026-11-21 07:38 by offline
      Ada planned a trip to Lisbon.
    long-term summary: none yet, the first short-term one goes into it with the next run
    related experiences: BM25 over 1 summary, no embeddings configured

The bars are for people; a part of a window that is fuller than it should be, because a run has
failed, shows as full.
"""

from dory import clock
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.store import Summaries, Summary
from dory.text import formatting

_WIDTH = 20
_FULL, _EMPTY = "█", "·"


def status(windows: Windows, kept: Summaries, count: int, due: int, related: str) -> str:
    """All of it; ``count`` memories there are, and the next run is due at ``due``."""
    covered, last = kept.covered.number, kept.recent or kept.longterm
    inside = min(count, windows.immediate)
    left, size = max(0, count - covered - windows.immediate), windows.recent + (not covered)
    since = f" since {clock.minute(last.at)}" if last else ""
    rows = [
        f"memories: {count:,}",
        f"immediate window    {bar(inside, windows.immediate)} {inside} of {windows.immediate}, verbatim",
        f"short-term window   {bar(left, size)} {left} of {size} have left that one{since}; summed up at {due:,}, {_more(due - count)}",
        *_shown("short-term", kept.recent, f"the first is made at {due:,}"),
        *_shown(
            "long-term",
            kept.longterm,
            f"the first short-term one goes into it with the {'next' if kept.recent else 'second'} run",
        ),
        f"related experiences: {related}",
    ]
    return "\n".join(rows)


def too_few(windows: Windows, covered: int, count: int) -> str:
    """Why there is nothing to sum up yet."""
    missing = windows.missing(covered, count)
    told = f"1 to {covered} are summed up already, and" if covered else "and"
    more = "1 more is" if missing == 1 else f"{missing} more are"
    return f"too few memories: there are {count}, {told} the newest {windows.immediate} stay as they are; {more} missing"


def bar(part: int, whole: int) -> str:
    """How much of the whole there is, as a picture; full also when there is more."""
    filled = min(_WIDTH, part * _WIDTH // whole)
    return f"[{_FULL * filled}{_EMPTY * (_WIDTH - filled)}]"


def _more(count: int) -> str:
    return f"{count:,} more" if count > 0 else "which is now"


def _shown(scale: str, summary: Summary | None, otherwise: str) -> list[str]:
    if summary is None:
        return [f"{scale} summary: none yet, {otherwise}"]
    covers = f"memories {summary.first:,} to {summary.last:,}, of {clock.minute(summary.at)} by {formatting.one_line(summary.model)}"
    return [f"{scale} summary: {covers}", f"  {summary.text}"]
