"""Attack agents and see what holds: ``python -m stress.attack [--only TEXT] [--seed N] [--list]
[--keep DIR] [--json]``.

One attack comes after the other, each in a home of its own with real agents, chats and writers.
What an attack chooses follows from the seed and its name. Exit code 0 if everything held, 1 if
something did not.
"""

import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from bench.common import running
from stress.attack import report, table
from stress.attack.attack import Attack, Record, made
from stress.attack.ground import Ground


def run(
    attacks: Sequence[tuple[str, Attack]], seed: int, keep: Path | None = None
) -> Iterator[Record]:
    """Make the attacks and yield their records. Places where something did not hold are copied to
    ``keep``.
    """
    for subject, attack in attacks:
        with tempfile.TemporaryDirectory(
            prefix="dory-attack-", ignore_cleanup_errors=True
        ) as folder:
            place = Path(folder)
            ground = Ground(place, random.Random(f"{seed} {attack.name}"))
            record = made(attack, subject, ground)
            if keep and record.violations:
                shutil.copytree(place, keep / attack.name.replace(" ", "-"), symlinks=True)
        yield record


@running.measurement("stress.attack", "Attack agents in every known way and see what holds.")
@click.option(
    "--only", default="", metavar="TEXT", help="only attacks with TEXT in their name or subject"
)
@click.option("--list", "only_list", is_flag=True, help="list the attacks and make none")
@click.option("--seed", type=int, metavar="N", help="what attacks choose follows from it")
@click.option(
    "--keep", type=Path, metavar="DIR", help="keep the places where something did not hold"
)
def main(only: str, only_list: bool, seed: int | None, keep: Path | None, print_json: bool) -> int:
    """Do what the command line says and print what came of it."""
    attacks = table.named(only)
    if not attacks:
        raise click.UsageError(f"no attack has {only!r} in its name")
    if only_list:
        print(report.known(attacks))
        return 0
    seed = random.randrange(10**6) if seed is None else seed
    print(f"stress.attack: seed {seed}, {len(attacks)} attacks", flush=True)
    began, records = time.monotonic(), []
    for record in run(attacks, seed, keep):
        records.append(record)
        print(report.row(record), flush=True)
    seconds = time.monotonic() - began
    print(report.summary(records, seed, seconds))
    if print_json:
        print(report.as_json(records, seed, seconds))
    return 1 if any(record.violations for record in records) else 0


if __name__ == "__main__":
    running.run("stress.attack", main)
