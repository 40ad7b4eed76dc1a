"""Five ways of forgetting in comparison: ``python -m bench.forgetting [--limits 8000,32000,128000]
[--seeds 3] [--json] [--plot FILE]``.

Each seed is a life; each way lives it at each limit without RECALL, which is no part of any way,
and those of ``--recall`` with it, too. The reader is the offline model, which reads by words alone,
or with ``--model`` and ``--base-url`` a real model, for which the key is taken from the
environment; that costs money: try ``--limits 8000 --seeds 1 --life 40000`` first. Exit code 0, 1 if
a life could not be lived, 2 after a wrong command line.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import click

from bench.common import models, running
from bench.forgetting.lives import live
from bench.forgetting.meter import Meter, rates
from bench.forgetting.plot import plot
from bench.forgetting.reader import Reader
from bench.forgetting.report import Row, mean_rows, report
from bench.forgetting.script import script
from bench.forgetting.ways import VARIANTS, WAYS
from dory.config.prices import Price
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
    """For the command line: names of ways. Raises ``click.BadParameter``."""
    names = text.split(",")
    known = [*WAYS, *VARIANTS]
    if not set(names) <= set(known):
        raise click.BadParameter(f"{text!r} is none of {', '.join(known)}")
    return names


def recall(text: str) -> list[str]:
    """For the command line: names of ways, or ``none``. Raises ``click.BadParameter``."""
    return [] if text == "none" else ways(text)


def reader(model: str, base_url: str) -> tuple[Model, Price | None]:
    """The model that reads, and its price off-peak; None if it is not known. Raises
    ``ConfigError``.
    """
    return models.real(model, base_url) or (Reader(), rates())


def lives(
    limits: Sequence[int],
    seeds: int,
    chosen: Sequence[str],
    with_recall: Sequence[str],
    length: int | None,
    facts: int,
    asked: tuple[Model, Price | None],
) -> Iterator[Row]:
    """One row after the other; ``asked`` is the reader with its price. Raises ``DoryError``."""
    model, price = asked
    for limit, seed in product(limits, range(1, seeds + 1)):
        life = script(seed, length or max(LEAST, round(TIMES * limit)), facts)
        for way, recalls in product(chosen, (False, True)):
            if recalls and way not in with_recall:
                continue
            row = {"seed": seed, **live(life, way, limit, Meter(model, price), recalls)}
            suffix = ", RECALL" if recalls else ""
            print(
                f"seed {seed}, {way} at {limit}{suffix}: {row['seconds']} s",
                file=sys.stderr,
                flush=True,
            )
            yield row


@running.measurement("bench.forgetting", "The same lives under five ways of forgetting.")
@click.option(
    "--limits",
    type=running.rising(1000),
    default=LIMITS,
    metavar="N,N",
    help=f"context limits in tokens (default: {LIMITS})",
)
@click.option(
    "--seeds", type=running.whole(1), default=SEEDS, metavar="N", help=f"lives (default: {SEEDS})"
)
@click.option(
    "--ways",
    "chosen",
    type=ways,
    default=",".join(WAYS),
    metavar="NAMES",
    help=f"ways of forgetting (default: {','.join(WAYS)}); also {','.join(VARIANTS)}",
)
@click.option(
    "--recall",
    "with_recall",
    type=recall,
    default=RECALL,
    metavar="NAMES",
    help=f"those to run with RECALL, too, or none (default: {RECALL})",
)
@click.option(
    "--life",
    "length",
    type=running.whole(1000),
    metavar="TOKENS",
    help=f"length of a life (default: {TIMES} limits, at least {LEAST})",
)
@click.option(
    "--facts",
    type=running.whole(1, FACTS),
    default=FACTS,
    metavar="N",
    help=f"facts that are asked for, at most {FACTS}",
)
@click.option("--model", default="", metavar="NAME", help="a real model as the reader")
@click.option("--base-url", default="", metavar="URL", help="its OpenAI-compatible endpoint")
@click.option("--plot", "drawing", type=Path, metavar="FILE", help="draw them as an SVG")
def main(
    limits: Sequence[int],
    seeds: int,
    chosen: Sequence[str],
    with_recall: Sequence[str],
    length: int | None,
    facts: int,
    model: str,
    base_url: str,
    drawing: Path | None,
    print_json: bool,
) -> int:
    """Live all lives and print what came of them."""
    asked = reader(model, base_url)
    rows = list(lives(limits, seeds, chosen, with_recall, length, facts, asked))
    print(report(rows))
    if drawing:
        drawing.write_text(plot(mean_rows(rows)), encoding="utf-8")
    if print_json:
        print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    running.run("bench.forgetting", main)
