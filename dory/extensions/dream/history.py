"""history.jsonl: what compactions removed, one object a line, and how far Dreams have come with it.
The file only grows, and is never read whole. A line, which is wrapped here:

    {"cursor": 42, "timestamp": "2026-04-03 00:02",
     "content": "- 2026-04-01 09:14 to 2026-04-01 10:02 (#3-9, 5d41402abc4b2a76): …\\n  …"}

The form is for ``grep`` and ``jq``, so a line carries no version. A line of any other form is
damaged, and a blank one is ignored. Cursors rise by one. ``.cursor`` holds that of the newest line,
``.dream_cursor`` that of the last one that was dreamed of. The line is written first, then
``.cursor``: after a kill in between the line counts. Because cursors rise, a line is found by
binary search.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from dory import clock, regular_files
from dory.errors import FormatError
from dory.storage import files
from dory.storage.file_locks import LATER

HISTORY, CURSOR, DREAM_CURSOR = "history.jsonl", ".cursor", ".dream_cursor"
_DAMAGED = "(this line of history.jsonl is damaged)"
_LOOKED_THROUGH = 8
"""Lines at the end that are searched for the newest entry: somebody may have written below it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line: its number from 1 on, the minute in which it was written, and a bullet for each
    stretch that left the context.
    """

    cursor: int
    timestamp: str
    content: str


class History:
    """The history of the identity in ``folder``. Only the loop's thread writes. Any thread may
    read.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / HISTORY
        self._cursor = folder / CURSOR
        self._dream_cursor = folder / DREAM_CURSOR
        self._last: int | None = None

    def mend(self) -> list[str]:
        """Complete what a kill has left. One line for each thing that a person must look at. Raises
        ``FormatError``.
        """
        problems = []
        torn = files.size(self.path) - files.whole_end(self.path)
        if torn:
            files.append(self.path, b"")
            problems.append(
                f"{HISTORY} ended in the middle of a line: its last {torn} bytes are in"
                f" {HISTORY}.torn"
            )
        if not files.size(self.path) and not self._cursor.exists():
            return problems
        noted = read_cursor(self._cursor)
        written = max((item.cursor for item in self.newest(_LOOKED_THROUGH)), default=0)
        if noted > written:
            problems.append(
                f"{HISTORY} ends with entry {written}, and {CURSOR} says {noted}: put {HISTORY}"
                f" back from a backup; it goes on behind {noted}"
            )
        elif noted < written:
            files.replace(self._cursor, _cursor_line(written))
        self._last = max(noted, written)
        return problems

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
        how = (
            f"write into it the cursor of the last entry of {HISTORY} that was dreamed of,"
            f" from 0 to {self.last}"
        )
        if not self._dream_cursor.exists():
            raise FormatError(f"{self._dream_cursor} is missing: {how}")
        done = read_cursor(self._dream_cursor)
        if done > self.last:
            raise FormatError(
                f"{self._dream_cursor} says {done}, and {HISTORY} ends with entry"
                f" {self.last}: {how}"
            )
        return done

    def add(self, at: datetime, content: str) -> Item:
        """Write the next entry; durable when this returns. Raises ``Held``."""
        item = Item(self.last + 1, clock.minute(at), content)
        if not self._dream_cursor.exists() and item.cursor == 1:
            files.replace(self._dream_cursor, _cursor_line(0))
        row = {"cursor": item.cursor, "timestamp": item.timestamp, "content": item.content}
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")
        files.append(self.path, line + b"\n", patience=LATER)
        self._last = item.cursor
        return item

    def note(self) -> None:
        """Write the newest entry's cursor into ``.cursor``. This is not part of ``add``: if it
        fails, the entry must not be added again.
        """
        files.replace(self._cursor, _cursor_line(self.last))

    def advance(self, cursor: int) -> None:
        """Note that everything up to ``cursor`` was dreamed of, whatever ``.cursor`` says. The
        note never goes back.
        """
        if cursor > read_cursor(self._dream_cursor):
            files.replace(self._dream_cursor, _cursor_line(cursor))

    def after(self, cursor: int, count: int) -> list[Item]:
        """The next ``count`` entries after ``cursor``, the oldest first. A damaged line counts as
        an entry.
        """
        if not self.path.exists():
            return []
        with regular_files.opened(self.path) as file:
            file.seek(_place(file, files.whole_end(self.path), cursor))
            items: list[Item] = []
            while len(items) < count and (line := file.readline()).endswith(b"\n"):
                item = parse(line)
                if item is None:
                    item = Item(min(_damaged_cursor(file), self.last), "", _DAMAGED)
                if line.strip() and item.cursor > cursor:
                    items.append(item)
        return items

    def contents(self) -> Iterator[str]:
        """The content of every entry that can be read, the oldest first, one line at a time."""
        if not self.path.exists():
            return
        with regular_files.opened(self.path) as file:
            for line in file:
                if item := parse(line):
                    yield item.content

    def newest(self, count: int) -> list[Item]:
        """The last ``count`` entries, the oldest first."""
        lines = files.tail(self.path, count) if self.path.exists() else []
        return [parse(line) or Item(0, "", _DAMAGED) for line in lines if line.strip()]


def parse(line: bytes) -> Item | None:
    """The entry in a line of the history; None when the line is damaged."""
    try:
        row = json.loads(line)
        item = Item(row["cursor"], row["timestamp"], row["content"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if type(item.cursor) is not int or item.cursor <= 0:  # a bool is an int, too
        return None
    if not isinstance(item.timestamp, str) or not isinstance(item.content, str):
        return None
    return item


def read_cursor(path: Path) -> int:
    """The number in a cursor's file; 0 when there is no file. Raises ``FormatError`` for any other
    content: read as 0 it would make the Dreams begin all over.
    """
    content = files.read_from(path, 0, 100).decode("utf-8", "replace").strip()
    if content.isascii() and content.isdigit():
        return int(content)
    if path.exists():
        raise FormatError(f"{path} holds no number: write the right cursor of {HISTORY} into it")
    return 0


def _cursor_line(cursor: int) -> bytes:
    return f"{cursor}\n".encode()


def _place(file: BinaryIO, size: int, cursor: int) -> int:
    """The byte at which the line after ``cursor`` begins; ``size`` when there is none. The search
    skips damaged lines, but its result may be the beginning of one.
    """
    low = 0
    high = size
    while low < high:
        middle = (low + high) // 2
        next_cursor = _cursor_at(file, middle)
        if next_cursor is not None and next_cursor <= cursor:
            low = middle + 1
        else:
            high = middle
    _seek_line(file, low)
    return file.tell()


def _cursor_at(file: BinaryIO, offset: int) -> int | None:
    """The cursor of the first readable line that begins at ``offset`` or later."""
    _seek_line(file, offset)
    while (line := file.readline()).endswith(b"\n"):
        if item := parse(line):
            return item.cursor
    return None


def _damaged_cursor(file: BinaryIO) -> int:
    """The cursor of the damaged line that ends where ``file`` stands: one less than that of the
    next entry. The position of ``file`` does not change.
    """
    offset = file.tell()
    next_cursor = _cursor_at(file, offset)
    file.seek(offset)
    return next_cursor - 1 if next_cursor else sys.maxsize


def _seek_line(file: BinaryIO, offset: int) -> None:
    """Go to the beginning of the first line that begins at ``offset`` or later."""
    file.seek(max(0, offset - 1))
    if offset:
        file.readline()
