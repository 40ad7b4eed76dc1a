"""The soul: what an agent believes, values and fears, ``agents/<self>/soul.json``. Added to and
removed from on purpose, and by nothing else.

    {
     "version": 1,
     "next": 3,
     "entries": [
      {"id": 1, "at": "2026-03-02 12:00", "text": "Nobody is forgotten as long as somebody tells of them."}
     ]
    }

Each entry is one line of text, all of them together have at most ``LIMIT`` characters, and an id is
never used twice. People may edit the file: it is read anew when it has changed, and one that is
damaged, or longer than that, is refused by name and left as it is. Every write replaces it
atomically.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from dory import clock
from dory.errors import FormatError, ToolError
from dory.storage import files, json_file
from dory.storage.watched_files import FileStamp
from dory.text import formatting

NAME, VERSION = "soul.json", 1
LIMIT = 4000
"""Characters of all entries together: they stand in every prompt."""
_FILE_LIMIT = 64 * 1024
"""Bytes. More is nothing that anybody wrote as a soul."""


@dataclass(frozen=True, slots=True)
class Belief:
    """One entry. ``at`` is when it was added, to the minute."""

    id: int
    at: str
    text: str


class Beliefs:
    """Those of the agent in ``folder``. Raises ``FormatError`` for a damaged file, and a
    ``ToolError`` for what cannot be done.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._stamp: FileStamp | None = None
        self._next = 1
        self._entries = tuple[Belief, ...]()

    @property
    def entries(self) -> Sequence[Belief]:
        """All of them, the oldest first. When the file is as it was, this takes one call of
        ``stat``.
        """
        stamp = FileStamp.at(self._path)
        if stamp != self._stamp:
            self._next, self._entries = _read(self._path)
            self._stamp = stamp
        return self._entries

    def add(self, text: str, at: datetime) -> tuple[Belief, bool]:
        """A new entry, and that it is one: what stands there in the same words is not added again."""
        line, known = formatting.one_line(text, 2 * LIMIT), self.entries
        if not line:
            raise ToolError("what do you believe? write ADD_TO_SOUL <text>, one conviction a line")
        if found := next((one for one in known if one.text == line), None):
            return found, False
        size = sum(len(one.text) for one in known) + len(line)
        if size > LIMIT:
            sizes = ", ".join(f"{one.id} has {len(one.text)}" for one in known)
            told = f"; entry {sizes}: REMOVE_FROM_SOUL <id> first" if known else ""
            raise ToolError(
                f"your soul would have {size} characters, it may have {LIMIT}: say it shorter{told}"
            )
        belief = Belief(self._next, clock.minute(at), line)
        self._write(self._next + 1, [*known, belief])
        return belief, True

    def remove(self, id: str) -> None:
        """Take the entry with that id out."""
        known = self.entries
        kept = [one for one in known if str(one.id) != id]
        if len(kept) == len(known):
            ids = ", ".join(str(one.id) for one in known)
            named = (
                f" {id}" if id.isdecimal() and len(id) < 10 else ""
            )  # the words of an entry stand nowhere else
            raise ToolError(
                f"there is no such entry{named} in your soul: "
                + (f"its ids are {ids}" if ids else "it is empty")
            )
        self._write(self._next, kept)

    def _write(self, next: int, entries: Sequence[Belief]) -> None:
        content = {"version": VERSION, "next": next, "entries": [asdict(one) for one in entries]}
        files.replace(
            self._path, (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
        )
        self._stamp = None  # no file has that, so it is read again


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the file of the agent in ``folder``, for the check."""
    try:
        _read(folder / NAME)
    except (FormatError, OSError) as error:
        yield str(error)


def _read(path: Path) -> tuple[int, tuple[Belief, ...]]:
    """The next id, and the entries; a missing file has none."""
    return json_file.read(
        path, VERSION, _content, "mend it, or put it back from a backup", limit=_FILE_LIMIT
    ) or (1, ())


def _content(record: dict[str, Any]) -> tuple[int, tuple[Belief, ...]]:
    entries = tuple(_belief(one) for one in record["entries"])
    ids = [one.id for one in entries]
    if record.keys() != {"version", "next", "entries"} or type(record["next"]) is not int:
        raise ValueError("its fields are others")
    if ids != sorted(set(ids)) or min([*ids, 1]) < 1:
        raise ValueError("its ids do not rise")
    if (size := sum(len(one.text) for one in entries)) > LIMIT:
        raise ValueError(f"its entries have {size} characters, they may have {LIMIT}")
    return max([record["next"], 1, *(id + 1 for id in ids)]), entries


def _belief(one: dict[str, Any]) -> Belief:
    """Whatever somebody has written there, its text is one line without marks."""
    belief = Belief(**one)
    if [type(belief.id), type(belief.at), type(belief.text)] != [
        int,
        str,
        str,
    ] or not formatting.one_line(belief.text):
        raise ValueError(f"entry {str(belief.id)[:20]}")
    return Belief(
        belief.id, formatting.one_line(belief.at), formatting.one_line(belief.text, _FILE_LIMIT)
    )
