"""What a change of texts was: as a unified diff, as one line in words, and which lines it left
alone. Pure.

Texts stand under their names; a name that is missing is a file that is not there. A line ends at
its line feed and nowhere else.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

_CONTEXT = 3
"""Lines that a diff shows around a change."""
_NO_NEWLINE = "\n\\ No newline at end of file\n"
_COMPARED = 250_000
"""Pairs of lines up to which it is worked out which of them are the same; beyond, all are another.
The work may be the square of it.
"""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

_Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def unified(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The diff as ``git diff`` writes it, file by file; empty when nothing differs."""
    found: list[str] = []
    for name in _changed(before, after):
        old, new = (_LINE.findall(texts.get(name, "")) for texts in (before, after))
        names = (
            f"a/{name}" if name in before else "/dev/null",
            f"b/{name}" if name in after else "/dev/null",
        )
        found += [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
        for hunk in _Matcher(old, new).get_grouped_opcodes(_CONTEXT):
            found += _hunk(hunk, old, new)
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in found)


def subject(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The change on one line: the line itself when it is one, else how many there are. It may be as
    long as that line.
    """
    names = list(_changed(before, after))
    removed, added = list[str](), list[str]()
    for name in names:
        old, new = (_LINE.findall(texts.get(name, "")) for texts in (before, after))
        parts = [part for part in _Matcher(old, new).get_opcodes() if part[0] != "equal"]
        removed += [line for _, first, end, _, _ in parts for line in old[first:end]]
        added += [line for _, _, _, first, end in parts for line in new[first:end]]
    told = (
        (len(names) == 1 and _quoted(removed, added))
        or _counted(removed, added)
        or ("begun, empty" if set(names) & set(after) else "gone")
    )
    return f"{', '.join(names)}: {told}"


def carried(older: str, newer: str) -> dict[int, int]:
    """The lines of ``newer`` that were there in ``older``, by their numbers: from the newer to the
    older, both from 0.
    """
    old, new = _LINE.findall(older), _LINE.findall(newer)
    return {
        k + at: i + at
        for tag, i, j, k, _ in _Matcher(old, new).get_opcodes()
        if tag == "equal"
        for at in range(j - i)
    }


def count(text: str) -> int:
    """How many lines it has."""
    return len(_LINE.findall(text))


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    return (
        name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)
    )


class _Matcher(difflib.SequenceMatcher[str]):
    """Which lines are the same: those at both ends at once, those between them only as long as they
    are few.
    """

    def __init__(self, old: list[str], new: list[str]) -> None:
        shorter = min(len(old), len(new))
        first = next((at for at in range(shorter) if old[at] != new[at]), shorter)
        last = next(
            (at for at in range(shorter - first) if old[-1 - at] != new[-1 - at]), shorter - first
        )
        self._all = (len(old), len(new))
        self._first = first
        self._last = last
        old, new = old[first : len(old) - last], new[first : len(new) - last]
        self._few = len(old) * len(new) <= _COMPARED
        super().__init__(None, old if self._few else [], new if self._few else [], autojunk=False)

    def get_opcodes(self) -> list[_Opcode]:
        (old, new), first, last = self._all, self._first, self._last
        found: list[_Opcode] = [("equal", 0, first, 0, first)] if first else []
        if self._few:
            found += [
                (tag, i + first, j + first, k + first, m + first)
                for tag, i, j, k, m in super().get_opcodes()
            ]
        else:
            found.append(("replace", first, old - last, first, new - last))
        return [*found, ("equal", old - last, old, new - last, new)] if last else found


def _hunk(
    parts: Sequence[tuple[str, int, int, int, int]], old: list[str], new: list[str]
) -> Iterator[str]:
    """One place of a file's diff, under its header."""
    yield f"@@ -{_place(parts[0][1], parts[-1][2])} +{_place(parts[0][3], parts[-1][4])} @@\n"
    for tag, i, j, k, m in parts:
        if tag == "equal":
            yield from (f" {line}" for line in old[i:j])
        else:
            yield from (f"-{line}" for line in old[i:j])
            yield from (f"+{line}" for line in new[k:m])


def _place(first: int, end: int) -> str:
    """Lines as the header of a hunk names them: the first, from 1, and how many, if not one; of
    none the one before.
    """
    count = end - first
    return f"{first + 1}" if count == 1 else f"{first + bool(count)},{count}"


def _quoted(removed: list[str], added: list[str]) -> str:
    """The one line that was added, removed or changed; empty when there are more, or no words in
    it.
    """
    old, new = ([line.strip() for line in lines if line.strip()] for lines in (removed, added))
    match len(old), len(new):
        case 1, 1 if old != new:
            return f"{new[0]} (was: {_shortened(old[0], new[0])})"
        case 0, 1:
            return f"+ {new[0]}"
        case 1, 0:
            return f"- {old[0]}"
    return ""


def _counted(removed: list[str], added: list[str]) -> str:
    """``3 lines added, 1 removed``."""
    what = "line" if len(added or removed) == 1 else "lines"
    if not added:
        return f"{len(removed)} {what} removed" if removed else ""
    return f"{len(added)} {what} added" + (f", {len(removed)} removed" if removed else "")


def _shortened(old: str, new: str) -> str:
    """``old`` without the words with which ``new`` begins as well."""
    words, others = old.split(), new.split()
    same = next(
        (at for at, (a, b) in enumerate(zip(words, others, strict=False)) if a != b),
        min(len(words), len(others)),
    )
    return f"… {' '.join(words[same:])}" if 0 < same < len(words) else old
