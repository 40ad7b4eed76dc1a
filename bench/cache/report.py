"""What lives came to: hit shares, tokens and prices by rule and provider, as a table and as one
JSON object.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cache.caches import RULES
from bench.cache.life import Lived
from bench.cache.rates import RATES
from bench.cache.script import Asked
from dory.text import formatting
from dory.types import Prompt, Purpose

TARGETS = {"hit.tail": 88.0, "hit.ledger": 95.0, "hit.compaction": 95.0}
"""Per cent of the tokens of prompts that the cache must serve."""
AWAKE, LOST = "without_dream", 1.0
"""Behind the name of a layout: the same life without Dreams; and by how many points a Dream may let
these shares fall.
"""


@dataclass(frozen=True, slots=True)
class Paid:
    """Some requests by one rule, in tokens."""

    requests: int
    prompt: int
    hits: int
    answered: int

    @property
    def share(self) -> float:
        """Of the prompts' tokens, what was served from the cache, in per cent."""
        return 100 * self.hits / max(self.prompt, 1)

    def price(self, provider: str) -> float:
        """Dollars."""
        return RATES[provider].price(self.hits, self.prompt - self.hits, self.answered)


@dataclass(frozen=True, slots=True)
class Figures:
    """A life: its turns, the requests of its compactions, of its cascade and of its Dreams, each by
    rule; and how many events it had.
    """

    turns: Mapping[str, Paid]
    compactions: Mapping[str, Paid]
    cascade: Mapping[str, Paid]
    dreams: Mapping[str, Paid]
    growth: float
    events: int

    def all(self, rule: str) -> Sequence[Paid]:
        """Whatever was asked."""
        return self.turns[rule], self.compactions[rule], self.cascade[rule], self.dreams[rule]

    def price(self, rule: str, provider: str) -> float:
        """Dollars."""
        return sum(paid.price(provider) for paid in self.all(rule))


def figures(lived: Lived) -> Figures:
    """Count a life by every rule."""
    served = {
        name: [rule(asked) for asked in lived.asked]
        for name, rule in ((name, make()) for name, make in RULES.items())
    }

    def paid(rule: str, *purposes: Purpose) -> Paid:
        own = [
            (asked, hits)
            for asked, hits in zip(lived.asked, served[rule], strict=True)
            if asked.purpose in purposes
        ]
        return Paid(
            len(own),
            sum(_tokens(asked) for asked, _ in own),
            sum(hits for _, hits in own),
            sum(formatting.tokens(a.answer) for a, _ in own),
        )

    asked: Sequence[Sequence[Purpose]] = (
        ("turn",),
        ("segment", "summarise"),
        ("cascade",),
        ("dream",),
    )
    turns, compactions, cascade, dreams = (
        {rule: paid(rule, *purposes) for rule in RULES} for purposes in asked
    )
    return Figures(turns, compactions, cascade, dreams, lived.growth, lived.events)


def flat(lives: Mapping[str, Figures]) -> dict[str, Any]:
    """Every figure under one name; ``hit.<life>`` are turns by blocks, ``hit.compaction`` the
    requests of compactions in both layouts.
    """
    figures: dict[str, Any] = {
        f"hit.{name}": round(life.turns["blocks"].share, 2) for name, life in lives.items()
    }
    for without in ("", f"_{AWAKE}"):
        product = [lives[f"{name}{without}"].compactions["blocks"] for name in ("tail", "ledger")]
        figures[f"hit.compaction{without}"] = round(
            100 * sum(paid.hits for paid in product) / max(sum(paid.prompt for paid in product), 1),
            2,
        )
    for name, life in lives.items():
        figures[f"growth.{name}"] = round(life.growth)
        for rule in RULES:
            figures[f"hit.{name}.{rule}"] = round(life.turns[rule].share, 2)
            figures[f"hit.{name}.compaction.{rule}"] = round(life.compactions[rule].share, 2)
            figures[f"paid.{name}.{rule}"] = sum(paid.prompt - paid.hits for paid in life.all(rule))
            figures |= {
                f"price.{name}.{rule}.{who}": round(life.price(rule, who), 4) for who in RATES
            }
        figures[f"tokens.{name}"] = sum(paid.prompt for paid in life.all("blocks"))
        figures[f"requests.{name}"] = [paid.requests for paid in life.all("blocks")]
    return figures


def table(lives: Mapping[str, Figures]) -> str:
    """One row for each life and rule."""
    heading = [
        "life",
        "rule",
        "turns hit %",
        "compactions hit %",
        "prompt tokens",
        "not cached",
        *(f"$ {who}" for who in RATES),
    ]
    rows = [heading]
    for name, life in lives.items():
        for rule in RULES:
            prompt, hits = (
                sum(paid.prompt for paid in life.all(rule)),
                sum(paid.hits for paid in life.all(rule)),
            )
            shares = [f"{paid.share:.1f}" for paid in (life.turns[rule], life.compactions[rule])]
            rows.append(
                [
                    name,
                    rule,
                    *shares,
                    f"{prompt:,}",
                    f"{prompt - hits:,}",
                    *(f"{life.price(rule, who):.2f}" for who in RATES),
                ]
            )
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of equal length as columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


def missed(figures: Mapping[str, Any]) -> Sequence[str]:
    """The targets that were not reached, a line for each."""
    fallen = {name: figures[f"{name}_{AWAKE}"] - figures[name] for name in TARGETS}
    return [
        *(
            f"{name} is {figures[name]}, not {least:g}"
            for name, least in TARGETS.items()
            if figures[name] < least
        ),
        *(
            f"{name} falls by {points:.2f} points with Dreams, more than {LOST:g}"
            for name, points in fallen.items()
            if points > LOST
        ),
    ]


def _tokens(asked: Asked) -> int:
    return formatting.tokens(Prompt(asked.messages).text)
