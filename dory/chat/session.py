"""One person in one room: new messages, saying something, and which agents listen."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from dory import clock
from dory.chat.completions import Commands
from dory.config.command_line import command
from dory.errors import DoryError, ToolError
from dory.identity import listing, neighbours
from dory.identity.listing import AgentInfo
from dory.storage.rooms import Rooms, clean_name, laid_out
from dory.text import names
from dory.text.prompt_files import invocation
from dory.types import Line

_QUOTED = 60
"""Characters of a message that an error quotes."""


class Session:
    """Begins at the room's present end. ``heard`` returns each later message once, one's own
    included.
    """

    def __init__(self, home: Path, room: str, name: str, commands: Commands = tuple) -> None:
        """Writes nothing. ``commands`` gives those that the harness answers. Raises ``ToolError``
        if ``room`` is no legal room id, or ``name`` is that of an agent of this home.
        """
        self.commands = commands
        self.wake: Callable[[], None] | None = None
        """Starts an agent if none listens any more; None if that is not this chat's task."""
        self.home = home
        self.room = room
        self.name = clean_name(name)
        agents = partial(neighbours.all_names, home)
        folded = self.name.casefold()
        if names.is_agents(folded) and folded in {agent.casefold() for agent in agents()}:
            raise ToolError(
                f"{self.name} is an agent's name, and people must be told from agents: choose"
                " another with --name"
            )
        self._rooms = Rooms(home / "chats", agents=agents)
        self._offset = self._rooms.end(room)

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
        size = self._rooms.size(self.room)
        if size == self._offset:
            return []
        if size < self._offset:
            self._offset = 0  # the room was moved away or wiped, and has begun anew
        lines = self._rooms.read(self.room, self._offset)
        if lines:
            self._offset = lines[-1].end
        return [line for line in lines if line.kind != "STRAY"]

    def say(self, text: str) -> int:
        """Say ``text``, which must not be blank. Returns the end of the message, in bytes from the
        room's beginning.

        Raises ``DoryError``, which quotes the beginning of the text, if the room cannot be written.
        """
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
        wanted = laid_out(text)
        for line in self._rooms.read(self.room, start):
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
