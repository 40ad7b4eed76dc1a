"""Relationships: what the agent thinks of those it knows. Tables of the agent's SQLite file:

    relationship       a row for each change: id (rising), whose, when, and all fields from then on
    relationship_room  for which rooms the agent acted as it made a change; none of older changes

The newest row of a name is how things stand, the row before it holds the old values. Rows are only
added. How often and since when they have spoken with each other is not stored here: it is counted
from the records of conversations (``extensions/people/conversations.py``).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from dory.errors import ToolError
from dory.storage.database import Store
from dory.text import formatting

USAGE = (
    "ASSIGN_RELATIONSHIP <name> <type>; trust: <level>; tone: <emotion>; notes: <text>; "
    "because: <reason>"
)
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS relationship (id INTEGER PRIMARY KEY, name TEXT, at INTEGER,"
    " relationship_type TEXT, trust_level TEXT,"
    " emotional_tone TEXT, relationship_notes TEXT, rationale TEXT)",
    "CREATE INDEX IF NOT EXISTS relationship_with ON relationship (name, id)",
)
_ROOMS = "relationship_room"
_LATER_SCHEMA = (
    f"CREATE TABLE IF NOT EXISTS {_ROOMS} (id INTEGER, room TEXT, PRIMARY KEY (id, room))"
    " WITHOUT ROWID"
)
_NAMES = {
    "type": "relationship_type",
    "relationship type": "relationship_type",
    "trust": "trust_level",
    "trust level": "trust_level",
    "tone": "emotional_tone",
    "emotional tone": "emotional_tone",
    "notes": "relationship_notes",
    "relationship notes": "relationship_notes",
    "because": "rationale",
    "reason": "rationale",
    "rationale": "rationale",
}
_FIELD = rf"({'|'.join(_NAMES).replace(' ', '[ _]')})\s*[:=]"
_SIGNS = r"[\s;|,(]*(?:[-*]\s+)?"
_BEGINNING = re.compile(
    rf"(^|[;|,(\n]){_SIGNS}{_FIELD}"  # a field behind a separator
    rf"|(^|[;|\n]){_SIGNS}because\s+"  # a plain because behind a strong separator
    r"|[\s(]because(?:\s*[:=]\s*|\s+)",  # a because within the text
    re.IGNORECASE,
)
"""Where a field begins. Group 2 is its name; group 3 is set for a plain because at a separator."""
_STRAY = re.compile(rf"\b{_FIELD}", re.IGNORECASE)
_LIMITS = {
    "relationship_type": 40,
    "trust_level": 40,
    "emotional_tone": 60,
    "relationship_notes": 500,
    "rationale": 300,
}
"""Characters of each field."""
_MOST = 12_000
"""Characters of all fields, with their names."""
_SHORT = ("relationship_type", "trust_level", "emotional_tone")


@dataclass(frozen=True, slots=True)
class Relationship:
    """How things stand with somebody, in the agent's own words; an empty field was never said."""

    relationship_type: str = "neutral"
    trust_level: str = ""
    emotional_tone: str = ""
    relationship_notes: str = ""
    rationale: str = ""


FIELDS = tuple(field.name for field in fields(Relationship))


@dataclass(frozen=True, slots=True)
class Change:
    """How things stand from ``at`` on."""

    at: datetime
    bond: Relationship


class Relationships:
    """The relationships of one agent.

    Raises a ``ToolError`` that says what to do, and what the ``Store`` raises.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        store.tables(*_SCHEMA)
        if not store.readonly:  # a reader takes the file as it is
            store.tables(_LATER_SCHEMA)

    @property
    def changes(self) -> int:
        """How many changes there have been."""
        return self._store.number("SELECT count(*) FROM relationship")

    def history(self, name: str) -> list[Change]:
        """All changes of one relationship, oldest first."""
        sql = f"SELECT at, {', '.join(FIELDS)} FROM relationship WHERE name = ? ORDER BY id"
        rows = self._store.rows(sql, (name,))
        return [Change(self._store.moment(at), Relationship(*values)) for at, *values in rows]

    def bonds(self) -> dict[str, Relationship]:
        """How things stand with everyone of whom the agent has ever said something."""
        sql = f"SELECT name, {', '.join(FIELDS)}, max(id) FROM relationship GROUP BY name"
        return {name: Relationship(*values) for name, *values, _ in self._store.rows(sql)}

    def rooms(self) -> dict[str, set[str]]:
        """For each relationship the rooms from which the agent may have what it says of it. An
        empty name stands for any room.
        """
        made: dict[str, set[str]] = {}
        room, beside = "''", ""
        if self._store.has(_ROOMS):
            room, beside = "coalesce(room, '')", f" LEFT JOIN {_ROOMS} USING (id)"
        for name, place in self._store.rows(f"SELECT name, {room} FROM relationship{beside}"):
            made.setdefault(name, set()).add(place)
        return made

    def roomless(self) -> int:
        """How many rows name a room of no change; for the check."""
        if not self._store.has(_ROOMS):
            return 0
        return self._store.number(
            f"SELECT count(*) FROM {_ROOMS} WHERE id NOT IN (SELECT id FROM relationship)"
        )

    def assign(
        self, name: str, said: dict[str, str], at: datetime, rooms: Sequence[str] = ()
    ) -> tuple[Relationship, Relationship]:
        """Change the fields that were ``said``; a field that is empty there is cleared. ``rooms``
        are those for which the agent acts.

        Returns the relationship before and after the change.
        """
        history = self.history(name)
        before = history[-1].bond if history else Relationship()
        after = replace(before, **said)
        if history and after == before:
            raise ToolError(
                f"{name} is {before.relationship_type} to you already, for that reason: "
                "say what is different now"
            )
        values = [getattr(after, field) for field in FIELDS]
        with self._store.writing() as connection:
            insert = "INSERT INTO relationship VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
            id = connection.execute(insert, (name, int(at.timestamp()), *values)).lastrowid
            for room in set(rooms):
                connection.execute(f"INSERT INTO {_ROOMS} VALUES (?, ?)", (id, room))
        return before, after


def read(text: str) -> tuple[str, dict[str, str]]:
    """The name and the fields in the argument of ASSIGN_RELATIONSHIP.

    The type comes first. The other fields follow as ``name: text`` in any order, each behind ``;``,
    ``|``, a comma, a bracket or a line break. A reason may also follow a plain ``because``, and
    only a line break ends it. Fields that were written empty are returned empty. Raises a
    ``ToolError`` if the text could be read in two ways.
    """
    if len(text) > _MOST:
        raise ToolError(f"that has {len(text)} characters, it may have {_MOST}: say it shorter")
    text = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
    name, rest = [*text.split(maxsplit=1), "", ""][:2]
    said: dict[str, str] = {}
    for field, value in _fields(rest):
        value = _closed(formatting.one_line(value, 1000).strip(" ;|,"))
        _check_field(field, value, said)
        said[field] = value
    missing = _missing(name, said)
    if missing:
        raise ToolError(f"{missing}? write {USAGE}; only type and reason must be there")
    return name, said


def _check_field(field: str, value: str, said: dict[str, str]) -> None:
    """Raise a ``ToolError`` if a field holds another one, is there twice, or is too long."""
    stray = _STRAY.search(value) if field in _SHORT else None
    if stray:
        raise ToolError(f"put a semicolon before {stray[0].strip()!r}: write {USAGE}")
    if said.get(field):
        raise ToolError(f"{field} is there twice: write {USAGE}")
    if len(value) > _LIMITS[field]:
        raise ToolError(
            f"{field} has {len(value)} characters, it may have {_LIMITS[field]}: say it shorter"
        )


def _missing(name: str, said: dict[str, str]) -> str:
    """What is asked for if something is missing; empty if nothing is."""
    if not name:
        return "who"
    if not said["relationship_type"]:
        return "what are they to you"
    if not said.get("rationale"):
        return "why"
    return ""


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Each field and what stands behind its name."""
    field = "relationship_type"
    start = 0
    for beginning in _BEGINNING.finditer(text):
        written = beginning[2]
        separated = beginning[3] is not None
        before = text[beginning.start() : beginning.start(2)] if written else ""
        if field == "rationale" and written and "\n" not in before:
            raise ToolError(
                f"{written!r} stands behind the reason: put it before 'because:', "
                "or on a line of its own"
            )
        if written or field in _SHORT or (field != "rationale" and separated):
            yield field, text[start : beginning.start()]
            field = _NAMES[written.lower().replace("_", " ")] if written else "rationale"
            start = beginning.end()
        # else this because is a word like any other
    yield field, text[start:]


def _closed(value: str) -> str:
    """``value`` without a bracket that was opened before the field."""
    if value.endswith(")") and value.count(")") > value.count("("):
        return value[:-1].rstrip()
    return value
