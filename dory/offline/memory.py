"""MEMORY.md and USER.md as lists of lines, one fact a line, the oldest first: a fact as a line, and
a change of the lines as a tool call.

A new fact replaces the line on the same subject, which is what stands before ``is`` or a colon. A
fact on a new subject goes into MEMORY. When a file comes near its limit, the oldest lines are
removed until it is at most three quarters full, so that not every new fact removes one.
"""

import re
from collections.abc import Mapping

from dory.offline.words import Weights, coverage, stems
from dory.text.prompt_files import MEMORY
from dory.types import Call

_BLOCK_MARKS = {"<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"}
_NAME = re.compile(r"(?:my name is|i am called|i['’]?m called|call me) (.+)", re.IGNORECASE)
_SUBJECT_END = re.compile(r"\s(?:is|are|was|were)\s|:")
_MARGIN = 100
"""Characters below the limit from which a file counts as full."""
_SPEAKER_FACTOR = 0.3
_LEAST_COVERAGE = 0.5


def as_line(fact: str, speaker: str) -> str:
    """The fact in the third person: ``my cat is called Miso`` becomes ``Ada's cat is called
    Miso``.
    """
    if match := _NAME.fullmatch(fact):
        return f"{speaker}'s name is {match[1]}"
    if fact.lower().startswith("my "):
        return f"{speaker}'s {fact[3:]}"
    return f"{fact} ({speaker})"


def noted(lines: list[str], line: str, limit: int) -> tuple[list[str], str]:
    """The lines with ``line`` among them, and the line that it replaced or an empty text. ``limit``
    is in characters.
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
    for old in lines:
        if old == line or (subject and _subject(old) == subject):
            return old
    return ""


def place(files: Mapping[str, list[str]], line: str) -> str:
    """The name of the file that ``line`` belongs into."""
    return next((name for name, lines in files.items() if alike(lines, line)), MEMORY)


def edit(name: str, old: list[str], new: list[str]) -> Call | None:
    """The tool call that turns the lines ``old`` of a file into ``new``; None when nothing changes.

    Its SEARCH part is as short as possible, but occurs only once in the file.
    """
    shorter = min(len(old), len(new))
    first = 0
    while first < shorter and old[first] == new[first]:
        first += 1
    if first == len(old):
        return _call(name, "", new[first:])
    same_end = 0
    while same_end < shorter - first and old[-1 - same_end] == new[-1 - same_end]:
        same_end += 1
    text = "\n".join(old)
    while first > 0 or same_end > 0:
        search = "\n".join(old[first : len(old) - same_end])
        if search and text.count(search) == 1 and len(new) - same_end > first:
            break
        if same_end:
            same_end -= 1
        else:
            first -= 1
    replaced = old[first : len(old) - same_end]
    if _BLOCK_MARKS & {line.rstrip() for line in replaced}:
        # Such a line cannot stand in a block. What is there is left, and the new lines appended.
        return _call(name, "", [line for line in new if line not in old])
    return _call(name, "\n".join(replaced), new[first : len(new) - same_end])


def matching(lines: list[str], subject: str, speaker: str) -> str:
    """The line that covers ``subject`` best, by half at least; empty when there is none. Among
    equals the newest.
    """
    wanted = dict.fromkeys(stems(speaker), _SPEAKER_FACTOR) | dict.fromkeys(stems(subject), 1.0)
    shares = Weights(map(stems, lines)).shares(wanted)
    best, _, line = max(
        ((coverage(shares, stems(line)), place, line) for place, line in enumerate(lines)),
        default=(0.0, 0, ""),
    )
    return line if best >= _LEAST_COVERAGE else ""


def _call(name: str, search: str, replacement: list[str]) -> Call | None:
    if not search and not replacement:
        return None
    return Call("EDIT_FILE", name, edits=((search, "\n".join(replacement)),))


def _subject(line: str) -> frozenset[str]:
    subject, *rest = _SUBJECT_END.split(line, maxsplit=1)
    return frozenset(stems(subject)) if rest else frozenset()
