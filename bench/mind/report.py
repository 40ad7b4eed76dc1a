"""The scores as a table, a line for each life, and what went wrong in it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from bench.mind.living import Result
from dory.text.formatting import money, table

Row = Mapping[str, Any]
_HEADING = (
    "model",
    "settings",
    "right",
    "answered",
    "first answer, s",
    "others, s: median",
    "most",
    "tokens",
    "cached",
    "price",
)


def row(model: str, settings: str, results: Sequence[Result]) -> dict[str, Any]:
    """The figures of one life: messages ``answered`` of those ``said``, seconds of the model for
    its answers, tokens of all calls, dollars or None if the price is not known.
    """
    steps = [step for result in results for step in result.steps]
    usages = [usage for step in steps for usage in step.usages]
    seconds = [step.seconds for step in steps]
    dollars = [usage.dollars for usage in usages]
    return {
        "model": model,
        "settings": settings,
        "right": sum(not result.wrong for result in results),
        "tasks": len(results),
        "answered": sum(step.answered for step in steps),
        "said": len(steps),
        "turns": sum(result.turns for result in results),
        "first_seconds": round(seconds[0], 2) if seconds else None,
        "median_seconds": round(median(seconds[1:]), 2) if seconds[1:] else None,
        "most_seconds": round(max(seconds[1:]), 2) if seconds[1:] else None,
        "calls": len(usages),
        "prompt_tokens": sum(usage.prompt for usage in usages),
        "cached_tokens": sum(usage.cached or 0 for usage in usages),
        "completion_tokens": sum(usage.completion for usage in usages),
        "dollars": None if None in dollars else round(sum(filter(None, dollars)), 6),
        "wrong": {result.name: list(result.wrong) for result in results if result.wrong},
    }


def report(rows: Sequence[Row]) -> str:
    """The table, and below it what went wrong in each life."""
    lines = [table([_HEADING, *map(_cells, rows)])]
    for each in rows:
        lines += _wrong(each)
    return "\n".join(lines)


def told(result: Result) -> str:
    """One task as it is told while a life goes on."""
    seconds = sum(step.seconds for step in result.steps)
    verdict = "; ".join(result.wrong) or "right"
    return f"{result.name}: {verdict} ({result.turns} turns, {seconds:.1f} s)"


def _cells(row: Row) -> tuple[str, ...]:
    tokens = row["prompt_tokens"] + row["completion_tokens"]
    return (
        row["model"],
        row["settings"] or "as shipped",
        f"{row['right']} of {row['tasks']}",
        f"{row['answered']} of {row['said']}",
        *(_seconds(row[name]) for name in ("first_seconds", "median_seconds", "most_seconds")),
        f"{tokens:,}",
        f"{row['cached_tokens'] / max(1, row['prompt_tokens']):.0%}",
        "unknown" if row["dollars"] is None else money(row["dollars"]),
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _wrong(row: Row) -> Iterator[str]:
    if row["wrong"]:
        yield f"\nnot right, {row['model']}, {row['settings'] or 'as shipped'}:"
    for name, reasons in row["wrong"].items():
        yield f"  {name}: {'; '.join(reasons)}"
