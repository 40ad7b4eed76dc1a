"""What was measured, as tables for a person, and which promises do not hold."""

from collections.abc import Mapping
from typing import Any

from dory.text.formatting import table

Row = Mapping[str, float]
ROWS = {
    "turn_ms": "a turn, processor ms, median",
    "turn_ms_worst": "  worst",
    "resume_ms": "resume to first request, processor ms",
    "resume_wall_ms": "  on the wall, ms",
    "line_ms": "room line to its request, wall ms, median",
    "line_ms_p95": "  95 of 100",
    "idle": "asleep, % of a core",
    "memory": "memory at most, MB",
}
GROWTH = 1.5
"""How many times as much as in the youngest life a turn, and a resume, may cost in any older one.
"""
SELF = 1.5
"""How many times as much a turn may cost with a self as without."""
HELP, BOOT = 8.0, 1.3
"""``--help`` in times of ``python -c pass``; boot to first request in times of ``import openai``.
"""
LINE, IDLE = 100.0, 1.0
"""Milliseconds, of 95 of 100 lines; percent of a core."""
COMPACTION, DELAY = 3.5, 50.0
"""Seconds that a compaction may take; milliseconds by which it may delay a turn."""


def columns(lives: Mapping[str, Row]) -> str:
    """A column for each life."""
    rows = [("life lines, blobs / tokens", *lives)]
    rows += [
        (label, *(f"{figures[name]:.1f}" for figures in lives.values()))
        for name, label in ROWS.items()
    ]
    return table(rows)


def others(start: Mapping[str, Row], forgetting: Row, peers: Mapping[str, Row]) -> str:
    """Start-up, a compaction beside turns, and other programs."""
    rows = [("start-up", "processor ms", "wall ms", "MB")]
    for name, figures in [
        *start.items(),
        *((f"{name} --help", figures) for name, figures in peers.items()),
    ]:
        rows.append(
            (
                name,
                f"{figures['processor']:.0f}",
                f"{figures['wall']:.0f}",
                f"{figures['memory']:.0f}",
            )
        )
    return f"{table(rows)}\n\n" + table(
        [("compaction", ""), *((name, f"{value:.2f}") for name, value in forgetting.items())]
    )


def ratios(result: Mapping[str, Any]) -> dict[str, float]:
    """What the promises are about."""
    lives, start, forgetting = result["lives"], result["start"], result["compaction"]
    grown: dict[str, float] = {}
    for name in ("turn_ms", "resume_ms"):
        for label, figures in lives.items():
            youngest = next(
                row
                for other, row in lives.items()
                if other.split(" / ")[1] == label.split(" / ")[1]
            )
            grown[f"{name} at {label}, of the youngest"] = figures[name] / youngest[name]
    return grown | {
        "self, a turn with one, of one without": result["self"]["with"] / result["self"]["without"],
        "--help, of python -c pass": start["agent.py --help"]["processor"]
        / start["python -c pass"]["processor"],
        "boot to first request, of import openai": start["boot to first request"]["processor"]
        / start["import openai"]["processor"],
        "room line, 95 of 100, ms": max(figures["line_ms_p95"] for figures in lives.values()),
        "asleep, % of a core": max(figures["idle"] for figures in lives.values()),
        "compaction, s, the worst": forgetting["seconds_worst"],
        "delay of a turn by a compaction, ms": forgetting["delay_ms"],
        "delay of the latest turn by a compaction, ms": forgetting["delay_ms_worst"],
    }


def broken(measured: Mapping[str, float]) -> list[str]:
    """The promises that do not hold, one line each."""
    most = {
        "self": SELF,
        "--help": HELP,
        "boot": BOOT,
        "room": LINE,
        "asleep": IDLE,
        "compaction": COMPACTION,
        "delay": DELAY,
    }
    lines = []
    for name, value in measured.items():
        bound = most.get(name.split(",")[0].split(" ")[0], GROWTH)
        if value > bound:
            lines.append(f"{name}: {value:.2f}, at most {bound:g} was promised")
    return lines
