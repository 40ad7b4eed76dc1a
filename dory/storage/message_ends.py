"""Where messages end in a room's file, found without ever holding more than a part of it: a line
may be of any length, and its writer may never end it.
"""

import re
from pathlib import Path

from dory.storage import files

GOES_ON = b" \t"
"""The end of a line that another line of the same message follows."""
PART = 1 << 20
"""Bytes that are read at once. A message that is longer is shown cut."""
KEPT = 1 << 16
"""Bytes that are shown of it."""
_BOUNDARY = re.compile(rb"(?<! \t)\n(?=\S)")
"""The newline before a message: its line does not go on, and the next one is not indented."""
_LAST_BOUNDARY = re.compile(rb".*(?<! \t)\n(?=\S)", re.DOTALL)
_OVERLAP = len(GOES_ON) + 1
"""Bytes that are looked at again with the next part, as they decide about a newline there."""
_PARTS = 256
"""Parts that are looked through in one go."""


def last_boundary(content: bytes) -> int:
    """Return how many bytes of ``content`` stand before the last message that begins in it; 0 if
    none begins there.
    """
    found = _LAST_BOUNDARY.match(content)
    return found.end() if found else 0


class LongMessages:
    """Looks for the ends of messages that are longer than a part. What was looked through is not
    looked through again while the message gets longer.
    """

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, int]] = {}
        """By file, where such a message begins, and up to where it was looked through."""
        self.unfinished = False
        """Whether the last call has stopped before the end of the file."""

    def end(self, path: Path, start: int) -> int:
        """Return the byte behind the message that begins at byte ``start`` and is longer than a
        part; 0 if it is not ended yet, or is so long that it takes another call.
        """
        known, at = self._seen.get(path, (start, 0))
        if known != start or not start + PART <= at + _OVERLAP <= files.size(path):
            at = start + PART - _OVERLAP
        for _ in range(_PARTS):
            content = files.read_from(path, at, PART)
            if boundary := _BOUNDARY.search(content, _OVERLAP - 1):
                return at + boundary.start() + 1
            if len(content) < PART:
                ended = files.whole(content, GOES_ON)
                if ended >= _OVERLAP:
                    return at + ended
            at += max(0, len(content) - _OVERLAP)
            self.unfinished = len(content) == PART
            if not self.unfinished:
                break
        self._seen[path] = (start, at)
        return 0
