"""The soul: what an agent believes, values and fears, ``agents/<self>/soul.json``.

The agent adds and removes entries on purpose; nothing else changes them.

    {
     "version": 1,
     "next": 3,
     "entries": [
      {"id": 1, "at": "2026-03-02 12:00", "text": "Nobody is forgotten who is told of."}
     ]
    }

Each entry is one line of text. All entries together have at most ``LIMIT`` characters, and an id is
never used twice. People may edit the file: it is read again when it has changed. A file that is
damaged or too long is refused by name and left as it is. Every write replaces the file atomically.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
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
"""Characters of all entries together: they are in every prompt."""
_FILE_LIMIT = 64 * 1024
"""Bytes of the file; nobody writes a soul that is longer."""


@dataclass(frozen=True, slots=True)
class Belief:
    """An entry. ``at`` is when it was added, to the minute."""

    id: int
    at: str
    text: str


class Beliefs:
    """The entries of the agent in ``folder``.

    Raises ``FormatError`` if the file is damaged, and a ``ToolError`` if something cannot be done.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._stamp: FileStamp | None = None
        self._next = 1
        self._entries = tuple[Belief, ...]()

    @property
    def entries(self) -> Sequence[Belief]:
        """All entries, oldest first. If the file is unchanged, this takes one call of ``stat``."""
        stamp = FileStamp.at(self._path)
        if stamp != self._stamp:
            self._next, self._entries = _read(self._path)
            self._stamp = stamp
        return self._entries

    def add(self, text: str, at: datetime) -> tuple[Belief, bool]:
        """Add an entry; returns it and True.

        If the same words are there already, returns that entry and False.
        """
        line = formatting.one_line(text, 2 * LIMIT)
        entries = self.entries
        if not line:
            raise ToolError("what do you believe? write ADD_TO_SOUL <text>, one conviction a line")
        for entry in entries:
            if entry.text == line:
                return entry, False
        size = _size(entries) + len(line)
        if size > LIMIT:
            sizes = ", ".join(f"{entry.id} has {len(entry.text)}" for entry in entries)
            hint = f"; entry {sizes}: REMOVE_FROM_SOUL <id> first" if entries else ""
            raise ToolError(
                f"your soul would have {size} characters, it may have {LIMIT}: say it shorter{hint}"
            )
        belief = Belief(self._next, clock.minute(at), line)
        self._write(self._next + 1, [*entries, belief])
        return belief, True

    def remove(self, id: str) -> None:
        """Remove the entry with that id."""
        entries = self.entries
        kept = [entry for entry in entries if str(entry.id) != id]
        if len(kept) == len(entries):
            ids = ", ".join(str(entry.id) for entry in entries)
            # Only a number is repeated: the words of an entry must not appear elsewhere.
            named = f" {id}" if id.isdecimal() and len(id) < 10 else ""
            hint = f"its ids are {ids}" if ids else "it is empty"
            raise ToolError(f"there is no such entry{named} in your soul: {hint}")
        self._write(self._next, kept)

    def _write(self, next: int, entries: Sequence[Belief]) -> None:
        content = {
            "version": VERSION,
            "next": next,
            "entries": [asdict(entry) for entry in entries],
        }
        text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        files.replace(self._path, text.encode())
        self._stamp = None  # no file has this stamp, so it is read again


def _size(entries: Iterable[Belief]) -> int:
    return sum(len(entry.text) for entry in entries)


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
    entries = tuple(_belief(fields) for fields in record["entries"])
    ids = [entry.id for entry in entries]
    if record.keys() != {"version", "next", "entries"} or type(record["next"]) is not int:
        raise ValueError("its fields are others")
    if ids != sorted(set(ids)) or min([*ids, 1]) < 1:
        raise ValueError("its ids do not rise")
    size = _size(entries)
    if size > LIMIT:
        raise ValueError(f"its entries have {size} characters, they may have {LIMIT}")
    return max([record["next"], 1, *(id + 1 for id in ids)]), entries


def _belief(fields: dict[str, Any]) -> Belief:
    """The entry with these fields; its text becomes one line without marks."""
    belief = Belief(**fields)
    types = [type(belief.id), type(belief.at), type(belief.text)]
    if types != [int, str, str] or not formatting.one_line(belief.text):
        raise ValueError(f"entry {str(belief.id)[:20]}")
    text = formatting.one_line(belief.text, _FILE_LIMIT)
    return Belief(belief.id, formatting.one_line(belief.at), text)
