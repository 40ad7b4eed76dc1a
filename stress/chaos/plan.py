"""The points at which a life is killed. They follow from the life's seed alone, so one life can be
repeated by itself.

Consecutive seeds go through the whole list of points. Some points need the home that a kill at
another point leaves behind; such a point includes that kill. One kill in each life comes at a
random instant. Where there is strace, one more comes inside a system call, or calls fail for a
while. If the seed is a multiple of eight, the life starts in an empty home, otherwise in a grown
one. The model is behind HTTP if the seed modulo four is one, or if a point needs it.
"""

import random
from dataclasses import dataclass

KILLS = 4
"""Kills in one life, of one process after the other in the same home."""
RANDOM = "random instant"
HOSTILE = "a hostile model"
"""No point, but talk with a model that answers anything."""
NATIVE = "between native calls"
"""What the agent is doing between two calls of an answer whose model calls functions."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a process is killed. ``lead`` is what people do so that the agent reaches the point;
    ``after`` is the point of the kill that must come before.
    """

    name: str
    lead: tuple[str, ...]
    after: str = ""
    often: bool = False
    """Whether the agent passes it again and again, so that the kill may come at any occurrence."""
    last: int = 3
    """The last of these occurrences."""
    ending: bool = False
    """Whether the agent passes it when it is told to end, too, and there at the latest."""

    @property
    def on_the_wire(self) -> bool:
        """Whether only the model that takes orders reaches it. The offline model never joins or
        leaves a room, never edits the workspace, and never leaves a message unanswered.
        """
        led = not {"join", "leave", "note", "keep", "silent"}.isdisjoint(self.lead)
        return led or self.native

    @property
    def native(self) -> bool:
        """Whether only a model that calls functions reaches it."""
        return self.name.startswith(NATIVE)


_COMMIT = (
    "half-way write_at context.md",
    "half-way replace_in state.json",
    "written replace_in state.json",
    "after replace_in state.json",
    "half-way write_at LIFE.md",
    "after write_at LIFE.md",
)
_EPOCH = (
    "half-way replace_in context.next.md",
    "after replace_in context.next.md",
    "written replace_in state.json",
    "after replace_in state.json",
    "before sync_folder identity",  # the new context.md is in its place
    "half-way write_at LIFE.md",
    "after write_at LIFE.md",
)
_RESULT = ("half-way replace_in blob", "after replace_in blob")

_SQLITE = ("before COMMIT", "after COMMIT")

_SUMMARIES = (
    "half-way replace_in longterm.md",
    "after replace_in longterm.md",
    "half-way replace_in copy",
    "after replace_in copy",
    "written replace_in recent.md",
    "after replace_in recent.md",
)

_COMMITTING = (
    "after replace_in object",
    "half-way replace_in dory-new",
    "after replace_in dory-new",
)
"""In git: a blob, a tree or the commit is written; then the branch or the index, which dulwich
writes to a new file and renames.
"""

_COMPACT = ("stranger", "compact", "talk", "stranger")
_DREAM = ("tell", *_COMPACT, "dream", "talk")
_ROOMS = ("join", "elsewhere", "leave", "elsewhere")
_BEGUN = "after replace_in dream.json"
_BETWEEN = "between tools: after replace_in state.json"


def _points(
    doing: str,
    moments: tuple[str, ...],
    lead: tuple[str, ...],
    after: str = "",
    often: bool = False,
) -> list[Point]:
    return [Point(f"{doing}: {moment}", lead, after, often) for moment in moments]


BOOT = _points(
    "boot",
    (
        "half-way replace_in blob",
        "after replace_in blob",
        "half-way append room",
        "after append room",
        "before replace_in MEMORY.md",
        "written replace_in context.md",
        "half-way replace_in state.json",
        "after replace_in state.json",
        "before sync_folder agents",  # the identity is in its place
    ),
    (),
)
"""These need an empty home."""

LIVING = [
    *_points("resume", _EPOCH, ()),
    *_points("opening", ("half-way write_at LIFE.md", "after write_at LIFE.md"), ()),
    *_points(
        "opening", ("before sync_folder identity",), (), after="swap: after replace_in state.json"
    ),
    *_points("interruption", _COMMIT, (), after=_BETWEEN),
    *_points("hearing", _COMMIT, ("talk",), often=True),
    *_points("hearing", ("half-way append room", "after append room"), ("stray",)),
    *_points(
        "turn",
        ("before ask", "half-way append usage.jsonl", "after append usage.jsonl", "after ask"),
        ("talk",),
        often=True,
    ),
    *_points(
        "response",
        ("half-way replace_in blob", "written replace_in blob", "after replace_in blob"),
        ("talk",),
        often=True,
    ),
    *_points(
        "between tools",
        ("half-way append room", "after append room", *_COMMIT),
        ("remember",),
        often=True,
    ),
    *_points(NATIVE, _COMMIT, ("remember",), often=True),
    *_points(
        "SAY",
        ("before append room", "half-way append room", "after append room", *_RESULT),
        ("talk", "plain", "remember"),
        often=True,
    ),
    *_points(
        "EDIT_FILE",
        (
            "before replace_in MEMORY.md",
            "half-way replace_in MEMORY.md",
            "written replace_in MEMORY.md",
            "after replace_in MEMORY.md",
        ),
        ("remember",),
        often=True,
    ),
    *_points("EDIT_FILE", _RESULT, ("remember",), often=True),
    *_points(
        "EDIT_FILE",
        ("half-way replace_in all.md", "after replace_in all.md"),
        ("note",),
        often=True,
    ),
    *_points("NOTE_ADD", (*_SQLITE, *_RESULT), ("keep",), often=True),
    *_points(
        "JOIN",
        ("after append room", "before sync_folder subs", "after sync_folder subs", *_RESULT),
        _ROOMS,
        often=True,
    ),
    *_points(
        "LEAVE", ("before sync_folder subs", "after sync_folder subs", *_RESULT), _ROOMS, often=True
    ),
    *_points("turn", _COMMIT, ("talk", "plain", "remember"), often=True),
    *_points(
        "turn",
        ("before append room", "half-way append room", "after append room"),
        ("silent",),
        often=True,
    ),
    *_points("command", _COMMIT, ("status", "uncompact"), often=True),
    *_points(
        "command",
        ("before append room", "half-way append room", "after append room"),
        ("status", "uncompact"),
        often=True,
    ),
    *_points("beside the loop", ("before distil", "after distil"), _COMPACT),
    *_points("swap", (*_RESULT, *_EPOCH), _COMPACT),
    *_points("archive", _SQLITE, _COMPACT),
    *_points("marker", _COMMIT, _COMPACT),
    *_points("index", _SQLITE, ("talk", "remember"), often=True),
    *_points("summing up", ("before run", "after run"), ("talk", "remember"), often=True),
    *_points("summaries", (*_SUMMARIES, *_SQLITE), ("talk", "remember"), often=True),
    *_points(
        "history",
        ("half-way append history.jsonl", "after append history.jsonl", "after replace_in .cursor"),
        _COMPACT,
    ),
    *_points("version", _COMMITTING, ("tell", "edit", "talk"), often=True),
    *_points("dreaming", ("before dream", "after dream"), _DREAM),
    *_points(
        "dream",
        (
            *_RESULT,
            "half-way replace_in dream.json",
            _BEGUN,
            *_COMMITTING,
            "after replace_in .dream_cursor",
        ),
        _DREAM,
    ),
    *_points(
        "dream",
        ("before replace_in USER.md", "after replace_in USER.md", "after replace_in MEMORY.md"),
        _DREAM,
    ),
    *_points(
        "dream",
        ("after replace_in state.json", "after write_at LIFE.md", "before sync_folder identity"),
        _DREAM,
    ),
    *_points(
        "mending",
        ("before replace_in USER.md", *_COMMITTING, "before sync_folder identity"),
        (),
        after=f"dream: {_BEGUN}",
    ),
    *_points(
        "restore", ("after replace_in USER.md", "after replace_in object"), (*_DREAM, "restore")
    ),
    *_points("fold", _EPOCH, _COMPACT),
    *_points("undo", _EPOCH, (*_COMPACT, "undo")),
    *_points("hard limit", (*_RESULT, *_EPOCH), ("flood",)),
]
"""These need an identity with some history."""

_WRITING = ("keep", "talk", "remember", "compact", "tell", "talk")


def _calls(names: str, last: int, *wheres: str, ending: bool = False) -> list[Point]:
    return [
        Point(f"{what} {name}{where}", _WRITING, often=True, last=last, ending=ending)
        for what in ("inside", "ENOSPC from", "EIO from", "EINTR from")
        for name in names.split()
        for where in wheres
    ]


CALLS = [
    *_calls("pwrite64", 40, " of memory.sqlite-wal"),
    *_calls("fdatasync", 12, " of memory.sqlite-wal"),
    *_calls("pwrite64", 8, " of memory.sqlite", ending=True),
    *_calls("fdatasync", 1, " of memory.sqlite", ending=True),
    *_calls("pwrite64", 40, ""),
    *_calls("write", 6, " of LIFE.md", " of context.md", " of dev room"),
    *_calls("write", 3, " of usage.jsonl", " of history.jsonl"),
    *_calls("sync rename", 30, ""),
    *_calls("unlink ftruncate", 4, ""),
]
"""These need strace. Without an identity the files do not count, as nobody knows their folder."""

_CONTRARY = ("talk", "keepsakes", "tell", "compact", "ask", "dream", "edit", "plain", "talk")
"""What people do with a hostile model; it leads to a call for every purpose."""

POINTS = {point.name: point for point in [*BOOT, *LIVING]}


@dataclass(frozen=True, slots=True)
class Plan:
    """A life: its points in order, whether its home is empty at first (``fresh``), whether its
    model is behind HTTP (``on_the_wire``), whether that answers anything (``hostile``), and whether
    it calls functions (``native``).
    """

    seed: int
    points: tuple[Point, ...]
    fresh: bool
    on_the_wire: bool
    hostile: bool = False
    native: bool = False


def plan(seed: int, calls: bool = False) -> Plan:
    """The life with this seed. With ``calls`` one more process comes to a point of ``CALLS``."""
    chance = random.Random(seed)
    named = KILLS - 1
    fresh = seed % 8 == 0
    wanted = [
        LIVING[(seed + number * len(LIVING) // named) % len(LIVING)] for number in range(named)
    ]
    if fresh:
        wanted[0] = BOOT[seed // 8 % len(BOOT)]
        wanted[1:] = [
            point if point.often else POINTS[_BETWEEN] for point in wanted[1:]
        ]  # it is too young for the others
    wanted.insert(chance.randint(int(fresh), len(wanted)), Point(RANDOM, ("any",)))
    if calls:
        # each step leads to another kind of call, and in the end to each point
        wanted.insert(chance.randint(int(fresh), len(wanted)), CALLS[seed * 5 % len(CALLS)])
    points: list[Point] = []
    for point in wanted:
        points += [POINTS[point.after], point] if point.after else [point]
    wired = seed % 4 == 1 or any(point.on_the_wire for point in points)
    native = any(point.native for point in points)
    return Plan(seed, tuple(points), fresh, wired, native=native)


def hostile(seed: int) -> Plan:
    """A life with a hostile model. It is killed once at a random instant, and at the end."""
    talking = Point(HOSTILE, _CONTRARY)
    return Plan(
        seed,
        (talking, Point(RANDOM, ("any",)), talking),
        fresh=False,
        on_the_wire=False,
        hostile=True,
    )
