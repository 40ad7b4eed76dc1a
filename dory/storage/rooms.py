"""Chat rooms: one append-only markdown file each. People, agents and bridges share it and need
nothing but this format.

    [dory-room 1]
    [USER:ada 2026-11-21T07:38:02Z] hello
    [AGENT:dory-1a2b3c4d 2026-11-21T07:38:04Z] Hello Ada!
        Further lines of a message are indented by four spaces, so none can pass for a tag.
    [NOTICE:dory-1a2b3c4d 2026-11-21T07:38:09Z] from the harness: an answer to a command, an error

A message is one locked append. Each line of it but the last ends with a space and a tab, which no
other line does. So a message that was cut off between two lines is recognised, and nobody hears
half of it. The heading is written with the first message. A file without it is read as version 1,
so that a shell script may begin a room. Agents read USER and AGENT lines; NOTICE lines are for
people. A line without a tag is not heard, and its writer is told so.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from dory import clock
from dory.errors import ToolError, UnknownVersion
from dory.storage import files
from dory.text import formatting, names, slash
from dory.types import Line

KINDS = ("USER", "AGENT", "NOTICE")
HEADING = "[dory-room 1]"
LINKED = Path("../../../chats")
"""The folder of the rooms as seen from an identity's ``subs/``. It is relative, so a home can be
moved.
"""
_ID = re.compile(r"[a-z0-9_-]{1,64}")
_TAG = re.compile(
    r"\[(USER|AGENT|NOTICE):([^\s\[\]◱◲]{1,64}) ([0-9A-Za-z:.+-]{1,40})\] ?(.*)", re.DOTALL
)
_BEGINNING = re.compile(rb"\n\[(?:USER|AGENT|NOTICE):")
_SPEAKER = re.compile(rb"^\[(USER|AGENT):([^\s\[\]]{1,256}) [0-9A-Za-z:.+-]{1,40}\]", re.MULTILINE)
A_PERSON = "(a person)"
"""Who speaks in a line of a person that carries the name of an agent."""
_INDENT = "    "
_GOES_ON = b" \t"
"""The end of a line that another line of the same message follows."""
_SCANNED = 1 << 20
"""Bytes that are read at once when speakers are looked for."""
_RECENT = 65536
"""Bytes at the end of a file in which the newest messages are looked for."""
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
    brackets and control characters.
    """
    kept = "".join(c for c in "_".join(name.split()) if c.isprintable() and c not in "[]◱◲")
    return kept[:64] or "someone"


AgentNames = Callable[[], Collection[str]]


class Rooms:
    """The rooms below one folder. Any number of processes may use the same folder."""

    def __init__(
        self, folder: Path, secrets: Sequence[str] = (), agents: AgentNames | None = None
    ) -> None:
        """``secrets`` are redacted from every message. ``agents`` tells which names are agents': a
        line of a person that carries one is read as said by ``A_PERSON``.
        """
        self.folder = folder
        self._secrets = secrets
        self._agents = agents

    def path(self, room: str) -> Path:
        """The file of a room, whether it exists or not."""
        return self.folder / f"{check_id(room)}.md"

    def open(self, room: str, at: datetime) -> None:
        """Create the file if it is missing, and cut off a torn end, so that the next message begins
        at its ``size``.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append(room, b"", at)

    def say(self, room: str, kind: str, name: str, text: str, at: datetime) -> None:
        """Append one message. It is durable when this returns. Empty lines at its ends are
        dropped.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append(room, _line(kind, name, formatting.redact(text, self._secrets), at), at)

    def end(self, room: str) -> int:
        """Return the byte behind the last whole line. Whatever is said from now on stands behind
        it, even if a torn end is cut off first.
        """
        return files.whole_end(self.path(room), _GOES_ON)

    def size(self, room: str) -> int:
        """Return the bytes in the room's file; 0 if it is missing."""
        return files.size(self.path(room))

    def read(self, room: str, offset: int) -> list[Line]:
        """Return the whole messages from byte ``offset`` on. Raises ``FormatError`` for an unknown
        version.

        A line that has no tag and belongs to no message is returned as a ``Line`` of the kind
        ``STRAY``, without a name.
        """
        content = files.read_from(self.path(room), offset)
        return self._parsed(room, content[: files.whole(content, _GOES_ON)], offset)

    def stretch(
        self, room: str, start: int, end: int, size: int = _RECENT
    ) -> tuple[list[Line], int]:
        """Return the messages from byte ``start`` on, and the byte behind them: about ``size``
        bytes, at least one message, and none behind ``end``.

        At ``start`` and ``end`` a message must begin or end.
        """
        content = files.read_from(self.path(room), start, min(size, end - start))
        if size < end - start and len(content) == size:
            last_tag = 1 + max(content.rfind(f"\n[{kind}:".encode()) for kind in KINDS)
            if not last_tag:
                return self.stretch(room, start, end, 2 * size)
            content = content[:last_tag]
        return self._parsed(room, content, start), start + len(content)

    def recent(self, room: str, count: int) -> list[Line]:
        """Return the newest messages, at most ``count``. Only the last 64 KiB are read, however
        long the file is.
        """
        return self.read(room, self._recent_start(room))[-count:]

    def speakers(self, room: str, start: int) -> tuple[set[tuple[str, str]], int]:
        """Return the kind and the name of everybody who spoke from byte ``start`` on, and the byte
        up to which that was looked at. No more than a mebibyte is in memory at once.
        """
        found: set[tuple[bytes, bytes]] = set()
        while content := files.read_from(self.path(room), start, _SCANNED):
            end = content.rfind(b"\n") + 1 or len(content) * (len(content) == _SCANNED)
            found |= set(_SPEAKER.findall(content, 0, end))
            start += end
            if len(content) < _SCANNED:
                break
        named = {
            (kind.decode(), clean_name(name.decode("utf-8", "replace"))) for kind, name in found
        }
        return {(kind, self._speaker(kind, name)) for kind, name in named}, start

    def unanswered(self, room: str) -> int:
        """Return the byte at which a newcomer begins to read: behind the last line of an agent, but
        at most 20 messages and 64 KiB before the end.
        """
        start = self._recent_start(room)
        lines = self.read(room, start)
        ends = [start, *(line.end for line in lines)]
        answered = [number for number, line in enumerate(lines, 1) if line.kind == "AGENT"]
        return ends[max([*answered, len(lines) - _UNANSWERED, 0])]

    def _parsed(self, room: str, content: bytes, offset: int) -> list[Line]:
        """The messages in a part of a room's file. None of people carries an agent's name."""
        lines = _parse(room, content, offset)
        for number, line in enumerate(lines):
            speaker = self._speaker(line.kind, line.name)
            if speaker != line.name:
                lines[number] = replace(line, name=speaker)
        return lines

    def _speaker(self, kind: str, name: str) -> str:
        """Who speaks in a line with this tag."""
        if kind != "USER" or not self._agents or not names.is_agents(name.casefold()):
            return name
        taken = {agent.casefold() for agent in self._agents()}
        return A_PERSON if name.casefold() in taken else name

    def _append(self, room: str, content: bytes, at: datetime) -> None:
        torn = (
            "a message was cut off in the middle when its writer died; what there was of it is in"
            f" chats/{room}.md.torn"
        )
        files.append(
            self.path(room),
            content,
            f"{HEADING}\n".encode(),
            _GOES_ON,
            _line("NOTICE", "harness", torn, at),
        )

    def _recent_start(self, room: str) -> int:
        """The byte at which the first message in the last 64 KiB begins. From the middle of a
        message, quoted text could pass for a tag.
        """
        start = max(0, self.size(room) - _RECENT)
        if not start:
            return 0
        beginning = _BEGINNING.search(files.read_from(self.path(room), start))
        return start + beginning.start() + 1 if beginning else self.end(room)


def laid_out(text: str) -> str:
    """Return a message as it stands behind its tag: every line but the first is indented, whatever
    its line break was.
    """
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
    message = f"[{kind}:{clean_name(name)} {clock.second(at)}] {laid_out(text)}"
    content = message.encode("utf-8", "replace")
    return content.replace(b"\n", _GOES_ON + b"\n") + b"\n"


def _parse(room: str, content: bytes, offset: int) -> list[Line]:
    lines: list[Line] = []
    texts: list[list[str]] = []  # joined at the end, as a message may have very many lines
    end = offset
    for raw in content.splitlines(keepends=True):
        text = raw.rstrip(b"\r\n").removesuffix(_GOES_ON).decode("utf-8", "replace")
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
        else:
            lines.append(Line(room, "STRAY", "", "", "", end))
            texts.append([text])
    return [replace(line, text="\n".join(parts)) for line, parts in zip(lines, texts, strict=True)]
