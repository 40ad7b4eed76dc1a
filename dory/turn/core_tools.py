"""The core tools: SAY, READ_FILE, EDIT_FILE, UNCOMPACT, JOIN, LEAVE, WAIT.

A tool does all of what it was asked, or changes nothing and raises a ``ToolError`` whose one line
says what to do instead. A tool with an effect leaves a mark first, so that after a crash
``turn/tool_runner.py`` can tell whether it acted.
"""

import hashlib
import io
import os
import re
from collections.abc import Sequence

from dory.config.settings import Config
from dory.constants import MEMBERSHIPS
from dory.errors import Held, ToolError
from dory.identity import life
from dory.identity.identity import Identity
from dory.storage.rooms import check_id
from dory.text import formatting
from dory.text.edits import checked, edited
from dory.text.formatting import plural
from dory.text.prompt_files import DURABLE
from dory.turn import addressees, outbox, sandbox
from dory.turn.extension import Extension, Outcome, Tool
from dory.turn.lessons import taught
from dory.turn.uncompact import open_original
from dory.types import Call

_SEARCHED = 256 * 2**20
"""Bytes of a file that READ_FILE looks through, which takes about a second. The file may grow
meanwhile.
"""
_RANGE = re.compile(r"(.*\S)\s+(\d{1,9})?-(\d{1,9})?")


class CoreTools(Extension):
    """What every agent can do."""

    name = "core"

    def __init__(self, identity: Identity, config: Config) -> None:
        self._identity = identity
        self._config = config

    def say(self, call: Call) -> Outcome:
        """Append a message to a room that the agent is in."""
        room, text = _message(call)
        rooms = self._identity.subscriptions()
        if room not in rooms:
            raise ToolError(
                f"you are not in the room {room[:70]!r}: you are in"
                f" {formatting.named(rooms) or 'none'};"
                " JOIN enters one"
            )
        if not text.strip():
            raise ToolError("nothing to say: write SAY <room> <message>")
        mark = self._identity.rooms.end(room)
        held = outbox.say(self._identity, room, "AGENT", text)
        addressees.note(self._identity, room, mark, text)
        if held:
            return Outcome(f"{held}: what you said waits, and is said there by itself")
        return Outcome(f"said in {room}")

    def read_file(self, call: Call) -> Outcome:
        """The lines of a text file, or the names in a folder."""
        path, first, last = _range(call.args)
        if not path:
            raise ToolError(
                "which file? write READ_FILE <path>, or READ_FILE <path> 1-80 for some lines"
            )
        if first < 1 or last < first:
            raise ToolError(
                f"there are no lines {first}-{last}: lines count from 1, the lower number first"
            )
        limit = self._config.result_limit
        if path == "SOUL.md":
            soul = io.BytesIO(self._identity.soul.encode())
            return Outcome(_part(soul, path, first, last, limit))
        root, parts = sandbox.place(self._identity.folder, self._identity.home, path)
        names = sandbox.listing(root, parts, path)
        if names is not None:
            return Outcome(f"{path} holds: {', '.join(names) or 'nothing'}"[:limit])
        if parts[0] in DURABLE and not os.path.lexists(root / parts[0]):
            return Outcome(f"{path} is empty")
        with open(sandbox.opened(root, parts, path), "rb") as file:
            if root == self._identity.folder and tuple(parts) == (life.NAME,):
                file.readline()  # its lines count from the first event, as summaries name them
            return Outcome(_part(file, path, first, last, limit))

    def edit_file(self, call: Call) -> Outcome:
        """Apply all search/replace blocks of the call, or none."""
        path = call.args
        sandbox.may_edit(path)
        if not call.edits:
            raise ToolError(
                "no search/replace block: put '<<<<<<< SEARCH', old text, '=======', new text,"
                " '>>>>>>> REPLACE' below the line"
            )
        root, parts = sandbox.place(self._identity.folder, self._identity.home, path)
        before = self._content(path)
        after = before
        for search, replacement in call.edits:
            after = edited(after, search, replacement, path)
        checked(before, after, path)
        # the agent's folder gets a copy of SEGMENT.md or SUMMARISE.md, wherever it was read from
        expected = before.encode() if root == self._identity.folder else b""
        sandbox.write(
            self._identity.folder, parts, path, expected, after.encode("utf-8", "replace")
        )
        return Outcome(f"{path} changed; it has {len(after)} characters now")

    def uncompact(self, call: Call) -> Outcome:
        """Put an original back, if the context stays below the hard limit with it."""
        return open_original(self._identity, call.args, self._config.hard_limit)

    def join(self, call: Call) -> Outcome:
        """Enter a room, which is made if it is new."""
        room = check_id(call.args)
        rooms = self._identity.subscriptions()
        if room in rooms:
            raise ToolError(f"you are in {room} already")
        if len(rooms) >= MEMBERSHIPS:
            raise ToolError(
                f"you are in {len(rooms):,} rooms, and more than {MEMBERSHIPS} are too many: LEAVE"
                f" one first, such as LEAVE {self._quietest(rooms)}"
            )
        try:
            self._identity.join(room)
        except Held as error:
            raise ToolError(f"{error}: try again later") from error
        return Outcome(f"you are in {room} now; what nobody has answered there yet follows")

    def leave(self, call: Call) -> Outcome:
        """Leave a room."""
        room = check_id(call.args)
        if room not in self._identity.subscriptions():
            raise ToolError(
                f"you are not in {room}: you are in"
                f" {formatting.named(self._identity.subscriptions()) or 'none'}"
            )
        self._identity.leave(room)
        return Outcome(f"you have left {room}")

    def _quietest(self, rooms: Sequence[str]) -> str:
        """The room in which nothing was said for longest, if possible one without people."""
        me = self._identity

        def place(room: str) -> tuple[bool, float]:
            known = me.state.rooms.get(room)
            return bool(known and known.people), me.rooms.changed(room)

        return min(rooms, key=place)

    def _content(self, path: str) -> str:
        root, parts = sandbox.place(self._identity.folder, self._identity.home, path)
        try:
            return sandbox.whole(root, parts, path).decode("utf-8")
        except UnicodeDecodeError:
            raise ToolError(f"{path} is not a text file") from None

    def _room_end(self, call: Call) -> str:
        room, _ = _message(call)
        return str(self._identity.rooms.end(room)) if room in self._identity.subscriptions() else ""

    def _said(self, call: Call, mark: str) -> bool:
        room, text = _message(call)
        me = self._identity
        return bool(mark) and me.rooms.has(room, "AGENT", me.name, text, int(mark))

    def _digest(self, call: Call) -> str:
        try:
            sandbox.may_edit(call.args)
            return hashlib.sha256(self._content(call.args).encode()).hexdigest()
        except ToolError:
            return ""

    def _edited(self, call: Call, mark: str) -> bool:
        return bool(mark) and self._digest(call) != mark

    def _membership(self, call: Call) -> str:
        return "in" if call.args in self._identity.subscriptions() else "out"

    def _moved(self, call: Call, mark: str) -> bool:
        return bool(mark) and self._membership(call) != mark

    def wait(self, _: Call) -> Outcome:
        """Do nothing until something happens."""
        return Outcome("")

    TOOLS = taught(
        __file__,
        Tool(
            "SAY <room> <message>", say, _room_end, _said, quiet=True, everyday=True, doing="writes"
        ),
        Tool(
            "READ_FILE <path> [from-to]", read_file, indexed=True, everyday=True, doing="reads {}"
        ),
        Tool(
            "EDIT_FILE <path>, then one or more search/replace blocks",
            edit_file,
            _digest,
            _edited,
            quiet=True,
            everyday=True,
            doing="edits {}",
        ),
        Tool(
            "UNCOMPACT <hash>",
            uncompact,
            looks_up=True,
            indexed=True,
            everyday=True,
            doing="opens {}",
        ),
        Tool("JOIN <room>", join, _membership, _moved, quiet=True, doing="enters {}"),
        Tool("LEAVE <room>", leave, _membership, _moved, quiet=True, doing="leaves {}"),
        Tool("WAIT", wait, quiet=True, looks_up=True, everyday=True, doing="waits"),
    )


def _message(call: Call) -> tuple[str, str]:
    room, text = call.named
    return room, text.strip()


def _range(argument: str) -> tuple[str, int, int]:
    """The path and the lines, counted from 1, that READ_FILE is to show."""
    match = _RANGE.fullmatch(argument)
    if not match:
        return argument, 1, 10**9
    return match[1], int(match[2] or 1), int(match[3] or 10**9)


def _part(file: io.BufferedIOBase, path: str, first: int, last: int, limit: int) -> str:
    """Lines ``first`` to ``last``, at most ``limit`` characters, under a line that says which."""
    shown: list[str] = []
    number = 0
    size = 0
    passed = 0
    while raw := file.readline(4 * limit + 4):  # UTF-8 has at most 4 bytes a character
        if b"\x00" in raw:
            raise ToolError(f"{path} is not a text file")
        number += 1
        if number < first:
            passed += len(raw)
            while raw and not raw.endswith(b"\n") and passed <= _SEARCHED:
                raw = file.readline(4 * limit)  # the rest of a long line is not counted as a line
                passed += len(raw)
            if passed > _SEARCHED:
                raise ToolError(
                    f"{path} has no line {first} within the {_SEARCHED >> 20} MiB that READ_FILE"
                    " looks through"
                )
            continue
        text = raw.decode("utf-8", "replace")
        if not shown and len(text) > limit:
            return (
                f"{path}, the beginning of line {number}, which is longer than {limit}"
                f" characters\n{text[:limit]}"
            )
        if number > last or size + len(text) > limit:
            return (
                f"{path}, lines {first}-{number - 1}; it goes on: READ_FILE {path}"
                f" {number}-\n{''.join(shown)}"
            )
        shown.append(text)
        size += len(text)
    if not shown:
        return f"{path} is empty" if not number else f"{path} has only {plural(number, 'line')}"
    return f"{path}, lines {first}-{number}, its end\n{''.join(shown)}"
