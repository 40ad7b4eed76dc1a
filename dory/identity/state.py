"""state.json: the commit record of one identity, replaced atomically. What it does not name has not
happened.

Everything that an event changes is written first (blobs, the end of ``context.md``), then this
record. It names how far ``context.md`` counts and which LIFE lines follow. A crash before the
replacement leaves the state before the event. After a crash behind it, the resume completes the
event from here.
"""

import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path, PurePosixPath
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from dory import regular_files
from dory.errors import FormatError, UnknownVersion
from dory.storage import files, room_cursor
from dory.storage.rooms import clean_name
from dory.types import Line

VERSION = 1
HOME = "home"
"""The place at which a life begins."""


@dataclass(slots=True)
class RoomState:
    """How far a room was read. Offsets are bytes in its file.

    ``read`` is how far the model was given the lines, ``commands`` how far commands were run, which
    is ahead of it. Old commands are not run.
    """

    read: int = 0
    commands: int = 0
    exchanges: int = 0
    """Lines with which other agents have called on this one since a person last spoke there."""
    unheard: list[list[int]] = field(default_factory=list)
    """The parts that were passed over: said before it came, while it was away, or too much at once.
    For each the first byte, and the one behind the last.
    """
    replaced: int = 0
    """How often the file was exchanged or edited, so that the bytes before mean something else."""
    heard_last: list[str] = field(default_factory=list)
    run_last: list[str] = field(default_factory=list)
    """What stands before ``read`` and ``commands`` (``storage/room_cursor.py``)."""
    lost: list[str] = field(default_factory=list)
    """What was heard last in a file that was taken away, and does not stand in the present one."""
    begins: str = ""
    """The digest of the first message in the file."""
    waiting: list[str] = field(default_factory=list)
    """The people who have spoken there since the agent's own last message, in order."""
    reminded: bool = False
    """Whether the agent was reminded of those who wait since a person last spoke there."""
    doubted: bool = False
    """Whether it was since asked about something that it only claims to have done."""
    asked: list[str] = field(default_factory=list)
    """The agents that its own last message there named: their answers wake it."""
    callers: list[str] = field(default_factory=list)
    """The agents that have called on this one since its own last message there, in order."""
    answers: dict[str, list[str]] = field(default_factory=dict)
    """To whom its own newest messages there were said, oldest first: by the byte behind which each
    of them stands (``turn/addressees.py``).
    """
    said_at: int = 0
    """The entry that was next when it said something there last."""
    people: bool = False
    """Whether a person has spoken there since it came."""

    def entered(self, at: int, end: int) -> "RoomState":
        """Return the state of one who enters the room and hears it from byte ``at`` on. The
        commands up to ``end`` are not run.
        """
        unheard = list(self.unheard)
        if at > self.read:
            unheard.append([self.read, at])
        return replace(self, read=max(self.read, at), commands=end, unheard=unheard)

    def hear(self, line: Line) -> None:
        """The next message was handed to the agent."""
        room_cursor.passed(self.heard_last, self.read, line)
        self.read = line.end

    def passed_over(self, start: int, end: int) -> None:
        """Note that the part between these bytes is not heard."""
        if self.unheard and self.unheard[-1][1] == start:
            self.unheard[-1][1] = end
        else:
            self.unheard.append([start, end])

    def heard(self, start: int) -> Iterator[tuple[int, int]]:
        """Return the parts that were heard from byte ``start`` on: for each the first byte, and
        the one behind the last.
        """
        for first, last in [*self.unheard, [self.read, self.read]]:
            if start < min(first, self.read):
                yield start, min(first, self.read)
            start = max(start, last)


@dataclass(slots=True)
class Running:
    """A response whose tool lines are being run. ``done`` of them have an outcome on disk. ``mark``
    tells whether the next one has acted.
    """

    response: str
    done: int = 0
    mark: str = ""
    hidden: list[str] = field(default_factory=list)
    """What its hidden tools were given, in order. It is stored nowhere else until they have run."""
    tools: list[str] = field(default_factory=list)
    """The usages of the tools at that time, with which its lines are read again. Names alone, or
    nothing: written by an older Dory.
    """
    plain_room: str = ""
    """The room to which it goes as a whole, because it has no tool line; else empty."""
    rooms: list[str] = field(default_factory=list)
    """The rooms that it was in at that time."""
    cut: bool = False
    """Whether it ended at its length limit: its last call was not run."""


@dataclass(slots=True)
class Owed:
    """What is still to be written into a room: a notice, or what the agent said while another
    program held the room. It was written if the room has it behind byte ``mark``.
    """

    room: str
    text: str
    mark: int
    asker: str = ""
    """Who typed the command."""
    kind: str = "NOTICE"


@dataclass(slots=True)
class Opened:
    """An original that UNCOMPACT put back. It is pinned up to and including turn ``until``, and
    later folded into ``summary``.
    """

    hash: str
    gist: str
    summary: str
    until: int


@dataclass(slots=True)
class State:
    """Everything about an identity that is not text. Sizes are in bytes, turns count from 1."""

    name: str = ""
    """Its name in rooms. Fixed at boot, or it would not recognise its own lines."""
    turn: int = 0
    epoch: int = 0
    next_id: int = 1
    context_bytes: int = 0
    context_check: int | None = None
    """CRC-32 of those bytes. None, here and below, if an older Dory wrote the record."""
    life_bytes: int = 0
    life_lines: str = ""
    """Lines that belong at byte ``life_bytes``. After a crash they may or may not be there."""
    life_check: int | None = None
    """CRC-32 of LIFE.md up to the end of those lines."""
    life_tail: int | None = None
    """CRC-32 of the newest lines alone: a resume checks these without reading the whole file."""
    memory_changes: int = 0
    """How many commits of the SQLite file were on the disk when this was recorded."""
    awake: bool = False
    """Whether the context has something that the model has not answered yet."""
    stuck: bool = False
    """Whether the last model call failed."""
    woke_at: int = 1
    """The entry with which it last woke. What was heard from there on is still to be answered."""
    attended: int | None = None
    """How long usage.jsonl was when a person last spoke, in bytes (``llm/unattended.py``). None: an
    older Dory wrote the record.
    """
    waits_for_people: list[str] = field(default_factory=list)
    """The limits that were reached since, and that people were told of."""
    streak: int = 0
    """Turns since the last event from outside."""
    parent: str | None = None
    """The blob of the newest response."""
    texts: dict[str, str] = field(default_factory=dict)
    """The blob of each text that the prompt names by reference, by file name."""
    characters_per_token: float = 4.0
    rooms: dict[str, RoomState] = field(default_factory=dict)
    running: Running | None = None
    owed: Owed | None = None
    """The answer to a person's command."""
    notices: list[Owed] = field(default_factory=list)
    """What else is to be written into rooms."""
    opened: dict[str, Opened] = field(default_factory=dict)
    """By entry id."""
    last_swap: list[int] = field(default_factory=list)
    """First ids of the stretches that the last compaction replaced; empty once it was undone."""
    last_compaction: str = ""
    """One line for ``/status``."""
    failures: int = 0
    """Compactions in a row that achieved nothing."""
    paused_until: int = 0
    """No compaction starts by itself up to and including this turn."""
    taught: bool = False
    """Whether it was told how to address an answer that has no tool line."""
    drafts: list[str] = field(default_factory=list)
    """What hidden tools were given and could not store. It is stored nowhere else."""
    layout: str = ""
    """The layout of this epoch's prompts; empty: it has had none."""
    cache_model: str = ""
    cache_served: dict[str, list[int]] = field(default_factory=dict)
    """By layout, of how many turns it is known what that model's provider served from its cache,
    how many tokens that could have been, and how many it was.
    """
    tools_refused: dict[str, str] = field(default_factory=dict)
    """Models that write tool lines for good, each with its endpoint, and why."""
    mood: str = ""
    place: str = HOME
    """How the agent feels (empty if it has not said so), and where it is, in its own words."""

    @property
    def generation(self) -> int:
        """The length of the life that this record knows, in bytes (``generations``)."""
        return self.life_bytes + len(self.life_lines.encode())

    def waiting(self) -> list[tuple[str, str]]:
        """Each room in which people wait for an answer, with the name of each of them, in order."""
        return [(room, name) for room, at in self.rooms.items() for name in at.waiting]

    def names(self, content: bytes) -> bool:
        """Whether ``content`` is, byte for byte, the context that this record commits. Its epoch is
        not compared.
        """
        if len(content) != self.context_bytes:
            return False
        return self.context_check in (None, zlib.crc32(content))


def load(path: Path) -> State:
    """Read a state. Raises ``FormatError`` if it is missing, damaged or of an unknown version."""
    try:
        content = json.loads(regular_files.content(path))
        version = content.pop("version")
        check = content.pop("check", None)
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
            f"{path} is damaged (its content does not match its checksum): put it back from a"
            " backup"
        )
    try:
        return _typed(content)
    except (TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path} is damaged ({error}): put it back from a backup") from error


def save(path: Path, state: State) -> None:
    """Replace the record. It is durable when this returns."""
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
    content["notices"] = [Owed(**value) for value in content.get("notices", [])]
    state = State(**content)
    for name, kind in get_type_hints(State).items():
        value = getattr(state, name)
        if not _fits(value, kind):
            raise ValueError(f"{name} is {str(value)[:70]!r}")
    if not _is_name(state.name):
        raise ValueError(f"no agent is named {state.name[:70]!a}")
    if not 0 < state.characters_per_token < math.inf:
        raise ValueError(f"characters_per_token is {state.characters_per_token!r}")
    return state


def _is_name(name: str) -> bool:
    """Whether an agent may have that name: it stands in a tag as it is, and leads nowhere as a
    path. Empty: an older Dory wrote the record, or it is being made.
    """
    path = PurePosixPath(name)
    is_path = path.is_absolute() or ".." in path.parts
    return not name or (name == clean_name(name) and not is_path)


def _fits(value: object, kind: Any) -> bool:
    """Whether ``value`` has the type ``kind``, at every level, and holds no integer below 0."""
    parts = get_args(kind)
    if get_origin(kind) is UnionType:
        return any(_fits(value, part) for part in parts)
    if isinstance(value, dict):
        return get_origin(kind) is dict and all(
            _fits(key, parts[0]) and _fits(item, parts[1]) for key, item in value.items()
        )
    if isinstance(value, list):
        return get_origin(kind) is list and all(_fits(item, parts[0]) for item in value)
    if is_dataclass(value):
        return type(value) is kind and all(
            _fits(getattr(value, name), hint) for name, hint in get_type_hints(kind).items()
        )
    return type(value) is kind and not (isinstance(value, int) and value < 0)
