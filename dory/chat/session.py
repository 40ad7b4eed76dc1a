"""One person in one room: new messages, saying something, and which agents listen."""

import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path

from dory import clock
from dory.chat.completions import Commands
from dory.config import secrets
from dory.errors import DoryError, Held, ToolError
from dory.identity import listing, neighbours
from dory.identity.listing import AgentInfo
from dory.storage import room_cursor
from dory.storage.file_locks import PATIENCE
from dory.storage.rooms import Rooms, clean_name, laid_out
from dory.storage.watched_files import FileStamp
from dory.text import formatting, names, redaction
from dory.text.prompt_files import invocation
from dory.text.typed_commands import command
from dory.types import Line

_QUOTED = 60
"""Characters of a message that an error quotes."""


class Session:
    """Begins at the room's present end. ``heard`` returns each later message once, one's own
    included.
    """

    def __init__(
        self,
        home: Path,
        room: str,
        name: str,
        commands: Commands = tuple,
        tell: Callable[[str], None] = print,
        patience: float = PATIENCE,
    ) -> None:
        """Writes nothing. ``commands`` gives those that the harness answers. ``tell`` gets lines
        for the person, from any thread. ``patience``: seconds that ``say`` waits for a room that
        another program holds. Raises ``ToolError`` if ``room`` is no legal room id, or ``name`` is
        that of an agent of this home.
        """
        self.commands = commands
        self._tell = tell
        self.wake: Callable[[], None] | None = None
        """Starts an agent if none listens any more; None if that is not this chat's task."""
        self.home = home
        self.room = room
        self.name = clean_name(name)
        agents = partial(neighbours.all_names, home)
        if names.is_agents(self.name) or names.is_taken(self.name, agents()):
            raise ToolError(
                f"{self.name} could be taken for an agent's name, and people must be told from"
                " agents: choose another with --name"
            )
        self._rooms = Rooms(home / "chats", agents=agents, patience=patience)
        self._offset = self._rooms.end(room)
        self._shown = room_cursor.before(self._rooms, room, self._offset)
        self._file: FileStamp | None = None
        self._told = ""

    def last(self, count: int) -> list[Line]:
        """The newest messages before those that ``heard`` returns, at most ``count``."""
        return [
            line
            for line in self._rooms.recent(self.room, count)
            if line.end <= self._offset and line.kind != "STRAY"
        ]

    def heard(self) -> list[Line]:
        """The messages that came since the last call. Raises ``FormatError`` if the room is of an
        unknown version.
        """
        now = FileStamp.at(self._rooms.path(self.room))
        if now == self._file and not self._told and self._rooms.size(self.room) == self._offset:
            return []
        told: list[Line] = []
        if not room_cursor.stands(self._rooms, self.room, self._offset, self._shown):
            told.append(self._go_on())
        try:
            lines = self._rooms.read(self.room, self._offset)
            self._told = ""
        except Held as error:
            lines = []
            told += self._tell_once(f"{error}; its lines come later")
        for line in lines:
            room_cursor.passed(self._shown, self._offset, line)
            self._offset = line.end
        self._file = now
        return [*told, *(line for line in lines if line.kind != "STRAY")]

    def _go_on(self) -> Line:
        """Find the place in the file that stands where the one was that was shown."""
        place = room_cursor.found(self._rooms, self.room, self._shown)
        if place is None:
            place = room_cursor.newer(self._rooms, self.room, self._shown)
        if place is None:
            place = self._rooms.end(self.room) if self._shown else 0
        self._offset = place
        self._shown = room_cursor.before(self._rooms, self.room, place) or self._shown
        return self._notice(
            f"the file of the room {self.room} was edited or exchanged; what is new in it follows"
        )

    def _tell_once(self, text: str) -> list[Line]:
        told, self._told = self._told, text
        return [] if told == text else [self._notice(text)]

    def _notice(self, text: str) -> Line:
        """A line of this chat, which stands in no room."""
        return Line(self.room, "NOTICE", "chat", clock.second(clock.utc()), text, 0)

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        """What this machine keeps secret. It takes a moment, so it is asked for when needed."""
        return secrets.of_home(self.home, os.environ)

    def redact(self, text: str) -> str:
        """``text`` as it may be kept."""
        return redaction.redact(text, self._secrets)

    def say(self, text: str) -> int:
        """Say ``text``, which must not be blank, without secrets. Returns the end of the message,
        in bytes from the room's beginning.

        Raises ``DoryError``, which quotes the beginning of the text, if the room cannot be written.
        """
        text, masked = redaction.masked(text, self._secrets)
        if masked:
            self._tell(told_of(masked))
        try:
            # Opening moves a torn last line aside, so that the message begins at the room's size.
            self._rooms.open(self.room, clock.utc())
            start = self._rooms.size(self.room)
            self._rooms.say(self.room, "USER", self.name, text, clock.utc())
        except OSError as error:
            raise DoryError(
                f"{text[:_QUOTED]!r} was not said, chats/{self.room}.md cannot be written:"
                f" {error.strerror}"
            ) from error
        except Held as error:
            raise DoryError(f"{text[:_QUOTED]!r} was not said, {error}: try again") from error
        wanted = laid_out(text)
        for line in self._rooms.messages(self.room, start):
            if line.name == self.name and laid_out(line.text) == wanted:
                return line.end
        return start

    def listeners(self) -> list[AgentInfo]:
        """The agents that run and are in the room."""
        return listing.listening(self.home, self.room)

    @property
    def boot_command(self) -> str:
        """The command that boots an agent for the room."""
        room_flags = [] if self.room == "dev" else ["--room", self.room]
        return command(self.home, "agent.py", *room_flags)

    def absence(self) -> str:
        """One line that says that nobody listens, and what to do about it."""
        return (
            f"nobody listens in {self.room}: start an agent with `{self.boot_command}`,"
            f" or let {invocation('chat.py')} do so with --boot"
        )


def told_of(masked: Sequence[str]) -> str:
    """One line for the person who wrote something of which these secrets were masked."""
    kinds = ", ".join(dict.fromkeys(masked))
    remedy = f"to send one as it is, write {redaction.SPARED} right before it"
    if set(masked) == {redaction.KNOWN}:
        remedy = "such a value is never sent"
    return (
        f"{formatting.plural(len(masked), 'secret')} masked before it was said ({kinds}); {remedy}"
    )
