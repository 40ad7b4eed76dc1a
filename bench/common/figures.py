"""The figures of a life: a table for a person, one JSON object for a program. Pure functions."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from statistics import mean
from typing import Any

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 72


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of the turns that questions refer to: how many stand in the prompt, how many at which depth
    of references, how many nowhere.
    """

    verbatim: int
    by_depth: dict[int, int]
    unreachable: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Of the questions ``asked`` of a life: how many had their evidence in the prompt ``after`` so
    many tool calls, 0: it stood there.
    """

    asked: int
    after: dict[int, int]

    @property
    def share(self) -> float:
        """Of all that were asked, in per cent."""
        return round(100 * sum(self.after.values()) / self.asked, 1)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a life came to. ``context`` is its size in tokens after each turn, ``stretches`` what
    the compactions swapped, ``questions`` what was found again by each way to look.
    """

    name: str
    turns: int
    limit: int
    context: list[int]
    compactions: int
    stretches: int
    pieces: dict[str, int]
    bytes_in: int
    bytes_reachable: int
    evidence: Evidence
    model_seconds: dict[str, float]
    seconds: float
    problems: list[str]
    questions: dict[str, Answers] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether nothing was lost."""
        return (
            self.bytes_reachable == self.bytes_in
            and not self.evidence.unreachable
            and not self.problems
        )


def report(figures: Figures) -> str:
    """What a person reads."""
    sizes = figures.context
    took = ", ".join(
        f"{purpose} {seconds:.1f} s" for purpose, seconds in figures.model_seconds.items()
    )
    rows = {
        "compactions": f"{figures.compactions}, {figures.stretches} stretches swapped",
        "context": f"min {min(sizes)}, mean {mean(sizes):.0f}, max {max(sizes)}, last {sizes[-1]} "
        f"tokens; limit {figures.limit}",
        "": sparkline(sizes),
        "bytes in": f"{figures.bytes_in} "
        f"({', '.join(f'{count} {kind}' for kind, count in figures.pieces.items())})",
        "bytes reachable": f"{figures.bytes_reachable}",
        "evidence turns": _evidence(asdict(figures.evidence)),
        "check": "; ".join(figures.problems[:5]) or "everything is whole",
        "wall time": f"{figures.seconds:.1f} s; in the model: {took}",
        **_questions(figures.questions),
    }
    return table(f"{figures.name}: {figures.turns} turns", rows)


def report_totals(lives: Sequence[Figures]) -> str:
    """The same for several lives together."""
    sums = totals(lives)
    rows = {
        "compactions": f"{sums['compactions']}, {sums['stretches']} stretches swapped",
        "bytes in": sums["bytes_in"],
        "bytes reachable": sums["bytes_reachable"],
        "evidence turns": _evidence(sums["evidence"]),
        "wall time": f"{sums['seconds']:.1f} s",
        **_questions(_added([life.questions for life in lives])),
    }
    return table(f"{len(lives)} conversations: {sums['turns']} turns", rows)


def _evidence(evidence: Mapping[str, Any]) -> str:
    by_depth = evidence["by_depth"]
    near = ", ".join(f"{by_depth.get(depth, 0)} behind {depth}" for depth in (1, 2, 3))
    far = (
        f"{sum(count for depth, count in by_depth.items() if depth > 3)} behind more "
        f"references (at most {max(by_depth, default=0)})"
    )
    return (
        f"{evidence['verbatim']} verbatim in the prompt, {near}, {far}, {evidence['unreachable']} "
        "unreachable"
    )


def _questions(by_way: Mapping[str, Answers]) -> dict[str, str]:
    """A row for each way to look."""
    return {
        way.replace(
            "_", " "
        ): f"{answers.share}% of {answers.asked} questions have their evidence in the prompt; "
        "after so many tool calls: "
        + ", ".join(f"{count} after {calls}" for calls, count in answers.after.items())
        for way, answers in by_way.items()
    }


def _added(lives: Sequence[Mapping[str, Answers]]) -> dict[str, Answers]:
    """Several lives' answers as those of one."""
    ways = {
        way: [life[way] for life in lives if way in life]
        for way in dict.fromkeys(way for life in lives for way in life)
    }
    return {
        way: Answers(
            sum(answers.asked for answers in several),
            {calls: sum(answers.after[calls] for answers in several) for calls in several[0].after},
        )
        for way, several in ways.items()
    }


def _shares(by_way: Mapping[str, Answers]) -> dict[str, Any]:
    """For JSON: by the name of the way its share, and under ``asked`` and ``after`` the counts."""
    asked = max((answers.asked for answers in by_way.values()), default=0)
    return {
        **{way: answers.share for way, answers in by_way.items()},
        "asked": asked,
        "after": {way: answers.after for way, answers in by_way.items()},
    }


def table(title: str, rows: Mapping[str, object]) -> str:
    """A title, and under it a line for each row: its name and what it is."""
    width = max(16, *map(len, rows))
    return "\n".join([title, *(f"  {name:<{width}} {row}" for name, row in rows.items())])


def sparkline(sizes: Sequence[int]) -> str:
    """``sizes`` from left to right, from 0 to the largest, each column the mean of its share."""
    columns = min(_WIDTH, len(sizes))
    cuts = [column * len(sizes) // columns for column in range(columns + 1)]
    means = [mean(sizes[start:end]) for start, end in pairwise(cuts)]
    return "".join(_BARS[round((len(_BARS) - 1) * value / max(*sizes, 1))] for value in means)


def totals(lives: Sequence[Figures]) -> dict[str, Any]:
    """The sums over several lives; ``whole`` when all of them are."""
    by_depth: Counter[int] = Counter()
    for life in lives:
        by_depth.update(life.evidence.by_depth)
    verbatim, unreachable = (
        sum(getattr(life.evidence, name) for life in lives) for name in ("verbatim", "unreachable")
    )
    return {
        **{
            name: sum(getattr(life, name) for life in lives)
            for name in ("turns", "compactions", "stretches", "bytes_in", "bytes_reachable")
        },
        "evidence": {
            "verbatim": verbatim,
            "by_depth": dict(sorted(by_depth.items())),
            "unreachable": unreachable,
        },
        "seconds": round(sum(life.seconds for life in lives), 2),
        "whole": all(life.whole for life in lives),
        "questions": _shares(_added([life.questions for life in lives])),
    }


def as_json(lives: Sequence[Figures]) -> str:
    """The totals on one line, and under ``lives`` every conversation by itself."""
    return json.dumps(
        {
            **totals(lives),
            "lives": [{**asdict(life), "questions": _shares(life.questions)} for life in lives],
        }
    )
