"""The events of a life: each line of LIFE below the heading is one, numbered from 1.

LIFE is only read here, and never more of it than is asked for.

A ``LifePosition`` remembers how far a reading came: the number of an event, the byte behind its
line, and a checksum of what stands before that byte. LIFE only grows, so a position holds for good,
and one short read tells whether it does. LIFE is read from its beginning only if a position does
not hold.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dory.errors import FormatError
from dory.identity.life import HEADING

_CHECKED = 1024
"""Bytes before a position that its checksum covers; more than one line has."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class LifePosition:
    """The position behind the event ``number``, at byte ``end`` of LIFE.

    ``check`` is the CRC-32 of the KiB before it.
    """

    number: int
    end: int
    check: int


BEGINNING = LifePosition(0, len(HEADING.encode()), zlib.crc32(HEADING.encode()))


class LifeReader:
    """Reads the events of the LIFE.md at ``path``. Any thread may use it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def holds(self, place: LifePosition) -> bool:
        """Whether a line ends at ``place`` and LIFE before it is what it was."""
        before = self._before(place.end)
        return before.endswith(b"\n") and zlib.crc32(before) == place.check

    def count(self, start: int, end: int) -> int:
        """How many events there are between two bytes."""
        return sum(block.count(b"\n") for block in self._blocks(start, end))

    def read(self, after: LifePosition, count: int) -> tuple[list[str], LifePosition]:
        """The next ``count`` lines and the position behind them.

        Raises ``FormatError`` if there are fewer.
        """
        lines: list[str] = []
        with open(self.path, "rb") as file:
            file.seek(after.end)
            while len(lines) < count and (line := file.readline()).endswith(b"\n"):
                lines.append(line.decode("utf-8", "replace").rstrip("\n"))
            end = file.tell()
        number = after.number + len(lines)
        if len(lines) < count:
            raise FormatError(
                f"{self.path} holds {number} events, not {after.number + count}: "
                "put it back from a backup"
            )
        return lines, self._position(number, end)

    def find(self, number: int) -> LifePosition:
        """The position behind an event, by counting from the first.

        Raises ``FormatError`` if there are fewer events.
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
        with open(self.path, "rb") as file:
            file.seek(max(0, end - _CHECKED))
            return file.read(min(end, _CHECKED))

    def _blocks(self, start: int, end: int | None = None) -> Iterator[bytes]:
        """What stands between two bytes, without an ``end`` up to the end of the file."""
        with open(self.path, "rb") as file:
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
