"""Five ways of forgetting in comparison: ``python -m bench.forgetting [--limits 8000,32000,128000]
[--seeds 3] [--json] [--plot FILE]``.

Each seed is a life; each way lives it at each limit without RECALL, which is no part of any way,
and those of ``--recall`` with it, too. The reader is the offline model, which reads by words alone,
or with ``--model`` and ``--base-url`` a real model, for which the key is taken from the
environment; that costs money: try ``--limits 8000 --seeds 1 --life 40000`` first. Exit code 0, 1 if
a life could not be lived, 2 after a wrong command line.
"""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from bench.common import running
from bench.forgetting.lives import live
from bench.forgetting.meter import OFF_PEAK, Meter, rates
from bench.forgetting.plot import plot
from bench.forgetting.reader import Reader
from bench.forgetting.report import Row, mean_rows, report
from bench.forgetting.script import script
from bench.forgetting.ways import WAYS
from dory.config import settings as config_settings
from dory.config.prices import Price
from dory.config.profiles import OFFLINE
from dory.types import Model

LIMITS, SEEDS = "8000,32000,128000", 3
RECALL = "dory,halving"
"""The ways that keep originals, without which there is nothing that RECALL could show."""
TIMES, LEAST = 3.2, 128_000
"""How many times as long as the limit a life is, and how many tokens at least, so that the
questions are not all that is talked about.
"""
FACTS = 36


def ways(text: str) -> list[str]:
    """For the command line: names of ways. Raises ``ValueError``."""
    found = text.split(",")
    if not set(found) <= set(WAYS):
        raise ValueError
    return found


def recall(text: str) -> list[str]:
    """For the command line: names of ways, or ``none``. Raises ``ValueError``."""
    return [] if text == "none" else ways(text)


def reader(model: str, base_url: str) -> tuple[Model, Price | None]:
    """The model that reads, and its price off-peak; None if it is not known. Raises
    ``ConfigError``.
    """
    if model in ("", OFFLINE) and not base_url:
        return Reader(), rates()
    from dory.llm.completions import Endpoint
    from dory.llm.retry import RetryingModel

    flags = {name: value for name, value in (("model", model), ("base_url", base_url)) if value}
    settings = config_settings.load(Path("dory.yaml"), os.environ, flags)
    asked = RetryingModel(Endpoint(settings), settings, lambda text: print(text, file=sys.stderr))
    return asked, settings.price(OFF_PEAK)


def read_arguments(arguments: Sequence[str] | None) -> Namespace:
    """The command line."""
    options = running.options("bench.forgetting", "The same lives under five ways of forgetting.")
    options.add_argument(
        "--limits",
        type=running.rising(1000),
        default=LIMITS,
        help="context limits in tokens (default: %(default)s)",
    )
    options.add_argument(
        "--seeds", type=running.whole(1), default=SEEDS, help="lives (default: %(default)s)"
    )
    options.add_argument(
        "--ways",
        type=ways,
        default=",".join(WAYS),
        help="ways of forgetting (default: %(default)s)",
    )
    options.add_argument(
        "--recall",
        type=recall,
        default=RECALL,
        help="those to run with RECALL, too, or none (default: %(default)s)",
    )
    options.add_argument(
        "--life",
        type=running.whole(1000),
        metavar="TOKENS",
        help=f"length of a life (default: {TIMES} limits, at least {LEAST})",
    )
    options.add_argument(
        "--facts",
        type=running.whole(1, FACTS),
        default=FACTS,
        help="facts that are asked for, at most %(default)s",
    )
    options.add_argument("--model", default="", help="a real model as the reader")
    options.add_argument("--base-url", default="", help="its OpenAI-compatible endpoint")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw them as an SVG")
    return options.parse_args(arguments)


def lives(given: Namespace) -> Iterator[Row]:
    """One row after the other. Raises ``DoryError``."""
    model, price = reader(given.model, given.base_url)
    for limit, seed in product(given.limits, range(1, given.seeds + 1)):
        life = script(seed, given.life or max(LEAST, round(TIMES * limit)), given.facts)
        for way, recalls in product(given.ways, (False, True)):
            if recalls and way not in given.recall:
                continue
            row = {"seed": seed, **live(life, way, limit, Meter(model, price), recalls)}
            print(
                f"seed {seed}, {way} at {limit}{', RECALL' * recalls}: {row['seconds']} s",
                file=sys.stderr,
                flush=True,
            )
            yield row


def main(arguments: Sequence[str] | None = None) -> int:
    """Live all lives and print what came of them."""
    given = read_arguments(arguments)
    rows = list(lives(given))
    print(report(rows))
    if given.plot:
        given.plot.write_text(plot(mean_rows(rows)), encoding="utf-8")
    if given.json:
        print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    running.run("bench.forgetting", main)
