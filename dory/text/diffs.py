"""Describes a change of texts: as a unified diff, as one line in words, or by the lines that did
not change. Pure.

Texts are given by the names of their files. A missing name is a file that does not exist. Only a
line feed ends a line.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

_CONTEXT = 3
"""Unchanged lines that a diff shows around a change."""
_NO_NEWLINE = "\n\\ No newline at end of file\n"
_COMPARED = 250_000
"""Most pairs of lines that are compared one by one. With more, every line counts as changed: the
comparison may take time that grows with the square of the number of pairs.
"""
_EDIT_MARKS = (b"<<<<<<< SEARCH", b">>>>>>> REPLACE")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def unified(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the diff as ``git diff`` writes it, file by file. It is empty if nothing differs."""
    diff: list[str] = []
    for name in _changed(before, after):
        old = _lines(before.get(name, ""))
        new = _lines(after.get(name, ""))
        old_name = f"a/{name}" if name in before else "/dev/null"
        new_name = f"b/{name}" if name in after else "/dev/null"
        diff += [f"--- {old_name}\n", f"+++ {new_name}\n"]
        for hunk in _Matcher(old, new).get_grouped_opcodes(_CONTEXT):
            diff += _hunk(hunk, old, new)
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in diff)


def subject(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return the change on one line: the changed line itself if there is only one, otherwise how
    many lines changed. The result may be as long as the changed line.
    """
    names = list(_changed(before, after))
    removed: list[str] = []
    added: list[str] = []
    for name in names:
        gone, new = _replaced(before.get(name, ""), after.get(name, ""))
        removed += gone
        added += new
    summary = _quoted(removed, added) if len(names) == 1 else ""
    if not summary:
        summary = _counted(removed, added)
    if not summary:
        summary = "begun, empty" if set(names) & set(after) else "gone"
    return f"{', '.join(names)}: {summary}"


def tally(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return how many lines were added and removed, file by file: ``USER +2 −1, MEMORY +1``. Blank
    lines count only if nothing else changed. It is empty if nothing differs.
    """
    parts: list[str] = []
    for name in _changed(before, after):
        removed, added = _replaced(before.get(name, ""), after.get(name, ""))
        more, fewer = _filled(added), _filled(removed)
        if not more and not fewer:
            more, fewer = len(added), len(removed)
        part = name.removesuffix(".md")
        if more:
            part += f" +{more}"
        if fewer:
            part += f" −{fewer}"
        parts.append(part)
    return ", ".join(parts)


def carried(older: str, newer: str) -> dict[int, int]:
    """Return the lines of ``newer`` that were already in ``older``: from the line number in
    ``newer`` to the line number in ``older``, both counted from 0.
    """
    matcher = _Matcher(_lines(older), _lines(newer))
    return {
        new_first + offset: old_first + offset
        for tag, old_first, old_end, new_first, _ in matcher.get_opcodes()
        if tag == "equal"
        for offset in range(old_end - old_first)
    }


def in_conflict(content: bytes) -> bool:
    """Whether the marks of an unresolved merge stand in a file. Those of an edit block are others:
    somebody may keep an example of one.
    """
    sought = iter((b"<<<<<<< ", b"=======", b">>>>>>> "))
    mark = next(sought)
    for line in content.split(b"\n"):
        if line.startswith(mark) and line.rstrip() not in _EDIT_MARKS:
            following = next(sought, None)
            if following is None:
                return True
            mark = following
    return False


def count(text: str) -> int:
    """Return the number of lines."""
    return len(_lines(text))


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    return (
        name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)
    )


class _Matcher(difflib.SequenceMatcher[str]):
    """Finds the lines that both texts share. Equal lines at the beginning and at the end are cut
    off first. The lines between them are compared only if there are at most ``_COMPARED`` pairs.
    """

    def __init__(self, old: list[str], new: list[str]) -> None:
        shorter = min(len(old), len(new))
        head = 0
        while head < shorter and old[head] == new[head]:
            head += 1
        tail = 0
        while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        self._head = head
        self._tail = tail
        self._old_end = len(old) - tail
        self._new_end = len(new) - tail
        old_middle = old[head : self._old_end]
        new_middle = new[head : self._new_end]
        self._compares = len(old_middle) * len(new_middle) <= _COMPARED
        if not self._compares:
            old_middle = []
            new_middle = []
        super().__init__(None, old_middle, new_middle, autojunk=False)

    def get_opcodes(self) -> list[_Opcode]:
        head, tail = self._head, self._tail
        opcodes: list[_Opcode] = []
        if head:
            opcodes.append(("equal", 0, head, 0, head))
        if self._compares:
            opcodes += [
                (tag, old_first + head, old_end + head, new_first + head, new_end + head)
                for tag, old_first, old_end, new_first, new_end in super().get_opcodes()
            ]
        else:
            opcodes.append(("replace", head, self._old_end, head, self._new_end))
        if tail:
            old_end, new_end = self._old_end, self._new_end
            opcodes.append(("equal", old_end, old_end + tail, new_end, new_end + tail))
        return opcodes


def _hunk(
    opcodes: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str]
) -> Iterator[str]:
    """One hunk of a file's diff, below its header."""
    old_range = _range(opcodes[0][1], opcodes[-1][2])
    new_range = _range(opcodes[0][3], opcodes[-1][4])
    yield f"@@ -{old_range} +{new_range} @@\n"
    for tag, old_first, old_end, new_first, new_end in opcodes:
        if tag == "equal":
            yield from (f" {line}" for line in old[old_first:old_end])
        else:
            yield from (f"-{line}" for line in old[old_first:old_end])
            yield from (f"+{line}" for line in new[new_first:new_end])


def _range(first: int, end: int) -> str:
    """A range of lines as in the header of a hunk: the first line, counted from 1, and the number
    of lines unless it is 1. An empty range names the line before it.
    """
    count = end - first
    if count == 1:
        return f"{first + 1}"
    return f"{first + 1},{count}" if count else f"{first},0"


def _quoted(removed: list[str], added: list[str]) -> str:
    """The only line that was added, removed or changed, not counting blank lines. Empty if there
    are more, or none.
    """
    old = [line.strip() for line in removed if line.strip()]
    new = [line.strip() for line in added if line.strip()]
    match len(old), len(new):
        case 1, 1 if old != new:
            return f"{new[0]} (was: {_shortened(old[0], new[0])})"
        case 0, 1:
            return f"+ {new[0]}"
        case 1, 0:
            return f"- {old[0]}"
    return ""


def _replaced(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that were removed from a text, and those that were added."""
    old = _lines(before)
    new = _lines(after)
    removed: list[str] = []
    added: list[str] = []
    for tag, old_first, old_end, new_first, new_end in _Matcher(old, new).get_opcodes():
        if tag != "equal":
            removed += old[old_first:old_end]
            added += new[new_first:new_end]
    return removed, added


def _filled(lines: list[str]) -> int:
    return sum(1 for line in lines if line.strip())


def _counted(removed: list[str], added: list[str]) -> str:
    """The numbers of lines, as in ``3 lines added, 1 removed``. Empty if nothing changed."""
    noun = "line" if len(added or removed) == 1 else "lines"
    if added:
        return f"{len(added)} {noun} added" + (f", {len(removed)} removed" if removed else "")
    return f"{len(removed)} {noun} removed" if removed else ""


def _shortened(old: str, new: str) -> str:
    """``old`` without the words at its beginning that ``new`` begins with as well."""
    old_words = old.split()
    shared = 0
    for old_word, new_word in zip(old_words, new.split(), strict=False):
        if old_word != new_word:
            break
        shared += 1
    return f"… {' '.join(old_words[shared:])}" if 0 < shared < len(old_words) else old
