"""Relationships: what the agent thinks of those it knows. One table of the agent's one SQLite file.

    relationship    a row for each change: id (rising), whose, when, and all fields as they were from then on

The newest row of somebody is how things stand, the one before it holds the old values. Rows are
only added. How often and since when they have dealt with each other is not here: it is counted from
what was said (``extensions/people/conversations.py``).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import datetime

from dory.errors import ToolError
from dory.storage.database import Store
from dory.text import formatting

USAGE = "ASSIGN_RELATIONSHIP <name> <type>; trust: <level>; tone: <emotion>; notes: <text>; because: <reason>"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS relationship (id INTEGER PRIMARY KEY, name TEXT, at INTEGER, relationship_type TEXT, trust_level TEXT,"
    " emotional_tone TEXT, relationship_notes TEXT, rationale TEXT)",
    "CREATE INDEX IF NOT EXISTS relationship_with ON relationship (name, id)",
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
    rf"(^|[;|,(\n]){_SIGNS}{_FIELD}|(^|[;|\n]){_SIGNS}because\s+|[\s(]because(?:\s*[:=]\s*|\s+)",
    re.IGNORECASE,
)
_STRAY = re.compile(rf"\b{_FIELD}", re.IGNORECASE)
_LIMITS = {
    "relationship_type": 40,
    "trust_level": 40,
    "emotional_tone": 60,
    "relationship_notes": 500,
    "rationale": 300,
}
"""Characters of each field."""
_SHORT = ("relationship_type", "trust_level", "emotional_tone")


@dataclass(frozen=True, slots=True)
class Relationship:
    """How things stand with somebody, each field in the agent's own words; empty ones were never
    said.
    """

    relationship_type: str = "neutral"
    trust_level: str = ""
    emotional_tone: str = ""
    relationship_notes: str = ""
    rationale: str = ""


FIELDS = tuple(field.name for field in fields(Relationship))


@dataclass(frozen=True, slots=True)
class Change:
    """How things stood from ``at`` on."""

    at: datetime
    bond: Relationship


class Relationships:
    """Those of one agent. Raises a ``ToolError`` that says what to do, and what the store raises."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.tables(*_SCHEMA)

    @property
    def changes(self) -> int:
        """How many changes there have been."""
        return self._store.number("SELECT count(*) FROM relationship")

    def history(self, name: str) -> list[Change]:
        """All changes with somebody, the oldest first."""
        rows = self._store.rows(
            f"SELECT at, {', '.join(FIELDS)} FROM relationship WHERE name = ? ORDER BY id", (name,)
        )
        return [Change(self._store.moment(at), Relationship(*row)) for at, *row in rows]

    def bonds(self) -> dict[str, Relationship]:
        """How things stand with everyone of whom something was ever said."""
        rows = self._store.rows(
            f"SELECT name, {', '.join(FIELDS)}, max(id) FROM relationship GROUP BY name"
        )
        return {name: Relationship(*row) for name, *row, _ in rows}

    def assign(
        self, name: str, said: dict[str, str], at: datetime
    ) -> tuple[Relationship, Relationship]:
        """Change what was ``said``; what is empty there is cleared, the rest stays. Returns how
        things stood, and how they stand.
        """
        history = self.history(name)
        before = history[-1].bond if history else Relationship()
        after = replace(before, **said)
        if history and after == before:
            raise ToolError(
                f"{name} is {before.relationship_type} to you already, for that reason: say what is different now"
            )
        with self._store.writing() as connection:
            values = [getattr(after, field) for field in FIELDS]
            connection.execute(
                "INSERT INTO relationship VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
                (name, int(at.timestamp()), *values),
            )
        return before, after


def read(text: str) -> tuple[str, dict[str, str]]:
    """The name and the fields in the argument of ASSIGN_RELATIONSHIP. The type comes first, the
    others as ``name: text`` in any order, each behind ``;``, ``|``, a comma, a bracket or a line
    break; a reason may also follow a plain ``because``, and only a line break ends it. Empty fields
    are there if they were written. What could be read in two ways is refused with a ``ToolError``.
    """
    name, rest = [*text.split(maxsplit=1), "", ""][:2]
    said: dict[str, str] = {}
    for field, value in _fields(rest):
        value = _closed(formatting.one_line(value, 1000).strip(" ;|,"))
        stray = _STRAY.search(value) if field in _SHORT else None
        if stray or said.get(field):
            told = (
                f"put a semicolon before {stray[0].strip()!r}"
                if stray
                else f"{field} is there twice"
            )
            raise ToolError(f"{told}: write {USAGE}")
        if len(value) > _LIMITS[field]:
            raise ToolError(
                f"{field} has {len(value)} characters, it may have {_LIMITS[field]}: say it shorter"
            )
        said[field] = value
    if not name or not said["relationship_type"] or not said.get("rationale"):
        missing = (
            "who"
            if not name
            else "what are they to you"
            if not said["relationship_type"]
            else "why"
        )
        raise ToolError(f"{missing}? write {USAGE}; only type and reason must be there")
    return name, said


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Each field and what stands behind its name."""
    field, start = "relationship_type", 0
    for found in _BEGINNING.finditer(text):
        name = _NAMES[found[2].lower().replace("_", " ")] if found[2] else "rationale"
        if (
            field == "rationale"
            and found[2]
            and "\n" not in found[0][: found.start(2) - found.start()]
        ):
            raise ToolError(
                f"{found[2]!r} stands behind the reason: put it before 'because:', or on a line of its own"
            )
        if (
            found[2] or field in _SHORT or (field != "rationale" and found[3] is not None)
        ):  # else because is a word like any other
            yield field, text[start : found.start()]
            field, start = name, found.end()
    yield field, text[start:]


def _closed(value: str) -> str:
    """Without the bracket that closes one before the field."""
    return (
        value[:-1].rstrip()
        if value.endswith(")") and value.count(")") > value.count("(")
        else value
    )
