"""What came of a question in a conversation, and the figures of many."""

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench.common.questions import Question, Talk
from bench.recall.rivals import Engine
from dory.search.index import Index
from dory.search.meaning import Meaning
from dory.search.ranking import Formula
from dory.storage.database import Store
from dory.types import Embedder

DEPTHS = (1, 5, 10, 20)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question in one conversation: the share of its evidence among the first, for
    each of ``DEPTHS``.
    """

    talk: str
    category: str
    shares: tuple[float, ...]


@contextmanager
def indexed(
    talk: Talk, formulas: Sequence[Formula], embedder: Embedder | None = None
) -> Iterator[list[Engine]]:
    """The search over one conversation by each of the formulas, which must agree on what is
    indexed; with an ``embedder`` by meaning, too.
    """
    with tempfile.TemporaryDirectory(prefix="dory-recall-") as folder:
        store = Store(Path(folder) / "memory.sqlite")
        indexes = [Index(store, formula) for formula in formulas]
        meaning = Meaning(store, embedder, timeout=60) if embedder else None
        with store.writing():
            for document in talk.documents:
                indexes[0].add(document)
        while meaning and (work := meaning.backlog()):
            work()()
        yield [partial(_found, index, meaning) for index in indexes]
        store.close()


def milliseconds(engine: Engine, talk: Talk) -> float:
    """The median of the processor time of a search."""
    times: list[float] = []
    for question in talk.questions:
        began = time.process_time()
        engine(question.text)
        times.append(1000 * (time.process_time() - began))
    return median(times)


def _found(index: Index, meaning: Meaning | None, query: str) -> list[int]:
    similarities = meaning.similarities(query) if meaning else None
    hits = index.search(query, max(DEPTHS), similarities=similarities)
    return [hit.document.origin for hit in hits]


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
                outcome.shares[at_10] for outcome in outcomes if outcome.category == name
            )
            for name in sorted({outcome.category for outcome in outcomes})
        },
    }


def _names(outcomes: Sequence[Outcome]) -> list[str]:
    return list(dict.fromkeys(outcome.talk for outcome in outcomes))


def _percent(values: Iterable[float]) -> float:
    return round(100 * mean(values), 2)
