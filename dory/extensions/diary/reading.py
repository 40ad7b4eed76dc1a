"""Reads what stands behind WRITE_DIARY: perhaps the day first, then the text, and perhaps the mood
and the place, before or behind it. Pure.

    WRITE_DIARY 2026-03-01 Ada came back.
    WRITE_DIARY mood: calm; place: the harbour; Ada came back.
    WRITE_DIARY Ada came back; mood: calm

Between them may also stand ``|`` or a line break, as in ASSIGN_RELATIONSHIP.
"""

import re
from contextlib import suppress
from datetime import date

from dory.errors import ToolError

WORDS = 200
"""Characters of a mood, and of a place."""
_DAY = re.compile(r"(?:date:\s*)?(\d{4}-\d\d-\d\d)(?:[:,;]\s*|\s+|\Z)", re.ASCII | re.I)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FIRST = re.compile(r"(mood|place):[ \t]*([^;|\n.!?]+)[;|\n]\s*", re.IGNORECASE)
_END = 500
"""Characters at the end in which a mood or a place may stand."""
_LAST = re.compile(r"[;|\n]\s*+(mood|place):[ \t]*([^;|\n]+?)[;|.\s]*\Z", re.IGNORECASE)


def written(given: str) -> tuple[str, str, dict[str, str]]:
    """The day as it was written (empty if none was), the text, and the fields ``mood`` and
    ``place`` that were given.
    """
    text = given.strip()
    fields: dict[str, str] = {}
    match = _DAY.match(text)
    day = match[1] if match else ""
    text = text[match.end() :] if match else text
    while first := _FIRST.match(text):
        fields.setdefault(first[1].lower(), first[2].strip())
        text = text[first.end() :]
    while last := _LAST.search(text, max(0, len(text) - _END)):
        fields.setdefault(last[1].lower(), last[2].strip())
        text = text[: last.start()].rstrip()
    for name, value in fields.items():
        if len(value) > WORDS:
            raise ToolError(too_long(name, value))
    return day, text, fields


def too_long(name: str, value: str) -> str:
    """What is said of a mood or a place that has too many characters."""
    return (
        f"that {name} has {len(value)} characters, it may have {WORDS}: say it shorter, and the"
        " rest with WRITE_DIARY"
    )


def real_day(text: str, today: date) -> date:
    """The date that was written as YYYY-MM-DD. Raises a ``ToolError`` if there is none."""
    with suppress(ValueError):
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    raise ToolError(
        f"{text[:40]!r} is no date: write one that there is as YYYY-MM-DD, such as {today}"
    )
