"""How far each room was heard, and the next parts of its file, which a person may edit, exchange or
put back from a backup meanwhile.
"""

import time
from collections.abc import Callable

from dory.identity import room_position
from dory.identity.identity import Identity
from dory.identity.state import RoomState
from dory.storage.room_parts import Part
from dory.storage.watched_files import FileStamp

_EDITING = 0.1
"""Seconds in which a room's file that is written anew grows, or has come to its end."""
_LOOKS = 20
"""How often that is waited for."""
_COUNTED = 1 << 28
"""Bytes of a room whose lines are counted: READ_FILE looks no further."""


class RoomReader:
    """Reads the rooms of one identity."""

    def __init__(self, identity: Identity, log: Callable[[str], None]) -> None:
        self._identity = identity
        self._log = log
        self._files: dict[str, FileStamp | None] = {}
        """The rooms' files as they were when their positions were compared with them."""
        self._strange: dict[str, int] = {}
        """How often a room's file was not the one that was heard, and was still being written."""
        self._counted: dict[str, tuple[int, int]] = {}
        """By room: how many lines its file has up to a byte."""

    def position(self, room: str) -> RoomState | None:
        """How far the room was read. A room begins like any newcomer's if somebody else made its
        symlink, or if a crash left that behind. None while its file is not the one that was heard:
        whoever edits it may be in the middle of that.
        """
        me = self._identity
        known = me.state.rooms.get(room)
        now = FileStamp.at(me.rooms.path(room))
        if known and room in self._files and self._files[room] == now:
            return known
        if not known:
            known = room_position.entered(me.rooms, room, RoomState())
        elif room_position.stands(me.rooms, room, known):
            known = room_position.completed(me.rooms, room, known)
        elif self._is_edited(room, now):
            return None
        else:
            me.rooms.read(room, 0)  # raises if the editor holds the room
            known = self._moved(room, known)
        self._strange.pop(room, None)
        self._files[room] = now
        me.state.rooms[room] = known
        return known

    def parts(self, room: str, offset: int, count: int) -> list[Part]:
        """The next parts of the file with which the position was compared, at most ``count``; none
        if nothing more was said.
        """
        me = self._identity
        known = self._files[room]
        now = FileStamp.at(me.rooms.path(room))
        if not (now and now.size > offset):
            return []
        parts: list[Part] = []
        while len(parts) < count and (part := me.rooms.part(room, offset)).content:
            parts.append(part)
            offset = part.end
        now = FileStamp.at(me.rooms.path(room))
        return parts if known and now and now.file == known.file else []

    def line_at(self, room: str, at: int) -> int:
        """How many lines a room's file has up to byte ``at``; 0 if that takes too long."""
        start, before = self._counted.get(room, (0, 0))
        if at < start:
            start, before = 0, 0
        if at > _COUNTED:
            return 0
        lines = before + self._identity.rooms.lines_before(room, at, start)
        self._counted[room] = at, lines
        return lines

    def _is_edited(self, room: str, before: FileStamp | None) -> bool:
        """Whether somebody is still writing the file anew. A file that never rests is taken as it
        is.
        """
        time.sleep(_EDITING)
        self._strange[room] = self._strange.get(room, 0) + 1
        edited = FileStamp.at(self._identity.rooms.path(room)) != before
        return edited and self._strange[room] < _LOOKS

    def _moved(self, room: str, known: RoomState) -> RoomState:
        """How far the file was read that stands in the place of the one that was heard."""
        me = self._identity
        self._counted.pop(room, None)
        fresh, is_known = room_position.moved(me.rooms, room, known)
        if known.heard_last and not known.read:
            return fresh  # it was told when the file was deleted or emptied
        where = "behind the last line that you heard"
        if not is_known:
            where = (
                "with what is new to you; what you heard last does not stand in it, and READ_FILE"
                f" chats/{room}.md shows all of it"
            )
        me.notice(f"The file of the room {room} was edited or exchanged. You go on {where}.")
        self._log(f"chats/{room}.md was edited or exchanged; going on at byte {fresh.read:,}")
        return fresh
