"""Parts of a room's file, and where the messages stand in them. Their texts are not looked at, so
this is much faster than to parse them.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from dory.storage import files
from dory.storage.message_ends import PART

_MESSAGE = re.compile(
    rb"^\[(USER|AGENT|NOTICE):([^\s\[\]]{1,256}) [0-9A-Za-z:.+-]{1,40}\][ \t]*", re.MULTILINE
)
_LINE = re.compile(rb"^(?!\[dory-room )\S", re.MULTILINE)
_SLASHED = re.compile(rb"^\[USER:[^\s\[\]]{1,256} [0-9A-Za-z:.+-]{1,40}\]\s{0,9}[/@]", re.MULTILINE)
_SPEAKER = re.compile(rb"^\[(USER|AGENT):([^\s\[\]]{1,256}) [0-9A-Za-z:.+-]{1,40}\]", re.MULTILINE)


class Span(NamedTuple):
    """Where a message stands in a room's file, in bytes. ``text`` is where its text begins."""

    kind: bytes
    name: bytes
    start: int
    text: int
    end: int


class Part(NamedTuple):
    """Whole messages, which stand from byte ``start`` to byte ``end`` of a room's file. Of one that
    is longer than what is read at once, ``content`` is the beginning.
    """

    content: bytes
    start: int
    end: int

    @classmethod
    def at(cls, start: int, content: bytes = b"") -> "Part":
        """All of the ``content`` that stands at byte ``start``."""
        return cls(content, start, start + len(content))

    @property
    def is_cut(self) -> bool:
        """Whether it is the beginning of a message."""
        return self.end > self.start + len(self.content)

    def within(self, start: int, end: int) -> "Part":
        """The part of it from byte ``start`` of the file to byte ``end``."""
        return Part(self.content[start - self.start : end - self.start], start, end)

    def spans(self) -> list[Span]:
        """Where the messages stand. A stray line belongs to the message before it."""
        tags = list(_MESSAGE.finditer(self.content))
        at = self.start
        ends = [*(at + tag.start() for tag in tags[1:]), self.end]
        return [
            Span(tag[1], tag[2], at + tag.start(), at + tag.end(), end)
            for tag, end in zip(tags, ends, strict=False)
        ]

    @property
    def lines(self) -> int:
        """How many lines were said, with and without a tag."""
        return sum(1 for _ in _LINE.finditer(self.content))

    def newest(self, count: int) -> list["Part"]:
        """The newest of these lines, each with what belongs to it."""
        starts = [self.start + line.start() for line in _LINE.finditer(self.content)]
        return [self.within(*ends) for ends in pairwise([*starts[-count:], self.end])]

    def slashed(self) -> Iterator["Part"]:
        """The messages of people that may be commands: each begins with ``/`` or ``@``."""
        for tag in _SLASHED.finditer(self.content):
            after = _MESSAGE.search(self.content, tag.end())
            end = self.start + after.start() if after else self.end
            yield self.within(self.start + tag.start(), end)


def tags(path: Path, start: int) -> tuple[set[tuple[bytes, bytes]], int]:
    """Return the kind and the name in each tag from byte ``start`` of a room's file on, and the
    byte up to which that was looked at. No more than a mebibyte is in memory at once.
    """
    found: set[tuple[bytes, bytes]] = set()
    # in a line that is longer than what is read at once
    inside = start > 0 and files.read_from(path, start - 1, 1) != b"\n"
    while content := files.read_from(path, start, PART):
        end = content.rfind(b"\n") + 1
        ends = end or len(content) * (len(content) == PART)
        begin = (content.find(b"\n") + 1 or ends) if inside else 0
        found |= set(_SPEAKER.findall(content[begin:ends]))
        start += ends
        if len(content) < PART:
            break
        inside = not end
    return found, start
