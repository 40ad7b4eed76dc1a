"""The newest lines of LIFE as a prompt shows them. Pure.

A line whose event stands word for word in the context above is cut to its time, its kind and the
number of the entry:

    2026-11-21 07:38 heard #12
    2026-11-21 07:38 response ◱hash=5d41402abc4b2a76 gist=SAY dev Hello!◲

So is a line whose event is laid out before the context, to the event's number:

    2026-11-20 23:10 heard event 66

The whole lines would repeat what the prompt has, and cost more than the system message.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from dory.identity import heard_entry
from dory.identity.context import Entry
from dory.identity.life import EMPTY, LINE_LIMIT
from dory.text import formatting, references

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d) (\S+(?: failed)?) (.*)")
_REFERENCE = re.compile(r"◱hash=[0-9a-f]+ gist=(.*)◲")
_CUT = re.compile(r"\S+ \S+ \S+(?: failed)? (?:#\d+(?:-\d+)?|event \d+)")
_NONE: Mapping[str, int] = {}
_THOUGHT, _THOUGHT_END = "<reasoning>\n", "</reasoning>\n"
_PER_LINE = 8
"""Entries that are looked at for each line: bookkeeping makes entries, too, and has no line among
events.
"""


def cut(
    lines: Sequence[str], entries: Sequence[Entry], laid_out: Mapping[str, int] = _NONE
) -> list[str]:
    """The ``lines`` without newlines, of which those are cut whose event is one of the newest
    ``entries``, or is ``laid_out`` elsewhere, by the number there. Lines and entries are in the
    order of time, oldest first.
    """
    newest = entries[-_PER_LINE * len(lines) :] if lines else []
    shown = list(lines)
    behind = len(newest)
    for number in range(len(lines) - 1, -1, -1):
        parts = _LINE.fullmatch(lines[number])
        event = laid_out.get(lines[number])
        place = _place(parts[2], parts[3], newest[:behind]) if parts and not event else None
        if parts and place is not None:
            shown[number] = f"{parts[1]} {parts[2]} #{newest[place].ids}"
            behind = place
        elif parts and event:
            shown[number] = f"{parts[1]} {parts[2]} event {event}"
    return shown


def is_cut(line: str) -> bool:
    """Whether ``cut`` has cut the line."""
    return _CUT.fullmatch(line) is not None


def _place(kind: str, text: str, entries: Sequence[Entry]) -> int | None:
    """The place of the newest entry that holds the event of a line; None if none does."""
    reference = _REFERENCE.fullmatch(text)
    gist = reference[1] if reference else text
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        if _brings_back(entry, kind, text) or (_is_of(entry, kind) and _begins(gist, _flat(entry))):
            return place
    return None


def _brings_back(entry: Entry, kind: str, text: str) -> bool:
    """Whether an entry is the original that a tool's line tells of: both name its hash."""
    if entry.kind != "uncompacted" or not kind.isupper():
        return False
    return any(hash == entry.hash for hash, _ in references.live(text))


def _is_of(entry: Entry, kind: str) -> bool:
    """Whether an event of this kind makes such an entry."""
    if kind in ("heard", "response", "notice"):
        return entry.kind == kind
    tool, _, failed = kind.partition(" ")
    same_tool = entry.about.partition(" ")[0] == tool
    return same_tool and entry.kind == ("error" if failed else "result")


@lru_cache(maxsize=1024)
def _flat(entry: Entry) -> str:
    """What LIFE says of an entry's event, on one line that is longer than those of LIFE."""
    text = references.unescape(entry.body)
    if entry.kind == "heard":
        message = heard_entry.read(entry.body)
        text = f"{entry.about} {message.name}: {message.text}"
    elif entry.kind == "response" and text.startswith(_THOUGHT):
        text = text.partition(_THOUGHT_END)[2]
    if entry.kind == "response" and not text.strip():
        text = EMPTY
    return formatting.one_line(text, LINE_LIMIT)


def _begins(gist: str, text: str) -> bool:
    """Whether a line's text, which may be cut, is that text or its beginning."""
    return gist == (text if len(text) <= len(gist) else f"{text[: len(gist) - 1].rstrip()}…")
