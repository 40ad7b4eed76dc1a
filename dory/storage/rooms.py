"""Rooms: one append-only markdown file each, shared by people, agents and bridges, who need nothing
but this format.

    [dory-room 1]
    [USER:ada 2026-11-21T07:38:02Z] hello
    [AGENT:dory-1a2b3c4d 2026-11-21T07:38:04Z] Hello Ada!
        Further lines of a message are indented by four spaces, so none can pass for a tag.
    [NOTICE:dory-1a2b3c4d 2026-11-21T07:38:09Z] what the harness itself says: answers to commands, trouble with the model

A message is one locked append. A line that another one of the same message follows ends with a
space and a tab, which stand at no line's end otherwise: so a message that was cut off between two
lines is known for what it is, and nobody hears half of it. The heading is written with a room's
first message; a file without it is read as version 1, so that a shell script may begin a room.
Agents read USER and AGENT lines; NOTICE lines are for people. Whoever writes a line without a tag
is told so.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from dory import clock
from dory.errors import ToolError, UnknownVersion
from dory.storage import files
from dory.text import formatting
from dory.types import Line

KINDS = ("USER", "AGENT", "NOTICE")
HEADING = "[dory-room 1]"
LINKED = Path("../../../chats")
"""The folder of the rooms as seen from an identity's ``subs/``: relative, so that a home can be
moved.
"""
_ID = re.compile(r"[a-z0-9_-]{1,64}")
_TAG = re.compile(
    r"\[(USER|AGENT|NOTICE):([^\s\[\]◱◲]{1,64}) ([0-9A-Za-z:.+-]{1,40})\] ?(.*)", re.DOTALL
)
_BEGINNING = re.compile(rb"\n\[(?:USER|AGENT|NOTICE):")
_INDENT = "    "
_GOES_ON = b" \t"
_RECENT = 65536


def is_id(room: str) -> bool:
    """Whether ``room`` is a legal room id."""
    return bool(_ID.fullmatch(room))


def check_id(room: str) -> str:
    """``room`` itself if it is a legal room id, else a ``ToolError`` that says what one looks like."""
    if not is_id(room):
        raise ToolError(f"{room[:70]!r} is no room: a room id has 1 to 64 of a-z, 0-9, _ and -")
    return room


def clean_name(name: str) -> str:
    """A speaker's name as it may stand in a tag: no white space, brackets or control characters, 1
    to 64 characters.
    """
    kept = "".join(c for c in "_".join(name.split()) if c.isprintable() and c not in "[]◱◲")
    return kept[:64] or "someone"


class Rooms:
    """The rooms below one folder. Any number of processes may use the same folder."""

    def __init__(self, folder: Path, secrets: Sequence[str] = ()) -> None:
        """Nothing that is said here holds any of ``secrets``."""
        self.folder = folder
        self._secrets = secrets

    def path(self, room: str) -> Path:
        """The room's file, whether it exists or not."""
        return self.folder / f"{check_id(room)}.md"

    def open(self, room: str, at: datetime) -> None:
        """Make sure that the room's file is there and ends with a whole line: what is said next
        begins at its ``size``.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append(room, b"", at)

    def say(self, room: str, kind: str, name: str, text: str, at: datetime) -> None:
        """Append one message; it is durable when this returns. Empty lines at its ends are dropped."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._append(room, _line(kind, name, formatting.redact(text, self._secrets), at), at)

    def end(self, room: str) -> int:
        """The byte behind the last whole line: whatever is said from now on stands behind it, also
        if a torn end is cut off first.
        """
        return files.whole_end(self.path(room), _GOES_ON)

    def size(self, room: str) -> int:
        """Bytes in the room's file; 0 when there is none."""
        return files.size(self.path(room))

    def read(self, room: str, offset: int) -> list[Line]:
        """The whole messages from byte ``offset`` on. An unknown version raises ``FormatError``.

        A line that has no tag and belongs to no message comes as a ``Line`` of the kind ``STRAY``,
        without a name.
        """
        content = files.read_from(self.path(room), offset)
        return _parse(room, content[: files.whole(content, _GOES_ON)], offset)

    def stretch(
        self, room: str, start: int, end: int, size: int = _RECENT
    ) -> tuple[list[Line], int]:
        """The messages from byte ``start`` on, about ``size`` bytes of them but at least one, and
        the byte behind them. Nothing that was said behind ``end`` is among them; at both a message
        begins, or ends.
        """
        content = files.read_from(self.path(room), start, min(size, end - start))
        if size < end - start and len(content) == size:
            behind = 1 + max(content.rfind(f"\n[{kind}:".encode()) for kind in KINDS)
            if not behind:
                return self.stretch(room, start, end, 2 * size)
            content = content[:behind]
        return _parse(room, content, start), start + len(content)

    def recent(self, room: str, count: int) -> list[Line]:
        """The newest messages, at most ``count``, looked for in the last 64 KiB: a room of years is
        not read to show some lines.
        """
        return self.read(room, self._recent(room))[-count:]

    def unanswered(self, room: str) -> int:
        """Where a newcomer begins to read: behind the last line of an agent, but at most 20
        messages and 64 KiB before the end.
        """
        start = self._recent(room)
        lines = self.read(room, start)
        ends = [start, *(line.end for line in lines)]
        answered = [number for number, line in enumerate(lines, 1) if line.kind == "AGENT"]
        return ends[max([*answered, len(lines) - 20, 0])]

    def _append(self, room: str, content: bytes, at: datetime) -> None:
        torn = f"a message was cut off in the middle when its writer died; what there was of it is in chats/{room}.md.torn"
        files.append(
            self.path(room),
            content,
            f"{HEADING}\n".encode(),
            _GOES_ON,
            _line("NOTICE", "harness", torn, at),
        )

    def _recent(self, room: str) -> int:
        start = max(0, self.size(room) - _RECENT)
        if (
            start
        ):  # on to the next message: from the middle of one, quoted text could pass for a tag
            found = _BEGINNING.search(files.read_from(self.path(room), start))
            start = start + found.start() + 1 if found else self.end(room)
        return start


def laid_out(text: str) -> str:
    """A message as it stands behind its tag: every line but the first indented, whatever kind of
    line break it had.
    """
    return f"\n{_INDENT}".join(line.rstrip() for line in text.strip().splitlines())


def spoken(line: Line, called: Collection[str]) -> bool:
    """Whether it is said to somebody: no notice, no stray line, no command of a person's. Those in
    ``called`` may begin with an @.
    """
    first = line.text.split(maxsplit=1)[:1]
    if not first or line.kind not in ("USER", "AGENT"):
        return False
    return line.kind == "AGENT" or not (
        first[0][0] == "/" or (first[0][0] == "@" and first[0][1:] in called)
    )


def _line(kind: str, name: str, text: str, at: datetime) -> bytes:
    message = f"[{kind}:{clean_name(name)} {clock.second(at)}] {laid_out(text)}".encode(
        "utf-8", "replace"
    )
    return message.replace(b"\n", _GOES_ON + b"\n") + b"\n"


def _parse(room: str, content: bytes, offset: int) -> list[Line]:
    lines: list[Line] = []
    texts: list[list[str]] = []  # joined at the end: a pasted log has very many lines
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
