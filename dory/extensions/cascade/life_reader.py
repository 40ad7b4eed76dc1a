"""The moments of a life, which its summaries are of and tell as memories: each line of LIFE below
the heading is one, numbered from 1 on. Read only, and never more than what is asked for.

A ``Place`` is what is kept of a reading: the number of a moment, the byte behind its line, and a
checksum of what stands before that byte. LIFE only grows, so a place holds for good, and one short
look tells whether it does. Only for one that does not is LIFE read from its beginning.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dory.errors import FormatError
from dory.identity.life import HEADING

_CHECKED = 1024
"""Bytes before a place of which it has the checksum; more than a line has."""
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class LifePosition:
    """Behind the moment ``number``, at the byte ``end``; ``check`` is the CRC-32 of the KiB before
    it.
    """

    number: int
    end: int
    check: int


BEGINNING = LifePosition(0, len(HEADING.encode()), zlib.crc32(HEADING.encode()))


class LifeReader:
    """Those in the LIFE.md at ``path``. Any thread may read them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def holds(self, place: LifePosition) -> bool:
        """Whether LIFE is, before that byte, what it was when the place was noted, and a line ends
        there.
        """
        before = self._before(place.end)
        return before.endswith(b"\n") and zlib.crc32(before) == place.check

    def count(self, start: int, end: int) -> int:
        """How many there are between two places, given as bytes."""
        return sum(block.count(b"\n") for block in self._blocks(start, end))

    def read(self, after: LifePosition, count: int) -> tuple[list[str], LifePosition]:
        """The next ``count`` lines and the place behind them. Raises ``FormatError`` when there are
        fewer.
        """
        with open(self.path, "rb") as file:
            file.seek(after.end)
            lines = [line for _ in range(count) if (line := file.readline()).endswith(b"\n")]
            if len(lines) < count:
                raise FormatError(
                    f"{self.path} holds {after.number + len(lines)} memories, not {after.number + count}: put it back from a backup"
                )
            end = file.tell()
        return [line.decode("utf-8", "replace").rstrip("\n") for line in lines], LifePosition(
            after.number + count, end, zlib.crc32(self._before(end))
        )

    def find(self, number: int) -> LifePosition:
        """The place behind a moment, by counting from the first. Raises ``FormatError`` when there
        are fewer.
        """
        at, end = BEGINNING.number, BEGINNING.end
        for block in self._blocks(end):
            held = block.count(b"\n")
            if at + held >= number:
                end += _behind(block, number - at)
                return LifePosition(number, end, zlib.crc32(self._before(end)))
            at, end = at + held, end + len(block)
        raise FormatError(
            f"{self.path} holds {at} memories, its summaries cover {number}: put both back from the same backup"
        )

    def _before(self, end: int) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(max(0, end - _CHECKED))
            return file.read(min(end, _CHECKED))

    def _blocks(self, start: int, end: int | None = None) -> Iterator[bytes]:
        with open(self.path, "rb") as file:
            file.seek(start)
            while (end is None or start < end) and (
                block := file.read(_BLOCK if end is None else min(_BLOCK, end - start))
            ):
                start += len(block)
                yield block


def _behind(block: bytes, lines: int) -> int:
    """The number of bytes in the first ``lines`` lines."""
    end = 0
    for _ in range(lines):
        end = block.index(b"\n", end) + 1
    return end
