"""Edit blocks: ``<<<<<<< SEARCH``, old text, ``=======``, new text, ``>>>>>>> REPLACE``. Pure."""

import re
from collections.abc import Sequence

SEARCH = "<<<<<<< SEARCH"
DIVIDER = "======="
REPLACE = ">>>>>>> REPLACE"
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#.-]*)[ \t]*\r?")
"""A line that begins or ends a code block."""
_SEARCHES = re.compile(r"(?:<{5,9}|-{5,9}) ?SEARCH>?", re.IGNORECASE)
_REPLACES = re.compile(r"(?:>{5,9}|\+{5,9}) ?REPLACE>?", re.IGNORECASE)
UNTERMINATED = (
    f"unterminated edit block: nothing was changed; a block is '{SEARCH}', old text, '{DIVIDER}',"
    f" new text, '{REPLACE}', each mark on a line of its own"
)


def begins(lines: Sequence[str], at: int) -> int | None:
    """The number of the line that begins a block, if before it come only empty lines and fences."""
    for number in range(at, len(lines)):
        line = lines[number]
        if _SEARCHES.fullmatch(line.strip()):
            return number
        if line.strip() and not FENCE.fullmatch(line):
            return None
    return None


def block(lines: Sequence[str], at: int) -> tuple[tuple[str, str], int] | None:
    """The old and the new text of the block that begins at line ``at``, and the number of the line
    behind it; None if a mark is missing. The indentation of the first mark, as below a numbered
    point, is no part of the block.
    """
    divider = None
    indentation = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    inside: list[str] = []
    for number in range(at + 1, len(lines)):
        inside.append(lines[number].removeprefix(indentation))
        line = inside[-1].rstrip()
        if _SEARCHES.fullmatch(line):
            return None
        if divider is None and line == DIVIDER:
            divider = number
        elif _REPLACES.fullmatch(line):
            if divider is None:
                return None
            old, new = inside[: divider - at - 1], inside[divider - at : -1]
            return ("\n".join(old), "\n".join(new)), number + 1
    return None


def all_in(text: str) -> list[tuple[str, str]]:
    """The whole blocks of a text."""
    lines = text.split("\n")
    blocks: list[tuple[str, str]] = []
    at = 0
    while (start := begins(lines, at)) is not None and (found := block(lines, start)):
        blocks.append(found[0])
        at = found[1]
    return blocks
