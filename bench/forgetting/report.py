"""The figures of many lives as one table: a line for each way and limit, with and without RECALL,
the mean over the seeds.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import mean
from typing import Any

from bench.forgetting.ways import VARIANTS, WAYS

Row = Mapping[str, Any]

HEADING = (
    "way          RECALL   limit   answered = directly + by reference + by RECALL   "
    "never  outdated   tokens    price   cached"
    "   stall  stalled turns   turns to answer   context: mean    peak"
)
_MEANS = (
    "direct",
    "followed",
    "recalled",
    "never",
    "outdated",
    "tokens",
    "cache_hit",
    "turns_to_answer",
    "context_mean",
)


def mean_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """One row for each limit and way, without RECALL and with it, in the order of the ways: means
    over the seeds; of stalls and of the context's size the largest.
    """
    ways = [*WAYS, *VARIANTS]

    def place(row: Row) -> tuple[int, bool, int]:
        return row["limit"], row["recall"], ways.index(row["way"])

    return [_mean_row(list(group)) for _, group in groupby(sorted(rows, key=place), key=place)]


def report(rows: Iterable[Row]) -> str:
    """The table."""
    return "\n".join([HEADING, *map(_line, mean_rows(rows))])


def _mean_row(rows: Sequence[Row]) -> dict[str, Any]:
    means = {name: mean(row[name] for row in rows) for name in (*_MEANS, "stalled_turns", "turns")}
    most = {name: max(row[name] for row in rows) for name in ("stall_calls", "context_peak")}
    answered = means["direct"] + means["followed"] + means["recalled"]
    price = (
        mean(row["price"] for row in rows)
        if all(row["price"] is not None for row in rows)
        else None
    )
    return {
        **{name: rows[0][name] for name in ("way", "recall", "limit")},
        "answered": answered,
        "price": price,
        **means,
        **most,
    }


def _line(row: Row) -> str:
    shares = "".join(
        f"{row[name]:>{width}.0%}"
        for name, width in (("direct", 19), ("followed", 15), ("recalled", 13))
    )
    price = "unknown" if row["price"] is None else f"{row['price']:.2f}$"
    search = "with" if row["recall"] else "without"
    cells = [
        f"{row['way']:<13}{search:<8}{row['limit']:>7}{row['answered']:>10.0%}",
        shares,
        f"{row['never']:>8.0%}{row['outdated']:>10.0%}",
        f"{row['tokens'] / 1e6:>8.1f}M{price:>9}{row['cache_hit']:>8.1%}",
        f"{row['stall_calls']:>8}{row['stalled_turns'] / row['turns']:>15.1%}",
        f"{row['turns_to_answer']:>18.1f}",
        f"{row['context_mean']:>17.0f}{row['context_peak']:>8}",
    ]
    return "".join(cells)
