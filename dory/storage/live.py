"""What agents are doing in a room at this moment, and the message that they are writing: a side
channel beside the room's file.

``chats/.live/<room>/<digits>.json``, with digits made from the agent's name, holds one ``Live``
record, replaced whole each time. Nothing depends on it: it is not synced to the disk, a damaged or
old one is passed over, and the room's own file gets each message whole, once.
"""

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dory import regular_files

FOLDER = ".live"
"""The folder of all records, below that of the rooms."""
_STALE = 30.0
"""Seconds after which a record is passed over: its writer was killed. A writer that still works
repeats its record sooner.
"""


@dataclass(frozen=True, slots=True)
class Live:
    """One agent in one room: its name, what it is doing in a few words ("recalls lisbon"), and the
    text of the message that it is writing there so far. Both may be empty. Neither is sanitized
    for a terminal.
    """

    name: str
    doing: str = ""
    text: str = ""


def show(chats: Path, room: str, live: Live) -> None:
    """Show what an agent is doing in ``room``. A disk that does not take it is no error."""
    with suppress(OSError):
        path = _path(chats, room, live.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        regular_files.overwrite(draft, json.dumps(asdict(live)).encode())
        draft.replace(path)


def clear(chats: Path, room: str, name: str) -> None:
    """The agent ``name`` does nothing in ``room`` any more."""
    with suppress(OSError):
        _path(chats, room, name).unlink(missing_ok=True)


def read(chats: Path, room: str) -> list[Live]:
    """What agents are doing in ``room`` now, by name."""
    shown = []
    for path in (chats / FOLDER / room).glob("[!.]*.json"):
        with suppress(OSError, ValueError, TypeError, AttributeError):
            if time.time() - path.stat().st_mtime < _STALE:
                content = json.loads(regular_files.content(path))
                live = Live(**{name: str(value) for name, value in content.items()})
                shown.append(live)
    return sorted(shown, key=lambda live: live.name)


def _path(chats: Path, room: str, name: str) -> Path:
    """The file of the agent ``name``. The name itself is no part of it, since it may hold anything.
    Raises ``OSError`` if the folder is a link, and leads elsewhere.
    """
    folder = chats / FOLDER / room
    regular_files.refuse_links(folder.parent, folder)
    digits = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:16]
    return folder / f"{digits}.json"
