"""What it costs to find what is like the present: ``python -m bench.related [--sizes 1000,10000,…]
[--data ../shared/locomo] [--json]``.

At each size that many vectors are written and looked up by each way, and BM25 looks for a situation
among as many summaries that mean nothing. Then summaries of real conversations are chosen for
questions, if there are any. Exit code 0; 1 if a look-up in Dory's table takes ``MOST_MS``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bench.common import locomo, running
from bench.related import choosing, costs

SIZES = "1000,10000,100000"
DATA = Path("../shared/locomo")
OWN = "Dory's table"
MOST_MS = 50.0
"""Processor milliseconds that a look-up may take at any size: as long as a turn waits for the
vector of its situation. 100,000 summaries are those of six million events.
"""
ROWS = {
    "ms": "median",
    "ms_p95": "95 of 100",
    "first_ms": "the first",
    "memory_mb": "memory MB",
    "file_mb": "file MB",
    "same": "same %",
}


def report(sizes: Mapping[int, Mapping[str, Any]], chosen: Mapping[str, Any]) -> str:
    """What a person reads: a line for each way at each size, times in milliseconds."""
    lines = []
    for size, ways in sizes.items():
        lines.append(
            f"{f'{size} summaries':<26}{''.join(f'{label:>12}' for label in ROWS.values())}"
        )
        for name, figures in ways.items():
            cells = "".join(
                f"{figures[key]:>12.1f}" if key in figures else " " * 12 for key in ROWS
            )
            lines.append(f"  {name:<24}{cells}")
    if chosen:
        lines.append(
            f"one of {choosing.CHOSEN} chosen is right, of {chosen['questions']} "
            f"questions, {chosen['summaries']} summaries:"
        )
        lines += [f"  {name:<24}{share:>12.1f} %" for name, share in chosen["right"].items()]
    return "\n".join(lines)


@running.measurement(
    "bench.related", "What it costs to find the summaries that are like the present."
)
@click.option(
    "--sizes",
    type=running.rising(choosing.CHOSEN + 1),
    default=SIZES,
    metavar="N,N",
    help=f"numbers of summaries (default: {SIZES})",
)
@click.option(
    "--data",
    type=Path,
    default=DATA,
    metavar="DATA",
    help=f"conversations of LoCoMo (default: {DATA}, if there)",
)
def main(sizes: list[int], data: Path, print_json: bool) -> int:
    """Measure what the command line names."""
    lives = [choosing.load(path) for path in locomo.files(data)]
    found = {size: costs.measure(size) for size in sizes}
    chosen = choosing.measure(lives) if lives else {}
    print(report(found, chosen))
    slow = [size for size, ways in found.items() if ways[OWN]["ms"] >= MOST_MS]
    for size in slow:
        print(
            f"NOT KEPT: a look-up among {size} takes {found[size][OWN]['ms']:.1f} ms, "
            f"less than {MOST_MS:.0f} was promised"
        )
    if print_json:
        print(json.dumps({"sizes": found, "chosen": chosen, "kept": not slow}))
    return 1 if slow else 0


if __name__ == "__main__":
    running.run("bench.related", main)
