"""What is asked of RECALL: words, and filters between them.

    RECALL lisbon since:2026-03-01 until:2026-04 room:dev who:ada kind:note
    RECALL notes: lisbon

A day, a month or a year is the first or the last of which something is found. A filter without
words finds the newest. Whatever is no filter is words, so any text can be asked.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from dory.errors import ToolError
from dory.search.filters import Filter
from dory.text import formatting
from dory.text.tokenizer import folded

_FILTER = re.compile(r"(?<!\S)(since|until|room|who|kind):(\"[^\"]+\"|\S+)", re.IGNORECASE)
_NOTES = re.compile(r"\s*notes:(?!\S)", re.IGNORECASE)
_DAY = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")
_NAMED = 12
"""Names that one line lists."""


@dataclass(frozen=True, slots=True)
class Known:
    """What there is to filter by. ``kinds`` are those of documents; None stands for any name."""

    kinds: Collection[str]
    rooms: Collection[str]
    speakers: Collection[str] | None


@dataclass(frozen=True, slots=True)
class Request:
    """The words that are looked for, and what a hit must be."""

    words: str
    only: Filter


def is_filtered(query: str) -> bool:
    """Whether there is a filter in a query."""
    return bool(_FILTER.search(query) or _NOTES.match(query))


def read(query: str, known: Known) -> Request:
    """Take a query apart. Raises ``ToolError`` for a filter that nothing can have; it says what is
    legal.
    """
    if not is_filtered(query):
        return Request(query, Filter())
    values = {match[1].lower(): match[2].strip('"') for match in _FILTER.finditer(query)}
    words = _FILTER.sub(" ", query)
    if _NOTES.match(words):
        words = _NOTES.sub("", words)
        values.setdefault("kind", "note")
    return Request(words.strip(), _filter(values, known))


def _filter(values: Mapping[str, str], known: Known) -> Filter:
    since = _day("since", values["since"])[0] if "since" in values else None
    until = _day("until", values["until"])[1] if "until" in values else None
    if since and until and since > until:
        raise ToolError(f"since:{values['since']} is later than until:{values['until']}: swap them")
    kinds = {kind.lower(): kind for kind in known.kinds}
    kind = values.get("kind", "").lower()
    if kind and kind not in kinds:
        kind = kind.removesuffix("s")
    if kind and kind not in kinds:
        raise _unknown("kind", values["kind"], "kinds are", sorted(kinds))
    room = values.get("room", "").lower()
    if room and room not in known.rooms:
        raise _unknown("room", values["room"], "rooms are", known.rooms)
    who = values.get("who", "").removeprefix("@")
    if who and known.speakers is not None and not _is_any(who, known.speakers):
        raise _unknown("who", values["who"], "heard were", known.speakers)
    return Filter([kinds[kind]] if kind else (), room=room, who=who, since=since, until=until)


def _day(name: str, value: str) -> tuple[date, date]:
    """The first and the last day of a day, a month or a year."""
    parts = _DAY.fullmatch(value)
    year, month, day = (int(part or 0) for part in parts.groups()) if parts else (0, 0, 0)
    try:
        first = date(year, month or 1, day or 1)
        after = date(year + month // 12, month % 12 + 1, 1) if month else date(year + 1, 1, 1)
    except ValueError:
        raise ToolError(
            f"{name}:{formatting.one_line(value, 40)} is no day: write {name}:2026-03-01, a month"
            f" as {name}:2026-03 or a year as {name}:2026"
        ) from None
    return first, first if day else after - timedelta(1)


def _is_any(who: str, speakers: Collection[str]) -> bool:
    names = set(folded(who).split())
    return bool(names) and any(names.issubset(folded(name).split()) for name in speakers)


def _unknown(name: str, value: str, are: str, known: Collection[str]) -> ToolError:
    listed = ", ".join(list(known)[:_NAMED]) or "none yet"
    more = f" and {len(known) - _NAMED} more" if len(known) > _NAMED else ""
    return ToolError(f"{name}:{formatting.one_line(value, 40)} is unknown; {are} {listed}{more}")
