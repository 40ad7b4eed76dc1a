"""What comes in from the rooms: lines for the context, and people's commands for the harness.

Each room has two offsets on disk: how far its lines were handed to the agent, and how far its
commands were answered. Commands run ahead, because they are answered at once, also during a model
call. Each offset moves in the same commit as what the lines caused, so no line is lost or heard
twice, and no command has its effect twice. The answer to a command is part of the commit of its
effect until it is in the room.

What a person says wakes the agent. The person waits for its answer, unless the message is addressed
to another agent of the room. What another agent says enters the context, and wakes this one only if
it names it, or comes from an agent that this one named in its last message there. After some such
lines it waits until a person speaks in the room.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dory import clock
from dory.constants import EXCHANGES, RESULT_LIMIT
from dory.errors import DoryError, FormatError
from dory.identity import heard_entry, neighbours
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import Owed, RoomState
from dory.process.failures import TellOnce
from dory.storage import rooms
from dory.text import addressing, formatting, slash
from dory.turn.extension import Command
from dory.types import Line

CUED = 10
"""If many messages come in at once, cues are looked for only for so many, the newest: after a long
absence the agent should answer soon.
"""
RECENT = 40
"""Of the newest lines of a room, how many are looked at to see what others have said meanwhile."""
_COMMAND = re.compile(r"([/@])(\S*)\s*(.*)", re.DOTALL)


def post(identity: Identity, text: str) -> None:
    """Say something to the people in every room that the agent is in."""
    for room in identity.subscriptions():
        identity.rooms.say(room, "NOTICE", identity.name, text, identity.now())


class Inbox:
    """The rooms that one identity is in."""

    def __init__(
        self,
        identity: Identity,
        commands: Sequence[Command],
        log: Callable[[str], None],
        limit: int = RESULT_LIMIT,
        cue: Callable[[Line], str] = lambda line: "",
        exchanges: int = EXCHANGES,
        secrets: RoomSecrets | None = None,
    ) -> None:
        """``limit``: characters of one message that enter the context; the rest stays in the room's
        file. ``cue``: returns what of the past a person's message may refer to. ``exchanges``: how
        many lines of other agents wake this one in a room before a person speaks there.
        ``secrets``: who may have the answer to a private command; by default nobody is an owner.
        """
        self._identity = identity
        self._commands = {command.name: command for command in commands}
        self._log = log
        self._limit = limit
        self._cue = cue
        self._exchanges = exchanges
        self._secrets = secrets or RoomSecrets(identity)
        self._tell_damage = TellOnce(self._tell)
        self._sizes: dict[str, int] = {}

    def receive(self) -> bool:
        """Hand everything new to the agent, and answer the commands on the way; returns whether
        there was anything to hear.
        """
        names = self.serve()
        before = len(self._identity.context.entries)
        taken = [self._take(room) for room in names]
        if any(taken):
            self._identity.commit()
        self.post_notices()
        return len(self._identity.context.entries) > before

    def serve(self) -> list[str]:
        """Answer the commands that have come in; leave all other lines for ``receive``. Returns the
        rooms that were read.
        """
        self._deliver_answer()
        self.post_notices(fresh=False)
        subscriptions = self._identity.subscriptions()
        self._sizes = self._sizes_of(subscriptions)
        for room in subscriptions:
            with self._reporting_damage():
                self._serve(room)
        return subscriptions

    def post_notices(self, fresh: bool = True) -> None:
        """Write the notices into their rooms that the last commit names. Unless they are ``fresh``,
        they may have got there before a kill.
        """
        state = self._identity.state
        for owed in state.notices:
            self._deliver(owed, fresh)
        state.notices = []

    def has_changed(self) -> bool:
        """Whether a room has changed since ``serve``. It costs a few calls of ``stat``, for an
        agent that sleeps.
        """
        return self._sizes_of(list(self._sizes)) != self._sizes

    def _sizes_of(self, names: Sequence[str]) -> dict[str, int]:
        return {room: self._identity.rooms.size(room) for room in names}

    def _serve(self, room: str) -> None:
        position, size = self._position(room)
        if size <= position.commands:
            return
        for line in self._identity.rooms.read(room, position.commands):
            position.commands = line.end
            if command := self._command(line):
                self._answer(line, *command)

    def _take(self, room: str) -> bool:
        """Hand the new lines of a room to the agent; whether there were any."""
        lines: Sequence[Line] = ()
        with self._reporting_damage():
            position, size = self._position(room)
            if size > position.read:
                lines = self._identity.rooms.read(room, position.read)
        others = self._others(room) if lines else []
        for number, line in enumerate(lines):
            if line.kind == "STRAY":
                self._tell_of_stray(line, lines[number:])
            else:
                self._hear(line, position, others, cued=len(lines) - number <= CUED)
            position.read = line.end
        return bool(lines)

    @contextmanager
    def _reporting_damage(self) -> Iterator[None]:
        """A room whose file is of an unknown version is left unread, and the person and the agent
        are told once; the other rooms go on.
        """
        try:
            yield
        except FormatError as error:
            self._tell_damage(str(error))

    def _tell(self, text: str) -> None:
        """The person at the terminal, and the agent."""
        self._log(text)
        self._identity.notice(text)

    def _position(self, room: str) -> tuple[RoomState, int]:
        """How far the room was read, and its size. A room begins like any newcomer's if somebody
        else made its symlink, if a crash left that behind, or if a shorter file replaced its file.
        """
        me = self._identity
        size = me.rooms.size(room)
        known = me.state.rooms.get(room)
        begun = known.of(size) if known else RoomState()
        if begun is known:
            return known, size
        if known:
            me.notice(
                f"The file of the room {room} is shorter than what you heard of it;"
                " you go on with what it holds now."
            )
            self._log(
                f"chats/{room}.md is shorter than what was read of it;"
                " going on with what it holds now"
            )
        fresh = begun.entered(me.rooms.unanswered(room), me.rooms.end(room))
        me.state.rooms[room] = fresh
        return fresh, size

    def _hear(self, line: Line, position: RoomState, others: list[str], cued: bool) -> None:
        """Take in a line. ``others`` are the names of the other agents in its room."""
        me = self._identity
        own = line.kind == "AGENT" and line.name == me.name
        if own:
            position.asked = addressing.named(line.text, others)
        if own or line.kind == "NOTICE" or self._command(line):
            return
        cue = self._cue(line) if cued and line.kind == "USER" else ""
        said = f"{line.room} {line.name}: {line.text}"
        original = me.original("heard", said)
        entry = me.add("heard", line.room, heard_entry.body(line, self._shortened(line), cue))
        me.log("heard", said, original)
        names = [me.name, *others]
        if line.kind == "USER":
            self._await(line, position, names)
            me.wake(entry.first)
        elif me.name in addressing.named(line.text, names) or line.name in position.asked:
            position.exchanges += 1
            if line.name not in position.callers:
                position.callers.append(line.name)
            if position.exchanges <= self._exchanges:
                me.wake(entry.first)
            elif position.exchanges == self._exchanges + 1:
                self._end_exchange(line.room)

    def _await(self, line: Line, position: RoomState, names: list[str]) -> None:
        """A person has spoken, and waits unless the message is for others among the ``names``."""
        position.exchanges = 0
        position.reminded = position.doubted = False
        meant = addressing.addressed(line.text, names)
        for_others = meant and self._identity.name not in meant
        name = self._identity.redact(line.name)
        if not for_others and name not in position.waiting:
            position.waiting.append(name)

    def _end_exchange(self, room: str) -> None:
        """Tell the person at the terminal, the agent and, unless another agent has, the room."""
        me = self._identity
        self._tell(
            f"{self._exchanges} exchanges in {room} with agents only:"
            " you wait until a person speaks there."
        )
        notice = f"{self._exchanges} exchanges with agents only: I wait until a person speaks here"
        for line in reversed(me.rooms.recent(room, RECENT)):
            if line.kind == "USER":
                break
            if line.kind == "NOTICE" and line.text == notice:
                return
        me.state.notices.append(Owed(room, notice, me.rooms.end(room)))

    def _others(self, room: str) -> list[str]:
        """The names of the other agents in a room."""
        me = self._identity
        return [name for name in neighbours.names(me.home, room) if name != me.name]

    def _shortened(self, line: Line) -> str:
        """As much of the message as enters the context. It is counted as laid out: of very many
        short lines most are indents.
        """
        laid_out = rooms.laid_out(line.text)
        rest = len(laid_out) - self._limit
        if rest <= 0:
            return line.text
        shown = laid_out[: self._limit].replace("\n    ", "\n")
        more = formatting.plural(rest, "more character")
        return f"{shown}\n… {more}: READ_FILE chats/{line.room}.md"

    def _command(self, line: Line) -> tuple[str, str] | None:
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

    def _tell_of_stray(self, line: Line, later: Sequence[Line]) -> None:
        """Say once in the room that a line without a tag was not heard. After a kill before the
        commit, that notice is among the ``later`` lines.
        """
        if not line.text.strip():
            return
        me = self._identity
        now = me.now()
        beginning = (
            f"a line without a tag was not heard: {formatting.one_line(line.text, 60)}; write"
        )
        if any(said.name == me.name and said.text.startswith(beginning) for said in later):
            return
        notice = f"{beginning} [USER:name {clock.second(now)}] text"
        self._log(notice)
        me.rooms.say(line.room, "NOTICE", me.name, notice, now)

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
        self._deliver_answer(fresh=True)

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

    def _deliver_answer(self, fresh: bool = False) -> None:
        """Put the answer that is still owed into its room. Unless it is ``fresh``, it may have got
        there before a kill.
        """
        owed = self._identity.state.owed
        if owed:
            self._deliver(owed, fresh)
            self._identity.state.owed = None

    def _deliver(self, owed: Owed, fresh: bool) -> None:
        me = self._identity
        later = () if fresh else me.rooms.read(owed.room, owed.mark)
        delivered = any(
            line.kind == "NOTICE"
            and line.name == me.name
            and rooms.laid_out(line.text) == rooms.laid_out(owed.text)
            for line in later
        )
        if not delivered:
            me.rooms.say(owed.room, "NOTICE", me.name, owed.text, me.now())
