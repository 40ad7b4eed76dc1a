"""What was recorded of conversations, held against the rooms' files: each line that was heard,
once, and no other. And what follows from the records: the counts of who was met, the summaries in
an unbroken row, relationships only with those who were met.

A file that was replaced by a shorter one can no longer be asked about what its predecessor held.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from dory.errors import FormatError
from dory.extensions.people.conversations import Conversations
from dory.extensions.people.relationships import Relationships
from dory.identity.state import RoomState, State
from dory.storage.rooms import Rooms, spoken
from dory.types import Line


def problems(
    dialogues: Conversations, relationships: Relationships, rooms: Rooms, record: State
) -> Iterator[str]:
    """What is wrong, one line each. ``record`` may be older than what is held against it."""
    for room, at in record.rooms.items():
        yield from _room(dialogues, rooms, room, at)
    yield from (
        f"the lines counted with {name} are not those recorded" for name in dialogues.miscounted()
    )
    expected = 1
    for first, last in dialogues.spans():
        if first != expected or not first <= last <= dialogues.newest:
            yield f"a summary of conversations tells of the records {first} to {last}, where {expected} has to come next"
        expected = last + 1
    met = {one.name for one in dialogues.who()}
    yield from (
        f"it has a relationship with {name}, whom it never met"
        for name in relationships.bonds()
        if name not in met
    )


def _room(dialogues: Conversations, rooms: Rooms, room: str, at: RoomState) -> Iterator[str]:
    """The newest file of a room, as far as it is recorded."""
    place = dialogues.place(room)
    if place.file != at.replaced:
        return
    known = Counter(end for end, _ in dialogues.recorded(room, place.file))
    speakers = dict(dialogues.recorded(room, place.file))
    missing = 0
    for line in _heard(rooms, room, replace(at, read=min(at.read, place.read))):
        if speakers.get(line.end) == line.name:
            del speakers[line.end]
        else:
            missing += not line.text.lstrip().startswith("@")  # of these some are commands
    doubled, others = (
        sum(count > 1 for count in known.values()),
        sum(end <= at.read for end in speakers),
    )
    wrong = [
        (missing, "are not recorded"),
        (doubled, "are recorded more than once"),
        (others, "are recorded and were not said there"),
    ]
    yield from (f"of chats/{room}.md {count} lines {what}" for count, what in wrong if count)


def _heard(rooms: Rooms, room: str, at: RoomState) -> Iterator[Line]:
    """What was said there to somebody, as long as the file can be read: the check tells by itself
    of one that cannot, or is too short.
    """
    with suppress(FormatError):
        for first, last in at.heard(0):
            while first < last:
                lines, behind = rooms.stretch(room, first, last)
                yield from (line for line in lines if spoken(line, ()))
                if behind == first:
                    return
                first = behind
