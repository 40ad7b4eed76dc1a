"""What agents are doing in a room at this moment, and the message that they are writing: a side
channel beside the room's file.

``chats/.live/<room>/<agent>.json`` holds one ``Live`` record, replaced whole each time. Nothing
depends on it: it is not synced to the disk, a damaged or old one is passed over, and the room's own
file gets each message whole, once.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

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
    path = _path(chats, room, live.name)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(asdict(live)), encoding="utf-8")
        draft.replace(path)


def clear(chats: Path, room: str, name: str) -> None:
    """The agent ``name`` does nothing in ``room`` any more."""
    with suppress(OSError):
        _path(chats, room, name).unlink(missing_ok=True)


def read(chats: Path, room: str) -> list[Live]:
    """What agents are doing in ``room`` now, by name."""
    shown = []
    for path in sorted((chats / FOLDER / room).glob("[!.]*.json")):
        with suppress(OSError, ValueError, TypeError, AttributeError):
            if time.time() - path.stat().st_mtime < _STALE:
                content = json.loads(path.read_text(encoding="utf-8"))
                live = Live(**{name: str(value) for name, value in content.items()})
                shown.append(live)
    return shown


def _path(chats: Path, room: str, name: str) -> Path:
    return chats / FOLDER / room / f"{name}.json"
