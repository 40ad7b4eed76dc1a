"""How well a search finds what a question is about: ``python -m bench.recall [--data DIR …]
[--held-out] [--lived] [--json]``.

Each message of a conversation is a document as the harness would index it, each question a query.
Evidence recall at k is the share of a question's evidence among the first k documents, hit at k
whether any is; both are means over all questions, in per cent. The steps of the ranking are
switched on in turn; beside them stand other engines on the same text.

``--data`` names a folder of LoCoMo's or BEAM's conversations, or one of them, and may be given more
than once. ``--held-out`` chooses the numbers of the ranking anew for each conversation on all the
others of all folders, each folder counting the same: what the numbers are worth for talk on which
they were not chosen. ``+ meaning`` is the search with the embedded model, if that is installed.
``--lived`` plays each conversation into an agent and asks its RECALL, which has to find the
messages among all that a life leaves in an index. Exit code 0, or 2 if there is no data.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import click

from bench.common import beam, locomo, questions, running
from bench.common.questions import Talk
from bench.recall import rivals
from bench.recall.formulas import GRID, MEANINGS, STEPS
from bench.recall.lived import lived
from bench.recall.measuring import DEPTHS, Outcome, ask, figures, indexed, milliseconds
from dory.llm import static
from dory.llm.static import StaticEmbeddings
from dory.search.ranking import Formula
from dory.types import Embedder

DATA = (Path("../shared/locomo"), Path("../shared/beam"))
Sets = Mapping[str, Sequence[Talk]]
"""The conversations of each folder, by its name."""


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


def with_meaning(talks: Sequence[Talk]) -> dict[str, Any] | None:
    """The figures of the whole ranking with the embedded model, and the milliseconds of a search by
    words and of one by meaning, too; None if it is not installed.
    """
    if not static.installed():
        return None
    outcomes: list[Outcome] = []
    times: list[tuple[float, float]] = []
    for talk in talks:
        with indexed(talk, [Formula()]) as (words,):
            by_words = milliseconds(words, talk)
        with indexed(talk, [Formula()], StaticEmbeddings()) as (engine,):
            outcomes += ask(engine, talk)
            times.append((by_words, milliseconds(engine, talk)))
    return figures(outcomes) | {
        "ms": [round(mean(column), 1) for column in zip(*times, strict=True)]
    }


def held_out(
    sets: Sets, grid: Sequence[Formula] = GRID, embedder: Embedder | None = None
) -> dict[str, Any]:
    """The figures of each folder, each conversation by the formula of the ``grid`` that suits all
    others best; with an ``embedder`` by meaning, too.
    """
    at_10 = DEPTHS.index(10)
    outcomes: dict[tuple[str, str], list[list[Outcome]]] = {}
    for folder, talks in sets.items():
        for talk in talks:
            with indexed(talk, grid, embedder) as engines:
                outcomes[folder, talk.name] = [ask(engine, talk) for engine in engines]

    def worth(at: int, left_out: tuple[str, str]) -> float:
        shares = {folder: list[float]() for folder in sets}
        for (folder, name), by_formula in outcomes.items():
            if (folder, name) != left_out:
                shares[folder] += [outcome.shares[at_10] for outcome in by_formula[at]]
        return sum(mean(some) for some in shares.values() if some)

    chosen: dict[str, list[Outcome]] = {folder: [] for folder in sets}
    for key, by_formula in outcomes.items():
        best = max(range(len(grid)), key=lambda at, key=key: worth(at, key))  # type: ignore[misc]
        chosen[key[0]] += by_formula[best]
    return {folder: figures(some) for folder, some in chosen.items()}


def in_lives(talks: Sequence[Talk]) -> dict[str, Any]:
    """The figures of agents that lived through the conversations."""
    outcomes: list[Outcome] = []
    for talk in talks:
        with lived(talk, max(DEPTHS)) as engine:
            outcomes += ask(engine, talk)
    return figures(outcomes)


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


@running.measurement("bench.recall", "How well a search finds the evidence for questions.")
@click.option(
    "--data",
    type=Path,
    multiple=True,
    default=DATA,
    metavar="DATA",
    help="a conversation of LoCoMo or BEAM, or a folder of them; may be given more than once "
    f"(default: {DATA[0]} and {DATA[1]})",
)
@click.option(
    "--held-out",
    "choose_held_out",
    is_flag=True,
    help="also choose the numbers without the talk they are measured on",
)
@click.option(
    "--lived",
    "live",
    is_flag=True,
    help="also ask agents that lived through the conversations; some minutes for each",
)
def main(data: tuple[Path, ...], choose_held_out: bool, live: bool, print_json: bool) -> int:
    """Measure what the command line names."""
    sets: dict[str, list[Talk]] = {}
    for folder in data:
        sets[folder.name] = [questions.load(path) for path in locomo.files(folder)]
        if not sets[folder.name]:
            print(
                f"bench.recall: there is no conversation at {folder}: get {locomo.WHERE},"
                f" or {beam.WHERE}",
                file=sys.stderr,
            )
            return 2
    chosen = held_out(sets) if choose_held_out and sum(map(len, sets.values())) > 1 else {}
    meant = held_out(sets, MEANINGS, StaticEmbeddings()) if chosen and static.installed() else {}
    found: dict[str, Any] = {}
    for name, talks in sets.items():
        own, beside = steps(talks), others(talks)
        more = {"+ meaning": with_meaning(talks)}
        more |= {"numbers held out": chosen[name]} if chosen else {}
        more |= {"meaning held out": meant[name]} if meant else {}
        more |= {"lived": in_lives(talks)} if live else {}
        if meant_here := more["+ meaning"]:
            print("a search: {} ms by words, {} ms by meaning, too".format(*meant_here["ms"]))
        print(
            f"{name}: {len(talks)} conversations, {sum(len(talk.questions) for talk in talks)} "
            f"questions with evidence\n{report(own | beside | more)}\n"
        )
        found[name] = {
            **own[list(STEPS)[-1]],
            "steps": own,
            "engines": beside,
            "with_meaning": more["+ meaning"],
            "meaning_held_out": more.get("meaning held out"),
            "held_out": more.get("numbers held out"),
            "lived": more.get("lived"),
        }
    if print_json:
        print(json.dumps(found if len(found) > 1 else found[name]))
    return 0


if __name__ == "__main__":
    running.run("bench.recall", main)
