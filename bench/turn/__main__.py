"""What the harness itself costs: ``python -m bench.turn [--lines 1000,100000,1000000] [--contexts
8000,128000] [--json]``.

For lives of each length, with as many blobs and at each size of context: a turn without the model,
a resume, a sleeping agent, and how soon a line reaches the model. Then turns with a self and
without, start-up, a compaction beside turns, and the start-up of other programs if they are
installed in ``--peers``. Times are processor time where nothing else is said. Linux only. Exit code
0 if the promises hold, 1 if one does not, 130 after Ctrl-C.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bench.common import running
from bench.turn import forgetting, peers, report, selves, turns
from bench.turn.company import SPENDING, company, shares
from bench.turn.homes import Home
from bench.turn.process import Spent, median, side_by_side

LINES, CONTEXTS = "1000,100000,1000000", "8000,128000"
IDLE_SECONDS = 10.0


def measure(
    folder: Path, sizes: Sequence[int], contexts: Sequence[int], runs: int, environment: Path
) -> dict[str, Any]:
    """All figures; ``folder`` is empty, and so is what is compiled below it."""
    compiled, home = folder / "compiled", folder / "home"
    home.mkdir()
    grown, lives = Home(home), {}
    spent = start_up(folder, runs, compiled)
    for size in sizes:
        grown.grow(size)
        for tokens in contexts:
            lives[f"{size:,} / {tokens:,}"] = life(home, grown.settle(tokens), runs, compiled)
            print(
                f"a life of {size:,} lines with {tokens:,} tokens is measured",
                file=sys.stderr,
                flush=True,
            )
        if size == min(sizes):
            compacted = forgetting.measure(grown, runs, compiled)
            selves_taken = selves.measure(grown, min(contexts), 10 * runs)
    others = peers.start_up(environment, [sys.executable, "agent.py"], runs, compiled)
    return {
        "lives": lives,
        "start": {name: asdict(row) for name, row in spent.items()},
        "compaction": compacted,
        "self": selves_taken,
        "peers": {name: asdict(row) for name, row in others.items()},
    }


def start_up(folder: Path, runs: int, compiled: Path) -> dict[str, Spent]:
    """From nothing to ``--help``, and to the first request of a new agent, with what they are held
    against.
    """
    python = sys.executable
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "agent.py --help": [python, "agent.py", "--help"],
    }
    commands["import openai"] = [python, "-c", "import openai"]
    by_name: dict[str, list[Spent]] = {}
    for number in range(runs + 1):  # by turns; the first compiles
        home = folder / f"booted{number}"
        with company(home, [], compiled) as booted:
            every = {**side_by_side(commands, 1, compiled), "boot to first request": booted.first()}
        for name, spent in every.items():
            by_name.setdefault(name, []).append(spent)
    return {name: median(every_run[1:]) for name, every_run in by_name.items()}


def life(home: Path, hash: str, runs: int, compiled: Path) -> dict[str, float]:
    """Of one resident."""
    figures = turns.take(home, hash, 10 * runs)
    resumed: list[Spent] = []
    for _ in range(runs):
        with company(home, [hash, *SPENDING], compiled) as agent:
            resumed.append(agent.first())
    with company(home, [hash, *SPENDING], compiled) as agent:
        agent.first()
        idle = agent.idle(IDLE_SECONDS)
        middle, most = shares(agent.latencies(10 * runs))
        memory = agent.peak()
    resume = median(resumed)
    figures |= {
        "resume_ms": resume.processor,
        "resume_wall_ms": resume.wall,
        "idle": idle,
        "memory": memory,
    }
    return figures | {"line_ms": middle, "line_ms_p95": most}


def tell(found: dict[str, Any], environment: Path, print_json: bool) -> int:
    """Print what was found; the exit code."""
    found["ratios"] = report.ratios(found)
    print(
        f"{report.columns(found['lives'])}\n\n"
        f"{report.others(found['start'], found['compaction'], found['peers'])}\n"
    )
    print(
        "\n".join(f"a turn {kind} a self: {value:.2f} ms" for kind, value in found["self"].items())
    )
    print("\n".join(f"{name}: {value:.2f}" for name, value in found["ratios"].items()))
    missing = [name for name in peers.PROGRAMS if name not in found["peers"]]
    if missing:
        print(f"not installed in {environment}, and left out: {', '.join(missing)}")
    wrong = report.broken(found["ratios"])
    for line in wrong:
        print(f"bench.turn: {line}", file=sys.stderr)
    if print_json:
        print(json.dumps({**found, "broken": wrong}))
    return 1 if wrong else 0


@running.measurement(
    "bench.turn", "What the harness itself costs: turns, start-up, sleep, compactions."
)
@click.option(
    "--lines",
    type=running.rising(1),
    default=LINES,
    metavar="N,N",
    help=f"lines of LIFE, and blobs, of each life (default: {LINES})",
)
@click.option(
    "--contexts",
    type=running.rising(1),
    default=CONTEXTS,
    metavar="N,N",
    help=f"tokens of the contexts (default: {CONTEXTS})",
)
@click.option(
    "--runs",
    type=running.whole(1),
    default=5,
    metavar="N",
    help="how often each is measured; turns and lines tenfold (default: 5)",
)
@click.option(
    "--peers",
    type=Path,
    default=Path(".venv-peers"),
    metavar="DIR",
    help="where other programs are installed, if at all",
)
def main(lines: list[int], contexts: list[int], runs: int, peers: Path, print_json: bool) -> int:
    """Measure what the command line names."""
    with tempfile.TemporaryDirectory(prefix="dory-turn-") as folder:
        return tell(measure(Path(folder), lines, contexts, runs, peers), peers, print_json)


if __name__ == "__main__":
    running.run("bench.turn", main)
