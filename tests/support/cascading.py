"""A life that is summed up: events that happen to it, and what its summaries cover.

Ranges are given in events, of which the first is 1, as the schedule counts them. Files and prompts
name lines of LIFE, of which some are bookkeeping (``line`` and ``lined`` lead from one to the
other).
"""

from dory.config.profiles import CascadeSettings
from dory.extensions import bookkeeping, tools
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.extensions.cascade.related import Experience, Related
from dory.extensions.cascade.store import Summaries, Summary, copies, read
from dory.storage.database import NAME, Store
from tests.support.compacting import House
from tests.support.remembering import step

Covered = tuple[int, int]
SMALL = CascadeSettings(immediate_window=8, recent_window=4)
"""Runs at 13, 17, 21 …"""


def happen(house: House, until: int, at_once: int = 1, stepping: bool = True) -> None:
    """Let things happen, ``at_once`` between two steps, until there are so many memories."""
    while (there := lived(house)) < until:
        for number in range(there + 1, min(there + at_once, until) + 1):
            house.me.log("heard", f"dev ada: thing {number} of this life.")
        house.me.commit()
        if stepping:
            step(house)


def reader(house: House) -> LifeReader:
    """The life, as the cascade reads it."""
    return LifeReader(house.me.life.path, lambda: bookkeeping(tools()))


def lived(house: House) -> int:
    """The number of events."""
    return reader(house).events(BEGINNING.end, house.me.life.path.stat().st_size)[1]


def events_to(house: House, line: int) -> int:
    """How many events there are up to a line of LIFE."""
    life = reader(house)
    return life.events(BEGINNING.end, life.find(line).end)[1]


def line_of(house: House, event: int) -> int:
    """The line of LIFE that tells an event."""
    return reader(house).read(BEGINNING, event)[1].number


def covered(house: House) -> tuple[Covered | None, Covered | None]:
    """The events that the long-term and the short-term summary cover."""
    kept = Summaries(house.me.folder)
    return _range(house, kept.longterm), _range(house, kept.recent)


def copied(house: House) -> list[Covered]:
    """The events that the copies cover, in their order."""
    folder = house.me.folder
    return [events for path in copies(folder) if (events := _range(house, read(path)))]


def lined(house: House) -> list[Covered]:
    """The lines that the copies cover, in their order."""
    made = (read(path) for path in copies(house.me.folder))
    return [(summary.first, summary.last) for summary in made if summary]


def related(house: House, situation: str) -> list[Experience]:
    """What the index finds, as a second reader of the file."""
    store = Store(house.me.folder / NAME, readonly=True)
    try:
        return Related(store, None).similar(situation, 9)
    finally:
        store.close()


def _range(house: House, summary: Summary | None) -> Covered | None:
    if not summary:
        return None
    return events_to(house, summary.first - 1) + 1, events_to(house, summary.last)
