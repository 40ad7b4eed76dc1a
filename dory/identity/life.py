"""LIFE.md: one line for each event in the life of an identity. It only grows.

    [dory-life 1] times in UTC
    2026-11-21 07:38 heard dev ada: hello, who are you?
    2026-11-21 07:38 response ◱hash=5d41402abc4b2a76 gist=SAY dev Hello Ada!◲

A line has at most 120 characters, because the newest lines are in every prompt and are paid in full
each turn. A line says that its event has happened and is on disk. ``state.json`` holds the number
of bytes up to which LIFE is complete, and the lines that follow there. So after a crash ``write``
is repeated: it writes the same bytes at the same place.
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
    """Return the line of an event, with its newline. A gist is cut to fit; a reference is never
    cut.
    """
    head = f"{clock.minute(event.at)} {event.kind} "
    if event.ref is None:
        return f"{head}{formatting.one_line(event.text, LINE_LIMIT - len(head))}".rstrip() + "\n"
    width = LINE_LIMIT - len(head) - len(text_references.reference(event.ref, ""))
    gist = formatting.one_line(event.text, width)
    return f"{head}{text_references.reference(event.ref, gist)}\n"


def references(lines: Iterable[bytes], kind: str) -> Iterator[tuple[datetime, str, str]]:
    """Yield the time, hash and gist of each reference in the ``lines`` of LIFE that are events of
    this ``kind``, in order.
    """
    for raw in lines:
        match = _REFERRING.fullmatch(raw.decode("utf-8", "replace"))
        if match and match[2] == kind:
            for hash, gist in text_references.live(match[3]):
                with suppress(ValueError):  # somebody has edited the file: there is no such time
                    yield clock.of_minute(match[1]), hash, gist


class Life:
    """The event log of one identity. Only the agent's loop writes it. The newest lines are also
    kept in process memory, so no turn reads the file.
    """

    def __init__(self, path: Path, keep: int) -> None:
        """Read the newest ``keep`` lines. ``check`` covers as many. Raises ``FormatError`` for an
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
        """Number of newest lines in a prompt."""
        self.remembered = 0
        """Number of lines that ``remember`` has added. With it a prompt finds its new lines."""

    def show(self, lines: int) -> None:
        """Set how many of the newest ``lines`` a prompt has from now on."""
        self.shown = lines
        if lines > len(self._newest):
            self._newest = self._read(max(lines, self._checked))

    def write(self, offset: int, lines: str) -> bytes:
        """Make the log end with ``lines``, from byte ``offset`` on. Raises ``FormatError`` if the
        log is shorter than ``offset``.

        Returns what somebody else had written there; it was moved to ``LIFE.md.torn``.
        """
        if files.size(self.path) < offset:
            raise FormatError(
                f"{self.path} is shorter than the {offset} bytes that state.json knows of: put it"
                " back from a backup"
            )
        return files.write_at(self.path, offset, lines.encode("utf-8"))

    def check(self, lines: str = "") -> int:
        """Return the CRC-32 of the newest lines as they will be after ``lines`` are added."""
        newest = deque(self._newest, self._checked)
        newest.extend(lines.splitlines())
        return zlib.crc32("\n".join(newest).encode())

    def remember(self, lines: str) -> None:
        """Add ``lines`` to the newest lines that are kept for the prompt."""
        added = lines.splitlines()
        self._newest.extend(added)
        self.remembered += len(added)

    def tail(self, count: int) -> str:
        """Return the newest ``count`` lines, each with its newline."""
        newest = list(self._newest)[-count:] if count else []
        return "".join(f"{text}\n" for text in newest)

    def _read(self, keep: int) -> deque[str]:
        """The newest ``keep`` lines of the file, without its heading."""
        lines = [
            raw.decode("utf-8", "replace")
            for raw in files.tail(self.path, keep + 1)
            if not raw.startswith(b"[dory-life")
        ]
        return deque(lines[-keep:], maxlen=keep)
