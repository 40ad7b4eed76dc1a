"""Archives: what a compaction leaves behind for good, one for each stretch, and its marker in LIFE.

The archive is an entry among the notes: the summary and the reference, under a name made of the gist and the ids. The marker is a line of LIFE:

    2026-11-21 07:38 archived ◱hash=5d41402abc4b2a76 gist=ada-plans-her-trip-to-lisbon-1-9◲

with the name as it was given and the time, to the minute. A resume replays the working context from ``context.md``, where the reference stands
in place of the stretch; what stands before a marker is reached by search, by name, and by its hash. Taking a compaction back leaves its
archives.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from dory import refs
from dory.notes import Note, Notes
from dory.records import Compacted

EVENT = "archived"
"""The kind of a marker's event."""
_NAME_LIMIT = 60
"""Characters: the whole name fits into the marker's line."""
_MARKER = re.compile(rf"(\d{{4}}-\d\d-\d\d \d\d:\d\d) {EVENT} (◱.*◲)")
_PLAIN = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A compact marker."""

    archive_name: str
    archived_at: datetime
    hash: str


def archive(notes: Notes, record: Compacted, at: datetime) -> Note:
    """The archive of a stretch, written if there is none yet. Raises what ``Notes`` raises."""
    content = f"{record.summary}\n{refs.reference(record.hash, record.gist)}"
    return notes.archive_of(record.hash) or notes.add(_name(notes, record), content, "Archive", at, record.hash)


def markers(life: Path) -> Iterator[Marker]:
    """All of LIFE.md, oldest first."""
    with open(life, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            if found := _MARKER.fullmatch(line.rstrip("\n")):
                for hash, name in refs.live(found[2]):
                    yield Marker(name, datetime.strptime(found[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC), hash)


def _name(notes: Notes, record: Compacted) -> str:
    """Words of the gist and the ids; numbered, should that name be taken."""
    ids = f"-{record.first}-{record.last}"
    words = _PLAIN.sub("-", record.gist.casefold()).strip("-")
    name = (words[: _NAME_LIMIT - 4 - len(ids)].strip("-") or "archive") + ids
    return next(free for free in chain([name], (f"{name}-{number}" for number in count(2))) if not notes.find(free))
