"""Opening and searching, in a process of its own: ``python -m bench.store.reading FILE QUESTIONS``, figures as JSON on standard output.

So the memory is what a reader needs and no more, and nothing is in a cache but the operating system's. The same searches with an endless budget
say what the usual one passes over.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from statistics import mean, median
from typing import Any

from dory.index import Hit, Index
from dory.postings import Budget
from dory.store import Store

ENDLESS = Budget(inf, inf, 0, sys.maxsize, sys.maxsize)


def measure(path: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """``asked``: ``queries`` to time, how many of them to ``compare`` with an endless budget, ``questions`` with their evidence."""
    opening, index = _timed(lambda: _opened(path))
    timed = [_timed(partial(index.search, query)) for query in asked["queries"]]
    seconds = sorted(took for took, _ in timed)
    memory = _memory()  # before everything is read for comparison
    endless = Index(Store(path, readonly=True), budget=ENDLESS)
    exact = [endless.search(query) for query in asked["queries"][: asked["compare"]]]
    return {
        "open_ms": 1e3 * opening,
        "search_ms": 1e3 * median(seconds),
        "search_ms_p95": 1e3 * seconds[int(0.95 * len(seconds))],
        "search_ms_worst": 1e3 * seconds[-1],
        "memory_bytes": memory,
        "same_top_10": mean([_same(found, all) for (_, found), all in zip(timed, exact, strict=False)] or [1.0]),
        "recall@10": _recall(index, asked["questions"]),
        "recall@10_endless": _recall(endless, asked["questions"]),
    }


def _opened(path: Path) -> Index:
    index = Index(Store(path, readonly=True))
    index.newest("heard")
    return index


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds, and the result: others may be at work on the machine."""
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _memory() -> int:
    """The most that this process ever had in memory, in bytes. Not ``ru_maxrss``, which begins with that of whoever started it."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields["VmHWM"].split()[0])


def _same(found: Sequence[Hit], exact: Sequence[Hit]) -> float:
    origins = {(hit.document.room, hit.document.origin) for hit in exact}
    return len(origins & {(hit.document.room, hit.document.origin) for hit in found}) / len(origins) if origins else 1.0


def _recall(index: Index, questions: Sequence[dict[str, Any]]) -> float | None:
    if not questions:
        return None
    found = [{hit.document.origin for hit in index.search(one["text"]) if hit.document.room == one["room"]} for one in questions]
    return 100 * mean(len(found.intersection(one["evidence"])) / len(one["evidence"]) for found, one in zip(found, questions, strict=True))


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_bytes()))))
