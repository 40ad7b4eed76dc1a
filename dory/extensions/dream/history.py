"""history.jsonl: what compactions removed, one object a line, and how far Dreams have come with it.
It only grows, and is never read whole.

    {"cursor": 42, "timestamp": "2026-04-03 00:02", "content": "- 2026-04-01 09:14 to 2026-04-01 10:02 (#3-9, 5d41402abc4b2a76): …\\n  …"}

The form is for ``grep`` and ``jq``, so no version stands in it: a line of any other form is damage,
and a blank one is passed over. Cursors rise by one; ``.cursor`` holds that of the newest line,
``.dream_cursor`` that of the last one that was dreamed of. The line is written first, then
``.cursor``: after a kill in between the line counts. As cursors rise, a line is found by halving
the file.
"""

import json
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from dory import clock
from dory.errors import FormatError
from dory.storage import files

HISTORY, CURSOR, DREAM_CURSOR = "history.jsonl", ".cursor", ".dream_cursor"
_DAMAGED = "(this line of history.jsonl is damaged)"
_LOOKED_THROUGH = 8
"""Lines at the end, for the newest entry: somebody may have written below it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line: its number from 1 on, when it was written, to the minute, and a bullet for each
    stretch that left the context.
    """

    cursor: int
    timestamp: str
    content: str


class History:
    """The history of the identity in ``folder``. Only the loop's thread calls what writes; any
    thread may read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._cursor = folder / CURSOR
        self._reader = folder / DREAM_CURSOR
        self._last: int | None = None

    def mend(self) -> list[str]:
        """Complete what a kill has left; one line for each thing that somebody else must have done.
        Raises ``FormatError``.
        """
        told = []
        if torn := files.size(self.path) - files.whole_end(self.path):
            files.append(self.path, b"")
            told.append(
                f"{HISTORY} ended in the middle of a line: its last {torn} bytes are in {HISTORY}.torn"
            )
        if not files.size(self.path) and not self._cursor.exists():
            return told
        noted, written = (
            read_cursor(self._cursor),
            max((item.cursor for item in self.newest(_LOOKED_THROUGH)), default=0),
        )
        if noted > written:
            told.append(
                f"{HISTORY} ends with entry {written}, and {CURSOR} says {noted}: put {HISTORY} back from a backup; it goes on behind {noted}"
            )
        elif noted < written:
            files.replace(self._cursor, _line(written))
        self._last = max(noted, written)
        return told

    @property
    def last(self) -> int:
        """The cursor of the newest entry; 0 when there is none."""
        if self._last is None:
            self.mend()
        return self._last or 0

    @property
    def dreamed(self) -> int:
        """The cursor of the last entry that was dreamed of. Raises ``FormatError`` when that is not
        known.
        """
        if not self.last:
            return 0
        how = f"write into it the cursor of the last entry of {HISTORY} that was dreamed of, from 0 to {self.last}"
        if not self._reader.exists():
            raise FormatError(f"{self._reader} is missing: {how}")
        done = read_cursor(self._reader)
        if done > self.last:
            raise FormatError(
                f"{self._reader} says {done}, and {HISTORY} ends with entry {self.last}: {how}"
            )
        return done

    def add(self, at: datetime, content: str) -> Item:
        """Write the next entry; durable when this returns."""
        item = Item(self.last + 1, clock.minute(at), content)
        if not self._reader.exists() and item.cursor == 1:
            files.replace(self._reader, _line(0))
        row = {"cursor": item.cursor, "timestamp": item.timestamp, "content": item.content}
        files.append(
            self.path, json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        )
        self._last = item.cursor
        return item

    def note(self) -> None:
        """Let ``.cursor`` name the newest entry. Not part of ``add``: an entry that is written must
        not be added again because this failed.
        """
        files.replace(self._cursor, _line(self.last))

    def advance(self, cursor: int) -> None:
        """Everything up to ``cursor`` was dreamed of, whatever ``.cursor`` says. It never goes
        back.
        """
        if cursor > read_cursor(self._reader):
            files.replace(self._reader, _line(cursor))

    def after(self, cursor: int, count: int) -> list[Item]:
        """The next ``count`` entries behind ``cursor``, the oldest first."""
        if not self.path.exists():
            return []
        with open(self.path, "rb") as file:
            file.seek(_place(file, files.whole_end(self.path), cursor))
            found: list[Item] = []
            while len(found) < count and (line := file.readline()).endswith(b"\n"):
                item = parse(line) or Item(min(_missing(file), self.last), "", _DAMAGED)
                if line.strip() and item.cursor > cursor:
                    found.append(item)
        return found

    def newest(self, count: int) -> list[Item]:
        """The last ``count`` entries, the oldest first."""
        lines = files.tail(self.path, count) if self.path.exists() else []
        return [parse(line) or Item(0, "", _DAMAGED) for line in lines if line.strip()]


def parse(line: bytes) -> Item | None:
    """A line of the history; None when it is none."""
    try:
        row = json.loads(line)
        item = Item(row["cursor"], row["timestamp"], row["content"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sound = (
        type(item.cursor) is int
        and item.cursor > 0
        and isinstance(item.timestamp, str)
        and isinstance(item.content, str)
    )
    return item if sound else None


def read_cursor(path: Path) -> int:
    """The number in a cursor's file; 0 when there is no file. Raises ``FormatError`` when it is
    none: taken for 0 it would begin all over.
    """
    content = files.read_from(path, 0, 100).decode("utf-8", "replace").strip()
    if content.isascii() and content.isdigit():
        return int(content)
    if path.exists():
        raise FormatError(f"{path} holds no number: write the right cursor of {HISTORY} into it")
    return 0


def _line(cursor: int) -> bytes:
    return f"{cursor}\n".encode()


def _place(file: BinaryIO, size: int, cursor: int) -> int:
    """The byte at which the line behind ``cursor`` begins; ``size`` when there is none. Lines that
    cannot be read are passed over in the search, and not in what it finds.
    """
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        found = _cursor_at(file, middle)
        if found is not None and found <= cursor:
            low = middle + 1
        else:
            high = middle
    _to_line(file, low)
    return file.tell()


def _cursor_at(file: BinaryIO, at: int) -> int | None:
    """The cursor of the first readable line that begins at ``at`` or later."""
    _to_line(file, at)
    while (line := file.readline()).endswith(b"\n"):
        if item := parse(line):
            return item.cursor
    return None


def _missing(file: BinaryIO) -> int:
    """The cursor of a damaged line behind which ``file`` stands, where it is left: one less than
    that of the next entry.
    """
    at = file.tell()
    found = _cursor_at(file, at)
    file.seek(at)
    return found - 1 if found else sys.maxsize


def _to_line(file: BinaryIO, at: int) -> None:
    """Go to where the first line begins that begins at ``at`` or later."""
    file.seek(max(0, at - 1))
    if at:
        file.readline()
