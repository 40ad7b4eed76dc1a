"""Chat rooms: one append-only markdown file each. People, agents and bridges share it and need
nothing but this format.

    [dory-room 1]
    [USER:ada 2026-11-21T07:38:02Z] hello
    [AGENT:dory-1a2b3c4d 2026-11-21T07:38:04Z] Hello Ada!
        Further lines of a message are indented by four spaces, so none can pass for a tag.
    [NOTICE:dory-1a2b3c4d 2026-11-21T07:38:09Z] from the harness: an answer to a command, an error

A message is one locked append. Each line of it but the last ends with a space and a tab, which no
other line does. So a message that was cut off between two lines is recognised, and nobody hears
half of it. Of a message of more than a mebibyte, the beginning is read. The heading is written with
the first message. A file without it is read as version 1,
so that a shell script may begin a room. Agents read USER and AGENT lines; NOTICE lines are for
people. A line without a tag is not heard, and its writer is told so.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from dory import clock
from dory.errors import Held, ToolError, UnknownVersion
from dory.regular_files import refuse_links
from dory.storage import files, room_parts
from dory.storage.file_locks import PATIENCE
from dory.storage.message_ends import GOES_ON, KEPT, PART, LongMessages, last_boundary
from dory.storage.room_parts import Part
from dory.storage.watched_files import FileStamp
from dory.text import names, slash
from dory.text.characters import visible, without_hidden
from dory.text.redaction import redact
from dory.types import Line

KINDS = ("USER", "AGENT", "NOTICE")
HEADING = "[dory-room 1]"
_NOTHING = (b"", HEADING.encode())
LINKED = Path("../../../chats")
"""The folder of the rooms as seen from an identity's ``subs/``. It is relative, so a home can be
moved.
"""
_ID = re.compile(r"[a-z0-9_-]{1,64}")
_TAG = re.compile(
    r"\[(USER|AGENT|NOTICE):([^\s\[\]◱◲]{1,64}) ([0-9A-Za-z:.+-]{1,40})\] ?(.*)", re.DOTALL
)
_BEGINNING = re.compile(rb"\n\[(?:USER|AGENT|NOTICE):")
A_PERSON = "(a person)"
"""Who speaks in a line of a person whose name could be taken for an agent's."""
_INDENT = "    "
_RECENT = 65536
"""Bytes at the end of a file in which the newest messages are looked for."""
_READING = 1.0
"""Seconds that ``read`` waits at most: what it does not get now, it gets later."""
_UNANSWERED = 20
"""Messages that a newcomer reads at most."""


def is_id(room: str) -> bool:
    """Whether ``room`` is a legal room id."""
    return bool(_ID.fullmatch(room))


def check_id(room: str) -> str:
    """Return ``room`` if it is a legal room id. Raises a ``ToolError`` that says what one is."""
    if not is_id(room):
        raise ToolError(f"{room[:70]!r} is no room: a room id has 1 to 64 of a-z, 0-9, _ and -")
    return room


def clean_name(name: str) -> str:
    """Return a speaker's name as it may stand in a tag: 1 to 64 characters, without white space,
    brackets, control characters and what nobody sees.
    """
    shown = without_hidden("_".join(name.split()))
    kept = "".join(c for c in shown if c.isprintable() and c not in "[]◱◲")
    return kept[:64] or "someone"


AgentNames = Callable[[], Collection[str]]
Speaker = tuple[str, str]
"""The kind and the name."""


class Rooms:
    """The rooms below one folder. Any number of processes may use the same folder."""

    def __init__(
        self,
        folder: Path,
        secrets: Sequence[str] = (),
        agents: AgentNames | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """``secrets`` are redacted from every message. ``agents`` tells which names are agents': a
        line of a person whose name looks like one is read as said by ``A_PERSON``. ``patience``:
        seconds that ``open``, ``say`` and ``read`` wait for a room that another program holds.
        """
        self.folder = folder
        self._secrets = secrets
        self._agents = agents
        self._patience = patience
        self._held: set[tuple[str, str]] = set()
        """What could not be done last time, and in which room, because that was held."""
        self._long = LongMessages()
        self._unended: dict[str, tuple[int, FileStamp | None]] = {}
        """Where a message begins in a room that has not ended, and the file at that time."""

    def path(self, room: str) -> Path:
        """The file of a room, whether it exists or not."""
        return self.folder / f"{check_id(room)}.md"

    def open(self, room: str, at: datetime) -> None:
        """Create the file if it is missing, and cut off a torn end, so that the next message begins
        at its ``size``. Raises ``Held``.
        """
        refuse_links(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append(room, b"", at)

    def say(self, room: str, kind: str, name: str, text: str, at: datetime) -> None:
        """Append one message. It is durable when this returns. Empty lines at its ends are
        dropped. Raises ``Held``.
        """
        refuse_links(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append(room, _line(kind, name, redact(text, self._secrets), at), at)

    def end(self, room: str) -> int:
        """Return the byte behind the last whole line. Whatever is said from now on stands behind
        it, even if a torn end is cut off first.
        """
        return files.whole_end(self.path(room), GOES_ON)

    def size(self, room: str) -> int:
        """Return the bytes in the room's file; 0 if it is missing."""
        return files.size(self.path(room))

    def changed(self, room: str) -> float:
        """Return when the file was written last, in seconds since 1970; 0 if it is missing."""
        try:
            return self.path(room).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def read(self, room: str, offset: int) -> list[Line]:
        """Return the next whole messages from byte ``offset`` on, about a mebibyte of them; more
        may follow behind the last. Raises ``FormatError`` for an unknown version, and ``Held``.

        A line that has no tag and belongs to no message is returned as a ``Line`` of the kind
        ``STRAY``, without a name.
        """
        return self.parsed(room, self.part(room, offset))

    def part(self, room: str, offset: int) -> Part:
        """Return what ``read`` would return, unparsed; an empty part if nothing more was said."""
        path = self.path(room)
        now = FileStamp.at(path)
        if self._unended.get(room) == (offset, now):
            return Part.at(offset)
        with self._waiting(room, "read") as patience:
            content = files.read_shared(path, offset, PART, min(patience, _READING))
        part = self._part(room, content, offset)
        while part.content.strip() in _NOTHING and part.content:
            part = self._part(room, files.read_from(path, part.end, PART), part.end)
        if not (part.content or self._long.unfinished):
            self._unended[room] = (offset, now)
        return part

    def messages(self, room: str, start: int = 0) -> Iterator[Line]:
        """Every whole message from byte ``start`` on, whoever holds the room. Raises
        ``FormatError``.
        """
        path = self.path(room)
        while (part := self._part(room, files.read_from(path, start, PART), start)).content:
            yield from self.parsed(room, part)
            start = part.end

    def has(self, room: str, kind: str, name: str, text: str, mark: int) -> bool:
        """Whether such a message stands behind byte ``mark``, whoever holds the room."""
        wanted = laid_out(redact(text, self._secrets))
        return any(
            (line.kind, line.name) == (kind, name) and laid_out(line.text) == wanted
            for line in self.messages(room, mark)
        )

    def stretch(
        self, room: str, start: int, end: int, size: int = _RECENT
    ) -> tuple[list[Line], int]:
        """Return the messages from byte ``start`` on, and the byte behind them: about ``size``
        bytes, at least one message, and none behind ``end``.

        At ``start`` and ``end`` a message must begin or end.
        """
        size = min(size, end - start, PART)
        content = files.read_from(self.path(room), start, size)
        if size < end - start and len(content) == size:
            if boundary := last_boundary(content):
                content = content[:boundary]
            elif size < PART:
                return self.stretch(room, start, end, PART)
            else:
                part = self._cut(room, content, start, end)
                return self.parsed(room, part), part.end
        return self.parsed(room, Part.at(start, content)), start + len(content)

    def lines_before(self, room: str, end: int, start: int = 0) -> int:
        """Return how many line breaks the file has from byte ``start`` to byte ``end``."""
        lines = 0
        path = self.path(room)
        while start < end and (content := files.read_from(path, start, min(PART, end - start))):
            lines += content.count(b"\n")
            start += len(content)
        return lines

    def recent(self, room: str, count: int) -> list[Line]:
        """Return the newest messages, at most ``count``. Only the last 64 KiB are read, however
        long the file is.
        """
        return list(self.messages(room, self._recent_start(room, self.end(room))))[-count:]

    def before(self, room: str, end: int) -> tuple[int, list[Line]]:
        """Return the messages in the 64 KiB before byte ``end``, at which one ends, and the byte at
        which the first of them begins.
        """
        start = self._recent_start(room, end)
        return start, self.stretch(room, start, end)[0]

    def begins_at(self, room: str, offset: int) -> bool:
        """Whether a line begins at byte ``offset``."""
        return not offset or files.read_from(self.path(room), offset - 1, 1) == b"\n"

    def speakers(self, room: str, start: int) -> tuple[set[Speaker], int]:
        """Return the kind and the name of everybody who spoke from byte ``start`` on, and the byte
        up to which that was looked at. No more than a mebibyte is in memory at once.
        """
        tags, end = room_parts.tags(self.path(room), start)
        return set(self.named(tags).values()), end

    def named(self, tags: Collection[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], Speaker]:
        """Return who speaks, by the kind and the name in the tag as they stand in the file."""
        clean = {tag: clean_name(tag[1].decode("utf-8", "replace")) for tag in tags}
        taken = self._taken({name for tag, name in clean.items() if tag[0] == b"USER"})
        return {
            tag: (tag[0].decode(), A_PERSON if tag[0] == b"USER" and name in taken else name)
            for tag, name in clean.items()
        }

    def unanswered(self, room: str) -> int:
        """Return the byte at which a newcomer begins to read: behind the last line of an agent, but
        at most 20 messages and 64 KiB before the end.
        """
        start = self._recent_start(room, self.end(room))
        lines = list(self.messages(room, start))
        ends = [start, *(line.end for line in lines)]
        answered = [number for number, line in enumerate(lines, 1) if line.kind == "AGENT"]
        return ends[max([*answered, len(lines) - _UNANSWERED, 0])]

    def parsed(self, room: str, part: Part) -> list[Line]:
        """Return the messages in a part of a room's file. None of people carries an agent's name.
        Raises ``FormatError`` for an unknown version.
        """
        lines = _parse(room, part.content, part.start)
        taken = self._taken({line.name for line in lines if line.kind == "USER"})
        if taken:
            lines = [
                replace(line, name=A_PERSON) if line.kind == "USER" and line.name in taken else line
                for line in lines
            ]
        if not part.is_cut:
            return lines
        size = f"the beginning of {part.end - part.start:,} bytes, which are all in chats/{room}.md"
        return [replace(line, text=f"({size}) {line.text}", end=part.end) for line in lines[:1]]

    def _part(self, room: str, content: bytes, start: int) -> Part:
        """The whole messages in ``content``, which stands at byte ``start`` and is as long as what
        is read at once, unless the file ends with it.
        """
        heading, newline, _ = content.partition(b"\n")
        if newline and not start:
            _parse(room, heading, 0)  # raises for an unknown version
        if len(content) < PART:
            content = content[: files.whole(content, GOES_ON)]
        elif boundary := last_boundary(content):
            content = content[:boundary]
        else:
            return self._cut(room, content, start)
        return Part.at(start, content)

    def _cut(self, room: str, content: bytes, start: int, stop: int | None = None) -> Part:
        """The message that begins at byte ``start`` and goes on behind ``content``, at most up to
        byte ``stop``. Empty if it has not ended.
        """
        end = self._long.end(self.path(room), start)
        if stop:
            end = min(end or stop, stop)
        return Part(content[:KEPT], start, end) if end else Part.at(start)

    def _taken(self, people: Collection[str]) -> set[str]:
        """Those of the names that could be taken for an agent's."""
        if not people or not self._agents:
            return set()
        agents = self._agents()
        return {name for name in people if names.is_taken(name, agents)}

    def _append(self, room: str, content: bytes, at: datetime) -> None:
        torn = (
            "a message was cut off in the middle when its writer died; what there was of it is in"
            f" chats/{room}.md.torn"
        )
        with self._waiting(room, "append") as patience:
            files.append(
                self.path(room),
                content,
                f"{HEADING}\n".encode(),
                GOES_ON,
                _line("NOTICE", "harness", torn, at),
                patience,
            )

    @contextmanager
    def _waiting(self, room: str, what: str) -> Iterator[float]:
        """How long to wait for the room: not at all if it was held the last time, as nobody shall
        wait again and again.
        """
        try:
            yield 0.0 if (room, what) in self._held else self._patience
        except Held as error:
            self._held.add((room, what))
            raise Held(f"the room {room}", error.pid) from None
        self._held.discard((room, what))

    def _recent_start(self, room: str, end: int) -> int:
        """The byte at which the first message in the 64 KiB before byte ``end`` begins. From the
        middle of a message, quoted text could pass for a tag.
        """
        start = max(0, end - _RECENT)
        if not start:
            return 0
        beginning = _BEGINNING.search(files.read_from(self.path(room), start, end - start))
        return start + beginning.start() + 1 if beginning else end


def laid_out(text: str) -> str:
    """Return a message as it stands behind its tag: every line but the first is indented, whatever
    its line break was. What steers a terminal or is seen by nobody is made visible.
    """
    return visible(_indented(text))


def _indented(text: str) -> str:
    return f"\n{_INDENT}".join(line.rstrip() for line in text.strip().splitlines())


def spoken(line: Line, called: Collection[str]) -> bool:
    """Whether a line is said to somebody: it is no notice, no stray line, and no person's command.

    A command begins with ``/`` and is no path, or with ``@`` and one of the names ``called``.
    """
    words = line.text.split(maxsplit=1)
    if not words or line.kind not in ("USER", "AGENT"):
        return False
    if line.kind == "AGENT":
        return True
    mark, name = words[0][0], words[0][1:]
    return not slash.is_command(words[0]) and not (mark == "@" and name in called)


def _line(kind: str, name: str, text: str, at: datetime) -> bytes:
    message = f"[{kind}:{clean_name(name)} {clock.second(at)}] {_indented(text)}"
    content = message.encode("utf-8", "replace")
    return content.replace(b"\n", GOES_ON + b"\n") + b"\n"


def _parse(room: str, content: bytes, offset: int) -> list[Line]:
    lines: list[Line] = []
    texts: list[list[str]] = []  # joined at the end, as a message may have very many lines
    end = offset
    for raw in content.splitlines(keepends=True):
        text = raw.rstrip(b"\r\n").removesuffix(GOES_ON).decode("utf-8", "replace")
        end += len(raw)
        tag = _TAG.fullmatch(text)
        if tag:
            lines.append(Line(room, tag[1], clean_name(tag[2]), tag[3], "", end))
            texts.append([tag[4]])
        elif text.startswith("[dory-room ") and end == len(raw):
            if text != HEADING:
                remedy = "update Dory, or move the file away"
                raise UnknownVersion(f"chats/{room}.md", text, HEADING, remedy)
        elif lines and (text.startswith(_INDENT) or not text.strip()):
            lines[-1] = replace(lines[-1], end=end)
            texts[-1].append(text.removeprefix(_INDENT))
        elif text.strip():
            lines.append(Line(room, "STRAY", "", "", "", end))
            texts.append([text])
    return [replace(line, text="\n".join(parts)) for line, parts in zip(lines, texts, strict=True)]
