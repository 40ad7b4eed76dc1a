"""What it costs to find what is like the present: ``python -m bench.related [--sizes 1000,10000,…] [--data ../shared/locomo] [--json]``.

At each size that many vectors are written and looked up by each way, and BM25 looks for a situation among as many summaries that mean nothing.
Then summaries of real conversations are chosen for questions, if there are any. Exit code 0; 1 if a look-up in the own table takes ``MOST_MS``.
"""

import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import locomo
from bench.related import choosing, costs
from dory.errors import DoryError
from dory.flags import Parser

SIZES = "1000,10000,100000"
DATA = Path("../shared/locomo")
OWN = "own table"
MOST_MS = 20.0
"""Processor milliseconds that a look-up may take at any size."""
ROWS = {"ms": "median", "ms_p95": "95 of 100", "first_ms": "the first", "memory_mb": "memory MB", "file_mb": "file MB", "same": "same %"}


def report(found: Mapping[int, Mapping[str, Any]], chosen: Mapping[str, Any]) -> str:
    """What a person reads: a line for each way at each size, times in milliseconds."""
    lines = []
    for size, ways in found.items():
        lines.append(f"{f'{size} summaries':<26}{''.join(f'{label:>12}' for label in ROWS.values())}")
        for name, one in ways.items():
            cells = "".join(f"{one[key]:>12.1f}" if key in one else " " * 12 for key in ROWS)
            lines.append(f"  {name:<24}{cells}")
    if chosen:
        lines.append(f"one of {choosing.CHOSEN} chosen is right, of {chosen['questions']} questions, {chosen['summaries']} summaries:")
        lines += [f"  {name:<24}{share:>12.1f} %" for name, share in chosen["right"].items()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line names."""
    options = Parser(prog="python -m bench.related", description="What it costs to find the summaries that are like the present.")
    options.add_argument("--sizes", default=SIZES, metavar="N,N", help=f"numbers of summaries (default: {SIZES})")
    options.add_argument("--data", type=Path, default=DATA, help=f"conversations of LoCoMo (default: {DATA}, if there)")
    options.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")
    given = options.parse_args(arguments)
    try:
        sizes = sorted({int(size) for size in given.sizes.split(",")})
        if sizes[0] <= choosing.CHOSEN:
            options.error(f"--sizes {given.sizes}: of at least {choosing.CHOSEN + 1} summaries {choosing.CHOSEN} are looked for")
        lives = [choosing.load(path) for path in locomo.files(given.data)]
        found = {size: costs.measure(size) for size in sizes}
        chosen = choosing.measure(lives) if lives else {}
    except ValueError:
        options.error(f"--sizes {given.sizes}: numbers, with commas between them")
    except KeyboardInterrupt:
        return 130
    except (DoryError, OSError) as error:
        print(f"bench.related: {error}", file=sys.stderr)
        return 1
    print(report(found, chosen))
    slow = [size for size, ways in found.items() if ways[OWN]["ms"] >= MOST_MS]
    for size in slow:
        print(f"NOT KEPT: a look-up among {size} takes {found[size][OWN]['ms']:.1f} ms, less than {MOST_MS:.0f} was promised")
    if given.json:
        print(json.dumps({"sizes": found, "chosen": chosen, "kept": not slow}))
    return 1 if slow else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
