"""What the records of conversations hold: a line, somebody with whom the agent has spoken, and how
far a room is recorded.
"""

from dataclasses import dataclass
from datetime import datetime

from dory import clock
from dory.storage.rooms import A_PERSON
from dory.text import formatting

TEXT_LIMIT = 2000
"""Characters of a record; the full text of what was said is in the room's file."""
PERSON, AGENT = "person", "agent"
"""The kinds of speakers."""
LINK = "by link"
"""Where a record without a room was said."""


@dataclass(frozen=True, slots=True)
class RoomPosition:
    """How far a room is recorded: up to byte ``read`` of its file number ``file``.

    Files before that one were replaced. ``partner`` is who spoke there last besides the agent.
    """

    file: int = 0
    read: int = 0
    partner: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One record."""

    id: int
    room: str
    partner: str
    speaker: str
    at: datetime
    text: str
    kind: str
    addressees: tuple[str, ...] = ()
    """To whom it was said; empty if to everybody."""

    @property
    def line(self) -> str:
        """The record as a person or a model reads it: one line without marks."""
        return self.told(private=False)

    def told(self, private: bool) -> str:
        """The same, as the agent reads it: if its room is ``private``, that is said."""
        text = formatting.one_line(self.text, TEXT_LIMIT)
        where = f"in {'private ' if private else ''}{self.room}" if self.room else LINK
        to = f" to {', '.join(self.addressees)}" if self.addressees else ""
        speaker = self.speaker if self.speaker == A_PERSON else f"{self.speaker} ({self.kind})"
        return f"{clock.minute(self.at)} {where}, {speaker}{to}: {text}"


@dataclass(frozen=True, slots=True)
class Contact:
    """Somebody with whom the agent has spoken in these ``rooms``.

    ``interaction_count`` counts each of their lines, and each answer to them.
    """

    name: str
    rooms: tuple[str, ...]
    first_met_at: datetime
    last_met_at: datetime
    interaction_count: int
