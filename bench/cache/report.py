"""What lives came to: hit shares, tokens and prices by rule and provider, as a table and as one JSON object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.cache.caches import RULES
from bench.cache.life import Lived
from bench.cache.rates import RATES
from bench.cache.script import Asked
from dory import wire
from dory.records import Prompt

TARGETS = {"hit.tail": 88.0, "hit.ledger": 95.0, "hit.compaction": 95.0}
"""Per cent of the tokens of prompts that the cache must serve."""


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
    """A life: turns and compaction requests, each by rule."""

    turns: Mapping[str, Paid]
    compactions: Mapping[str, Paid]
    growth: float


def figures(lived: Lived) -> Figures:
    """Count a life by every rule."""
    served = {name: [rule(asked) for asked in lived.asked] for name, rule in ((name, make()) for name, make in RULES.items())}

    def paid(turns: bool, rule: str) -> Paid:
        own = [(asked, hits) for asked, hits in zip(lived.asked, served[rule], strict=True) if (asked.purpose == "turn") == turns]
        return Paid(len(own), sum(_tokens(asked) for asked, _ in own), sum(hits for _, hits in own), sum(wire.tokens(a.answer) for a, _ in own))

    return Figures({rule: paid(True, rule) for rule in RULES}, {rule: paid(False, rule) for rule in RULES}, lived.growth)


def flat(lives: Mapping[str, Figures]) -> dict[str, Any]:
    """Every figure under one name; ``hit.<life>`` are turns by blocks, ``hit.compaction`` the requests of compactions in both layouts."""
    product = [lives[name].compactions["blocks"] for name in ("tail", "ledger")]
    found: dict[str, Any] = {f"hit.{name}": round(life.turns["blocks"].share, 2) for name, life in lives.items()}
    found["hit.compaction"] = round(100 * sum(one.hits for one in product) / max(sum(one.prompt for one in product), 1), 2)
    for name, life in lives.items():
        found[f"growth.{name}"] = round(life.growth)
        for rule in RULES:
            turns, compactions = life.turns[rule], life.compactions[rule]
            found[f"hit.{name}.{rule}"] = round(turns.share, 2)
            found[f"hit.{name}.compaction.{rule}"] = round(compactions.share, 2)
            found[f"paid.{name}.{rule}"] = turns.prompt - turns.hits + compactions.prompt - compactions.hits
            found |= {f"price.{name}.{rule}.{who}": round(turns.price(who) + compactions.price(who), 4) for who in RATES}
        found[f"tokens.{name}"] = life.turns["blocks"].prompt + life.compactions["blocks"].prompt
        found[f"requests.{name}"] = [life.turns["blocks"].requests, life.compactions["blocks"].requests]
    return found


def table(lives: Mapping[str, Figures]) -> str:
    """One row for each life and rule."""
    heading = ["life", "rule", "turns hit %", "compactions hit %", "prompt tokens", "not cached", *(f"$ {who}" for who in RATES)]
    rows = [heading]
    for name, life in lives.items():
        for rule in RULES:
            turns, compactions = life.turns[rule], life.compactions[rule]
            prompt, hits = turns.prompt + compactions.prompt, turns.hits + compactions.hits
            prices = [f"{turns.price(who) + compactions.price(who):.2f}" for who in RATES]
            rows.append([name, rule, f"{turns.share:.1f}", f"{compactions.share:.1f}", f"{prompt:,}", f"{prompt - hits:,}", *prices])
    widths = [max(len(row[at]) for row in rows) for at in range(len(heading))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def missed(found: Mapping[str, Any]) -> Sequence[str]:
    """The targets that were not reached, a line for each."""
    return [f"{name} is {found[name]}, not {least:g}" for name, least in TARGETS.items() if found[name] < least]


def _tokens(asked: Asked) -> int:
    return wire.tokens(Prompt(asked.messages).text)
