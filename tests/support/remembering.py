"""An agent that has something to recall: what it hears, what is compacted, and what a search
returns.
"""

import re
from pathlib import Path

from dory.extensions import Stores
from dory.identity import context
from dory.identity.context import Entry
from dory.storage import rooms
from dory.storage.database import NAME
from dory.text import references
from tests.support.compacting import House, Scripted
from tests.support.household import NOON

HIT = re.compile(
    r"\d+\. (heard|response|result|error|notice|note|archive|memory|summary|diary|conversation)"
    r" \d{4}-\d\d-\d\d \d\d:\d\d(?: (\S+))?(?: in (\S+))?, score \d+\.\d: (.*)"
    r" -> (?:in your context at #(\d+)|UNCOMPACT ([0-9a-f]{16,})(?: "
    r"\((.*)\))?|NOTE_READ (\S+)|([A-Z]+_.*))"
)
TRIP = "the hotel in Lisbon is the Miramar, with a view of the river"
OTHERS = [
    "the build is broken again",
    "bread wants flour and water",
    "my bicycle has a flat tyre",
    "the garden needs rain this week",
]


def answer(house: House, query: str) -> list[re.Match[str]]:
    """The hits of a search, each read as the form says."""
    first, *lines = recall(house).search.recall(query, house.me.context.entries).splitlines()
    hits = [HIT.fullmatch(line) for line in lines]
    assert all(hits) and re.match(rf"{len(lines) or 'no'} hits? for \"", first)
    return [hit for hit in hits if hit]


def recall(house: House) -> Stores:
    """What the agent remembers, as a second reader of the file."""
    return Stores(house.me.folder, house.me.blobs, readonly=True)


def step(house: House) -> None:
    """As between two turns, until no work is under way."""
    house.agent.extensions.step()
    while house.agent.extensions.under_way():
        house.agent.extensions.step()


def hear(house: House, *said: str, name: str = "ada", at: str = "2026-03-02T12:00:00Z") -> None:
    for text in said:
        house.me.add(
            "heard", "dev", f"[USER:{name} {at}] {references.escape(rooms.laid_out(text))}"
        )
    house.me.commit()
    step(house)


def fade(house: House, entries: list[Entry], gist: str) -> str:
    """Compact these entries by hand; the hash."""
    hash = house.me.blobs.stash(context.render(entries), kind="context", gist=gist, at=NOON)
    house.me.context.replace(
        entries, [context.compacted(entries[0].first, entries[-1].last, hash, gist, gist)]
    )
    house.me.new_epoch()
    return hash


def indexed(house: House) -> list[int]:
    """The ids of the entries in the index."""
    index = recall(house).index
    return sorted(
        document.origin
        for kind in ("heard", "response", "result", "error", "notice")
        for document in index.walk(kind)
    )


def long_past(tmp_path: Path, entries: int = 350) -> House:
    """A life from before the extension, part of it compacted."""
    house = House(tmp_path, Scripted())
    del house.agent.extensions.members[1:]
    for number in range(entries):
        house.me.add(
            "heard", "dev", f"[USER:ada 2026-03-02T12:00:00Z] thing number {number} of a long past"
        )
    house.me.commit()
    for first in (40, 20, 1):
        fade(house, house.me.context.entries[first : first + 30], f"from {first}")
    assert not (house.me.folder / NAME).exists()
    return house
