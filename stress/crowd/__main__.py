"""Let a crowd talk and check every line: ``python -m stress.crowd [--agents 20] [--writers 20]
[--messages 200] [--json]``.

Everybody is a process of its own: agents on a model over HTTP, and writers, which append to the
room as programs or as shell scripts do. All share one room and one blob store. Exit code 0 if every
check passed, 1 if one failed, 130 after Ctrl-C.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import click

from bench.common import running
from bench.common.figures import table
from dory.storage.blobs import Blobs
from stress.crowd.checks import SPEECH, Home, judged
from stress.crowd.gathering import Gathering, Plan
from stress.crowd.lines import ROOM


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a gathering. ``spoken``, ``heard`` and ``passed`` over are numbers of lines by
    name; ``problems`` lists by check what is wrong.
    """

    spoken: dict[str, int]
    heard: dict[str, int]
    passed: dict[str, int]
    lines: int
    bytes: int
    turns: int
    stretches: int
    blobs: int
    blob_bytes: int
    problems: dict[str, list[str]]
    seconds: float

    @property
    def sound(self) -> bool:
        """Whether every check passed."""
        return not any(self.problems.values())


def hold(home: Path, plan: Plan) -> Figures:
    """Let them talk in the empty folder ``home``, then check the home. Raises ``DoryError`` if they
    do not come to an end.
    """
    began = time.monotonic()
    with Gathering(home, plan) as gathering:
        gathering.meet()
    left = Home(home, gathering.people, plan.messages)
    blobs = list(Blobs(home / "blobs").walk())
    return Figures(
        spoken=left.spoken,
        heard={name: len(lines) for name, lines in left.heard.items()},
        passed={name: left.passed_over(name) for name in left.agents},
        lines=sum(line.kind in SPEECH for line in left.lines),
        bytes=left.room.size(ROOM),
        turns=sum(kinds["response"] for kinds in left.logged.values()),
        stretches=sum(kinds["compacted"] for kinds in left.logged.values()),
        blobs=len(blobs),
        blob_bytes=sum(path.stat().st_size for path in blobs),
        problems=judged(left),
        seconds=round(time.monotonic() - began, 1),
    )


def report(figures: Figures) -> str:
    """The figures as a table."""
    heard = sorted(figures.heard.values()) or [0]
    rows = {
        "messages": f"{sum(figures.spoken.values())} said by {len(figures.spoken)} speakers",
        "the room": f"{figures.lines} lines, {figures.bytes} bytes",
        "heard": f"{sum(heard)} lines, {heard[0]} to {heard[-1]} by each agent",
        "passed over": f"{sum(figures.passed.values())} lines, each agent was told of its own",
        "turns": f"{figures.turns}, and {figures.stretches} stretches compacted",
        "blobs": f"{figures.blobs}, {figures.blob_bytes} bytes",
        **{name: "; ".join(problems[:5]) or "yes" for name, problems in figures.problems.items()},
        "wall time": f"{figures.seconds:.1f} s",
    }
    return table(
        f"{len(figures.heard)} agents and {len(figures.spoken) - len(figures.heard)} "
        "people in one room",
        rows,
    )


@contextmanager
def _home(keep: Path | None) -> Iterator[Path]:
    """``keep``, which must be new, or else a temporary folder."""
    if keep:
        keep.mkdir(parents=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="dory-crowd-") as folder:
        yield Path(folder)


@running.measurement(
    "stress.crowd", "Agents and writers share a room: is every line whole, and heard or told of?"
)
@click.option(
    "--keep",
    type=Path,
    metavar="DIR",
    help="meet in the new folder DIR and leave it behind, to look around in it",
)
def main(keep: Path | None, print_json: bool, **plan: Any) -> int:
    """Let them meet as the command line says and print what came of it."""
    with _home(keep) as home:
        figures = hold(home, Plan(**plan))
    print(report(figures))
    if print_json:
        print(json.dumps(asdict(figures), ensure_ascii=False))
    return 0 if figures.sound else 1


main.params += [
    click.Option(
        [f"--{setting.name.replace('_', '-')}"],
        type=type(setting.default),
        default=setting.default,
        metavar="N",
        help=f"{setting.metadata['meaning']} (default: {setting.default})",
    )
    for setting in fields(Plan)
]


if __name__ == "__main__":
    running.run("stress.crowd", main)
