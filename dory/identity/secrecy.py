"""Rooms keep their secrets: who may read what was said in which room.

An answer to a command is read by everybody in the room in which it was asked. So it may show what
was said in another room only if each of the people there has been in that other room, or is an
owner. Owners see everything in a room in which nobody else has ever spoken. A private room is shown
nowhere else, not even to an owner.

Somebody has been in a room if they have said something there, ever. Only names are compared, and
people choose their own: this keeps people from reading by accident what was said elsewhere. It does
not stop somebody who writes under another name or opens the files. The agent itself has one mind
and one context: it is told what is not for the room in which it answers (``mark``, ``kept_from``),
and nothing prevents it from saying so all the same.
"""

from collections.abc import Collection, Iterable
from itertools import islice

from dory.config.options import login_name
from dory.config.settings import Config
from dory.identity.identity import Identity
from dory.storage.rooms import clean_name
from dory.text import formatting

_NAMED = 6
"""Rooms that one sentence names."""


class RoomSecrets:
    """What of one agent's past may be shown where. ``owners`` are names of people, ``private`` are
    rooms. It reads the rooms' files, each part of them once.
    """

    def __init__(
        self, identity: Identity, owners: Iterable[str] = (), private: Iterable[str] = ()
    ) -> None:
        self._identity = identity
        self.owners = tuple(clean_name(name) for name in owners)
        self._owners = {name.casefold() for name in self.owners}
        self.private = frozenset(private)
        self._people: dict[str, set[str]] = {}
        self._others: set[str] = set()  # rooms in which another agent has spoken
        self._read: dict[str, tuple[int, int]] = {}
        """Up to where each room was read, and in which of its files one after the other."""

    @classmethod
    def of(cls, identity: Identity, settings: Config) -> "RoomSecrets":
        """As the settings have it. An agent from before there was the setting ``owners`` has that
        person as its owner whose process it is.
        """
        return cls(
            identity, settings.owners or filter(None, [login_name()]), settings.private_rooms
        )

    def may_show(self, room: str, asker: str, asked_in: str) -> bool:
        """Whether the answer to ``asker`` in the room ``asked_in`` may show what was said in
        ``room``. An empty ``room`` stands for what may come from any of them, such as a memory.
        """
        if room and room == asked_in:
            return True
        if room in self.private:
            return False
        readers = self._readers(asker, asked_in)
        strangers = {name for name in readers if name.casefold() not in self._owners}
        if room:
            return bool(readers) and strangers <= self.people(room)
        return not strangers or all(
            self.may_show(other, asker, asked_in) for other in self._lived_in()
        )

    def shows(self, room: str) -> bool:
        """Whether the answer to the command that is run now may show what was said in ``room``.
        Whatever nobody asked for in a room is for who has the files.
        """
        owed = self._identity.state.owed
        return owed is None or self.may_show(room, owed.asker, owed.room)

    def knows(self, room: str) -> bool:
        """Whether who has asked for the command that is run now may read what was said in ``room``,
        there if not here.
        """
        owed = self._identity.state.owed
        asker = owed.asker if owed else ""
        return bool(room) and (asker.casefold() in self._owners or asker in self.people(room))

    def people(self, room: str) -> set[str]:
        """The people who have ever said something in a room."""
        rooms = self._identity.rooms
        size = rooms.size(room)
        position = self._identity.state.rooms.get(room)
        file = position.replaced if position else 0
        read_file, start = self._read.get(room, (file, 0))
        if size < start or file != read_file:
            start = 0  # its file was exchanged; who spoke in the old one still has been there
        known = self._people.setdefault(room, set())
        if size > start:
            speakers, read = rooms.speakers(room, start)
            self._read[room] = (file, read)
            known |= {name for kind, name in speakers if kind == "USER"}
            if any(kind == "AGENT" and name != self._identity.name for kind, name in speakers):
                self._others.add(room)
        return known

    def kept_from(self, room: str) -> list[str]:
        """The rooms of which nothing may be told in ``room``."""
        return [other for other in self._lived_in() if not self.may_show(other, "", room)]

    def present(self) -> list[str]:
        """The rooms for which the agent acts now: those in which people wait for its answer, or
        else the one that it heard last.
        """
        waiting = list(dict.fromkeys(room for room, _ in self._identity.state.waiting()))
        if waiting:
            return waiting
        entries = reversed(self._identity.context.entries)
        return [next((entry.about for entry in entries if entry.kind == "heard"), "")]

    def mark(self, room: str, shown_in: Collection[str] | None = None) -> str:
        """What the agent is told behind a text that was said in ``room``, if it is not for the
        rooms ``shown_in``, by default those that are ``present``; else empty.
        """
        if not room:
            return ""
        present = self.present() if shown_in is None else shown_in
        kept = [other for other in present if other and not self.may_show(room, "", other)]
        if not kept:
            return ""
        said = "private room" if room in self.private else "said in"
        return f" ({said} {room}: not for {formatting.all_of(kept)})"

    def refusal(self, command: str) -> str:
        """The line for somebody to whom a command may not show what was said in other rooms."""
        owners = formatting.named(self.owners) or "nobody; see the setting owners"
        return (
            f"{command} may show what was said in other rooms: it is for an owner ({owners}), in a"
            " room in which no one else has spoken"
        )

    def sentence(self, rooms: Collection[str]) -> str:
        """What the agent is told as it answers in ``rooms``: what is not for them; empty if all
        is.
        """
        parts: list[str] = []
        for room in islice(filter(None, rooms), _NAMED):
            if kept := self.kept_from(room):
                more = " rooms" if len(kept) > _NAMED else ""
                named = formatting.named(kept, _NAMED)
                parts.append(f"Not for {room}: what was said in {named}{more}.")
        return " ".join(parts)

    def _readers(self, asker: str, room: str) -> set[str]:
        return self.people(room) | ({asker} if asker else set())

    def _lived_in(self) -> list[str]:
        """The rooms in which somebody has told the agent something, in order."""
        me = self._identity
        known = sorted({*me.state.rooms, *me.subscriptions()})
        return [room for room in known if self.people(room) or room in self._others]
