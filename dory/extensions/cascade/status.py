"""The answer to ``/memory-status``. Pure.

It shows how full the windows are, what the summaries cover and say, and when the next run is due:

    events: 150
    immediate window    [████████████████████] 64 of 64, verbatim
    short-term window   [██████··············] 21 of 64 have left that one since 2026-11-21 07:38;
                        summed up at 193, 43 more
    short-term summary: events 1–65, of 2026-11-21 07:38 by offline
      Ada planned a trip to Lisbon.
    long-term summary: none yet, the first short-term one goes into it with the next run
    related experiences: BM25 over 1 summary, no embeddings configured

(The short-term window is one line.) If a run has failed, a window can hold more than its size; its
bar then shows as full.
"""

from dory import clock
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.store import Summaries, Summary
from dory.text import formatting

_WIDTH = 20
_FULL, _EMPTY = "█", "·"


def status(windows: Windows, kept: Summaries, count: int, due: int, related: str) -> str:
    """The whole answer.

    ``count`` is the number of events, ``due`` the number at which the next run is due, ``related``
    the status of the related experiences.
    """
    run = "next" if kept.recent else "second"
    rows = [
        f"events: {count:,}",
        _immediate_window(windows, count),
        _short_term_window(windows, kept, count, due),
        *_shown("short-term", kept.recent, f"the first is made at {due:,}"),
        *_shown(
            "long-term", kept.longterm, f"the first short-term one goes into it with the {run} run"
        ),
        f"related experiences: {related}",
    ]
    return "\n".join(rows)


def too_few(windows: Windows, covered: int, count: int) -> str:
    """Why there is nothing to sum up yet."""
    missing = windows.missing(covered, count)
    summed = f"1–{covered} are summed up already, and" if covered else "and"
    more = "1 more is" if missing == 1 else f"{missing} more are"
    return (
        f"too few events: there are {count}, {summed} the newest {windows.immediate} "
        f"stay as they are; {more} missing"
    )


def bar(part: int, whole: int) -> str:
    """A bar that shows how much of ``whole`` there is; full also if there is more."""
    filled = min(_WIDTH, part * _WIDTH // whole)
    return f"[{_FULL * filled}{_EMPTY * (_WIDTH - filled)}]"


def _immediate_window(windows: Windows, count: int) -> str:
    inside = min(count, windows.immediate)
    shown = bar(inside, windows.immediate)
    return f"immediate window    {shown} {inside} of {windows.immediate}, verbatim"


def _short_term_window(windows: Windows, kept: Summaries, count: int, due: int) -> str:
    covered = kept.covered.number
    last = kept.recent or kept.longterm
    left = max(0, count - covered - windows.immediate)
    size = windows.recent if covered else windows.recent + 1
    since = f" since {clock.minute(last.at)}" if last else ""
    more = f"{due - count:,} more" if due > count else "which is now"
    return (
        f"short-term window   {bar(left, size)} {left} of {size} have left that one{since}; "
        f"summed up at {due:,}, {more}"
    )


def _shown(scale: str, summary: Summary | None, otherwise: str) -> list[str]:
    if summary is None:
        return [f"{scale} summary: none yet, {otherwise}"]
    model = formatting.one_line(summary.model)
    made = f"of {clock.minute(summary.at)} by {model}"
    return [
        f"{scale} summary: events {summary.first:,}–{summary.last:,}, {made}",
        f"  {summary.text}",
    ]
