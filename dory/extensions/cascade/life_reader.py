"""The events of a life: lines of LIFE, numbered from 1 below the heading. Some lines are
bookkeeping (``identity/life.py``): they have numbers, too, but are no events, and are passed over.

LIFE is only read here, and never more of it than is asked for.

A ``LifePosition`` remembers how far a reading came: the number of a line, the byte behind it, and a
checksum of what stands before that byte. LIFE only grows, so a position holds for good, and one
short read tells whether it does. LIFE is read from its beginning only if a position does not hold.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dory import regular_files
from dory.errors import FormatError
from dory.identity.life import HEADING, Bookkeeping

_CHECKED = 1024
"""Bytes before a position that its checksum covers; more than one line has."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class LifePosition:
    """The position behind the line ``number``, at byte ``end`` of LIFE.

    ``check`` is the CRC-32 of the KiB before it.
    """

    number: int
    end: int
    check: int


BEGINNING = LifePosition(0, len(HEADING.encode()), zlib.crc32(HEADING.encode()))


class LifeReader:
    """Reads the LIFE.md at ``path``. ``bookkeeping`` returns what tells which lines are events.
    Any thread may use it.
    """

    def __init__(self, path: Path, bookkeeping: Callable[[], Bookkeeping] = Bookkeeping) -> None:
        self.path = path
        self._bookkeeping = bookkeeping

    def holds(self, place: LifePosition) -> bool:
        """Whether a line ends at ``place`` and LIFE before it is what it was."""
        before = self._before(place.end)
        return before.endswith(b"\n") and zlib.crc32(before) == place.check

    def count(self, start: int, end: int) -> int:
        """How many lines there are between two bytes."""
        return sum(block.count(b"\n") for block in self._blocks(start, end))

    def events(self, start: int, end: int) -> tuple[int, int]:
        """How many lines there are between two bytes, which are ends of lines, and how many of them
        are events.
        """
        bookkeeping = self._bookkeeping()
        lines = events = 0
        rest = b""
        for block in self._blocks(start, end):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            lines += whole.count(b"\n") + len(newline)
            events += bookkeeping.events(whole)
        return lines, events

    def read(self, after: LifePosition, count: int) -> tuple[list[str], LifePosition]:
        """The next ``count`` events and the position behind the last of them.

        Raises ``FormatError`` if there are fewer.
        """
        bookkeeping = self._bookkeeping()
        events: list[str] = []
        number = after.number
        with regular_files.opened(self.path) as file:
            file.seek(after.end)
            while len(events) < count and (line := file.readline()).endswith(b"\n"):
                number += 1
                text = line.decode("utf-8", "replace").rstrip("\n")
                if bookkeeping.tells(text):
                    events.append(text)
            end = file.tell()
        if len(events) < count:
            raise FormatError(
                f"{self.path} holds {len(events)} events behind line {after.number}, not {count}: "
                "put it back from a backup"
            )
        return events, self._position(number, end)

    def find(self, number: int) -> LifePosition:
        """The position behind a line, by counting from the first.

        Raises ``FormatError`` if there are fewer.
        """
        known = BEGINNING.number
        end = BEGINNING.end
        for block in self._blocks(end):
            lines = block.count(b"\n")
            if known + lines >= number:
                return self._position(number, end + _length(block, number - known))
            known += lines
            end += len(block)
        raise FormatError(
            f"{self.path} holds {known} events, its summaries cover {number}: "
            "put both back from the same backup"
        )

    def _position(self, number: int, end: int) -> LifePosition:
        return LifePosition(number, end, zlib.crc32(self._before(end)))

    def _before(self, end: int) -> bytes:
        with regular_files.opened(self.path) as file:
            file.seek(max(0, end - _CHECKED))
            return file.read(min(end, _CHECKED))

    def _blocks(self, start: int, end: int | None = None) -> Iterator[bytes]:
        """What stands between two bytes, without an ``end`` up to the end of the file."""
        with regular_files.opened(self.path) as file:
            file.seek(start)
            while end is None or start < end:
                block = file.read(_BLOCK if end is None else min(_BLOCK, end - start))
                if not block:
                    return
                start += len(block)
                yield block


def _length(block: bytes, lines: int) -> int:
    """How many bytes the first ``lines`` lines of ``block`` have."""
    end = 0
    for _ in range(lines):
        end = block.index(b"\n", end) + 1
    return end
