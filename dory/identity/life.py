"""LIFE.md: one line for everything that ever happened to an identity. It only grows.

    [dory-life 1] times in UTC
    2026-11-21 07:38 heard dev ada: hello, who are you?
    2026-11-21 07:38 response ◱hash=5d41402abc4b2a76 gist=SAY dev Hello Ada!◲

Lines hold at most 120 characters: the newest stand in every prompt and are paid in full each turn.
A line is an acknowledgement: what it tells has happened and is on disk. ``state.json`` names the
byte up to which LIFE is known to be whole and the lines that follow there, so after a crash
``write`` is simply repeated: the same bytes at the same place.
"""

import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from dory import clock
from dory.constants import LIFE_SHOWN
from dory.errors import FormatError, UnknownVersion
from dory.storage import files
from dory.text import formatting
from dory.text import references as text_references
from dory.types import Event

NAME = "LIFE.md"
LINE_LIMIT = 120
HEADING = "[dory-life 1] times in UTC\n"
_REFERRING = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d) (\S+(?: failed)?) (◱.*◲)")


def line(event: Event) -> str:
    """The event as its line, newline included, at most 120 characters before it; the gist is cut, a
    reference never.
    """
    head = f"{clock.minute(event.at)} {event.kind} "
    if event.ref is None:
        return f"{head}{formatting.one_line(event.text, LINE_LIMIT - len(head))}".rstrip() + "\n"
    room = LINE_LIMIT - len(head) - len(text_references.reference(event.ref, ""))
    return f"{head}{text_references.reference(event.ref, formatting.one_line(event.text, room))}\n"


def references(lines: Iterable[bytes], kind: str) -> Iterator[tuple[datetime, str, str]]:
    """When it was, the hash and the gist, of each event of this ``kind`` that ``lines`` of LIFE
    tell of with a reference, in order.
    """
    for raw in lines:
        found = _REFERRING.fullmatch(raw.decode("utf-8", "replace"))
        if found and found[2] == kind:
            for hash, gist in text_references.live(found[3]):
                with suppress(ValueError):  # a month 13, by whose hand ever
                    yield clock.of_minute(found[1]), hash, gist


class Life:
    """The log of one identity. Only its loop writes; the newest lines are kept in memory, so no
    turn reads the file.
    """

    def __init__(self, path: Path, keep: int) -> None:
        """Read the newest ``keep`` lines, of which ``check`` is made. Raises ``FormatError`` for an
        unknown version.
        """
        self.path = path
        with open(path, "rb") as file:
            heading = file.readline(200).decode("utf-8", "replace")
        if heading != HEADING:
            raise UnknownVersion(path, heading.strip(), HEADING.strip(), "put the right file back")
        self._newest = self._read(keep)
        self._checked = keep
        self.shown = LIFE_SHOWN
        """How many of the newest lines stand in a prompt."""
        self.remembered = 0
        """Lines taken in since; a prompt tells by it which ones are new."""

    def show(self, lines: int) -> None:
        """Let the newest ``lines`` stand in a prompt from now on."""
        self.shown = lines
        if lines > len(self._newest):
            self._newest = self._read(max(lines, self._checked))

    def write(self, offset: int, lines: str) -> bytes:
        """Make the log end with ``lines`` at byte ``offset``. Raises ``FormatError`` when it is
        shorter than that.

        Returns what somebody else had written there, which stands in ``LIFE.md.torn`` now.
        """
        if files.size(self.path) < offset:
            raise FormatError(
                f"{self.path} is shorter than the {offset} bytes that state.json knows of: put it back from a backup"
            )
        return files.write_at(self.path, offset, lines.encode("utf-8"))

    def check(self, lines: str = "") -> int:
        """CRC-32 of the newest lines as they are once ``lines`` have been added."""
        newest = deque(self._newest, self._checked)
        newest.extend(lines.splitlines())
        return zlib.crc32("\n".join(newest).encode())

    def remember(self, lines: str) -> None:
        """Take ``lines`` into the tail that the prompt shows."""
        added = lines.splitlines()
        self._newest.extend(added)
        self.remembered += len(added)

    def tail(self, count: int) -> str:
        """The newest ``count`` lines, each with its newline."""
        return "".join(f"{text}\n" for text in list(self._newest)[-count:] if count)

    def _read(self, keep: int) -> deque[str]:
        """The newest ``keep`` lines of the file."""
        whole = [
            raw.decode("utf-8", "replace")
            for raw in files.tail(self.path, keep + 1)
            if not raw.startswith(b"[dory-life")
        ]
        return deque(whole[-keep:], maxlen=keep)
