"""Conversations: who said what to the agent, and the agent to them, recorded from its rooms.

The rooms' files are read on from where they were last, as far as the agent has heard them: between
turns, and before somebody asks. A few lines are recorded at once. A long past (this extension was
switched on later, or the agent was away) is read in stretches beside the loop, and each stretch is
recorded between turns; after a kill it goes on where it was.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial

from dory import clock
from dory.errors import DoryError
from dory.extensions.people.conversations import EVER, HELD, Conversations, RoomPosition, Utterance
from dory.identity.identity import Identity
from dory.identity.state import RoomState
from dory.storage import rooms
from dory.text import formatting, references
from dory.text.formatting import table
from dory.turn.extension import Apply, Command, Extension, Work

AT_ONCE = 1 << 16
"""Bytes of a room that are recorded in one step, some milliseconds' work."""
SHOWN = 12
"""Records in the prompt: the newest that have left the context. A search finds the others."""
LINE_LIMIT = 160
"""Characters of each of those."""
_LOOKED_THROUGH = 400
"""The newest records, in which those are looked for."""
_MANY = f"More than {HELD:,} lines of your conversations wait to be summed up: SELF_CARE does it."
_LISTED = 40
"""People, or records with one of them, that a person is shown."""
_LINE_SHOWN = 400
"""Characters of each of those records."""


class ConversationsExtension(Extension):
    """The conversations of one identity. ``called`` are the commands that may begin with an ``@``,
    which are no conversation. ``cared``: self-care can sum the records up.
    """

    name = "conversations"
    freshness = "opening"

    def __init__(
        self, identity: Identity, dialogues: Conversations, called: Collection[str], cared: bool
    ) -> None:
        self._identity = identity
        self._dialogues = dialogues
        self._called = called
        self._cared = cared
        self._born = clock.parsed(identity.blobs.get(identity.hash).at, EVER)
        self._seen: dict[str, tuple[int, int]] = {}
        self._progress = ""

    def section(self) -> str:
        """The newest records that no longer stand in the context. They change with every message,
        so the section stays for an epoch.
        """
        with suppress(DoryError, OSError):  # reported between turns
            self.record()
        newest = self._dialogues.recent(_LOOKED_THROUGH)
        gone = [record for record in newest if not self._stands(record)]
        lines = [
            references.escape(formatting.one_line(record.line, LINE_LIMIT))
            for record in gone[-SHOWN:]
        ]
        if self._cared and self._dialogues.waiting > HELD:
            lines.insert(0, _MANY)
        return "\n".join(lines)

    def shown(self, name: str) -> str:
        """Everyone, or the newest of what was said with one."""
        self.record()
        if name:
            contact = self._dialogues.partner(name)
            records = self._dialogues.recent(_LISTED, contact.name)
            return "\n".join(formatting.one_line(record.line, _LINE_SHOWN) for record in records)
        everyone = self._dialogues.who()
        if not everyone:
            return "nobody has spoken with the agent yet"
        rows = [
            (
                contact.name,
                " ".join(contact.rooms),
                clock.minute(contact.first_met_at),
                clock.minute(contact.last_met_at),
                str(contact.interaction_count),
            )
            for contact in everyone[:_LISTED]
        ]
        shown = table([("with", "in", "since", "last", "lines"), *rows])
        counts = f"{self._dialogues.newest:,} records"
        if until := self._dialogues.conv_summarized_until:
            counts += f", of which the first {until:,} are summed up"
        if len(everyone) > _LISTED:
            counts += f"; {len(everyone) - _LISTED:,} more people"
        return f"{shown}\n{counts}"

    def record(self) -> None:
        """Record what was heard since, as far as that is done at once."""
        for room, heard in self._identity.state.rooms.items():
            self._due(room, heard)

    def background(self) -> Work | None:
        """Record what was heard since."""
        self._progress = ""
        for room, heard in self._identity.state.rooms.items():
            if self._seen.get(room) != (heard.replaced, heard.read):
                if work := self._due(room, heard):
                    return work
                self._seen[room] = (heard.replaced, heard.read)
        return None

    def progress(self) -> str:
        """How much of a long past is recorded."""
        return self._progress

    def _due(self, room: str, heard: RoomState) -> Work | None:
        """Record the next lines of a room; if there are many, return the work that does it."""
        before: RoomPosition | None = None
        position = self._dialogues.place(room)
        while position != before:  # a position that stays the same means: nothing is left
            start = position.read if position.file == heard.replaced else 0
            first, last = next(heard.heard(start), (0, 0))
            if last - first > AT_ONCE:
                self._progress = f"conversations {first:,} of {heard.read:,} bytes of {room}"
                return partial(self._next, room, heard.replaced, position, first, last)
            if last:
                self._next(room, heard.replaced, position, first, last)()
            before = position
            position = self._dialogues.place(room)
        return None

    def _next(self, room: str, file: int, position: RoomPosition, first: int, last: int) -> Apply:
        """Read the next lines; what is returned records them, unless they were recorded
        meanwhile.
        """
        me = self._identity
        lines, read = me.rooms.stretch(room, first, last, AT_ONCE)
        spoken = [
            replace(line, text=me.redact(line.text))
            for line in lines
            if rooms.spoken(line, self._called)
        ]

        def apply() -> None:
            if self._dialogues.place(room) == position:
                waiting = self._dialogues.waiting
                self._dialogues.add(room, spoken, me.name, file, read, me.now(), self._born)
                self._tell_of_many(waiting)

        return apply

    def _tell_of_many(self, waiting_before: int) -> None:
        """When the records that wait for self-care have just become too many; the section tells of
        it in each epoch that begins then.
        """
        if self._cared and waiting_before <= HELD < self._dialogues.waiting:
            self._identity.notice(_MANY)
            self._identity.commit()

    def _stands(self, record: Utterance) -> bool:
        """Whether the context holds it word for word: behind a speaker's tag, or in a tool line of
        the agent.
        """
        text = record.text
        if record.speaker != self._identity.name:
            text = f"] {rooms.laid_out(text)}"
        return references.escape(text) in self._identity.context.text

    COMMANDS = (
        Command(
            "/conversations [name]  who spoke with the agent, where and when; what was said"
            " with one",
            shown,
        ),
    )
