"""What agents are doing, and what they are writing, as text for the screen. Pure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from prompt_toolkit.utils import get_cwidth

from dory.storage.live import Live
from dory.text.characters import visible

_SHARE = 3
"""One in so many rows of the terminal may hold text that is being written."""
_INDENT = "  "
"""Stands before such text, as before the text of a message."""

_CUT = "  …"
"""The row above a text whose beginning is left out."""


def unsaid(lives: Sequence[Live], said: Mapping[str, str]) -> list[Live]:
    """The ``lives``, without texts that are in the room by now. ``said`` has the last message by
    speaker: an agent's record may still hold it, or its beginning, for a moment.
    """
    return [
        Live(live.name, live.doing) if _begins(said.get(live.name, ""), live.text) else live
        for live in lives
    ]


def rows_of(lives: Sequence[Live], columns: int, rows: int) -> list[tuple[Live, list[str]]]:
    """What is being written, for a terminal of so many ``columns`` and ``rows``: of each text its
    last rows, of all together, with a row for each name, at most a third of the terminal.
    """
    writing = [live for live in lives if live.text.strip()]
    if not writing:
        return []
    most = max(3, rows // _SHARE)
    each = max(3, most // len(writing))
    shown = []
    for live in writing[: most // each]:
        wrapped = _wrapped(live.text.strip(), max(10, columns - len(_INDENT) - 1))
        texts = [f"{_INDENT}{row}" for row in wrapped]
        shown.append((live, texts if len(texts) < each else [_CUT, *texts[2 - each :]]))
    return shown


def doings(lives: Sequence[Live], awake: Sequence[str]) -> str:
    """What the agents are at, in one line: "dory-1 recalls lisbon, dory-2 is thinking". ``awake``
    names those that think, write or act. Empty if nobody does anything.
    """
    by_name = {live.name: live.doing or "is writing" for live in lives if live.doing or live.text}
    thinking = {name: "is thinking" for name in awake if name not in by_name}
    said = [f"{name} {doing}" for name, doing in {**by_name, **thinking}.items()]
    return " ".join(visible(", ".join(said)).split())


def fitting(parts: Sequence[tuple[int, str]], columns: int) -> str:
    """The texts of ``parts`` joined by a dot. Each has a rank: as long as the line is too wide, the
    part of the highest rank is left out. The last one is cut.
    """
    kept = list(parts)
    while len(kept) > 1 and get_cwidth(" · ".join(text for _, text in kept)) >= columns:
        kept.remove(max(kept, key=lambda part: part[0]))
    return " · ".join(text for _, text in kept)


def _begins(said: str, text: str) -> bool:
    return bool(text.strip()) and _bare(said).startswith(_bare(text))


def _bare(text: str) -> str:
    """Only what is the same in a record and in the room, which lays white space out."""
    return "".join(text.split())


@lru_cache(maxsize=8)  # a spinner turns ten times a second beside the same text
def _wrapped(text: str, width: int) -> list[str]:
    """``text`` without anything unsafe, in rows of at most ``width`` cells. Rows end between words
    where they can.
    """
    return [
        row for line in visible(text).split("\n") for row in _wrapped_line(line.rstrip(), width)
    ]


def _wrapped_line(line: str, width: int) -> list[str]:
    rows: list[str] = []
    begin, space, used = 0, 0, 0
    line = line.expandtabs(4)
    for at, character in enumerate(line):
        cells = get_cwidth(character)
        if used + cells > width:
            end = space if space > begin else at
            rows.append(line[begin:end].rstrip())
            begin = end
            used = get_cwidth(line[begin:at])
        used += cells
        if character == " ":
            space = at + 1
    return [*rows, line[begin:]]
