"""What ``layout: auto`` does where the cache serves by one rule or another: in which turn the
layout changes, and what is served before and after. The endpoint reports by that rule what it
served, as a provider would, and the agent goes by its reports.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from bench.cache.caches import RULES, Rule
from bench.cache.life import Lived
from bench.cache.report import Figures, aligned
from bench.cache.script import Asked
from dory.offline.server import faults
from dory.text import prompt_files
from dory.types import Prompt

NAME = "auto"


class Ruled(faults.Cache):
    """A cache that serves by a rule. ``asked`` are the requests that were answered so far."""

    def __init__(self, rule: Rule, asked: Callable[[], Sequence[Asked]]) -> None:
        super().__init__()
        self._rule = rule
        self._asked = asked
        self._replayed = 0

    def request(self, prompt: Prompt) -> faults.Request:
        """Compare a prompt with those before it, and with what these were answered."""
        answered = self._asked()[self._replayed :]
        for asked in answered:
            self._rule(asked)
        self._replayed += len(answered)
        request = super().request(prompt)
        return replace(request, cached=self._rule(Asked(prompt.messages, request.purpose, "")))


def layouts(lived: Lived) -> list[tuple[str, int]]:
    """The layouts that a life had, in order, each with the number of its turns."""
    words = prompt_files.prompt("ledger")
    turns = [
        "ledger" if words in asked.messages[0].content else "tail"
        for asked in lived.asked
        if asked.purpose == "turn"
    ]
    return [(layout, len(list(run))) for layout, run in groupby(turns)]


def costs(lives: Mapping[str, Figures], lived: Mapping[str, Lived]) -> dict[str, dict[str, float]]:
    """By rule: what turns were served in either layout and with ``auto``, in per cent, and in which
    turn the layout changed first; 0 if it never did. ``lived`` are the lives with ``auto``.
    """
    figures: dict[str, dict[str, float]] = {}
    for rule in RULES:
        runs = layouts(lived[rule])
        shares = {name: lives[name].turns[rule].share for name in ("tail", "ledger")}
        shares[NAME] = lives[f"{NAME}_{rule}"].turns[rule].share
        figures[rule] = {name: round(share, 2) for name, share in shares.items()}
        figures[rule]["changed"] = runs[0][1] + 1 if len(runs) > 1 else 0
        figures[rule]["changes"] = len(runs) - 1
    return figures


def table(costs: Mapping[str, Mapping[str, float]]) -> str:
    """A row for each rule."""
    rows = [["rule", "tail %", "ledger %", "auto %", "first change in turn", "changes"]]
    for rule, figures in costs.items():
        shares = [f"{figures[name]:.1f}" for name in ("tail", "ledger", NAME)]
        rows.append([rule, *shares, f"{figures['changed']:g}", f"{figures['changes']:g}"])
    return aligned(rows)
