"""The answer to ``/memory-status``. Pure.

It shows how full the windows are, what the summaries cover and say, and when the next run is due:

    LIFE.md: 193 lines; bookkeeping among them is no event
    immediate window    [████████████████████] 64 of 64 events, verbatim
    short-term window   [██████··············] 21 of 64 have left that one since 2026-11-21 07:38;
                        summed up after 43 more events
    short-term summary: events 1–83, of 2026-11-21 07:38 by offline
      Ada planned a trip to Lisbon.
    long-term summary: none yet, the first short-term one goes into it with the next run
    related experiences: BM25 over 1 summary, no embeddings configured

(The short-term window is one line.) If a run has failed, a window can hold more than its size; its
bar then shows as full.
"""

from dataclasses import dataclass

from dory import clock
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.store import Summaries, Summary
from dory.text import formatting

_WIDTH = 20
_FULL, _EMPTY = "█", "·"


@dataclass(frozen=True, slots=True)
class Counts:
    """The ``lines`` of LIFE, the events ``behind`` those that are summed up, and how many are
    ``missing`` until the next run is due.
    """

    lines: int
    behind: int
    missing: int


def status(windows: Windows, kept: Summaries, counts: Counts, related: str) -> str:
    """The whole answer. ``related`` is the status of the related experiences."""
    run = "next" if kept.recent else "second"
    missing = counts.missing
    due = f"after {counted(missing, 'more ')}" if missing else "now"
    rows = [
        f"LIFE.md: {counts.lines:,} line{'' if counts.lines == 1 else 's'}; bookkeeping among them"
        " is no event",
        _immediate_window(windows, counts.behind),
        _short_term_window(windows, kept, counts.behind, due),
        *_shown("short-term", kept.recent, f"the first is made {due}"),
        *_shown(
            "long-term", kept.longterm, f"the first short-term one goes into it with the {run} run"
        ),
        f"related experiences: {related}",
    ]
    return "\n".join(rows)


def too_few(windows: Windows, covered: int, behind: int) -> str:
    """Why there is nothing to sum up yet, with so many events ``behind`` the ``covered`` ones."""
    missing = windows.immediate + 1 - behind
    more = "1 more is" if missing == 1 else f"{missing} more are"
    there = "there is 1" if behind == 1 else f"there are {behind}"
    summed = f" behind those up to {covered}, which are summed up" if covered else ""
    return (
        f"too few events: {there}{summed}, and the newest {windows.immediate} stay as they are;"
        f" {more} missing"
    )


def counted(events: int, more: str = "") -> str:
    """``1 event``, ``64 more events``."""
    return f"{events:,} {more}{'event' if events == 1 else 'events'}"


def bar(part: int, whole: int) -> str:
    """A bar that shows how much of ``whole`` there is; full also if there is more."""
    filled = min(_WIDTH, part * _WIDTH // whole)
    return f"[{_FULL * filled}{_EMPTY * (_WIDTH - filled)}]"


def _immediate_window(windows: Windows, behind: int) -> str:
    inside = min(behind, windows.immediate)
    shown = bar(inside, windows.immediate)
    return f"immediate window    {shown} {inside} of {windows.immediate} events, verbatim"


def _short_term_window(windows: Windows, kept: Summaries, behind: int, due: str) -> str:
    last = kept.recent or kept.longterm
    left = max(0, behind - windows.immediate)
    size = windows.recent if last else windows.recent + 1
    since = f" since {clock.minute(last.at)}" if last else ""
    return (
        f"short-term window   {bar(left, size)} {left} of {size} have left that one{since}; "
        f"summed up {due}"
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
