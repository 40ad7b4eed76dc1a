"""Measure what providers' caches can serve of a life: ``python -m bench.cache [--turns 500] [--limit 32000] [--json]``.

The same life is lived in both layouts, and counted as well in orders that others use, by each rule of caching. Exit code 0 if the targets are
reached, 1 if one is not, 130 after Ctrl-C.
"""

import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from bench.cache import report
from bench.cache.arrangements import Arrangement, arranged, clock_first, memory_before_context, memory_first
from bench.cache.life import live, ticking
from bench.cache.report import Figures
from bench.life import positive_number
from dory.config import LAYOUTS
from dory.errors import DoryError
from dory.flags import Parser

ORDERS: dict[str, Arrangement] = {
    "memory_before_context": memory_before_context,
    "memory_first": memory_first,
    "clock_first": clock_first(ticking()),
}
"""How others would have sent what ``tail`` sends."""


def measure(turns: int, context_limit: int) -> dict[str, Figures]:
    """Live the life in both layouts, and count it in every order."""
    tail, ledger = (live(turns, context_limit, layout) for layout in LAYOUTS)
    others = {name: report.figures(replace(tail, asked=arranged(tail.asked, order))) for name, order in ORDERS.items()}
    return {"tail": report.figures(tail), "ledger": report.figures(ledger), **others}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says and print what came of it."""
    options = Parser(prog="python -m bench.cache", description="Measure what providers' caches can serve of a life, and what it costs.")
    options.add_argument("--turns", type=positive_number, default=500, metavar="N", help="turns of each life (default: %(default)s)")
    options.add_argument("--limit", type=positive_number, default=32_000, metavar="TOKENS", help="its context limit (default: %(default)s)")
    options.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")
    given = options.parse_args(arguments)
    try:
        lives = measure(given.turns, given.limit)
    except KeyboardInterrupt:
        return 130
    except (DoryError, OSError) as error:
        print(f"bench.cache: {error}", file=sys.stderr)
        return 1
    found = report.flat(lives)
    print(f"{given.turns} turns of {found['growth.tail']} new tokens, limit {given.limit:,}; a token is four characters\n{report.table(lives)}")
    for line in report.missed(found):
        print(line)
    if given.json:
        print(json.dumps(found))
    return 1 if report.missed(found) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave in the same good order as after Ctrl-C
    sys.exit(main())
