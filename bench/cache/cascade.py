"""What the cascade costs: the same life with it and without, side by side. Served by blocks; tokens
are four characters each.

A turn is dearer by the summaries, the events laid out, the related experiences and the lines of
LIFE that it is shown beyond the usual ones; and 64 events, those that a run takes in, by the run's
own calls.
"""

import re
import statistics
from collections.abc import Mapping

from bench.cache.arrangements import parts
from bench.cache.life import Lived
from bench.cache.rates import RATES
from bench.cache.report import Figures, aligned
from dory.config.profiles import CascadeSettings
from dory.extensions.cascade.extension import CascadeExtension
from dory.extensions.cascade.window_extension import WindowExtension
from dory.text import formatting
from dory.types import Prompt

WITHOUT = "notes, recall, dream"
"""The extensions of a life without it."""


def shown(lived: Lived) -> dict[str, float]:
    """Mean tokens, in the prompts of the turns of a life in the layout ``tail``, of the parts that
    the cascade makes or changes.
    """
    read = [parts(Prompt(request.messages)) for request in lived.asked if request.purpose == "turn"]
    texts = {
        "summaries": [_opening(part.context, CascadeExtension.name) for part in read],
        "window": [_opening(part.context, WindowExtension.name) for part in read],
        "related": [part.related for part in read],
        "life": [part.life for part in read],
    }
    return {
        name: round(statistics.mean(map(formatting.tokens, part)), 1)
        for name, part in texts.items()
    }


def _opening(context: str, name: str) -> str:
    """The section of that name before the context."""
    section = re.search(rf"^\[#{name}[\]:].*?(?=^\[#|\Z)", context, re.DOTALL | re.MULTILINE)
    return section[0] if section else ""


def costs(cascading: Figures, without: Figures) -> dict[str, float]:
    """What a mean turn has more of, and what 64 events cost: the calls of a run, and in all what
    such a stretch of the life is dearer by.
    """
    turns, before, calls = (
        cascading.turns["blocks"],
        without.turns["blocks"],
        cascading.cascade["blocks"],
    )
    runs = (calls.requests + 1) // 2  # the first has no older summary to squash
    stretches = cascading.events / CascadeSettings.recent_window
    figures: dict[str, float] = {
        "events": cascading.events,
        "runs": runs,
        "turn.prompt": round(turns.prompt / turns.requests - before.prompt / before.requests, 1),
        "turn.paid": round(
            (turns.prompt - turns.hits) / turns.requests
            - (before.prompt - before.hits) / before.requests,
            1,
        ),
        "calls.prompt": round(calls.prompt / max(runs, 1)),
        "calls.answered": round(calls.answered / max(runs, 1)),
    }
    for who in RATES:
        figures[f"calls.{who}"] = round(calls.price(who) / max(runs, 1), 6)
        figures[f"in_all.{who}"] = round(
            (cascading.price("blocks", who) - without.price("blocks", who)) / stretches, 6
        )
    return figures


_COUNTS = ("events", "runs", "turn.prompt", "turn.paid", "calls.prompt", "calls.answered")


def table(
    costs: Mapping[str, Mapping[str, float]], parts_shown: Mapping[str, Mapping[str, float]]
) -> str:
    """A row for each layout, and below them what stands in a turn's prompt."""
    heading = [
        "layout",
        "events",
        "runs",
        "a turn: more tokens",
        "not cached",
        "64 events: calls' tokens",
        "answered",
    ]
    rows = [[*heading, *(f"$ {who} calls" for who in RATES), *(f"$ {who} in all" for who in RATES)]]
    for layout, figures in costs.items():
        counts = [f"{figures[name]:,.0f}" for name in _COUNTS]
        dollars = [
            f"{figures[f'{kind}.{who}']:.4f}" for kind in ("calls", "in_all") for who in RATES
        ]
        rows.append([layout, *counts, *dollars])
    notes = [
        f"a turn of {name} shows {', '.join(f'{part} {size:,.0f}' for part, size in sizes.items())}"
        for name, sizes in parts_shown.items()
    ]
    return "\n".join([aligned(rows), *notes])
