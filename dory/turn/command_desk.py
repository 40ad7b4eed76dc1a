"""People's commands in the rooms, and the answers to them.

A command is run at once, also during a model call. Its answer is part of the commit of its effect
until it is in the room, so after a kill it is neither lost nor given twice. So is any other notice
that a commit names for a room.
"""

import difflib
import re
from collections.abc import Callable, Sequence

from dory.errors import DoryError
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import Owed, RoomState
from dory.storage import room_cursor
from dory.storage.room_parts import Part
from dory.text import formatting, slash
from dory.turn import outbox
from dory.turn.extension import Command
from dory.types import Line

COMMANDS = 50
"""Commands of one room that are run in one step, the newest: each takes some milliseconds, and
nobody types so many.
"""
_COMMAND = re.compile(r"([/@])(\S*)\s*(.*)", re.DOTALL)


class CommandDesk:
    """Answers the commands of one identity. ``secrets``: who may have the answer to a private one;
    ``spoken`` is called for each.
    """

    def __init__(
        self,
        identity: Identity,
        commands: Sequence[Command],
        log: Callable[[str], None],
        secrets: RoomSecrets,
        spoken: Callable[[], None],
    ) -> None:
        self._identity = identity
        self._commands = {command.name: command for command in commands}
        self._log = log
        self._secrets = secrets
        self._spoken = spoken

    def command(self, line: Line) -> tuple[str, str] | None:
        """The name and the argument if the line is a person's command. A line with an ``@`` is one
        only if the command may be called so: other lines may name people.
        """
        match = _COMMAND.fullmatch(line.text.strip()) if line.kind == "USER" else None
        if not match:
            return None
        sign, name, argument = match.groups()
        command = self._commands.get(name)
        if slash.is_command(line.text.strip()) or (sign == "@" and command and command.called):
            return name, argument.strip()
        return None

    def serve(self, room: str, parts: Sequence[Part], position: RoomState) -> None:
        """Run the commands in the next ``parts`` of a room."""
        waiting = sum(1 for part in parts for _ in part.slashed())
        if waiting > COMMANDS:
            self._refuse(room, waiting - COMMANDS)
        for part in parts:
            start = part.start
            for message in part.slashed():
                waiting -= 1
                if waiting >= COMMANDS:
                    continue
                line = self._identity.rooms.parsed(room, message)[0]
                if command := self.command(line):
                    self._go_on(room, part.within(start, message.end), position)
                    start = message.end
                    self._spoken()
                    self._answer(line, *command)
            self._go_on(room, part.within(start, part.end), position)

    def deliver_answer(self, fresh: bool = False) -> None:
        """Put the answer that is still owed into its room. Unless it is ``fresh``, it may have got
        there before a kill.
        """
        state = self._identity.state
        if state.owed:
            state.notices.insert(0, state.owed)
            state.owed = None
            outbox.deliver(self._identity, fresh)

    def _go_on(self, room: str, part: Part, position: RoomState) -> None:
        room_cursor.passed_parts(position.run_last, self._identity.rooms, room, [part])
        position.commands = part.end

    def _refuse(self, room: str, count: int) -> None:
        """Tell a room that so many of its commands are not run."""
        me = self._identity
        text = (
            f"{formatting.plural(count, 'command')} not run: of more than {COMMANDS} at once I run"
            " the newest; repeat what is still wanted"
        )
        self._log(f"{room}: {text}")
        me.state.notices.append(Owed(room, text, me.rooms.end(room)))

    def _answer(self, line: Line, name: str, argument: str) -> None:
        """Run the command in a line. The unsure answer is delivered if the process ends after the
        command itself has committed.
        """
        me = self._identity
        unsure = (
            f"/{name} was being done when the process ended:"
            " look whether it had its effect, and repeat it if not"
        )
        owed = Owed(line.room, unsure, me.rooms.end(line.room), me.redact(line.name))
        me.state.owed = owed
        try:
            answer = self._answered(line, name, argument)
        except DoryError as error:
            answer = str(error)
        owed.text = me.redact(answer)
        me.commit()
        self.deliver_answer(fresh=True)

    def _answered(self, line: Line, name: str, argument: str) -> str:
        command = self._commands.get(name)
        if command is None:
            near = difflib.get_close_matches(name, self._commands, n=1)
            meant = f"; did you mean /{near[0]}?" if near else ""
            return f"there is no /{name}{meant} (/help lists the commands)"
        needs_argument = "<" in command.usage.partition("  ")[0]
        if needs_argument and not argument:
            return f"something is missing: {command.usage}"
        if command.private and not self._secrets.may_show("", line.name, line.room):
            return self._secrets.refusal(f"/{name}")
        return command.run(argument)
