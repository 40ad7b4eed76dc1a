"""Let the model's endpoint fail and check the agents: ``python -m stress.faults [--quick] [--only
TEXT] [--json]``.

Each row is a fault that lasts while several lines are said to a real agent. The faults are divided
among several agents, which run at the same time. Exit code 0 if every check passed, 1 if one
failed, 130 after Ctrl-C.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from bench.common import running
from dory.errors import DoryError
from stress.faults import forgetting, report, trial
from stress.faults.matrix import CHUNKS, FUNCTIONS, SHORT, STOPS, SUMMARIES, TIMEOUT, TURNS, Case
from stress.faults.stage import Stage
from stress.faults.trial import Outcome

RETRIES = 1
WORKERS = 2
"""Settings of the agents, from which the bounds follow."""
_LINES = 3
_FEW = 2
"""Lines said while a fault lasts, in a whole run and with ``--quick``."""
_CROWD = 60
_PACE = 0.05
"""Lines in a busy room, and seconds between two of them."""
_SHARE = 12
"""Faults for one agent."""
_ENOUGH = 40_000
"""Tokens of context that are never exceeded."""


Trial = Callable[[Stage, Case], Outcome]


@dataclass(frozen=True)
class Share:
    """The faults for one agent. Each trial: in which calls the fault happens, the function that
    tries it, and the fault.
    """

    trials: Sequence[tuple[str, Trial, Case]]
    context_limit: int
    timeout: float
    owner: str = "dory"
    """What the server of the model says that it is."""


def shares(quick: bool, only: str) -> list[Share]:
    """All trials whose fault has ``only`` in its name, divided among agents; the slow ones
    first.
    """
    known = {case.name: case for case in TURNS}
    crowd = partial(trial.suffered, lines=_CROWD, pace=_PACE, where="busy room")
    turns: list[tuple[str, Trial, Case]] = [
        ("busy room", crowd, known["503"]),
        *(
            ("turn", partial(trial.suffered, lines=_FEW if quick else _LINES), case)
            for case in TURNS
        ),
        *(("stopped", trial.stopped, case) for case in STOPS),
    ]
    held = [
        ("hard limit", forgetting.folded, known[name])
        for name in ("connection refused", "silence before the answer", "503")
    ]
    compacting = [case for case in TURNS if case.fault]  # without a server nothing is compacted
    some = [
        case for number, case in enumerate(compacting) if case.comes_to != "away" or number % 8 == 1
    ]
    named = [
        ("segment", forgetting.named, case) for case in [*(some if quick else compacting), *CHUNKS]
    ]
    summarised = [("summarise", forgetting.summarised, case) for case in SUMMARIES]
    all_shares = []
    for timeout in (SHORT, TIMEOUT):
        for limit, trials in (
            (_ENOUGH, turns),
            (forgetting.LIMIT, [*held, *named, *summarised]),
        ):
            own = [
                trial for trial in trials if trial[-1].timeout == timeout and only in trial[-1].name
            ]
            all_shares += [
                Share(own[at : at + _SHARE], limit, timeout) for at in range(0, len(own), _SHARE)
            ]
    return [*all_shares, *_native(quick, only)]


def _native(quick: bool, only: str) -> list[Share]:
    """The trials of turns whose model calls functions."""
    suffered = partial(trial.suffered, lines=_FEW if quick else _LINES, where="functions")
    own = [("functions", suffered, case) for case in FUNCTIONS if only in case.name]
    return [
        Share(own[at : at + _SHARE], _ENOUGH, TIMEOUT, "vllm") for at in range(0, len(own), _SHARE)
    ]


def lived(share: Share, place: Path) -> list[Outcome]:
    """The outcome of each trial. If an agent does not survive a fault, another agent goes on with
    the next one.
    """
    outcomes: list[Outcome] = []
    while len(outcomes) < len(share.trials):
        with Stage(
            place / str(len(outcomes)),
            share.context_limit,
            share.timeout,
            RETRIES,
            WORKERS,
            share.owner,
        ) as stage:
            for where, live, case in share.trials[len(outcomes) :]:
                try:
                    outcomes.append(live(stage, case))
                except DoryError as error:
                    outcomes.append(Outcome(where, case.name, violations=[str(error)]))
                    break
    return outcomes


def run(wanted: Sequence[Share], at_once: int) -> Iterator[Outcome]:
    """Run the shares, ``at_once`` at the same time, and yield the outcomes in order."""
    with (
        tempfile.TemporaryDirectory(prefix="dory-faults-") as folder,
        ThreadPoolExecutor(at_once) as pool,
    ):
        places = [Path(folder) / str(number) for number in range(len(wanted))]
        for place in places:
            place.mkdir()
        try:
            for outcomes in pool.map(lived, wanted, places):
                yield from outcomes
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@running.measurement(
    "stress.faults", "Let models fail at the wire and see what becomes of their agents."
)
@click.option(
    "--quick",
    is_flag=True,
    help="say two lines to a fault instead of three, and try fewer in compactions",
)
@click.option("--only", default="", metavar="TEXT", help="only the faults with TEXT in their name")
@click.option(
    "--at-once", type=int, default=6, metavar="N", help="agents that live at a time (default: 6)"
)
def main(quick: bool, only: str, at_once: int, print_json: bool) -> int:
    """Do what the command line says and print what came of it."""
    wanted = shares(quick, only)
    if not wanted:
        raise click.UsageError(f"no fault has {only!r} in its name")
    began, outcomes = time.monotonic(), []
    print(report.heading(), flush=True)
    for outcome in run(wanted, max(1, at_once)):
        outcomes.append(outcome)
        print(report.row(outcome), flush=True)
    seconds = time.monotonic() - began
    print(report.summary(outcomes, RETRIES, seconds))
    if print_json:
        print(report.as_json(outcomes, RETRIES, seconds))
    return 1 if report.wrong(outcomes) else 0


if __name__ == "__main__":
    running.run("stress.faults", main)
