"""One person in one room: what is new in it, what they say, and which agents listen."""

from pathlib import Path

from dory import clock
from dory.config.command_line import command
from dory.errors import DoryError
from dory.identity import listing
from dory.identity.listing import AgentInfo
from dory.storage.rooms import Rooms, clean_name, laid_out
from dory.types import Line


class Session:
    """Begins at the room's end; what was said from then on comes out of ``heard`` once, one's own
    lines included.
    """

    def __init__(self, home: Path, room: str, name: str) -> None:
        """Raises ``ToolError`` if ``room`` is no room id. Nothing is written before something is
        said.
        """
        self.home = home
        self.room = room
        self.name = clean_name(name)
        self._rooms = Rooms(home / "chats")
        self._offset = self._rooms.end(room)

    def last(self, count: int) -> list[Line]:
        """The newest messages of those that ``heard`` will not bring, at most ``count``."""
        return [
            line
            for line in self._rooms.recent(self.room, count)
            if line.end <= self._offset and line.kind != "STRAY"
        ]

    def heard(self) -> list[Line]:
        """The messages that came since the last call. Raises ``FormatError`` if the room is of an
        unknown version.
        """
        if (
            self._rooms.size(self.room) < self._offset
        ):  # the room was moved away or wiped, and has begun anew
            self._offset = 0
        lines = self._rooms.read(self.room, self._offset)
        if lines:
            self._offset = lines[-1].end
        return [line for line in lines if line.kind != "STRAY"]

    def say(self, text: str) -> int:
        """Say ``text``, which must not be blank, and return the end of the message, in bytes from
        the room's beginning.

        Raises ``DoryError`` that quotes the text's beginning if the room cannot be written.
        """
        try:
            self._rooms.open(
                self.room, clock.utc()
            )  # sets a torn end aside, so that the message begins at the size
            start = self._rooms.size(self.room)
            self._rooms.say(self.room, "USER", self.name, text, clock.utc())
        except OSError as error:
            raise DoryError(
                f"{text[:60]!r} was not said, chats/{self.room}.md cannot be written: {error.strerror}"
            ) from error
        said, lines = laid_out(text), self._rooms.read(self.room, start)
        return next(
            (line.end for line in lines if line.name == self.name and laid_out(line.text) == said),
            start,
        )

    def listeners(self) -> list[AgentInfo]:
        """The agents that run and are in the room."""
        return listing.listening(self.home, self.room)

    @property
    def fresh(self) -> str:
        """The command that boots an agent for the room."""
        return command(
            self.home, "agent.py", *([] if self.room == "dev" else ["--room", self.room])
        )

    def absence(self) -> str:
        """What to say when nobody listens: one line that names the way out."""
        return f"nobody listens in {self.room}: start an agent with `{self.fresh}`, or let chat.py do so with --boot"
