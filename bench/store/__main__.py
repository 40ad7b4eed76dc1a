"""What a memory costs that grows: ``python -m bench.store [--sizes 1000,10000,…] [--data
../shared/locomo/26.json] [--json]``.

One store grows to each of the sizes in turn; there one durable write, opening and searching are
measured, and how many of a conversation's turns are still found among so much noise. Beside it
stand plain FTS5 on the same documents, and the design that writes the whole snapshot anew with
every entry, as far as that is bearable. Times are processor time, so that others at work on the
machine count for little. Exit code 0 if the promises hold, 1 if one does not.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bench.common import questions, running
from bench.common.questions import CATEGORIES, Question, Talk
from bench.store import cost, snapshot
from bench.store.growth import CHARACTERS, Growth, noise
from bench.store.syncs import Count, count
from dory.storage import files
from dory.text.prompt_files import ROOT

SIZES = "1000,10000,100000,1000000"
DATA = Path("../shared/locomo/26.json")
SNAPSHOTS = 100_000
"""The largest size at which the snapshot is tried."""
QUERIES, WORDS = 100, 6
ASKED = 10
"""Questions of each category."""
MOST = {"write_ms": 1.5, "write_bytes": 1.5, "open_ms": 3.0, "search_ms": 60.0}
"""How many times as much as at the smallest size each may cost; a search, up to 100,000 entries."""
SEARCH_MS = 100.0
"""What a search may cost at any size, in processor milliseconds."""
ROWS = {
    "write: time, mean": ("write_ms", "ms"),
    "  time, median": ("write_ms_median", "ms"),
    "  time, worst": ("write_ms_worst", "ms"),
    "  bytes, mean": ("write_bytes", "kB"),
    "  bytes, median": ("write_bytes_median", "kB"),
    "  bytes, worst": ("write_bytes_worst", "kB"),
    "  syncs, mean": ("syncs", ""),
    "  tidying, time": ("tidy_ms", "ms"),
    "  tidying, bytes": ("tidy_bytes", "kB"),
    "opening": ("open_ms", "ms"),
    "search: median": ("search_ms", "ms"),
    "  95 of 100": ("search_ms_p95", "ms"),
    "  a question: median": ("question_ms", "ms"),
    "  95 of 100 questions": ("question_ms_p95", "ms"),
    "  memory of the process": ("memory_bytes", "MB"),
    "  top 10 as if all was read": ("same_top_10", "%"),
    "evidence recall at 10": ("recall@10", ""),
    "  as if all was read": ("recall@10_endless", ""),
    "plain fts5: search": ("fts5_search_ms", "ms"),
    "  question: median": ("fts5_question_ms", "ms"),
    "  95 of 100 such": ("fts5_question_ms_p95", "ms"),
    "  the same without scores": ("fts5_count_ms", "ms"),
    "  entries scored": ("fts5_scored", ""),
    "  evidence recall at 10": ("fts5_recall@10", ""),
    "file": ("file_bytes", "MB"),
    "snapshot: write": ("snapshot_write_ms", "ms"),
    "snapshot: bytes": ("snapshot_write_bytes", "kB"),
    "snapshot: opening": ("snapshot_open_ms", "ms"),
}
SCALE = {"kB": 1e-3, "MB": 1e-6, "%": 100.0}


def measure(folder: Path, sizes: Sequence[int], talk: Talk | None) -> dict[int, dict[str, Any]]:
    """The figures at each size."""
    by_size: dict[int, dict[str, Any]] = {}
    with count() as syncs:
        growth = Growth(folder, talk)
        for size in sizes:
            growth.grow(size)
            figures = cost.of_writes(growth, syncs)
            growth.store.close()
            by_size[size] = (
                figures
                | {"file_bytes": files.size(growth.store.path)}
                | read(folder, growth, talk)
                | beside(folder, size, talk, syncs)
            )
            print(f"{size} entries measured", file=sys.stderr, flush=True)
        growth.close()
    return by_size


def read(folder: Path, growth: Growth, talk: Talk | None) -> dict[str, Any]:
    """Opening and searching, by a process of its own."""
    rare = noise(2, talk)
    asked = {
        "queries": [rare.query(rare.text(CHARACTERS), WORDS) for _ in range(QUERIES)],
        "questions": [
            {"text": question.text, "evidence": sorted(question.evidence)}
            for question in (spread(talk) if talk else ())
        ],
    }
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "bench.store.reading",
        str(growth.store.path),
        str(folder / "asked.json"),
    ]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    figures: dict[str, Any] = json.loads(ended.stdout)
    return figures


def spread(talk: Talk) -> list[Question]:
    """Some questions of each category."""
    dice, kinds = (
        random.Random(3),
        [
            [question for question in talk.questions if question.category == category]
            for category in CATEGORIES.values()
        ],
    )
    return [question for same in kinds for question in dice.sample(same, min(ASKED, len(same)))]


def beside(folder: Path, size: int, talk: Talk | None, syncs: Count) -> dict[str, Any]:
    """The other design."""
    if size > SNAPSHOTS:
        return {}
    source = noise(1, talk)
    figures = snapshot.of_writes(folder, [source.text(CHARACTERS) for _ in range(size)], syncs)
    return {f"snapshot_{name}": value for name, value in figures.items()}


def broken(by_size: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """The promises that do not hold, one line each."""
    smallest = by_size[min(by_size)]
    lines = []
    for size, figures in by_size.items():
        for name, most in MOST.items():
            if figures[name] > most * smallest[name] and (name != "search_ms" or size <= 100_000):
                times = figures[name] / smallest[name]
                lines.append(
                    f"{name} at {size} entries is {times:.1f} times that at "
                    f"{min(by_size)}, at most {most} was promised"
                )
        lines += [
            f"{name} at {size} entries is {figures[name]:.0f}, less than "
            f"{SEARCH_MS:.0f} was promised"
            for name in ("search_ms", "question_ms")
            if (figures[name] or 0) >= SEARCH_MS
        ]
        if (figures["recall@10"] or 0) < (figures["recall@10_endless"] or 0):
            lines.append(
                f"recall at {size} entries is {figures['recall@10']:.1f}, that of "
                f"reading everything is {figures['recall@10_endless']:.1f}"
            )
        if figures["syncs_worst"] != 1:
            lines.append(
                f"a write at {size} entries took {figures['syncs_worst']} syncs, 1 was promised"
            )
    return lines


def report(by_size: Mapping[int, Mapping[str, Any]]) -> str:
    """What a person reads: a column for each size."""
    lines = [f"{'entries':<30}{''.join(f'{size:>12}' for size in by_size)}"]
    for label, (name, unit) in ROWS.items():
        cells = (
            ""
            if figures.get(name) is None
            else f"{figures[name] * SCALE.get(unit, 1):.2f} {unit}".rstrip()
            for figures in by_size.values()
        )
        lines.append(f"{label:<30}{''.join(f'{cell:>12}' for cell in cells)}")
    return "\n".join(lines)


@running.measurement(
    "bench.store", "What a memory costs that grows: writes, searches, opening, size."
)
@click.option(
    "--sizes",
    type=running.rising(1),
    default=SIZES,
    metavar="N,N",
    help=f"numbers of entries, rising (default: {SIZES})",
)
@click.option(
    "--data",
    type=Path,
    default=DATA,
    metavar="DATA",
    help=f"a conversation of LoCoMo to hide in it (default: {DATA}, if there)",
)
def main(sizes: list[int], data: Path, print_json: bool) -> int:
    """Measure what the command line names."""
    talk = questions.load(data) if data.exists() else None
    with tempfile.TemporaryDirectory(prefix="dory-store-") as folder:
        found = measure(Path(folder), sizes, talk)
    print(report(found))
    wrong = broken(found)
    for line in wrong:
        print(f"bench.store: {line}", file=sys.stderr)
    if print_json:
        print(
            json.dumps(
                {"sizes": {str(size): figures for size, figures in found.items()}, "broken": wrong}
            )
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    running.run("bench.store", main)
