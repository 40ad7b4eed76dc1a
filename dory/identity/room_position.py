"""How far an agent has heard a room, in the room's file as it is now."""

from dataclasses import replace

from dory.identity.state import RoomState
from dory.storage import room_cursor
from dory.storage.rooms import HEADING, Rooms

_NOTHING_SAID = len(HEADING) + 1
"""Bytes of a room in which nobody has said anything."""


def entered(rooms: Rooms, room: str, known: RoomState) -> RoomState:
    """Return the state of one who enters the room now: it goes on with what no agent has answered
    yet. The commands that stand there are not run.
    """
    fresh = known.entered(rooms.unanswered(room), rooms.end(room))
    return _noted(rooms, room, fresh)


def stands(rooms: Rooms, room: str, known: RoomState) -> bool:
    """Whether the file still holds what was heard, where it was heard."""
    return room_cursor.stands(rooms, room, known.read, known.heard_last) and room_cursor.stands(
        rooms, room, known.commands, known.run_last
    )


def completed(rooms: Rooms, room: str, known: RoomState) -> RoomState:
    """Return the state with what was not known of the file when it was entered, and behind what was
    heard of another file, if that has come back.
    """
    if known.lost:
        start = min(known.read, known.commands)
        end = room_cursor.found(rooms, room, known.lost, start) or 0
        if end > start:
            back = known.entered(end, max(end, known.commands))
            return _noted(rooms, room, replace(back, lost=[]))
    if known.begins or known.read <= _NOTHING_SAID:
        return known
    noted = _noted(rooms, room, known)
    return replace(noted, heard_last=known.heard_last or noted.heard_last)


def moved(rooms: Rooms, room: str, known: RoomState) -> tuple[RoomState, bool]:
    """Return the state for the file that stands in the place of the one that was heard, and whether
    what was heard last stands in it. If it does not, what is new by its time is heard; of an
    entirely different file also what a newcomer hears.
    """
    if not room_cursor.first(rooms, room):
        empty = replace(known, read=0, commands=0, unheard=[], answers={})
        return replace(empty, replaced=known.replaced + 1), False
    end = rooms.end(room)
    read = room_cursor.found(rooms, room, known.heard_last)
    commands = room_cursor.found(rooms, room, known.run_last)
    is_known = read is not None
    if read is None:
        newer = room_cursor.newer(rooms, room, known.heard_last)
        read = end if newer is None else newer
        if known.read <= _NOTHING_SAID:
            read = 0
        elif not known.begins or known.begins != room_cursor.first(rooms, room):
            read = min(read, rooms.unanswered(room))
    if commands is None:
        newer = room_cursor.newer(rooms, room, known.run_last)
        commands = end if newer is None else newer
    fresh = replace(
        known,
        read=read,
        commands=commands,
        unheard=[[0, read]] if read else [],
        replaced=known.replaced + 1,
        answers={},
        lost=[] if is_known else known.heard_last,
    )
    return _noted(rooms, room, fresh), is_known


def _noted(rooms: Rooms, room: str, state: RoomState) -> RoomState:
    return replace(
        state,
        heard_last=room_cursor.before(rooms, room, state.read),
        run_last=room_cursor.before(rooms, room, state.commands),
        begins=room_cursor.first(rooms, room),
    )
