"""Opening and searching, in a process of its own: ``python -m bench.store.reading FILE QUESTIONS``,
figures as JSON on standard output.

So the memory is what a reader needs and no more, and nothing is in a cache but the operating
system's. The same searches with an endless budget say what the usual one passes over, and plain
FTS5 answers the same questions beside it.
"""

import json
import sys
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import inf
from pathlib import Path
from statistics import mean, median
from typing import Any

from bench.store.plain import Plain
from dory.search.index import Index
from dory.search.postings import SearchBudget
from dory.storage.database import Store

ENDLESS = SearchBudget(postings=inf)
FEW = 10
"""Queries that are also put with an endless budget, and to FTS5."""


def measure(path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """``asked``: ``queries`` that come of nowhere, and ``questions`` with their evidence."""
    queries, questions = asked["queries"], [question["text"] for question in asked["questions"]]
    evidence = [question["evidence"] for question in asked["questions"]]
    opening, index = _timed(lambda: _opened(path))
    (times, top), (question_times, answers) = (
        _put(partial(_search, index), some) for some in (queries, questions)
    )
    memory = _memory()  # before everything is read for comparison
    endless = partial(_search, Index(Store(path, readonly=True), budget=ENDLESS))
    (_, all_found), (_, all_answers) = (_put(endless, some) for some in (queries[:FEW], questions))
    plain = Plain(path.parent)
    (plain_times, _), (plain_question_times, plain_answers) = (
        _put(plain.search, some) for some in (queries[:FEW], questions)
    )
    count_times, counts = _put(plain.count, questions)
    plain.close()
    return {
        "open_ms": opening * 1e3,
        "memory_bytes": memory,
        **_figures("search_ms", times),
        **_figures("question_ms", question_times),
        **_figures("fts5_search_ms", plain_times),
        **_figures("fts5_question_ms", plain_question_times),
        **_figures("fts5_count_ms", count_times),
        "fts5_scored": median(counts) if counts else None,
        "same_top_10": mean(_shares([*top[:FEW], *answers], [*all_found, *all_answers])),
        **{
            name: 100 * mean(_shares(some, evidence)) if evidence else None
            for name, some in (
                ("recall@10", answers),
                ("recall@10_endless", all_answers),
                ("fts5_recall@10", plain_answers),
            )
        },
    }


def _opened(path: Path) -> Index:
    index = Index(Store(path, readonly=True))
    index.extent()
    return index


def _search(index: Index, query: str) -> list[int]:
    """The origins of what is found; with the snippets, which an answer shows."""
    hits = [(hit.document.origin, hit.snippet) for hit in index.search(query)]
    return [origin for origin, _ in hits]


def _put(search: Callable[[str], Any], queries: Sequence[str]) -> tuple[list[float], list[Any]]:
    """Processor milliseconds and answers."""
    timed = [_timed(partial(search, query)) for query in queries]
    return [1e3 * took for took, _ in timed], [answer for _, answer in timed]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds, and the result: others may be at work on the machine."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _figures(name: str, times: Sequence[float]) -> dict[str, float | None]:
    """Median and 95th percentile; None of nothing."""
    return {
        name: median(times) if times else None,
        f"{name}_p95": sorted(times)[int(0.95 * len(times))] if times else None,
    }


def _shares(answers: Sequence[Sequence[int]], wanted: Sequence[Collection[int]]) -> list[float]:
    """How much of what is wanted is in each answer."""
    return [
        len(set(own).intersection(answer)) / len(own) if own else 1.0
        for answer, own in zip(answers, wanted, strict=True)
    ]


def _memory() -> int:
    """The most that this process ever had in memory, in bytes. Not ``ru_maxrss``, which begins with
    that of whoever started it.
    """
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields["VmHWM"].split()[0])


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_bytes()))))
