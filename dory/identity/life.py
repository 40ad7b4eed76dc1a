"""LIFE.md: one line for each event in the life of an identity. It only grows.

    [dory-life 1] times in UTC
    2026-11-21 07:38 heard dev ada: hello, who are you?
    2026-11-21 07:38 response ◱hash=5d41402abc4b2a76 gist=SAY dev Hello Ada!◲

A line has at most 120 characters, because the newest lines are in every prompt and are paid in full
each turn; if the event is longer, the line has a reference to all of it. A line says that its event
has happened and is on disk. ``state.json`` holds the number of bytes up to which LIFE is complete,
and the lines that follow there. So after a crash ``write`` is repeated: it writes the same bytes at
the same place.

Not every line tells what happened. ``Bookkeeping`` is the one place that decides which do.
"""

import re
import zlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from dory import clock, regular_files
from dory.constants import LIFE_SHOWN
from dory.errors import FormatError, UnknownVersion
from dory.storage import files
from dory.text import formatting
from dory.text import references as text_references
from dory.types import Event

NAME = "LIFE.md"
LINE_LIMIT = 120
HEADING = "[dory-life 1] times in UTC\n"
EMPTY = "(an empty response)"
"""What stands for the text of a response that has none."""
_ROOM_FOR_BOOKKEEPING = 4
"""So many lines for each wanted event are read first from the end of LIFE, and as many times more
as long as they hold too few.
"""
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


def holds(kind: str, text: str) -> bool:
    """Whether a line without a reference can hold all of an event's ``text``."""
    width = LINE_LIMIT - len(f"0000-00-00 00:00 {kind} ")
    return formatting.one_line(text, width) == text.strip()


class Bookkeeping:
    """Which lines of LIFE are bookkeeping, and which tell an event.

    An event is what was heard, what was said, and what a tool answered: a result that tells
    something new, or a failure. All else is bookkeeping: notices and markers of the harness,
    results of ``quiet`` tools ("said in dev"), and responses that are empty or only one of the
    tools that wait (``waits``).
    """

    def __init__(self, quiet: Collection[str] = (), waits: Collection[str] = ()) -> None:
        silent = "|".join(map(re.escape, quiet)) or "(?!)"
        nothing = "|".join([*map(re.escape, waits), re.escape(EMPTY)])
        told = (
            rf"heard .*|response (?!(?:◱hash=[0-9a-f]+ gist=)?(?:{nothing})(?:◲)?$).*"
            rf"|[A-Z][A-Z0-9_]* failed(?: .*)?|(?!(?:{silent})(?: |$))[A-Z][A-Z0-9_]*(?: .*)?"
        )
        self._event = re.compile(
            rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d (?:{told})$".encode(), re.MULTILINE
        )

    def events(self, lines: bytes) -> int:
        """How many of these whole lines tell an event."""
        return sum(1 for _ in self._event.finditer(lines))

    def tells(self, line: str) -> bool:
        """Whether a line, without its newline, tells an event."""
        return self._event.match(line.encode()) is not None


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
        with regular_files.opened(path) as file:
            heading = file.readline(200).decode("utf-8", "replace")
        if heading != HEADING:
            raise UnknownVersion(path, heading.strip(), HEADING.strip(), "put the right file back")
        self._newest = self._read(keep)
        self._kept = keep
        self._events: deque[tuple[int, str]] | None = None
        self._added = 0
        self.bookkeeping = Bookkeeping()
        """Which lines tell no event; to be set before the first prompt."""
        self.window = 0
        """How many of the newest events a prompt shows; with 0 it shows the newest lines."""
        self.remembered = 0
        """Number of lines of the kind that a prompt shows that ``remember`` has added. With it a
        prompt finds its new lines.
        """
        self.laid_out: Mapping[str, int] = {}
        """Lines whose whole text the present epoch shows before the context, with their numbers."""

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
        newest = deque(self._newest, self._kept)
        newest.extend(lines.splitlines())
        return zlib.crc32("\n".join(newest).encode())

    @property
    def shown(self) -> int:
        """Number of newest lines in a prompt."""
        return self.window or LIFE_SHOWN

    def remember(self, lines: str) -> None:
        """Add ``lines`` to the newest lines that are kept for the prompt."""
        for line in lines.splitlines():
            self._newest.append(line)
            self._added += 1
            tells = not self.window or self.bookkeeping.tells(line)
            if tells and self._events is not None:  # else the file is read, which holds it
                self._events.append((self._added, line))
            self.remembered += tells

    def newest(self, count: int) -> list[str]:
        """Return the newest ``count`` lines for a prompt, oldest first: events only, if it shows a
        window of events.
        """
        lines = [line for _, line in self.events()] if self.window else list(self._newest)
        return lines[-count:] if count else []

    def events(self) -> list[tuple[int, str]]:
        """The events of the window, oldest first, each with the number of lines behind it."""
        if self._events is None:
            self._events = deque(self._read_events(), self.window)
        return [(self._added - place, line) for place, line in self._events]

    def tail(self, count: int) -> str:
        """Return the newest ``count`` lines, each with its newline."""
        newest = list(self._newest)[-count:] if count else []
        return "".join(f"{text}\n" for text in newest)

    def _read_events(self) -> list[tuple[int, str]]:
        """At least as many of the newest events as the window has, if there are so many, each with
        the place of its line.
        """
        wanted = _ROOM_FOR_BOOKKEEPING * self.window
        while True:
            lines = self._read(wanted)
            first = self._added - len(lines) + 1
            events = [
                (place, line)
                for place, line in enumerate(lines, first)
                if self.bookkeeping.tells(line)
            ]
            if len(events) >= self.window or len(lines) < wanted:
                return events
            wanted *= _ROOM_FOR_BOOKKEEPING

    def _read(self, keep: int) -> deque[str]:
        """The newest ``keep`` lines of the file, without its heading."""
        lines = [
            raw.decode("utf-8", "replace")
            for raw in files.tail(self.path, keep + 1)
            if not raw.startswith(b"[dory-life")
        ]
        return deque(lines[-keep:], maxlen=keep)
