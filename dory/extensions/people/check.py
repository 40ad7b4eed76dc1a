"""Checks the records of conversations against the rooms' files, and what is derived from them.

Each line that was heard must be recorded once, and nothing else. The counts of contacts must match
the records, the summaries must follow each other without a gap, and a relationship needs somebody
whom the agent has met.

If a room's file was replaced, the records of the old file can no longer be checked.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from dory.errors import FormatError
from dory.extensions.people.conversations import Conversations
from dory.extensions.people.relationships import Relationships
from dory.identity.state import RoomState, State
from dory.storage.rooms import A_PERSON, Rooms, spoken
from dory.types import Line


def problems(
    conversations: Conversations, relationships: Relationships, rooms: Rooms, record: State
) -> Iterator[str]:
    """What is wrong, one line each. ``record`` may be older than the records of conversations."""
    for room, state in record.rooms.items():
        yield from _check_room(conversations, rooms, room, state)
    for name in conversations.miscounted():
        yield f"the lines counted with {name} are not those recorded"
    if count := conversations.incomplete():
        yield f"of {count} records of conversations it is not known who spoke and to whom"
    if count := relationships.roomless():
        yield f"{count} rooms are noted for changes of relationships that do not exist"
    yield from _check_summaries(conversations)
    met = {contact.name for contact in conversations.who()}
    for name in relationships.bonds():
        if name not in met:
            yield f"it has a relationship with {name}, whom it never met"


def _check_summaries(conversations: Conversations) -> Iterator[str]:
    expected = 1
    for first, last in conversations.spans():
        if first != expected or not first <= last <= conversations.newest:
            yield (
                f"a summary of conversations tells of the records {first} to {last}, "
                f"where {expected} has to come next"
            )
        expected = last + 1


def _check_room(
    conversations: Conversations, rooms: Rooms, room: str, state: RoomState
) -> Iterator[str]:
    """Whether the newest file of a room is recorded, as far as it says so."""
    position = conversations.place(room)
    if position.file != state.replaced:
        return
    records = list(conversations.recorded(room, position.file))
    times = Counter(end for end, _ in records)
    unheard = dict(records)
    missing = 0
    for line in _heard(rooms, room, replace(state, read=min(state.read, position.read))):
        # in the records nobody carries an agent's name but itself
        if unheard.get(line.end) in (line.name, A_PERSON):
            del unheard[line.end]
        elif not line.text.lstrip().startswith("@"):  # some of those are commands
            missing += 1
    doubled = sum(count > 1 for count in times.values())
    invented = sum(end <= state.read for end in unheard)
    for count, what in (
        (missing, "are not recorded"),
        (doubled, "are recorded more than once"),
        (invented, "are recorded and were not said there"),
    ):
        if count:
            yield f"of chats/{room}.md {count} lines {what}"


def _heard(rooms: Rooms, room: str, state: RoomState) -> Iterator[Line]:
    """What was said there to somebody, as far as the file can be read.

    The check of the rooms names a file that cannot be read, or is too short.
    """
    with suppress(FormatError):
        for first, last in state.heard(0):
            while first < last:
                lines, behind = rooms.stretch(room, first, last)
                yield from (line for line in lines if spoken(line, ()))
                if behind == first:
                    return
                first = behind
