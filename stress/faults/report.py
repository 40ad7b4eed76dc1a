"""The figures of a run: for a person a row for each fault and the bounds in words, for a program
one JSON object. Pure functions.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

from stress.faults import bounds
from stress.faults.trial import Outcome

_WIDTHS = (10, 52, 6, 6, 6, 9)
_TOLD = 90


def heading() -> str:
    """The heading of the rows."""
    return _row("in", "fault", "lines", "calls", "bound", "answered", "the room was told")


def row(outcome: Outcome) -> str:
    """The row of one fault, and what was wrong."""
    notices = "; ".join(outcome.notices) or "-"
    if len(notices) > _TOLD:
        notices = f"{notices[: _TOLD - 1]}…"
    answered = f"{outcome.answered} of {outcome.lines}"
    first = _row(
        outcome.where,
        outcome.name,
        str(outcome.lines),
        str(outcome.calls),
        str(outcome.bound),
        answered,
        notices,
    )
    return "\n".join([first, *(f"    WRONG: {violation}" for violation in outcome.violations)])


def summary(outcomes: Sequence[Outcome], retries: int, seconds: float) -> str:
    """Below the rows: how the bounds are computed, and what an hour of a fault would cost."""
    quiet = bounds.away(bounds.HOUR, 1, retries)
    busy = bounds.away(bounds.HOUR, 1000, retries)
    return "\n".join(
        [
            f"The first call for a turn is repeated at most {retries} times, any other "
            "is not, until one succeeds; their pauses double from",
            "1 to 30 s while people speak, and from 30 to 600 s when nobody does. A "
            "compaction asks twice for what cannot be read; two",
            "failures in a row pause it for 10 turns.",
            f"An hour of a model that is away costs at most {quiet} calls for one line, "
            f"and {busy} for a thousand.",
            f"{len(outcomes)} faults, {sum(outcome.calls for outcome in outcomes)} calls, "
            f"{len(wrong(outcomes))} violations, {seconds:.0f} s",
        ]
    )


def as_json(outcomes: Sequence[Outcome], retries: int, seconds: float) -> str:
    """The same figures for a program, on one line."""
    content = {
        "faults": [asdict(outcome) for outcome in outcomes],
        "calls": sum(outcome.calls for outcome in outcomes),
        "calls_in_an_hour": {
            lines: bounds.away(bounds.HOUR, lines, retries) for lines in (1, 1000)
        },
        "violations": wrong(outcomes),
        "seconds": round(seconds, 1),
    }
    return json.dumps(content, ensure_ascii=False)


def wrong(outcomes: Sequence[Outcome]) -> list[str]:
    """All violations, each with its fault."""
    return [
        f"{outcome.where}, {outcome.name}: {violation}"
        for outcome in outcomes
        for violation in outcome.violations
    ]


def _row(*cells: str) -> str:
    *fixed, last = cells
    return "  ".join(
        [*(cell.ljust(width) for cell, width in zip(fixed, _WIDTHS, strict=True)), last]
    )
