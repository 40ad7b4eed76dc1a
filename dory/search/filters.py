"""Which passages a search is about: of which kinds, from which room, by whom, of which days.

Each passage has terms for its kind, speaker, room and day, which no word of a text can equal. A
filter is an expression over them, so the full-text table leaves out all other passages, however
many there are.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Protocol

from dory.text.tokenizer import folded

UNDATED = ("Note", "Archive")
"""The kinds of which nobody asks when they were written. Their speaker is the name that they go by.
"""
_LABEL = "\ue000"  # not a letter, so no word of a text can equal such a term
_SIGNS = str.maketrans({"-": "\ue001", "_": "\ue002"})
"""The full-text table would cut a room's name at these."""
_NEVER = "\ue003"
"""A term that nothing has."""
_FIRST = date(1970, 1, 1)
"""Nothing is older."""


class _Document(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def speaker(self) -> str: ...
    @property
    def room(self) -> str: ...
    @property
    def at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Filter:
    """What a passage must be. What is empty or None admits all. ``who`` is a speaker, ``since`` and
    ``until`` are the first and the last day; of ``kinds`` and ``without`` case does not matter.
    """

    kinds: Collection[str] = ()
    without: Collection[str] = ()
    room: str = ""
    who: str = ""
    since: date | None = None
    until: date | None = None

    def __bool__(self) -> bool:
        return any((self.kinds, self.without, self.room, self.who, self.since, self.until))

    def expression(self, match: str, newest: date) -> str:
        """What FTS5 is asked for those passages of ``match`` that it admits; with an empty
        ``match`` all that it admits. No passage is of a later day than ``newest``.
        """
        wanted = [match, _any_of(label(kind) for kind in self.kinds)]
        wanted += [f'"{by(name)}"' for name in folded(self.who).split()]
        if self.room:
            wanted.append(f'"{_in_room(self.room)}"')
        if self.since or self.until:
            last = min(self.until or newest, newest)
            wanted.append(_any_of(_days(max(self.since or _FIRST, _FIRST), last)) or f'"{_NEVER}"')
        parts = [part for part in wanted if part]
        expression = match if parts == [match] else " AND ".join(f"({part})" for part in parts)
        without = _any_of(label(kind) for kind in self.without)
        return f"({expression}) NOT ({without})" if without and expression else expression

    def admits(self, document: _Document) -> bool:
        """Whether a document is one of them. Neighbours of what was found may not be."""
        kind, day = document.kind.lower(), document.at.date()
        return (
            (not self.kinds or kind in map(str.lower, self.kinds))
            and kind not in map(str.lower, self.without)
            and self.room in ("", document.room)
            and (not self.who or _is_by(self.who, document))
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
        )


def labels(document: _Document) -> str:
    """The terms of a document for filters, with spaces between."""
    at = document.at
    every = [label(document.kind), *(f"{_LABEL}{at:{form}}" for form in ("%Y", "%Y%m", "%Y%m%d"))]
    every += map(by, folded(document.speaker).split())
    if document.room:
        every.append(_in_room(document.room))
    return " ".join(every)


def label(kind: str) -> str:
    """The term that every passage of a kind has."""
    return f"{_LABEL}{kind}"


def by(name: str) -> str:
    """The term that every passage by a speaker of that name has."""
    return f"{_LABEL}{_LABEL}{name}"


def _in_room(room: str) -> str:
    """The term that every passage from a room has. Its last sign keeps it from being stemmed."""
    return f"{_LABEL}{_LABEL}{_LABEL}{room.lower().translate(_SIGNS)}{_LABEL}"


def _is_by(who: str, document: _Document) -> bool:
    names = set(folded(document.speaker).split())
    return document.kind not in UNDATED and names.issuperset(folded(who).split())


def _days(first: date, last: date) -> Iterator[str]:
    """The terms of all days from the first to the last, as few as will do: whole years and months
    have their own.
    """
    day = first
    while day <= last:
        year, month = date(day.year, 12, 31), _month_end(day)
        if (day.month, day.day) == (1, 1) and year <= last:
            yield f"{_LABEL}{day:%Y}"
            day = year
        elif day.day == 1 and month <= last:
            yield f"{_LABEL}{day:%Y%m}"
            day = month
        else:
            yield f"{_LABEL}{day:%Y%m%d}"
        day += timedelta(1)


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(4)).replace(day=1) - timedelta(1)


def _any_of(labels: Collection[str] | Iterator[str]) -> str:
    return " OR ".join(f'"{label}"' for label in labels)
