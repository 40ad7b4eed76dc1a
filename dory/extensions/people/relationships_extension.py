"""Relationships: the agent says what somebody is to it and why; the harness counts how often and
since when they have dealt with each other.

Somebody who has never spoken in one of the agent's rooms, and was never linked with it, is a
stranger, with whom it has no relationship. It has none with itself. Those who are present stand in
the prompt for an epoch: people in the agent's rooms who dealt with it within two weeks. What
changes in between is told where it happens: by the result of ASSIGN_RELATIONSHIP, and by a notice
when somebody speaks up whom the agent has described and who is not in its prompt.

What the agent says of somebody may come from the rooms for which it acted as it said so. It is told
which these are, and people see it where that may be shown (``identity/secrecy.py``).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from dory import clock
from dory.errors import DoryError, ToolError
from dory.extensions.people.conversations import Conversations
from dory.extensions.people.records import Contact
from dory.extensions.people.relationships import (
    FIELDS,
    USAGE,
    Change,
    Relationship,
    Relationships,
    read,
)
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.text import formatting, names, references
from dory.text.formatting import table
from dory.turn.extension import Command, Extension, Outcome, counted
from dory.turn.lessons import taught
from dory.types import Call, Event

PRESENT = 12
"""People in the prompt at most."""
LATELY = timedelta(days=14)
"""How long somebody counts as present."""
LINE_LIMIT = 240
"""Characters of the line for each of them."""
_ORIGIN_LIMIT = 60
"""Characters of it that name the rooms from which the agent has what it says."""
_LISTED = 100
"""People that a person is shown."""
_LABELS = ("type", "trust", "tone", "notes")
"""What people read for the fields; the last field, the reason, has no label."""


class RelationshipExtension(Extension):
    """The relationships of one identity. ``record`` brings the conversations up to what was
    heard. ``secrets``: what may be shown in which room.
    """

    name = "relationships"
    freshness = "opening"

    def __init__(
        self,
        identity: Identity,
        relationships: Relationships,
        dialogues: Conversations,
        record: Callable[[], None],
        secrets: RoomSecrets | None = None,
    ) -> None:
        self._identity = identity
        self._relationships = relationships
        self._dialogues = dialogues
        self._record = record
        self._secrets = secrets or RoomSecrets(identity)
        self._known = set[str]()  # those of whom the agent was told in this epoch
        self._epoch: int | None = None  # the one in which the section was rendered last

    def assign(self, call: Call) -> Outcome:
        """What somebody is from now on."""
        me = self._identity
        name, said = read(call.given)
        self._record()
        others = self._others()
        known = names.meant(name, [contact.name for contact in others])
        if not known and names.meant(name, [me.name]):
            raise ToolError(f"{me.name} is you: what you are to yourself belongs in your soul")
        name = self._dialogues.partner(name, others).name
        said = {field: me.redact(value) for field, value in said.items()}
        rooms = self._secrets.present()
        before, after = self._relationships.assign(name, said, me.now(), rooms)
        self._known.add(name)
        was = (
            ""
            if before.relationship_type == after.relationship_type
            else f" (was {before.relationship_type})"
        )
        return Outcome(f"{name} is {after.relationship_type} to you now{was}")

    def heading(self) -> str:
        """With its time: counts and types change within the epoch, and these lines stay."""
        return f"{self.name} as of {clock.minute(self._identity.now())}"

    def section(self) -> str:
        """A line for each of those present."""
        with suppress(DoryError, OSError):  # reported by the conversations
            self._record()
        me = self._identity
        bonds = self._relationships.bonds()
        rooms = self._relationships.rooms() if len(me.state.rooms) > 1 else {}
        contacts = self._others(me.subscriptions())
        lately = [contact for contact in contacts if me.now() - contact.last_met_at < LATELY]
        present = lately[:PRESENT]
        self._known = {contact.name for contact in present}
        self._epoch = me.state.epoch
        return "\n".join(
            references.escape(
                _line(contact, bonds.get(contact.name, Relationship()), rooms.get(contact.name, ()))
            )
            for contact in present
        )

    def _others(self, rooms: Collection[str] | None = None) -> list[Contact]:
        """The contacts in these ``rooms``, or in all. An older Dory took the agent itself for one
        if somebody else used its name.
        """
        own = self._identity.name
        return [contact for contact in self._dialogues.who(rooms) if contact.name != own]

    def on_event(self, event: Event) -> None:
        """Tell once in an epoch who speaks up, if the agent has described them and they are not in
        its prompt.
        """
        room, name = "", ""
        if event.kind == "heard":
            room, name = event.text.split(" ", 2)[:2]
            name = name.removesuffix(":")
        if not name or name in self._known or self._epoch != self._identity.state.epoch:
            return
        self._known.add(name)
        if bond := self._relationships.bonds().get(name):
            known = _line(self._dialogues.partner(name), bond)
            rooms = sorted(self._relationships.rooms().get(name, ()))
            marks = "".join(self._secrets.mark(place, [room]) for place in rooms)
            self._identity.notice(f"You know who speaks: {known}{marks}")

    def shown(self, argument: str) -> str:
        """Everyone as a table, everyone as a ``graph``, or the history of one."""
        self._record()
        shows = self._secrets.shows
        contacts = self._others([room for room in self._dialogues.rooms() if shows(room)])
        made = self._relationships.rooms()
        bonds = {
            name: bond
            for name, bond in self._relationships.bonds().items()
            if all(map(shows, made[name]))
        }
        if not contacts:
            return "nobody has spoken with the agent yet"
        if argument and argument != "graph":
            return self._history_of(self._dialogues.partner(argument, contacts), bonds)
        known = [
            (contact, bonds.get(contact.name, Relationship())) for contact in contacts[:_LISTED]
        ]
        more = ""
        if len(contacts) > _LISTED:
            more = (
                f"{len(contacts) - _LISTED:,} more people are not shown;"
                " /relationships <name> shows one"
            )
        if argument:
            return _graph(self._identity.name, known) + (f"\n%% {more}" if more else "")
        heading = ("name", *_LABELS[:3], "since", "times", _LABELS[3], "because")
        rows = [_row(contact, bond) for contact, bond in known]
        return "\n".join(filter(None, [table([heading, *rows]), more]))

    def _history_of(self, contact: Contact, bonds: Mapping[str, Relationship]) -> str:
        changes = []
        if contact.name in bonds:
            changes = _history(self._relationships.history(contact.name))
        now = _line(contact, bonds.get(contact.name, Relationship()))
        if self._secrets.shows(""):
            nothing = "the agent has said nothing of them yet"
        else:  # it may have, elsewhere
            nothing = "there is nothing to show here of what the agent says of them"
        return "\n".join([now, *(changes or [nothing])])

    def _changes(self, _: Call) -> int:
        return self._relationships.changes

    TOOLS = taught(
        __file__, counted(USAGE, assign, _changes, quiet=True, doing="thinks of its people")
    )
    COMMANDS = (
        Command(
            "/relationships [name]  what people are to the agent, and how that came about with one;"
            " 'graph' draws them in Mermaid",
            shown,
        ),
    )


def _line(contact: Contact, bond: Relationship, rooms: Collection[str] = ()) -> str:
    words = [f"{contact.name}: {bond.relationship_type}"]
    if bond.trust_level:
        words.append(f"trust {bond.trust_level}")
    if bond.emotional_tone:
        words.append(f"tone {bond.emotional_tone}")
    count = contact.interaction_count
    lines = "1 line" if count == 1 else f"{count:,} lines"
    parts = [", ".join(words), f"met {contact.first_met_at.date()}, {lines}"]
    if bond.relationship_notes:
        parts.append(bond.relationship_notes)
    if bond.rationale:
        parts.append(f"because: {bond.rationale}")
    made_in = ", ".join(sorted(filter(None, rooms)))
    origin = f" {formatting.one_line(f'(from {made_in})', _ORIGIN_LIMIT)}" if made_in else ""
    return formatting.one_line("; ".join(parts), LINE_LIMIT - len(origin)) + origin


def _row(contact: Contact, bond: Relationship) -> tuple[str, ...]:
    return (
        contact.name,
        bond.relationship_type,
        bond.trust_level,
        bond.emotional_tone,
        str(contact.first_met_at.date()),
        str(contact.interaction_count),
        formatting.one_line(bond.relationship_notes, 60),
        formatting.one_line(bond.rationale, 60),
    )


def _history(changes: Sequence[Change]) -> list[str]:
    """A line for each change: when, what from what, why."""
    lines, before = [], Relationship()
    for change in changes:
        values = (
            (label, getattr(before, field), getattr(change.bond, field))
            for field, label in zip(FIELDS, _LABELS, strict=False)
        )
        changed = "; ".join(
            f"{label} {new or 'cleared'} (was {old or 'not said'})"
            for label, old, new in values
            if new != old
        )
        lines.append(
            f"{clock.minute(change.at)} {changed or 'as before'}, because: {change.bond.rationale}"
        )
        before = change.bond
    return lines


def _graph(own: str, known: Sequence[tuple[Contact, Relationship]]) -> str:
    """A flowchart for Mermaid: the agent in the middle, and how it stands with each."""
    lines = ["graph LR", f'  self(("{_label(own)}"))']
    for number, (contact, bond) in enumerate(known, 1):
        words = [bond.relationship_type]
        if bond.trust_level:
            words.append(f"trust {bond.trust_level}")
        if bond.emotional_tone:
            words.append(bond.emotional_tone)
        lines.append(f'  p{number}["{_label(contact.name)}"]')
        lines.append(f'  self -->|"{_label(", ".join(words))}"| p{number}')
    return "\n".join(lines)


def _label(text: str) -> str:
    """A text within the quotes of a label: whatever Mermaid, Markdown or HTML may read as its own
    is replaced by its number.
    """
    return re.sub(r"[^\w ,-]|^-", lambda match: f"#{ord(match[0])};", formatting.one_line(text))
