"""What looking up costs at one size: each way writes its file, and a process of its own looks up in
it.

Times are processor time of all threads, memory is what looking up adds to the process at the most.
``same`` is how many of the nearest vectors are those of the plain matrix, in per cent.
"""

import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.related.choosing import CHOSEN
from bench.related.engines import ENGINES, Extension
from dory.extensions.cascade.related import Related
from dory.storage import files
from dory.storage.database import NAME, Store

if TYPE_CHECKING:
    from dory.search.vectors import Matrix

DIMENSION, TOPICS = 768, 300
LOOK_UPS = 50
SUMMARY, SITUATION = 30, 120
"""Words, without stop words."""
VOCABULARY = 300_000
WORDS, EXACT = "BM25", "plain matrix"
_AT = datetime(2026, 1, 1, tzinfo=UTC)


def measure(size: int) -> dict[str, Any]:
    """The figures of all ways, by name; what is not installed is left out."""
    made, figures = vectors(1, size), dict[str, Any]()
    with (
        TemporaryDirectory(prefix="dory-related-") as folder,
        get_context("spawn").Pool(1, maxtasksperchild=1) as apart,
    ):
        for name in (*ENGINES, WORDS):
            path = Path(folder) / NAME
            if not issubclass(ENGINES.get(name, object), Extension) or all(
                map(importlib.util.find_spec, ("apsw", "sqlite_vec"))
            ):
                build(name, path, made)
                figures[name] = apart.apply(look_up, (name, path))
            for file in path.parent.iterdir():
                file.unlink()
    exact = figures[EXACT]["found"]
    for name, row in figures.items():
        pairs = zip(row.pop("found"), exact, strict=True)
        if name != WORDS:
            row["same"] = (
                100 * sum(len({*own} & {*right}) for own, right in pairs) / sum(map(len, exact))
            )
    return figures


def build(name: str, path: Path, made: "Matrix") -> None:
    """The file of one way: of these vectors, or of as many summaries."""
    if name in ENGINES:
        ENGINES[name](path).build(made)
        return
    store, dice = Store(path), random.Random(1)
    related = Related(store, None)
    with store.writing():
        for number in range(1, len(made) + 1):
            related.add(text(dice, SUMMARY), number, number, _AT + timedelta(hours=number))
    store.tidy()
    store.close()


def look_up(name: str, path: Path) -> dict[str, Any]:
    """Its figures, and what was found."""
    dice = random.Random(2)
    situations, wanted = [text(dice, SITUATION) for _ in range(LOOK_UPS)], vectors(2, LOOK_UPS)
    before = _memory("VmRSS")
    if name in ENGINES:
        engine = ENGINES[name](path)
        timed = [_timed(partial(engine.find, vector, CHOSEN)) for vector in wanted]
    else:
        related = Related(Store(path, readonly=True), None)
        timed = [_timed(partial(_ranges, related, vector)) for vector in situations]
    (first, _), *rest = timed
    times = sorted(took for took, _ in rest)
    return {
        "ms": median(times),
        "ms_p95": times[int(0.95 * len(times))],
        "first_ms": first,
        "memory_mb": _memory("VmHWM") - before,
        "file_mb": files.size(path) / 1e6,
        "found": [hits for _, hits in timed],
    }


def vectors(seed: int, count: int) -> "Matrix":
    """As texts about ``TOPICS`` things have them, with something in common to all, as with most
    models; of length 1.
    """
    import numpy

    centres = numpy.random.default_rng(0).standard_normal(
        (TOPICS, DIMENSION), numpy.float32
    ) + numpy.float32(0.5)
    dice = numpy.random.default_rng(seed)
    made = dice.standard_normal((count, DIMENSION), numpy.float32)
    made += centres[dice.integers(0, TOPICS, count)]
    made /= numpy.linalg.norm(made, axis=1, keepdims=True)
    return made


def text(dice: random.Random, words: int) -> str:
    """Words that mean nothing, as frequent as those of a language (Zipf's law) behind its hundred
    most frequent, which are stop words.
    """
    return " ".join(f"word{int(100 * (VOCABULARY / 100) ** dice.random())}" for _ in range(words))


def _ranges(related: Related, situation: str) -> list[int]:
    return [hit.first for hit in related.similar(situation, CHOSEN)]


def _timed(work: Callable[[], Sequence[int]]) -> tuple[float, Sequence[int]]:
    """Processor milliseconds, and the result."""
    began = time.process_time()
    result = work()
    return 1e3 * (time.process_time() - began), result


def _memory(field: str) -> float:
    """Of this process, in MB; not ``ru_maxrss``, which begins with that of whoever started it."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields[field].split()[0]) / 1e6
