"""Kill agents and check what is left: ``python -m stress.chaos [--kills 300] [--seed N] [--json]``.

A run is a series of lives with consecutive seeds, each with four or more kills, two lives at a
time. Everything in a life follows from its seed, except what the system's scheduler does;
``--replay SEED`` repeats one life. Exit code 0 if every check passed, 1 if one failed.
"""

import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import click

from bench.common import running
from stress.chaos import calls, report
from stress.chaos.life import Life, Record, copied, grow
from stress.chaos.plan import Plan, hostile, plan
from stress.chaos.report import Run
from stress.chaos.talk import Ledger

AT_ONCE = 2
"""Lives that run at the same time. Each runs one process, which mostly waits for its disk."""

_KILLS_FOR_A_HOSTILE_LIFE = 50


def plans(seed: int, kills: int, with_calls: bool) -> Iterator[Plan]:
    """The lives from ``seed`` on that together have so many kills, those inside system calls
    counted if there are any.
    """
    while kills > 0:
        life = plan(seed, with_calls)
        yield replace(life, points=life.points[:kills])
        kills -= len(life.points)
        seed += 1


def run(lives: Sequence[Plan], keep: Path | None) -> Iterator[Record]:
    """Live all ``lives`` and yield their records in order. Homes with a violation are copied to
    ``keep``.
    """
    with tempfile.TemporaryDirectory(prefix="dory-chaos-") as place:
        grown = Path(place) / "grown"
        grown.mkdir()
        ledger = grow(grown) if not all(life.fresh for life in lives) else Ledger()

        def lived(life: Plan) -> Record:
            home = Path(place) / str(life.seed)
            if life.fresh:
                home.mkdir()
            record = Life(
                life, home, Ledger() if life.fresh else copied(grown, ledger, home)
            ).live()
            if keep and record.violations:
                shutil.copytree(home, keep / home.name, symlinks=True)
            shutil.rmtree(home)
            return record

        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                yield from pool.map(lived, lives)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


@running.measurement(
    "stress.chaos", "Kill agents at named points and at random instants; check each resume."
)
@click.option("--kills", type=int, default=300, metavar="N", help="how many kills (default: 300)")
@click.option(
    "--hostile",
    "hostile_lives",
    type=int,
    metavar="N",
    help=f"lives with a hostile model (default: one for {_KILLS_FOR_A_HOSTILE_LIFE} kills)",
)
@click.option("--seed", type=int, metavar="N", help="the seed of the first life (default: any)")
@click.option(
    "--replay", type=int, metavar="SEED", help="live the one life with this seed, and no other"
)
@click.option(
    "--keep", type=Path, metavar="DIR", help="keep the homes in which something was wrong below DIR"
)
def main(
    kills: int,
    hostile_lives: int | None,
    seed: int | None,
    replay: int | None,
    keep: Path | None,
    print_json: bool,
) -> int:
    """Do what the command line says and print what came of it."""
    seed = next(one for one in (replay, seed, random.randrange(10**6)) if one is not None)
    with_calls = calls.available()
    if not with_calls:
        print("strace is not installed or may not trace: no kills inside system calls", flush=True)
    contrary = kills // _KILLS_FOR_A_HOSTILE_LIFE if hostile_lives is None else hostile_lives
    whole = [*plans(seed, kills, with_calls), *(hostile(seed + n) for n in range(contrary))]
    lives = [plan(seed, with_calls)] if replay is not None else whole
    print(
        f"stress.chaos: seed {seed}, {sum(len(life.points) for life in lives)} kills in "
        f"{len(lives)} lives",
        flush=True,
    )
    began, records = time.monotonic(), []
    for record in run(lives, keep):
        records.append(record)
        print(report.line(record), flush=True)
        for violation in record.violations:
            print(report.violation_text(violation), flush=True)
    ended = Run(seed, records, time.monotonic() - began)
    print(report.tables(ended))
    if print_json:
        print(report.as_json(ended))
    return 1 if ended.violations else 0


if __name__ == "__main__":
    running.run("stress.chaos", main)
