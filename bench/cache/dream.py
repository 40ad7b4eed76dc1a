"""What Dreams cost: the same life with them and without, side by side. Served by blocks; tokens are
four characters each.

A Dream asks for the list of changes, for the tool lines, and once more after these. Turns and
compactions lose what stood in the cache behind USER and VOICE whenever a new epoch lays these down
anew, and pay for the notices that tell of their changes.
"""

from collections.abc import Mapping

from bench.cache.life import Lived
from bench.cache.rates import RATES
from bench.cache.report import Figures, aligned

WITHOUT = "notes, recall, cascade"
"""The extensions of a life without them."""


def costs(lived: Lived, dreaming: Figures, without: Figures) -> dict[str, float]:
    """How many Dreams there were, what one costs by its own calls and in all, and by how many
    points the cache serves less.
    """
    calls = dreaming.dreams["blocks"]
    dreams = sum(
        "\n[#study]\n" in request.messages[-1].content
        for request in lived.asked
        if request.purpose == "dream"
    )
    figures: dict[str, float] = {
        "dreams": dreams,
        "calls": round(calls.requests / max(dreams, 1), 1),
        "prompt": round(calls.prompt / max(dreams, 1)),
        "paid": round((calls.prompt - calls.hits) / max(dreams, 1)),
        "answered": round(calls.answered / max(dreams, 1)),
        "turns.lost": round(without.turns["blocks"].share - dreaming.turns["blocks"].share, 2),
        "compactions.lost": round(
            without.compactions["blocks"].share - dreaming.compactions["blocks"].share, 2
        ),
    }
    for who in RATES:
        figures[f"calls.{who}"] = round(calls.price(who) / max(dreams, 1), 6)
        figures[f"in_all.{who}"] = round(
            (dreaming.price("blocks", who) - without.price("blocks", who)) / max(dreams, 1), 6
        )
    return figures


def table(costs: Mapping[str, Mapping[str, float]]) -> str:
    """A row for each layout."""
    heading = [
        "layout",
        "dreams",
        "a dream: calls",
        "tokens",
        "not cached",
        "answered",
        "turns: points lost",
        "compactions: points lost",
    ]
    rows = [[*heading, *(f"$ {who} calls" for who in RATES), *(f"$ {who} in all" for who in RATES)]]
    for layout, figures in costs.items():
        counts = [
            f"{figures['dreams']:.0f}",
            f"{figures['calls']:.1f}",
            *(f"{figures[name]:,.0f}" for name in ("prompt", "paid", "answered")),
        ]
        points = [f"{figures[f'{name}.lost']:.2f}" for name in ("turns", "compactions")]
        rows.append(
            [
                layout,
                *counts,
                *points,
                *(
                    f"{figures[f'{kind}.{who}']:.4f}"
                    for kind in ("calls", "in_all")
                    for who in RATES
                ),
            ]
        )
    return aligned(rows)
