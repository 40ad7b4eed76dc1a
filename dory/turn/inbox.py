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

Each step reads a bounded part of each room. Between two turns only so many lines are taken in:
where more was said, some are chosen (``turn/flood.py``), and the others are noted as passed over.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from dory import clock
from dory.constants import EXCHANGES, RESULT_LIMIT
from dory.errors import FormatError, Held
from dory.identity import heard_entry, neighbours
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import Owed, RoomState
from dory.process.failures import TellOnce
from dory.storage import room_cursor, rooms
from dory.storage.room_parts import Part, Span
from dory.text import addressing, formatting
from dory.turn import flood, outbox
from dory.turn.command_desk import CommandDesk
from dory.turn.extension import Command
from dory.turn.room_reader import RoomReader
from dory.types import Line

CUED = 10
"""If many messages come in at once, cues are looked for only for so many, the newest: after a long
absence the agent should answer soon.
"""
RECENT = 40
"""Of the newest lines of a room, how many are looked at to see what others have said meanwhile."""
WAITING = 100
"""People of one room who are noted as waiting: one answer is for all of them."""
_MUCH = 1 << 16
"""Bytes of a room: with fewer to read, rooms are read in the order of their names."""
_STRAYS = 5
"""Lines without a tag that are told of at once: one is an oversight, very many are not typed."""
_PARTS = 256
"""Parts of a room that were passed over from which on a flood is noted as one: the state is written
with each commit.
"""


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
        spoken: Callable[[], None] = lambda: None,
    ) -> None:
        """``limit``: characters of one message that enter the context; the rest stays in the room's
        file. ``cue``: returns what of the past a person's message may refer to. ``exchanges``: how
        many lines of other agents wake this one in a room before a person speaks there.
        ``secrets``: who may have the answer to a private command; by default nobody is an owner.
        ``spoken`` is called whenever a person has said something.
        """
        self._identity = identity
        self._log = log
        self._limit = limit
        self._cue = cue
        self._exchanges = exchanges
        self._spoken = spoken
        self._desk = CommandDesk(identity, commands, log, secrets or RoomSecrets(identity), spoken)
        self._reader = RoomReader(identity, log)
        self._tell_damage = TellOnce(self._tell)
        self._sizes: dict[str, int] = {}
        self._turn = -1
        """The turn for which this was counted:"""
        self._lines = 0
        self._characters = 0
        self._flooded: dict[str, int] = {}
        """By room: the turn before which lines were passed over there last."""
        self._until: dict[str, int] = {}
        """By room: the byte up to which a flood is passed over before the next turn."""

    @property
    def behind(self) -> bool:
        """Whether ``receive`` has more to look through before a turn should be taken."""
        return bool(self._until)

    def receive(self) -> bool:
        """Hand everything new to the agent, and answer the commands on the way; returns whether
        there was anything to hear.
        """
        names = self.serve()
        self._until = {room: end for room, end in self._until.items() if room in names}
        before = len(self._identity.context.entries)
        if self._turn != self._identity.state.turn:
            self._turn, self._lines, self._characters = self._identity.state.turn, 0, 0
        taken = [self._take(room) for room in self._in_order(names)]
        if any(taken):
            self._identity.commit()
        self.post_notices()
        return len(self._identity.context.entries) > before

    def serve(self) -> list[str]:
        """Answer the commands that have come in; leave all other lines for ``receive``. Returns the
        rooms that were read.
        """
        self._desk.deliver_answer()
        self.post_notices(fresh=False)
        subscriptions = self._identity.subscriptions()
        self._sizes = self._sizes_of(subscriptions)
        for room in subscriptions:
            with self._reporting_damage():
                self._serve(room)
        return subscriptions

    def post_notices(self, fresh: bool = True) -> None:
        """Write into their rooms what the last commit says is owed. Unless it is ``fresh``, it may
        have got there before a kill.
        """
        outbox.deliver(self._identity, fresh)

    def has_changed(self) -> bool:
        """Whether a room has changed since ``serve``. It costs a few calls of ``stat``, for an
        agent that sleeps.
        """
        return self.behind or self._sizes_of(list(self._sizes)) != self._sizes

    def _sizes_of(self, names: Sequence[str]) -> dict[str, int]:
        return {room: self._identity.rooms.size(room) for room in names}

    def _serve(self, room: str) -> None:
        position = self._reader.position(room)
        if position and (parts := self._parts(room, position.commands)):
            self._desk.serve(room, parts, position)

    def _parts(self, room: str, offset: int) -> list[Part]:
        return self._reader.parts(room, offset, flood.SCANNED)

    def _in_order(self, names: Sequence[str]) -> list[str]:
        """The rooms as they are read: those with little to read first, or a flood in one would
        drown the others; of those with a flood the one that was read longest ago.
        """
        known = self._identity.state.rooms

        def place(room: str) -> tuple[int, int]:
            read = known[room].read if room in known else 0
            return self._flooded.get(room, -1), (self._sizes.get(room, 0) - read) // _MUCH

        return sorted(names, key=place)

    def _take(self, room: str) -> bool:
        """Hand the new lines of a room to the agent; whether there were any."""
        with self._reporting_damage():
            position = self._reader.position(room)
            if position and (parts := self._parts(room, position.read)):
                return self._read(room, parts, position)
        self._until.pop(room, None)  # nothing is left to pass over, or it cannot be read
        return False

    def _read(self, room: str, parts: Sequence[Part], position: RoomState) -> bool:
        me = self._identity
        end = me.rooms.end(room)
        whole = parts[-1].end >= end
        if whole and self._fits(parts):
            self._hear_all(self._parsed(room, parts), position)
        elif room not in self._until and self._lines and self._waits(parts, position, whole):
            return False
        else:
            self._pass_over(parts, position, room, end)
        return True

    def _parsed(self, room: str, parts: Sequence[Part]) -> list[Line]:
        return [line for part in parts for line in self._identity.rooms.parsed(room, part)]

    def _fits(self, parts: Sequence[Part]) -> bool:
        """Whether all that was said is taken in before the next turn."""
        if self._lines + sum(part.lines for part in parts) > flood.LINES:
            return False
        left = flood.MESSAGES * self._limit - self._characters
        return flood.characters(parts, self._limit) <= left

    def _waits(self, parts: Sequence[Part], position: RoomState, whole: bool) -> bool:
        """Whether a flood is left for later, as the agent has taken in something already: a turn is
        due, or nothing of the ``whole`` flood would wake it.
        """
        me = self._identity
        return me.state.awake or (whole and not flood.wakes(parts, me.name, position.asked))

    def _pass_over(self, parts: Sequence[Part], position: RoomState, room: str, end: int) -> None:
        """Read what is chosen of a flood, and note the rest as passed over."""
        me, batch = self._identity, flood.Batch(parts)
        last = batch.end >= min(self._until.setdefault(room, end), end)
        if last:
            del self._until[room]
        others = self._others(room)
        kept = batch.chosen(me.name, [me.name, *others], flood.NEWEST if last else 0)
        chosen = set(kept)
        own = b"AGENT", me.name.encode()
        passed = [span for span in batch.said if span not in chosen and span[:2] != own]
        self._flooded[room] = me.state.turn
        if passed:
            self._tell_of_passed(room, passed)
        if stray := flood.stray(parts):
            self._tell_of_stray(me.rooms.parsed(room, stray)[0], me.rooms.recent(room, RECENT))
        before = [*position.heard_last]
        self._hear_all(self._parsed(room, [batch.message(span) for span in kept]), position)
        if len(position.unheard) > _PARTS and kept:
            kept = []  # what was read of it stands in the context; no conversation tells of it
        for start, behind in flood.gaps(batch, kept):
            position.passed_over(start, behind)
        room_cursor.passed_parts(before, me.rooms, room, parts)
        position.read, position.heard_last = batch.end, before

    def _tell_of_passed(self, room: str, passed: Sequence[Span]) -> None:
        me = self._identity
        first = self._reader.line_at(room, passed[0].start) + 1
        last = self._reader.line_at(room, passed[-1].end)
        named = me.rooms.named({(span.kind, span.name) for span in passed})
        speakers = [named[span.kind, span.name][1] for span in passed]
        text = flood.notice(room, speakers, first, last)
        me.notice(text)
        self._lines += 1
        self._log(text.partition(" They stand")[0])

    def _hear_all(self, lines: Sequence[Line], position: RoomState) -> None:
        """Take in these lines of one room."""
        if not lines:
            return
        others = self._others(lines[0].room)
        strays = 0
        for number, line in enumerate(lines):
            if line.kind == "STRAY":
                strays += 1
                if strays <= _STRAYS:
                    self._tell_of_stray(line, lines[number:])
            else:
                self._hear(line, position, others, cued=len(lines) - number <= CUED)
            position.hear(line)
        self._lines += len(lines)
        self._characters += sum(min(len(line.text), self._limit) for line in lines)

    @contextmanager
    def _reporting_damage(self) -> Iterator[None]:
        """A room whose file is of an unknown version, or held by another program, is left unread,
        and the person and the agent are told once; the other rooms go on.
        """
        try:
            yield
        except Held as error:
            self._tell_damage(f"{error}; its lines come later")
        except FormatError as error:
            self._tell_damage(str(error))

    def _tell(self, text: str) -> None:
        """The person at the terminal, and the agent."""
        self._log(text)
        self._identity.notice(text)

    def _hear(self, line: Line, position: RoomState, others: list[str], cued: bool) -> None:
        """Take in a line. ``others`` are the names of the other agents in its room."""
        me = self._identity
        own = line.kind == "AGENT" and line.name == me.name
        if own:
            position.asked = addressing.named(line.text, others)
        if own or line.kind == "NOTICE" or self._desk.command(line):
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
        self._spoken()
        position.people = True
        position.exchanges = 0
        position.reminded = position.doubted = False
        meant = addressing.addressed(line.text, names)
        for_others = meant and self._identity.name not in meant
        name = self._identity.redact(line.name)
        if not for_others and name not in position.waiting and len(position.waiting) < WAITING:
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
        outbox.say(me, line.room, "NOTICE", notice)
