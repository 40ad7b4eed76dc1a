"""What comes in from the rooms: lines for the context, and people's commands for the harness.

Each room has two offsets on disk: how far its lines were handed to the agent, and how far its
commands were answered. Commands run ahead, because they are answered at once, also while a model
call is under way. Both move in the same commit as what they caused, so no line is lost or heard
twice and no command has its effect twice. The answer to a command stands in the commit of its
effect until it is in the room.
"""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dory import clock
from dory.constants import EXCHANGE_LIMIT, RESULT_LIMIT
from dory.errors import DoryError, FormatError
from dory.identity import heard_entry
from dory.identity.identity import Identity
from dory.identity.state import Owed, RoomState
from dory.storage import rooms
from dory.text import formatting
from dory.turn.extension import Command
from dory.types import Line

CUED = 10
"""Of many messages that come in at once only so many, the newest, are searched for: who was away
for a week shall answer soon.
"""
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
    ) -> None:
        """``limit``: characters of one message that enter the context; what is beyond stays in the
        room's file. ``cue``: what of the past a person's message may belong to.
        """
        self._identity = identity
        self._limit = limit
        self._cue = cue
        self._commands = {command.name: command for command in commands}
        self._log = log
        self._refused: dict[str, str] = {}
        self._seen: dict[str, int] = {}

    def drain(self) -> bool:
        """Hand over everything new; returns whether there was anything to hear. Commands on the way
        are answered.
        """
        rooms, before = self.serve(), len(self._identity.context.entries)
        if sum(self._take(room) for room in rooms):
            self._identity.commit()
        return len(self._identity.context.entries) > before

    def serve(self) -> list[str]:
        """Answer the commands that have come in; leave all other lines for ``drain``. Returns the
        rooms that were looked into.
        """
        self._pay()
        looked = self._identity.subscriptions()
        self._seen = self._signs(looked)
        for room in looked:
            with self._refusal(room):
                self._serve(room)
        return looked

    def stirred(self) -> bool:
        """Whether something has changed in the rooms since they were looked into: a few calls of
        ``stat``, for an agent that sleeps.
        """
        return self._signs(list(self._seen)) != self._seen

    def _signs(self, rooms: Sequence[str]) -> dict[str, int]:
        return {room: self._identity.rooms.size(room) for room in rooms}

    def _serve(self, room: str) -> None:
        at, size = self._at(room)
        if size <= at.commands:
            return
        for line in self._identity.rooms.read(room, at.commands):
            at.commands = line.end
            if command := self._command(line):
                self._answer(room, *command)

    def _take(self, room: str) -> bool:
        lines: Sequence[Line] = ()
        with self._refusal(room):
            at, size = self._at(room)
            if size > at.read:
                lines = self._identity.rooms.read(room, at.read)
        for number, line in enumerate(lines):
            if line.kind == "STRAY":
                self._tell_of_stray(line, lines[number:])
            else:
                self._hear(line, at, fresh=len(lines) - number <= CUED)
            at.read = line.end
        return bool(lines)

    @contextmanager
    def _refusal(self, room: str) -> Iterator[None]:
        """A room whose file is of a version not known here is left unheard, and the person and the
        agent are told once; the others go on.
        """
        try:
            yield
        except FormatError as error:
            if self._refused.get(room) != str(error):
                self._refused[room] = str(error)
                self._log(str(error))
                self._identity.notice(str(error))

    def _at(self, room: str) -> tuple[RoomState, int]:
        """Where the room was left, and its size. A symlink that somebody else made, or a crash
        left, begins like any newcomer, and so does a room whose file was replaced by a shorter one.
        """
        me, size = self._identity, self._identity.rooms.size(room)
        known = me.state.rooms.get(room)
        begun = known.of(size) if known else RoomState()
        if begun is known:
            return known, size
        if known:
            me.notice(
                f"The file of the room {room} is shorter than what you heard of it; you go on with what it holds now."
            )
            self._log(
                f"chats/{room}.md is shorter than what was read of it; going on with what it holds now"
            )
        fresh = begun.entered(me.rooms.unanswered(room), me.rooms.end(room))
        me.state.rooms[room] = fresh
        return fresh, size

    def _hear(self, line: Line, at: RoomState, fresh: bool) -> None:
        own = line.kind == "AGENT" and line.name == self._identity.name
        if own or line.kind == "NOTICE" or self._command(line):
            return
        text, laid_out = line.text, rooms.laid_out(line.text)
        if (
            len(laid_out) > self._limit
        ):  # counted as it will stand: of very many short lines the indents are most
            rest = (
                f"… {len(laid_out) - self._limit} more characters: READ_FILE chats/{line.room}.md"
            )
            shown = laid_out[: self._limit].replace("\n    ", "\n")
            text = f"{shown}\n{rest}"
        cue = self._cue(line) if fresh and line.kind == "USER" else ""
        entry = self._identity.add("heard", line.room, heard_entry.body(line, text, cue))
        self._identity.log("heard", f"{line.room} {line.name}: {line.text}")
        at.exchanges = 0 if line.kind == "USER" else at.exchanges + 1
        if at.exchanges <= EXCHANGE_LIMIT:
            self._identity.wake(entry.first)
        elif at.exchanges == EXCHANGE_LIMIT + 1:
            told = f"{EXCHANGE_LIMIT} exchanges in {line.room} with agents only: you wait until a person speaks there."
            self._identity.notice(told)
            self._log(told)

    def _command(self, line: Line) -> tuple[str, str] | None:
        """The name and the argument in a person's line that begins with a slash, or with an ``@``
        and a command that may be called so: others may be names of people.
        """
        found = _COMMAND.fullmatch(line.text.strip()) if line.kind == "USER" else None
        command = self._commands.get(found[2]) if found else None
        if found and (found[1] == "/" or (command and command.called)):
            return found[2], found[3].strip()
        return None

    def _tell_of_stray(self, line: Line, later: Sequence[Line]) -> None:
        """Once: after a kill before the commit it is among what was said ``later``."""
        told, now = (
            f"a line without a tag was not heard: {formatting.one_line(line.text, 60)}; write",
            self._identity.now(),
        )
        if line.text.strip() and not any(
            one.name == self._identity.name and one.text.startswith(told) for one in later
        ):
            told += f" [USER:name {clock.second(now)}] text"
            self._log(told)
            self._identity.rooms.say(line.room, "NOTICE", self._identity.name, told, now)

    def _answer(self, room: str, name: str, argument: str) -> None:
        command = self._commands.get(name)
        unsure = f"/{name} was being done when the process ended: look whether it had its effect, and repeat it if not"
        owed = self._identity.state.owed = Owed(
            room, unsure, self._identity.rooms.end(room)
        )  # counts if the command itself commits
        try:
            if command and not argument and "<" in command.usage.partition("  ")[0]:
                answer = f"something is missing: {command.usage}"
            elif command:
                answer = command.run(argument)
            else:
                near = difflib.get_close_matches(name, self._commands, n=1)
                answer = (
                    f"there is no /{name}"
                    + (f"; did you mean /{near[0]}?" if near else "")
                    + " (/help lists the commands)"
                )
        except DoryError as error:
            answer = str(error)
        owed.text = self._identity.redact(answer)
        self._identity.commit()
        self._pay(fresh=True)

    def _pay(self, fresh: bool = False) -> None:
        """Put the answer that is still owed into its room, unless it got there before a kill."""
        owed, me = self._identity.state.owed, self._identity
        if owed:
            later = () if fresh else me.rooms.read(owed.room, owed.mark)
            told = (line for line in later if line.kind == "NOTICE" and line.name == me.name)
            if not any(rooms.laid_out(line.text) == rooms.laid_out(owed.text) for line in told):
                me.rooms.say(owed.room, "NOTICE", me.name, owed.text, me.now())
            me.state.owed = None
