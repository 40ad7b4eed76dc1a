"""A life that is summed up: events that happen to it, and what its summaries cover."""

from dory.config.profiles import CascadeSettings
from dory.extensions.cascade.life_reader import LifeReader
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


def lived(house: House) -> int:
    """The number of memories."""
    return LifeReader(house.me.life.path).count(0, house.me.life.path.stat().st_size) - 1


def covered(house: House) -> tuple[Covered | None, Covered | None]:
    """What the long-term and the short-term summary cover."""
    kept = Summaries(house.me.folder)
    return _range(kept.longterm), _range(kept.recent)


def copied(house: House) -> list[Covered]:
    """What the copies cover, in their order."""
    return [events for path in copies(house.me.folder) if (events := _range(read(path)))]


def related(house: House, situation: str) -> list[Experience]:
    """What the index finds, as a second reader of the file."""
    store = Store(house.me.folder / NAME, readonly=True)
    try:
        return Related(store, None).similar(situation, 9)
    finally:
        store.close()


def _range(summary: Summary | None) -> Covered | None:
    return (summary.first, summary.last) if summary else None
