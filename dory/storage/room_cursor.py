"""Where somebody goes on reading a room whose file a person may edit, exchange or put back from a
backup meanwhile.

A cursor is a byte offset, and what was read last before it: for each of the newest messages its
time, its length in bytes and a digest. It stands as long as the newest of them ends at the offset.
If it does not, the end of what is known is looked for in the whole file: by content, or else by
time.
"""

import hashlib
import re
from collections.abc import Sequence

from dory.storage.room_parts import Part
from dory.storage.rooms import Rooms, laid_out
from dory.types import Line

_KNOWN = 8
"""Messages of which a cursor knows."""
_MESSAGE = re.compile(r"\S+ [0-9]+ [0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""Times in this form can be compared as text."""


def passed(known: list[str], start: int, line: Line) -> None:
    """Note that the message from byte ``start`` on was read."""
    known.append(f"{line.at or '-'} {line.end - start} {digest(line)}")
    del known[:-_KNOWN]


def passed_parts(known: list[str], rooms: Rooms, room: str, parts: Sequence[Part]) -> None:
    """Note that these parts were read, without a look at more than their newest messages."""
    for part in parts:
        for piece in part.newest(_KNOWN):
            start = piece.start
            for line in rooms.parsed(room, piece):
                passed(known, start, line)
                start = line.end


def is_sound(message: str) -> bool:
    """Whether this is what ``passed`` notes of a message."""
    return bool(_MESSAGE.fullmatch(message))


def digest(line: Line) -> str:
    """What tells a message from others. The name is left out: an agent may take it later."""
    return hashlib.sha256(f"{line.kind} {line.at} {laid_out(line.text)}".encode()).hexdigest()[:12]


def before(rooms: Rooms, room: str, offset: int) -> list[str]:
    """What is known of the messages before byte ``offset``, of one who goes on reading there."""
    known: list[str] = []
    start, lines = rooms.before(room, offset)
    for line in lines:
        passed(known, start, line)
        start = line.end
    return known


def first(rooms: Rooms, room: str) -> str:
    """The digest of the first message, which tells one file from another; empty if it has none."""
    return next((digest(line) for line in rooms.messages(room)), "")


def stands(rooms: Rooms, room: str, offset: int, known: Sequence[str]) -> bool:
    """Whether what was read last still stands before byte ``offset``. Where nothing is known, a
    message must begin there. A file without messages may be about to get them back.
    """
    if not known:
        return rooms.size(room) >= offset and rooms.begins_at(room, offset)
    if not offset:
        return not first(rooms, room)
    _, length, known_digest = known[-1].split()
    start = offset - int(length)
    if start < 0 or rooms.size(room) < offset:
        return False
    lines = rooms.stretch(room, start, offset)[0]
    return [(line.end, digest(line)) for line in lines] == [(offset, known_digest)]


def found(rooms: Rooms, room: str, known: Sequence[str], start: int = 0) -> int | None:
    """The byte behind the newest known message that stands in the file from byte ``start`` on; None
    if none does. If it stands there several times, the place counts before which most of the others
    stand.
    """
    places: dict[str, list[int]] = {}
    for number, message in enumerate(known):
        places.setdefault(message.split()[2], []).append(number)
    end = None
    best = (0, 0)
    runs: dict[int, int] = {}
    for line in rooms.messages(room, start):
        numbers = places.get(digest(line), ())
        runs = {number: runs.get(number - 1, 0) + 1 for number in numbers}
        for run in runs.items():
            if run >= best:
                best, end = run, line.end
    return end


def newer(rooms: Rooms, room: str, known: Sequence[str]) -> int | None:
    """The byte at which the first message begins that is newer, by its time, than all that is
    known; None if there is none.
    """
    times = [time for time in (message.split()[0] for message in known) if _TIME.fullmatch(time)]
    start = 0
    for line in rooms.messages(room):
        if times and _TIME.fullmatch(line.at) and line.at > max(times):
            return start
        start = line.end
    return None
