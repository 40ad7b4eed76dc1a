"""Conversations: who said what to the agent, and it to them, recorded from its rooms without its
doing anything.

The rooms' files are read again from where they were last, as far as the agent has heard them:
between turns, and before somebody asks. A few lines are recorded at once; of a long past (this
extension was switched on later, or the agent was away) stretch after stretch is read beside the
loop and recorded between turns, so it goes on after a kill where it was. What fails is tried again
after a pause.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from dory import clock
from dory.errors import DoryError
from dory.extensions.people.conversations import EVER, HELD, Conversations, RoomPosition, Utterance
from dory.identity.identity import Identity
from dory.identity.state import RoomState
from dory.storage import rooms
from dory.text import formatting, references
from dory.text.formatting import table
from dory.turn.extension import Apply, Command, EpochSection, Extension, Work

AT_ONCE = 1 << 16
"""Bytes of a room that are recorded in one step, some milliseconds' work."""
PAUSE = timedelta(seconds=30)
SHOWN, LINE_LIMIT = 12, 160
"""Records in the prompt, and characters of each: the newest that have left the context; a search
finds the others.
"""
_LOOKED_THROUGH = 400
"""Of the newest records, for those."""
_MANY = f"More than {HELD:,} lines of your conversations wait to be summed up: SELF_CARE does it."
_LISTED, _LINE_SHOWN = 40, 400
"""Partners, or records with one of them, that a person is shown, and characters of a record."""


class ConversationsExtension(Extension):
    """The conversations of one identity. ``commands`` gives those of all extensions, which are no
    conversation; ``cared``: whether it can care for what it holds.
    """

    name = "conversations"

    def __init__(
        self,
        identity: Identity,
        dialogues: Conversations,
        commands: Callable[[], Sequence[Command]],
        cared: bool,
    ) -> None:
        self._identity = identity
        self._dialogues = dialogues
        self._commands = commands
        self._cared = cared
        self._born = clock.parsed(identity.blobs.get(identity.hash).at, EVER)
        self._seen: dict[str, tuple[int, int]] = {}
        self._tried: datetime | None = None
        self._section = EpochSection()
        self._progress = ""

    def commands(self) -> Sequence[Command]:
        """What people may see of them."""
        return [
            Command(
                "conversations",
                "/conversations [name]  who spoke with the agent, where and when; what was said with one",
                self.shown,
            )
        ]

    def section(self) -> str:
        """The newest that stand in the context no more, as it was when the epoch began: they change
        with every message.
        """
        return self._section.at(self._identity.state.epoch, self._gone)

    def shown(self, name: str) -> str:
        """Everyone, or the newest of what was said with one."""
        self.record()
        if name:
            found = self._dialogues.recent(_LISTED, self._dialogues.partner(name).name)
            return "\n".join(formatting.one_line(said.line, _LINE_SHOWN) for said in found)
        everyone, until = self._dialogues.who(), self._dialogues.conv_summarized_until
        if not everyone:
            return "nobody has spoken with the agent yet"
        rows = [
            (
                one.name,
                " ".join(one.rooms),
                clock.minute(one.first_met_at),
                clock.minute(one.last_met_at),
                str(one.interaction_count),
            )
            for one in everyone[:_LISTED]
        ]
        told = f"{self._dialogues.newest:,} records" + (
            f", of which the first {until:,} are summed up" if until else ""
        )
        more = f"; {len(everyone) - _LISTED:,} more people" if len(everyone) > _LISTED else ""
        return f"{table([('with', 'in', 'since', 'last', 'lines'), *rows])}\n{told}{more}"

    def record(self) -> None:
        """What was heard since, as far as it is recorded at once."""
        for room, at in self._identity.state.rooms.items():
            self._due(room, at)

    def background(self) -> Work | None:
        """Record what was heard since."""
        self._progress = ""
        stirred = [
            (room, at)
            for room, at in self._identity.state.rooms.items()
            if self._seen.get(room) != (at.replaced, at.read)
        ]
        if not stirred or (self._tried and abs(self._identity.now() - self._tried) < PAUSE):
            return None
        for room, at in stirred:
            self._tried = (
                self._identity.now()
            )  # it counts if what follows fails, here or beside the loop
            if work := self._due(room, at):
                return work
            self._seen[room] = (at.replaced, at.read)
        self._tried = None
        return None

    def progress(self) -> str:
        """How much of a long past is recorded."""
        return self._progress

    def _gone(self) -> str:
        with suppress(DoryError, OSError):  # told of between turns
            self.record()
        gone = [said for said in self._dialogues.recent(_LOOKED_THROUGH) if not self._stands(said)]
        many = [_MANY] * (self._cared and self._dialogues.waiting > HELD)
        return "\n".join(
            [
                *many,
                *(
                    references.escape(formatting.one_line(said.line, LINE_LIMIT))
                    for said in gone[-SHOWN:]
                ),
            ]
        )

    def _due(self, room: str, at: RoomState) -> Work | None:
        """Record the next lines of a room; of many, the work that does it."""
        place: RoomPosition | None = None
        while place != (
            place := self._dialogues.place(room)
        ):  # else the file has become shorter meanwhile
            first, last = next(at.heard(place.read if place.file == at.replaced else 0), (0, 0))
            if last - first > AT_ONCE:
                self._progress = f"conversations {first:,} of {at.read:,} bytes of {room}"
                return partial(self._next, room, at.replaced, place, first, last)
            if last:
                self._next(room, at.replaced, place, first, last)()
        return None

    def _next(self, room: str, file: int, place: RoomPosition, first: int, last: int) -> Apply:
        """Read the next lines; what is returned records them, unless they were recorded meanwhile."""
        me = self._identity
        lines, read = me.rooms.stretch(room, first, last, AT_ONCE)
        called = {command.name for command in self._commands() if command.called}
        said = [
            replace(line, text=me.redact(line.text)) for line in lines if rooms.spoken(line, called)
        ]

        def apply() -> None:
            if self._dialogues.place(room) == place:
                waited = self._dialogues.waiting
                self._dialogues.add(room, said, me.name, file, read, me.now(), self._born)
                self._tell_of_many(waited)
            self._tried = None

        return apply

    def _tell_of_many(self, waited: int) -> None:
        """When the records that wait for self-care have just become too many; the section tells of
        it in each epoch that begins then.
        """
        if self._cared and waited <= HELD < self._dialogues.waiting:
            self._identity.notice(_MANY)
            self._identity.commit()

    def _stands(self, said: Utterance) -> bool:
        """Whether the context holds it word for word: below its tag, or what the agent said itself
        in a tool line.
        """
        text = (
            said.text if said.speaker == self._identity.name else f"] {rooms.laid_out(said.text)}"
        )
        return references.escape(text) in self._identity.context.text
