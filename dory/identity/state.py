"""state.json: the commit record of one identity, replaced atomically. What it does not name has not
happened.

Everything an event changes is written first (blobs, the end of ``context.md``), then this record,
which names how far ``context.md`` counts and which LIFE lines follow. A crash before the
replacement leaves the state before the event, one after it is completed on resume from here.
"""

import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from dory.errors import FormatError, UnknownVersion
from dory.storage import files

VERSION = 1
HOME = "home"  # the place at which a life begins


@dataclass(slots=True)
class RoomState:
    """How far a room was taken in. Offsets are bytes in its file; commands run ahead of what the
    model was given, and old ones are not run.
    """

    read: int = 0
    commands: int = 0
    exchanges: int = 0
    """Messages between agents since a person last spoke there."""
    unheard: list[list[int]] = field(default_factory=list)
    """What was passed over, said before it came or while it was away: each the first byte, and the
    one behind the last.
    """
    replaced: int = 0
    """How often the file was replaced by a shorter one."""

    def entered(self, at: int, end: int) -> "RoomState":
        """As it is for one who comes in, and hears what stands from byte ``at`` on; the commands up
        to ``end`` are not run.
        """
        passed_over = [[self.read, at]] if at > self.read else []
        return replace(
            self, read=max(self.read, at), commands=end, unheard=[*self.unheard, *passed_over]
        )

    def of(self, size: int) -> "RoomState":
        """Itself; for a file of fewer bytes than were taken in, which must be another one, a
        beginning.
        """
        return (
            self if size >= max(self.read, self.commands) else RoomState(replaced=self.replaced + 1)
        )

    def heard(self, start: int) -> Iterator[tuple[int, int]]:
        """What was heard of the file from byte ``start`` on: the first byte of each part, and the
        one behind its last.
        """
        for first, last in [*self.unheard, [self.read, self.read]]:
            if start < min(first, self.read):
                yield start, min(first, self.read)
            start = max(start, last)


@dataclass(slots=True)
class Running:
    """A response whose tool lines are being run: ``done`` of them have an outcome on disk, ``mark``
    tells whether the next one acted.
    """

    response: str
    done: int = 0
    mark: str = ""
    hidden: list[str] = field(default_factory=list)
    """What its hidden tools were given, in order: it stands nowhere else until they have run."""
    tools: list[str] = field(default_factory=list)
    """The tools that there were: by the same names its lines are read again. Empty: written by an
    older Dory.
    """


@dataclass(slots=True)
class Owed:
    """The answer to a person's command, on its way into a room: there already if the room has it
    behind byte ``mark``.
    """

    room: str
    text: str
    mark: int


@dataclass(slots=True)
class Opened:
    """An original that UNCOMPACT put back: pinned up to and including turn ``until``, later folded
    into ``summary``.
    """

    hash: str
    gist: str
    summary: str
    until: int


@dataclass(slots=True)
class State:
    """Everything about an identity that is not text. Sizes in bytes, turns counted from 1."""

    name: str = ""
    """What the identity is called in rooms; fixed at boot, or it would not know its own lines."""
    turn: int = 0
    epoch: int = 0
    next_id: int = 1
    context_bytes: int = 0
    context_check: int | None = None
    """CRC-32 of those bytes. None, here and below: written by an older Dory, not known yet."""
    life_bytes: int = 0
    life_lines: str = ""
    """Lines that belong at ``life_bytes``; whether they got there is not known after a crash."""
    life_check: int | None = None
    """CRC-32 of LIFE.md up to the end of those lines."""
    life_tail: int | None = None
    """CRC-32 of the newest lines alone, which a resume reads without reading all."""
    awake: bool = False
    """Whether something stands in the context that the model has not answered yet."""
    stuck: bool = False
    """Whether the model could not be asked when it last tried."""
    woke_at: int = 1
    """The entry with which it last woke: what was heard from there on is still to be answered."""
    streak: int = 0
    """Turns since the last event from outside."""
    parent: str | None = None
    """The newest response's blob."""
    texts: dict[str, str] = field(default_factory=dict)
    """The blob of each text that the prompt names by reference, by file name."""
    characters_per_token: float = 4.0
    rooms: dict[str, RoomState] = field(default_factory=dict)
    running: Running | None = None
    owed: Owed | None = None
    opened: dict[str, Opened] = field(default_factory=dict)
    """By entry id."""
    last_swap: list[int] = field(default_factory=list)
    """First ids of the stretches that the last compaction replaced; empty once it was taken back.
    """
    last_compaction: str = ""
    """One line for ``/status``."""
    failures: int = 0
    """Compactions in a row that achieved nothing."""
    paused_until: int = 0
    """No compaction starts by itself up to and including this turn."""
    drafts: list[str] = field(default_factory=list)
    """What hidden tools were given and could not keep: it stands nowhere else."""
    mood: str = ""
    place: str = HOME
    """How the agent feels, empty when it has not said, and where it is, in its own words."""

    def names(self, content: bytes) -> bool:
        """Whether ``content`` is, byte for byte, the context that this record commits; its epoch
        stands in it.
        """
        return len(content) == self.context_bytes and self.context_check in (
            None,
            zlib.crc32(content),
        )


def load(path: Path) -> State:
    """Read a state. Raises ``FormatError`` when it is damaged or of a version not known here."""
    try:
        content = json.loads(path.read_bytes())
        version, check = content.pop("version"), content.pop("check", None)
        sound = check in (None, _check(content))
    except FileNotFoundError:
        raise FormatError(
            f"{path} is missing: put it back from a backup, or boot a new agent"
        ) from None
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"{path} is damaged ({error}): put it back from a backup") from error
    if version != VERSION:
        raise UnknownVersion(path, version, VERSION)
    if not sound:
        raise FormatError(
            f"{path} is damaged (its content does not match its checksum): put it back from a backup"
        )
    try:
        return _typed(content)
    except (TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path} is damaged ({error}): put it back from a backup") from error


def save(path: Path, state: State) -> None:
    """Replace the record; durable when this returns."""
    content = asdict(state)
    record = {"version": VERSION, "check": _check(content), **content}
    files.replace(path, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())


def _check(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content).encode())


def _typed(content: dict[str, Any]) -> State:
    unknown = content.keys() - {known.name for known in fields(State)}
    if unknown:
        raise ValueError(f"unknown fields {', '.join(sorted(unknown))}")
    content["rooms"] = {
        room: RoomState(**value) for room, value in content.get("rooms", {}).items()
    }
    content["opened"] = {
        entry: Opened(**value) for entry, value in content.get("opened", {}).items()
    }
    content["running"] = Running(**content["running"]) if content.get("running") else None
    content["owed"] = Owed(**content["owed"]) if content.get("owed") else None
    state = State(**content)
    for name, kind in get_type_hints(State).items():
        if not _fits(value := getattr(state, name), kind):
            raise ValueError(f"{name} is {str(value)[:70]!r}")
    if not 0 < state.characters_per_token < math.inf:
        raise ValueError(f"characters_per_token is {state.characters_per_token!r}")
    return state


def _fits(value: object, kind: Any) -> bool:
    """Whether ``value`` is what the annotation ``kind`` says, all the way down. No number here is
    ever below 0.
    """
    inside = get_args(kind)
    if get_origin(kind) is UnionType:
        return any(_fits(value, one) for one in inside)
    if isinstance(value, dict):
        return get_origin(kind) is dict and all(
            _fits(key, inside[0]) and _fits(each, inside[1]) for key, each in value.items()
        )
    if isinstance(value, list):
        return get_origin(kind) is list and all(_fits(each, inside[0]) for each in value)
    if is_dataclass(value):
        return type(value) is kind and all(
            _fits(getattr(value, name), one) for name, one in get_type_hints(kind).items()
        )
    return type(value) is kind and not (isinstance(value, int) and value < 0)
