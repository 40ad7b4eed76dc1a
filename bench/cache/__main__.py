"""Measure what providers' caches can serve of a life: ``python -m bench.cache [--turns 500]
[--limit 32000] [--json]``.

The same life is lived in both layouts, without the cascade and without Dreams as well, and counted
in orders that others use, by each rule of caching; and it is lived with ``layout: auto`` where the
endpoint caches by each of the rules. Exit code 0 if the targets
are reached, 1 if one is not, 130 after Ctrl-C.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from bench.cache import cascade, change, dream, report
from bench.cache.arrangements import (
    Arrangement,
    arranged,
    clock_first,
    memory_before_context,
    memory_first,
)
from bench.cache.caches import RULES, Rule
from bench.cache.life import Lived, live, ticking
from bench.cache.report import AWAKE, Figures
from bench.common import running
from dory.config.settings import LAYOUTS

ORDERS: dict[str, Arrangement] = {
    "memory_before_context": memory_before_context,
    "memory_first": memory_first,
    "clock_first": clock_first(ticking()),
}
"""How others would have sent what ``tail`` sends."""

ALONE = "without_cascade"
"""Behind the name of a layout: the same life without it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """By name: what lives came to, what the cascade and Dreams cost in each layout, what of the
    cascade a turn shows, and what ``auto`` did by each rule.
    """

    lives: dict[str, Figures]
    costs: dict[str, dict[str, float]]
    dreams: dict[str, dict[str, float]]
    shown: dict[str, dict[str, float]]
    changes: dict[str, dict[str, float]]

    @property
    def flat(self) -> dict[str, Any]:
        """Every figure under one name; those of the lives as in ``report.flat``."""
        more = {"cascade": self.costs, "dream": self.dreams, "shown": self.shown}
        more["change"] = self.changes
        return report.flat(self.lives) | {
            f"{about}.{name}.{what}": value
            for about, costs in more.items()
            for name, figures in costs.items()
            for what, value in figures.items()
        }


def measure(turns: int, context_limit: int) -> Measured:
    """Live the life in both layouts as they are, without the cascade and without Dreams, and count
    the first in every order.
    """
    lived = {layout: live(turns, context_limit, layout) for layout in LAYOUTS}
    for without, extensions in ((ALONE, cascade.WITHOUT), (AWAKE, dream.WITHOUT)):
        lived |= {
            f"{layout}_{without}": live(turns, context_limit, layout, extensions)
            for layout in LAYOUTS
        }
    lives = {name: report.figures(life) for name, life in lived.items()}
    lives |= {
        name: report.figures(replace(lived["tail"], asked=arranged(lived["tail"].asked, order)))
        for name, order in ORDERS.items()
    }
    changing = {rule: changed(turns, context_limit, make) for rule, make in RULES.items()}
    for rule, life in changing.items():
        lives[f"{change.NAME}_{rule}"] = report.figures(life)
    costs = {layout: cascade.costs(lives[layout], lives[f"{layout}_{ALONE}"]) for layout in LAYOUTS}
    dreams = {
        layout: dream.costs(lived[layout], lives[layout], lives[f"{layout}_{AWAKE}"])
        for layout in LAYOUTS
    }
    return Measured(
        lives,
        costs,
        dreams,
        {name: cascade.shown(lived[name]) for name in ("tail", f"tail_{ALONE}")},
        change.costs(lives, changing),
    )


def changed(turns: int, context_limit: int, rule: Callable[[], Rule]) -> Lived:
    """The life as it is shipped, with an endpoint that caches by one rule."""
    return live(turns, context_limit, change.NAME, cache=lambda asked: change.Ruled(rule(), asked))


@running.measurement(
    "bench.cache", "Measure what providers' caches can serve of a life, and what it costs."
)
@click.option(
    "--turns",
    type=running.whole(1),
    default=500,
    metavar="N",
    help="turns of each life (default: 500)",
)
@click.option(
    "--limit",
    type=running.whole(1),
    default=32_000,
    metavar="TOKENS",
    help="its context limit (default: 32000)",
)
def main(turns: int, limit: int, print_json: bool) -> int:
    """Do what the command line says and print what came of it."""
    measured = measure(turns, limit)
    found = measured.flat
    print(
        f"{turns} turns of {found['growth.tail']} new tokens, limit "
        f"{limit:,}; a token is four characters"
    )
    print(
        f"{report.table(measured.lives)}\n"
        f"{cascade.table(measured.costs, measured.shown)}\n"
        f"{dream.table(measured.dreams)}\n"
        f"{change.table(measured.changes)}"
    )
    for line in report.missed(found):
        print(line)
    if print_json:
        print(json.dumps(found))
    return 1 if report.missed(found) else 0


if __name__ == "__main__":
    running.run("bench.cache", main)
