"""Conversations: who said what to the agent, and the agent to them, recorded from its rooms.

The rooms' files are read on from where they were last, as far as the agent has heard them: between
turns, and before somebody asks. A few lines are recorded at once. A long past (this extension was
switched on later, or the agent was away) is read in stretches beside the loop, and each stretch is
recorded between turns; after a kill it goes on where it was.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from dory import clock
from dory.errors import DoryError
from dory.extensions.people.conversations import EVER, HELD, Conversations
from dory.extensions.people.records import LINK, Contact, RoomPosition, Utterance
from dory.identity import neighbours
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import RoomState
from dory.storage import rooms
from dory.text import addressing, formatting, pages, references
from dory.text.formatting import table
from dory.turn.extension import Apply, Command, Extension, Work
from dory.types import Line

AT_ONCE = 1 << 16
"""Bytes of a room that are recorded in one step, some milliseconds' work."""
SHOWN = 12
"""Records in the prompt: the newest that have left the context. A search finds the others."""
LINE_LIMIT = 180
"""Characters of each of those."""
NARRATIVES = 2
"""Summaries in the prompt: the newest ones that self-care has made."""
NARRATIVE_LIMIT = 600
"""Characters of each of those."""
MOST = SHOWN * LINE_LIMIT + NARRATIVES * NARRATIVE_LIMIT
"""Characters of the section at most."""
_LOOKED_THROUGH = 400
"""The newest records, in which those are looked for."""
_MANY = f"More than {HELD:,} lines of your conversations wait to be summed up"
_LINE_SHOWN = 400
"""Characters of each record that a person is shown."""
_NAMES = 40
"""Names of people in a room who may be spoken to; those who spoke in the stretch at hand."""


class ConversationsExtension(Extension):
    """The conversations of one identity. ``called`` are the commands that may begin with an ``@``,
    which are no conversation. ``cared``: self-care can sum the records up. ``secrets``: what may be
    shown in which room.
    """

    name = "conversations"
    freshness = "opening"

    def __init__(
        self,
        identity: Identity,
        dialogues: Conversations,
        called: Collection[str],
        cared: bool,
        secrets: RoomSecrets | None = None,
    ) -> None:
        self._identity = identity
        self._dialogues = dialogues
        self._called = called
        self._cared = cared
        self._secrets = secrets or RoomSecrets(identity)
        self._born = clock.parsed(identity.blobs.get(identity.hash).at, EVER)
        self._seen: dict[str, tuple[int, int]] = {}
        self._progress = ""
        self.elsewhere: Callable[[], str] = lambda: ""
        """What another section lays out word for word: records that stand there are left out."""

    def heading(self) -> str:
        """Without these words a model may take old questions for new ones."""
        return f"{self.name} what was said earlier"

    def section(self) -> str:
        """The newest narratives, and the newest records that stand nowhere else in the prompt.
        These change with every message, so the section stays for an epoch.
        """
        with suppress(DoryError, OSError):  # reported between turns
            self.record()
        laid_out = ""
        with suppress(DoryError, OSError):  # reported where it is rendered
            laid_out = self.elsewhere()
        newest = self._dialogues.recent(_LOOKED_THROUGH)
        private = self._secrets.private
        gone = [
            record
            for record in newest
            # only here it is said that a room is private
            if not (record.room not in private and self._is_laid_out(record, laid_out))
            and not self._stands(record)
        ]
        told = [record.told(record.room in private) for record in gone[-SHOWN:]]
        lines = [formatting.one_line(line, LINE_LIMIT) for line in told]
        lines[:0] = self._narratives()
        return "\n".join(references.escape(line) for line in lines)

    def present(self) -> str:
        """Whether too many records wait for self-care now."""
        return f"{_MANY}." if self._cared and self._dialogues.waiting > HELD else ""

    def _narratives(self) -> Iterator[str]:
        """What self-care made of the newest records that are summed up."""
        for id, first, last, text in self._dialogues.narratives(NARRATIVES):
            rooms = ", ".join(room or LINK for room in self._dialogues.rooms_of(id))
            about = f"Summed up, lines {first:,}–{last:,} ({formatting.one_line(rooms, 60)})"
            yield formatting.one_line(f"{about}: {text}", NARRATIVE_LIMIT)

    def shown(self, argument: str) -> str:
        """Everyone, or what was said with one, as far as it may be shown where it is asked."""
        self.record()
        name, number = pages.wanted(argument)
        rooms = [room for room in self._dialogues.rooms() if self._secrets.shows(room)]
        everyone = self._dialogues.who(rooms)
        if name:
            contact = self._dialogues.partner(name, everyone)

            def said(offset: int, count: int) -> list[str]:
                records = self._dialogues.said_with(contact.name, rooms, offset, count)
                return [formatting.one_line(one.line, _LINE_SHOWN) for one in reversed(records)]

            command = f"/conversations {contact.name}"
            return pages.page(command, contact.interaction_count, number, said)
        if not everyone:
            return "nobody has spoken with the agent yet"

        heading = ""

        def listed(offset: int, count: int) -> list[str]:
            nonlocal heading
            rows = map(_row, everyone[offset : offset + count])
            heading, *lines = table([("with", "in", "since", "last", "lines"), *rows]).split("\n")
            return lines

        shown = pages.page("/conversations", len(everyone), number, listed)
        total = sum(contact.interaction_count for contact in everyone)
        counts = "1 record" if total == 1 else f"{total:,} records"
        if until := self._dialogues.conv_summarized_until:
            counts += f"; self-care has summed up the first {until:,} of all"
        return "\n".join([heading, shown, counts])

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
            answers = {int(mark): names for mark, names in heard.answers.items()}
            step = partial(self._next, room, heard.replaced, position, first, last, answers)
            if last - first > AT_ONCE:
                self._progress = f"conversations {first:,} of {heard.read:,} bytes of {room}"
                return step
            if last:
                step()()
            before = position
            position = self._dialogues.place(room)
        return None

    def _next(
        self,
        room: str,
        file: int,
        position: RoomPosition,
        first: int,
        last: int,
        answers: Mapping[int, Sequence[str]],
    ) -> Apply:
        """Read the next lines; what is returned records them, unless they were recorded meanwhile.
        ``answers``: to whom the agent said its own newest messages, by the byte before each.
        """
        me = self._identity
        lines, read = me.rooms.stretch(room, first, last, AT_ONCE)
        spoken = [
            replace(line, text=me.redact(line.text))
            for line in lines
            if rooms.spoken(line, self._called)
        ]
        meant = self._meant(room, spoken, answers)

        def apply() -> None:
            if self._dialogues.place(room) == position:
                waiting = self._dialogues.waiting
                self._dialogues.add(room, spoken, me.name, file, read, me.now(), self._born, meant)
                self._tell_of_many(waiting)

        return apply

    def _meant(
        self, room: str, lines: Sequence[Line], answers: Mapping[int, Sequence[str]]
    ) -> dict[int, Sequence[str]]:
        """To whom each line was said, by its end; none for own lines of which that is not known."""
        me = self._identity
        people = dict.fromkeys(line.name for line in lines if line.kind == "USER")
        known = [*neighbours.names(me.home, room), *list(people)[-_NAMES:]]
        marks = sorted(answers)
        meant: dict[int, Sequence[str]] = {}
        for line in lines:
            if (line.kind, line.name) != ("AGENT", me.name):
                others = [name for name in known if name != line.name]
                meant[line.end] = addressing.addressed(line.text, others)
            elif place := bisect_left(marks, line.end):
                meant[line.end] = answers[marks[place - 1]]
        return meant

    def _tell_of_many(self, waiting_before: int) -> None:
        """When the records that wait for self-care have just become too many; as long as they are,
        ``present`` says so.
        """
        if self._cared and waiting_before <= HELD < self._dialogues.waiting:
            self._identity.notice(f"{_MANY}: SELF_CARE does it.")
            self._identity.commit()

    def _stands(self, record: Utterance) -> bool:
        """Whether the context holds it word for word: behind a speaker's tag, or in a tool line of
        the agent.
        """
        text = record.text
        if record.speaker != self._identity.name:
            text = f"] {rooms.laid_out(text)}"
        return references.escape(text) in self._identity.context.text

    def _is_laid_out(self, record: Utterance, laid_out: str) -> bool:
        """Whether a section that lays out events has all of it, to the end of its line."""
        text = record.text
        if record.speaker != self._identity.name:
            text = f"{record.room} {record.speaker}: {text}"
        return f"{references.escape(rooms.laid_out(text))}\n" in f"{laid_out}\n"

    COMMANDS = (
        Command(
            "/conversations [name] [page]  who spoke with the agent, where and when; what was said"
            " with one, the newest first",
            shown,
        ),
    )


def _row(contact: Contact) -> tuple[str, ...]:
    return (
        contact.name,
        formatting.one_line(" ".join(contact.rooms), 60) or LINK,
        clock.minute(contact.first_met_at),
        clock.minute(contact.last_met_at),
        str(contact.interaction_count),
    )
