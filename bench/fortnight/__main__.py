"""Two agents live a scripted fortnight in one room: ``python -m bench.fortnight [--to FILE]
[--json]``.

They meet, disagree, make up, link, dream and care for themselves, by a simulated clock and on the
offline model; what was said and the final state of both are written to docs/fortnight.md. Exit code
0 if all that is claimed came true, 1 with what did not, 130 after Ctrl-C.
"""

import json
import sys
import tempfile
from pathlib import Path

import click

from bench.common import running
from bench.fortnight import report
from bench.fortnight.claims import broken
from bench.fortnight.living import Fortnight
from dory.text.prompt_files import ROOT


@running.measurement("bench.fortnight", "Two agents live a scripted fortnight in one room.")
@click.option(
    "--to",
    type=Path,
    default=ROOT / "docs" / "fortnight.md",
    metavar="TO",
    help="the document to write (default: docs/fortnight.md)",
)
def main(to: Path, print_json: bool) -> int:
    """Live it in a home that goes with it."""
    with (
        tempfile.TemporaryDirectory(prefix="dory-fortnight-") as home,
        Fortnight(Path(home)) as fortnight,
    ):
        fortnight.live()
        wrong, figures = broken(fortnight), report.figures(fortnight)
        to.write_text(report.page(fortnight), encoding="utf-8")
    print(
        ", ".join(f"{value} {name}" for name, value in figures.items()),
        f"written to {to}",
        sep="; ",
    )
    for claim in wrong:
        print(f"bench.fortnight: not true: {claim}", file=sys.stderr)
    if print_json:
        print(json.dumps({**figures, "broken": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    running.run("bench.fortnight", main)
