"""What the agent and its harness say in rooms: now, or later if another program holds the room.

What has to wait stands in the state (``notices``), counts with the next commit, and is said as soon
as the room is free: in the order in which it came, once, whatever is killed meanwhile.
"""

from dory.errors import Held
from dory.identity import audience
from dory.identity.identity import Identity
from dory.identity.state import Owed


def say(me: Identity, room: str, kind: str, text: str) -> Held | None:
    """Say ``text``; ``kind`` is ``AGENT`` or ``NOTICE``. If the room is held, the text waits, and
    the error that tells so is returned.
    """
    try:
        if any(owed.room == room and owed.kind == "AGENT" for owed in me.state.notices):
            raise Held(f"the room {room}")  # what the agent said there before still waits
        me.rooms.say(room, kind, me.name, text, me.now())
    except Held as error:
        me.state.notices.append(Owed(room, me.redact(text), me.rooms.end(room), kind=kind))
        return error
    return None


def post(me: Identity, text: str) -> None:
    """Say something to the people in the rooms that are told what nobody asked for."""
    for room in audience.rooms(me):
        say(me, room, "NOTICE", text)


def deliver(me: Identity, fresh: bool) -> None:
    """Say what the last commit says is owed, as far as the rooms are free. Unless it is ``fresh``,
    it may have been said before a kill.
    """
    waiting: list[Owed] = []
    for owed in me.state.notices:
        held = any(other.room == owed.room for other in waiting)
        if held or not _said(me, owed, fresh):
            waiting.append(owed)
    me.state.notices = waiting


def _said(me: Identity, owed: Owed, fresh: bool) -> bool:
    if not fresh and me.rooms.has(owed.room, owed.kind, me.name, owed.text, owed.mark):
        return True
    try:
        me.rooms.say(owed.room, owed.kind, me.name, owed.text, me.now())
    except Held:
        return False
    return True
