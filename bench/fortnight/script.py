"""``fortnight.md`` as what is said when, and by whom.

A heading is a day and what it is about, ``# Monday 2 March: they meet``; a line below it is ``09:00
Ada: what she says``, and indented lines go on with it. A name of an agent in lower case stands for
what that agent is called in the room.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

PATH = Path(__file__).with_name("fortnight.md")
BEGINS = datetime(2026, 3, 2, tzinfo=UTC)
_DAY = re.compile(r"# \w+ (\d+) March: .+")
_SAID = re.compile(r"(\d\d):(\d\d) (\w+): (.+)")


@dataclass(frozen=True, slots=True)
class Said:
    """Something that a person says."""

    at: datetime
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the script, with its heading."""

    heading: str
    said: tuple[Said, ...]


def read(text: str, names: Mapping[str, str]) -> list[Day]:
    """The days in order; ``names`` are those of the agents. Raises ``ValueError`` for a line that
    is none, and for one out of order.
    """
    days: list[tuple[str, datetime, list[Said]]] = []
    for line in filter(None, text.splitlines()):
        if day := _DAY.fullmatch(line):
            days.append((line.removeprefix("# "), BEGINS.replace(day=int(day[1])), []))
        elif (said := _SAID.fullmatch(line)) and days:
            at = days[-1][1] + timedelta(hours=int(said[1]), minutes=int(said[2]))
            days[-1][2].append(Said(at, said[3], _named(said[4], names)))
        elif line.startswith("    ") and days and days[-1][2]:
            last = days[-1][2].pop()
            days[-1][2].append(
                Said(last.at, last.name, f"{last.text}\n{_named(line.strip(), names)}")
            )
        else:
            raise ValueError(f"{line!r} is neither a day nor something that is said")
    times = [said.at for _, _, lines in days for said in lines]
    if any(later <= earlier for earlier, later in pairwise(times)):
        raise ValueError("something is said before what stands above it")
    return [Day(heading, tuple(said)) for heading, _, said in days]


def _named(text: str, names: Mapping[str, str]) -> str:
    return re.sub(rf"\b({'|'.join(names)})\b", lambda match: names[match[1]], text)
