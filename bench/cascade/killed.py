"""The same life, killed again and again: one process after the other goes on with it, and all but
the last end by SIGKILL.

Half of the kills hit a run of the cascade, at the points between its writes that ``stress.chaos``
knows, a quarter the writes of an event, and a quarter comes from outside at any instant. Where they
come follows from the seed, but for these instants.
"""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.cascade.checks import WINDOWS
from bench.common.household import environment
from dory.errors import DoryError
from dory.identity import listing
from dory.storage import files
from dory.text.prompt_files import ROOT
from stress.chaos.plan import LIVING, RANDOM

RUNS = [point.name for point in LIVING if point.name.startswith(("summaries: ", "summing up: "))]
WRITES = [
    "loop: before replace_in state.json",
    "loop: half-way replace_in state.json",
    "loop: written replace_in state.json",
    "loop: after replace_in state.json",
    "loop: half-way write_at LIFE.md",
    "loop: after write_at LIFE.md",
]
"""Each is passed once with every event."""
_BYTES = 90
"""Of a line of LIFE, about."""
_POLL = 0.001


@dataclass(frozen=True, slots=True)
class Kill:
    """At which point, and how many events LIFE.md held then."""

    point: str
    events: int


def killed(home: Path, events: int, kills: int, seed: int) -> Iterator[Kill]:
    """Live the life in ``home`` to its end, with at most so many kills, spread over it. Raises
    ``DoryError`` if a process ends otherwise.
    """
    chance = random.Random(seed)
    for left in range(kills, -1, -1):
        rest = events - lived(home)
        ahead = round(chance.uniform(0.5, 1.5) * rest / (left + 1))
        kinds = (
            (RUNS, RUNS, WRITES, [RANDOM]) if rest > 2 * WINDOWS.recent else (WRITES,)
        )  # close to the end there may be no run any more
        point = chance.choice(chance.choice(kinds)) if left else ""
        if not _dies(home, events, seed, point, ahead):
            return
        yield Kill(point, lived(home))


def lived(home: Path) -> int:
    """The number of events, also of a life that has not begun."""
    known = listing.folders(home)
    return (known[0] / "LIFE.md").read_bytes().count(b"\n") - 1 if known else 0


def _dies(home: Path, events: int, seed: int, point: str, ahead: int) -> bool:
    """One process, which is to die after about ``ahead`` events; returns whether it did."""
    trapped = point != RANDOM
    occurrence = max(1, ahead // WINDOWS.recent if point in RUNS else ahead)
    command = [
        "-m",
        "bench.cascade.victim",
        point if trapped else "",
        str(occurrence),
        str(home),
        str(events),
        str(seed),
    ]
    size = _size(home) + ahead * _BYTES
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True
    )
    with process:
        while not trapped and process.poll() is None:
            if _size(home) >= size:
                process.kill()
            time.sleep(_POLL)
        _, words = process.communicate()
    if process.returncode not in (0, -signal.SIGKILL):
        raise DoryError(
            f"a life ended with exit code {process.returncode}: "
            f"{' | '.join(words.splitlines()[-3:])}"
        )
    return process.returncode != 0


def _size(home: Path) -> int:
    known = listing.folders(home)
    return files.size(known[0] / "LIFE.md") if known else 0
