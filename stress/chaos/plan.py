"""Which points a life is killed at: all of it follows from the life's seed, so a life can be
repeated alone.

Consecutive seeds walk through the whole list of points. A point that needs a certain home (one that
a kill at another point left behind) brings that kill along. One kill in each life comes at a random
instant. A life whose seed can be divided by eight begins in an empty home, the others in a grown
one; those that leave one when divided by four, and those that need it, have their model behind
HTTP.
"""

import random
from dataclasses import dataclass

KILLS = 4
"""In one life, one process after the other in the same home."""
RANDOM = "random instant"


@dataclass(frozen=True, slots=True)
class Point:
    """Where a process is killed. ``lead`` is what people do so that it comes there, ``after`` the
    kill that must come before.
    """

    name: str
    lead: tuple[str, ...]
    after: str = ""
    often: bool = False
    """Whether it is passed again and again, so that any of its occurrences may be the one."""

    @property
    def on_the_wire(self) -> bool:
        """Whether only the model that takes orders comes there: the offline model never changes its
        rooms or its workspace.
        """
        return not {"join", "leave", "note", "keep"}.isdisjoint(self.lead)


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
"""Of git: a blob, a tree or the commit is there; what the branch or the index will hold is being
written, and is there, without its lock.
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
"""These need a home in which nobody lives yet."""

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
    *_points(
        "SAY",
        ("before append room", "half-way append room", "after append room", *_RESULT),
        ("talk", "remember"),
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
    *_points("turn", _COMMIT, ("talk", "remember"), often=True),
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
"""These need an identity that has lived for a while."""

POINTS = {point.name: point for point in [*BOOT, *LIVING]}


@dataclass(frozen=True, slots=True)
class Plan:
    """A life. ``points`` in order, ``fresh`` when its home begins empty, ``on_the_wire`` when its
    model is served over HTTP.
    """

    seed: int
    points: tuple[Point, ...]
    fresh: bool
    on_the_wire: bool


def plan(seed: int) -> Plan:
    """The life of that seed."""
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
    points: list[Point] = []
    for point in wanted:
        points += [POINTS[point.after], point] if point.after else [point]
    wired = seed % 4 == 1 or any(point.on_the_wire for point in points)
    return Plan(seed, tuple(points), fresh, wired)
