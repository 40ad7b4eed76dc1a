"""How well a search finds what a question is about: ``python -m bench.recall [--data
../shared/locomo] [--held-out] [--json]``.

Each turn of a LoCoMo conversation is a document as the harness would index it, each question a
query. Evidence recall at k is the share of a question's evidence among the first k documents, hit
at k whether any is; both are means over all questions, in per cent. The steps of the ranking are
switched on in turn; beside them stand other engines on the same text. ``--held-out`` chooses the
numbers of the ranking anew on all conversations but one and measures on that one, for each in turn:
what they are worth for talk on which they were not chosen. Exit code 0, or 2 if there is no data.
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import click

from bench.common import locomo, questions, running
from bench.common.questions import CATEGORIES, Question, Talk
from bench.recall import rivals
from bench.recall.rivals import Engine
from dory.search.index import Index
from dory.search.ranking import Formula
from dory.storage.database import Store

DATA = Path("../shared/locomo")
DEPTHS = (1, 5, 10, 20)
_BARE = Formula(False, False, False, (0, 0), (0, 0), 0, speaker=0, question=0)
_TOLD = replace(_BARE, stems=True, stop_words=True, about=True)
_AROUND = replace(_TOLD, before=Formula().before, behind=Formula().behind)
STEPS = {
    "default tokenizer, any term": _BARE,
    "+ stemming and stop words": replace(_BARE, stems=True, stop_words=True),
    "+ speaker and date": _TOLD,
    "+ neighbours": _AROUND,
    "+ session": replace(_AROUND, stretch=Formula().stretch),
    "+ the named speaker": replace(Formula(), question=0),
    "+ questions count less": Formula(),
}
GRID = [
    replace(
        Formula(),
        before=before,
        behind=behind,
        saturation=saturation,
        speaker=speaker,
        question=question,
    )
    for (before, behind), saturation, speaker, question in product(
        [((0.5, 0.25), (0.25, 0.125)), ((0.5, 0.25), (0.5, 0.25)), ((0.3, 0.15), (0.15, 0.1))],
        (0.5, 1.0),
        (0.5, 1.0),
        (0.1, 0.2),
    )
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question in one conversation: the share of its evidence among the first, for
    each of ``DEPTHS``.
    """

    talk: str
    category: int
    shares: tuple[float, ...]


@contextmanager
def indexed(talk: Talk, formulas: Sequence[Formula]) -> Iterator[list[Engine]]:
    """The search over one conversation by each of the formulas, which must agree on what is
    indexed.
    """
    with tempfile.TemporaryDirectory(prefix="dory-recall-") as folder:
        store = Store(Path(folder) / "memory.sqlite")
        indexes = [Index(store, formula) for formula in formulas]
        with store.writing():
            for document in talk.documents:
                indexes[0].add(document)
        yield [partial(_found, index) for index in indexes]
        store.close()


def _found(index: Index, query: str) -> list[int]:
    return [hit.document.origin for hit in index.search(query, max(DEPTHS))]


def ask(engine: Engine, talk: Talk) -> list[Outcome]:
    """Put all questions of a conversation."""
    return [
        Outcome(talk.name, question.category, _shares(engine(question.text), question))
        for question in talk.questions
    ]


def _shares(ranked: list[int], question: Question) -> tuple[float, ...]:
    return tuple(
        len(question.evidence.intersection(ranked[:depth])) / len(question.evidence)
        for depth in DEPTHS
    )


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Recall and hits at each depth, and recall at 10 by conversation and by category, all in per
    cent.
    """
    at_10 = DEPTHS.index(10)
    return {
        **{
            f"recall@{depth}": _percent(outcome.shares[at] for outcome in outcomes)
            for at, depth in enumerate(DEPTHS)
        },
        **{
            f"hit@{depth}": _percent(outcome.shares[at] > 0 for outcome in outcomes)
            for at, depth in enumerate(DEPTHS)
        },
        "conversations": {
            name: _percent(outcome.shares[at_10] for outcome in outcomes if outcome.talk == name)
            for name in _names(outcomes)
        },
        "categories": {
            name: _percent(
                outcome.shares[at_10] for outcome in outcomes if outcome.category == category
            )
            for category, name in CATEGORIES.items()
            if any(outcome.category == category for outcome in outcomes)
        },
    }


def _names(outcomes: Sequence[Outcome]) -> list[str]:
    return list(dict.fromkeys(outcome.talk for outcome in outcomes))


def _percent(values: Iterable[float]) -> float:
    return round(100 * mean(values), 2)


def steps(talks: Sequence[Talk]) -> dict[str, Any]:
    """The figures of the ranking, with one step after the other switched on."""
    figures_by_step: dict[str, Any] = {}
    for name, formula in STEPS.items():
        outcomes: list[Outcome] = []
        for talk in talks:
            with indexed(talk, [formula]) as (engine,):
                outcomes += ask(engine, talk)
        figures_by_step[name] = figures(outcomes)
    return figures_by_step


def others(talks: Sequence[Talk]) -> dict[str, Any]:
    """The figures of the other engines; None for one that is not installed."""
    figures_by_engine: dict[str, Any] = {}
    for name, engine in rivals.ENGINES.items():
        try:
            figures_by_engine[name] = figures(
                [outcome for talk in talks for outcome in ask(engine(talk.documents), talk)]
            )
        except ImportError:
            figures_by_engine[name] = None
    return figures_by_engine


def held_out(talks: Sequence[Talk], grid: Sequence[Formula] = GRID) -> dict[str, Any]:
    """Each conversation's figures, by the formula of the ``grid`` that suits the others best."""
    outcomes: dict[str, list[list[Outcome]]] = {}
    for talk in talks:
        with indexed(talk, grid) as engines:
            outcomes[talk.name] = [ask(engine, talk) for engine in engines]
    at_10, left = DEPTHS.index(10), []
    for name, own in outcomes.items():
        rest = [
            [
                outcome.shares[at_10]
                for other in outcomes
                if other != name
                for outcome in outcomes[other][at]
            ]
            for at in range(len(grid))
        ]
        left += own[max(range(len(grid)), key=[mean(shares) for shares in rest].__getitem__)]
    return figures(left)


def report(rows: Mapping[str, Any]) -> str:
    """What a person reads: a line for each ranking."""
    shown = [figures for figures in rows.values() if figures]
    names, categories = list(shown[0]["conversations"]), list(shown[0]["categories"])
    parts = " ".join(f"{name[:8]:>8}" for name in [*names, *categories])
    lines = [f"{'':<28}recall@1    @5   @10   @20   hit@1    @5   @10   @20   @10 in: {parts}"]
    for name, row in rows.items():
        if row:
            recall, hits = (
                [f"{row[f'{kind}@{depth}']:6.1f}" for depth in DEPTHS] for kind in ("recall", "hit")
            )
            parts = " ".join(
                f"{share:8.1f}"
                for share in [*row["conversations"].values(), *row["categories"].values()]
            )
            lines.append(f"{name:<28}  {''.join(recall)}  {''.join(hits)}           {parts}")
        else:
            lines.append(f"{name:<28}  not installed: make bench-recall")
    return "\n".join(lines)


@running.measurement("bench.recall", "How well a search finds the evidence for LoCoMo's questions.")
@click.option(
    "--data",
    type=Path,
    default=DATA,
    metavar="DATA",
    help=f"a conversation of LoCoMo, or a folder of them (default: {DATA})",
)
@click.option(
    "--held-out",
    "choose_held_out",
    is_flag=True,
    help="also choose the numbers without the talk they are measured on",
)
def main(data: Path, choose_held_out: bool, print_json: bool) -> int:
    """Measure what the command line names."""
    paths = locomo.files(data)
    if not paths:
        print(
            f"bench.recall: there is no conversation at {data}: get {locomo.WHERE}",
            file=sys.stderr,
        )
        return 2
    talks = [questions.load(path) for path in paths]
    own, beside = steps(talks), others(talks)
    held = {"numbers held out": held_out(talks)} if choose_held_out and len(talks) > 1 else {}
    print(
        f"{len(talks)} conversations, {sum(len(talk.questions) for talk in talks)} "
        f"questions with evidence\n{report(own | beside | held)}"
    )
    if print_json:
        whole = own[list(STEPS)[-1]]
        print(
            json.dumps(
                {**whole, "steps": own, "engines": beside, "held_out": held.get("numbers held out")}
            )
        )
    return 0


if __name__ == "__main__":
    running.run("bench.recall", main)
