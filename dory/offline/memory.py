"""MEMORY.md and USER.md as lists of lines, one fact each, the oldest first: what a fact becomes as
a line, and an edit as a tool line.

A new fact replaces the line on the same subject (what stands before ``is`` or a colon); without one
it goes into MEMORY. When a file nears its limit the oldest lines go, down to three quarters of it,
so that not every new fact must drop something.
"""

import re
from collections.abc import Mapping

from dory.offline.words import Weights, coverage, stems
from dory.text.prompt_files import MEMORY
from dory.types import Call

_MARKS = {"<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"}
_NAME = re.compile(r"(?:my name is|i am called|i['’]?m called|call me) (.+)", re.IGNORECASE)
_SUBJECT = re.compile(r"\s(?:is|are|was|were)\s|:")
_MARGIN = 100


def as_line(fact: str, speaker: str) -> str:
    """The fact in the third person: ``my cat is called Miso`` becomes ``Ada's cat is called Miso``."""
    if name := _NAME.fullmatch(fact):
        return f"{speaker}'s name is {name[1]}"
    return f"{speaker}'s {fact[3:]}" if fact.lower().startswith("my ") else f"{fact} ({speaker})"


def noted(lines: list[str], line: str, limit: int) -> tuple[list[str], str]:
    """The lines with ``line`` among them, and the line that it replaced, if any. ``limit`` is in
    characters.
    """
    old = alike(lines, line)
    new = [line if kept == old else kept for kept in lines] if old else [*lines, line]
    if len("\n".join(new)) > limit - _MARGIN:
        others = [kept for kept in new if kept != line]
        while others and len("\n".join([*others, line])) > limit * 3 // 4:
            others.pop(0)
        new = [*others, line]
    return new, old


def alike(lines: list[str], line: str) -> str:
    """The line itself, or the first one on the same subject; empty when there is none."""
    subject = _subject(line)
    return next((old for old in lines if old == line or (subject and _subject(old) == subject)), "")


def place(files: Mapping[str, list[str]], line: str) -> str:
    """The name of the file that ``line`` belongs into."""
    return next((name for name, lines in files.items() if alike(lines, line)), MEMORY)


def edit(name: str, old: list[str], new: list[str]) -> Call | None:
    """The tool line that turns the lines ``old`` of a file into ``new``, with as little text to
    search for as is found exactly once; None when nothing changes.
    """
    first = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]),
        min(len(old), len(new)),
    )
    if first == len(old):
        return _call(name, "", new[first:])
    rest = min(len(old), len(new)) - first
    same = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    text = "\n".join(old)
    while first > 0 or same > 0:
        search = "\n".join(old[first : len(old) - same])
        if search and text.count(search) == 1 and len(new) - same > first:
            break
        first, same = (first, same - 1) if same else (first - 1, same)
    if _MARKS & {
        line.rstrip() for line in old[first : len(old) - same]
    }:  # such a line cannot stand in a block: leave what is there
        return _call(name, "", [line for line in new if line not in old])
    return _call(name, "\n".join(old[first : len(old) - same]), new[first : len(new) - same])


def matching(lines: list[str], subject: str, speaker: str) -> str:
    """The line that holds most of what ``subject`` names, at least half; empty when there is none.
    Among equals the newest.
    """
    wanted = dict.fromkeys(stems(speaker), 0.3) | dict.fromkeys(stems(subject), 1.0)
    shares = Weights(map(stems, lines)).shares(wanted)
    worth, _, line = max(
        ((coverage(shares, stems(line)), at, line) for at, line in enumerate(lines)),
        default=(0.0, 0, ""),
    )
    return line if worth >= 0.5 else ""


def _call(name: str, search: str, replacement: list[str]) -> Call | None:
    changes = search or replacement
    return Call("EDIT_FILE", name, edits=((search, "\n".join(replacement)),)) if changes else None


def _subject(line: str) -> frozenset[str]:
    subject, *rest = _SUBJECT.split(line, maxsplit=1)
    return frozenset(stems(subject)) if rest else frozenset()
