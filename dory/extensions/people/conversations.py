"""Conversations: who has spoken with the agent, and what was said, line by line.

Tables of the agent's SQLite file:

    dialogue          a record: id (1, 2, 3 …), room, partner, speaker, when, text; the number of
                      the room's file, and the byte in it behind the line
    dialogue_said     of each record, whether a person or an agent spoke, and to whom
    dialogue_also     the others to whom the agent said a line, if it said it to several
    dialogue_room     how far each room is recorded, and who else spoke there last
    dialogue_partner  since when each partner is known in each room, the newest record, and the
                      number of records
    dialogue_summary  what self-care made of the oldest records, and up to which record:
                      ``conv_summarized_until``

Whoever speaks in a room is a partner there: a person, another agent, or a name that a bridge
brings. What the agent says itself is recorded with those to whom it was said
(``turn/addressees.py``); if that is not known any more, with the partner who spoke there last. A
neural link is a record without a room. An older Dory did not write the second and the third table.

Records are added in one transaction with how far the room is recorded, so each line is recorded
once, whatever is killed. No record is ever removed: those that are summed up stay, and count.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from dory import clock
from dory.errors import ToolError
from dory.extensions.people.records import (
    AGENT,
    PERSON,
    TEXT_LIMIT,
    Contact,
    RoomPosition,
    Utterance,
)
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import Store, marks
from dory.text import names
from dory.types import Batch, Line

EVER = datetime.min.replace(tzinfo=UTC)
HELD = 1000
"""Records that wait at most before self-care sums some up."""
KEPT = 200
"""The newest records, which self-care never sums up."""
_ROOMS = 5
"""Rooms that the way to a summary names."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS dialogue\n"
    " (id INTEGER PRIMARY KEY, room TEXT, partner TEXT, speaker TEXT, at INTEGER, text TEXT,"
    " file INTEGER, end INTEGER)",
    "CREATE INDEX IF NOT EXISTS dialogue_with ON dialogue (partner, id)",
    "CREATE TABLE IF NOT EXISTS dialogue_room"
    " (room TEXT PRIMARY KEY, file INTEGER, read INTEGER, partner TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS dialogue_partner"
    " (partner TEXT, room TEXT, met INTEGER, newest INTEGER, count INTEGER,"
    " PRIMARY KEY (partner, room))",
    "CREATE TABLE IF NOT EXISTS dialogue_summary"
    " (id INTEGER PRIMARY KEY, first INTEGER, conv_summarized_until INTEGER, at INTEGER,"
    " text TEXT)",
)
_SAID = "dialogue_said"
_LATER_SCHEMA = (
    f"CREATE TABLE IF NOT EXISTS {_SAID} (id INTEGER PRIMARY KEY, kind TEXT, addressees TEXT)",
    "CREATE TABLE IF NOT EXISTS dialogue_also (name TEXT, id INTEGER, PRIMARY KEY (name, id))"
    " WITHOUT ROWID",
)
_COUNT = (
    "INSERT INTO dialogue_partner VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET"
    " met = min(met, excluded.met), newest = excluded.newest, count = count + 1"
)
_NEWEST_IN_ROOM = (
    "SELECT at FROM dialogue WHERE id = (SELECT max(newest) FROM dialogue_partner WHERE room = ?)"
)
_CONTACTS = (
    "SELECT partner.*, dialogue.at FROM (SELECT partner, group_concat(room, ' '), min(met),"
    " sum(count), max(newest) AS newest FROM dialogue_partner {} GROUP BY partner) AS partner"
    " JOIN dialogue ON id = newest ORDER BY newest DESC"
)
_ROOMS_OF_SUMMARY = (
    "SELECT DISTINCT room FROM dialogue, dialogue_summary s"
    " WHERE s.id = ? AND dialogue.id BETWEEN first AND conv_summarized_until"
)


class Conversations:
    """The conversations of one agent.

    Raises a ``ToolError`` for somebody whom it never met, and what the ``Store`` raises.
    """

    kinds = ("Conversation",)

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index
        store.tables(*_SCHEMA)
        if not store.readonly:  # a reader takes the file as it is
            store.tables(*_LATER_SCHEMA)

    def place(self, room: str) -> RoomPosition:
        """How far a room is recorded."""
        sql = "SELECT file, read, partner FROM dialogue_room WHERE room = ?"
        rows = self._store.rows(sql, (room,))
        return RoomPosition(*rows[0]) if rows else RoomPosition()

    def add(
        self,
        room: str,
        lines: Sequence[Line],
        own: str,
        file: int,
        read: int,
        now: datetime,
        since: datetime = EVER,
        meant: Mapping[int, Sequence[str]] = {},
    ) -> None:
        """Record ``lines``, and that the room is recorded up to byte ``read`` of its ``file``.

        ``own`` is the agent's name. ``meant``: to whom a line was said, by its end, as far as that
        is known. Whatever the tag of a line says, it was said no later than ``now``, and no earlier
        than ``since`` and the line before it.
        """
        partner = self.place(room).partner
        earliest = since
        for (at,) in self._store.rows(_NEWEST_IN_ROOM, (room,)):
            earliest = max(earliest, self._store.moment(at))
        with self._store.writing() as connection:
            for line in lines:
                said = max(clock.parsed(line.at, now), earliest)
                if said < now:
                    earliest = said
                to = meant.get(line.end)
                if (line.kind, line.name) == ("AGENT", own):
                    to = [partner] * bool(partner) if to is None else to
                    with_whom = to
                else:
                    partner = line.name
                    with_whom = [partner]
                self._insert(line, min(said, now), with_whom, to or (), file)
            recorded = "INSERT OR REPLACE INTO dialogue_room VALUES (?, ?, ?, ?)"
            connection.execute(recorded, (room, file, read, partner))

    def linked(self, partner: str, speaker: str, text: str, at: datetime) -> None:
        """Record what passed between the agent and ``partner``, who may never have met in a
        room.
        """
        to = [] if speaker == partner else [partner]
        with self._store.writing():
            self._insert(Line("", "AGENT", speaker, "", text, 0), at, [partner], to, 0)

    def _insert(
        self, line: Line, at: datetime, partners: Sequence[str], to: Sequence[str], file: int
    ) -> None:
        """Add a record, and count it with each of the ``partners``. The agent may speak to nobody
        yet.
        """
        first, *others = partners or ("",)
        when = int(at.timestamp())
        with self._store.writing() as connection:
            values = (line.room, first, line.name, when, line.text[:TEXT_LIMIT], file, line.end)
            insert = "INSERT INTO dialogue VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
            id = connection.execute(insert, values).lastrowid
            kind = PERSON if line.kind == "USER" else AGENT
            connection.execute(f"INSERT INTO {_SAID} VALUES (?, ?, ?)", (id, kind, "\n".join(to)))
            for name in others:
                connection.execute("INSERT INTO dialogue_also VALUES (?, ?)", (name, id))
            for name in partners:
                connection.execute(_COUNT, (name, line.room, when, id))

    def recorded(self, room: str, file: int) -> Iterator[tuple[int, str]]:
        """Where in a room's file each record ends, and its speaker; for the check."""
        sql = "SELECT end, speaker FROM dialogue WHERE room = ? AND file = ? ORDER BY id"
        yield from self._store.rows(sql, (room, file))

    def miscounted(self) -> list[str]:
        """The partners whose counts do not match their records; for the check."""
        counted = "SELECT partner, room, newest, count FROM dialogue_partner"
        records = "SELECT partner, room, id FROM dialogue WHERE partner <> ''"
        if self._store.has(_SAID):
            records += (
                " UNION ALL SELECT name, room, id FROM dialogue_also JOIN dialogue USING (id)"
            )
        recorded = (
            f"SELECT partner, room, max(id), count(*) FROM ({records}) GROUP BY partner, room"
        )
        rows = self._store.rows(
            f"SELECT partner FROM ({counted} EXCEPT {recorded})"
            f" UNION SELECT partner FROM ({recorded} EXCEPT {counted})"
        )
        return [name for (name,) in rows]

    def incomplete(self) -> int:
        """How many records do not say who spoke and to whom although an older one does, and how
        many rows say so of no record; for the check.
        """
        if not self._store.has(_SAID):
            return 0
        return self._store.number(
            f"SELECT (SELECT count(*) FROM dialogue WHERE id NOT IN (SELECT id FROM {_SAID})"
            f" AND id > (SELECT min(id) FROM {_SAID}))"
            f" + (SELECT count(*) FROM {_SAID} WHERE id NOT IN (SELECT id FROM dialogue))"
            " + (SELECT count(*) FROM dialogue_also WHERE id NOT IN (SELECT id FROM dialogue))"
        )

    def recent(self, count: int) -> list[Utterance]:
        """The newest records, oldest first."""
        return self._select("ORDER BY id DESC LIMIT ?", count)[::-1]

    def said_with(
        self, partner: str, rooms: Collection[str], offset: int, count: int
    ) -> list[Utterance]:
        """What was said with a partner in these ``rooms``, the newest first, from ``offset`` on."""
        among = f"room IN ({marks(rooms)})"
        ids = f"SELECT id FROM dialogue WHERE partner = ? AND {among}"
        values: list[object] = [partner, *rooms]
        if self._store.has(_SAID):
            ids += (
                " UNION SELECT id FROM dialogue_also JOIN dialogue USING (id)"
                f" WHERE name = ? AND {among}"
            )
            values *= 2
        where = f"WHERE id IN ({ids}) ORDER BY id DESC LIMIT ? OFFSET ?"
        return self._select(where, *values, count, offset)

    def rooms(self) -> list[str]:
        """Where anything was said with anybody; an empty name stands for neural links."""
        return [room for (room,) in self._store.rows("SELECT DISTINCT room FROM dialogue_partner")]

    def who(self, rooms: Collection[str] | None = None) -> list[Contact]:
        """All contacts in these ``rooms``, or in all; whoever spoke last comes first."""
        where = "" if rooms is None else f"WHERE room IN ({marks(rooms)})"
        moment = self._store.moment
        return [
            Contact(name, tuple(places.split()), moment(met), moment(at), count)
            for name, places, met, count, _, at in self._store.rows(
                _CONTACTS.format(where), tuple(rooms or ())
            )
        ]

    def partner(self, name: str, known: Sequence[Contact] | None = None) -> Contact:
        """The contact whom ``name`` means (``text/names.py``) of those ``known``, by default all.

        Raises a ``ToolError`` that lists similar names if it means nobody, or several.
        """
        everyone = self.who() if known is None else known
        contacts = {contact.name: contact for contact in everyone}
        meant = names.meant(name, contacts)
        if len(meant) == 1:
            return contacts[meant[0]]
        if meant:
            raise ToolError(
                f"{name[:70]!r} fits several: {', '.join(meant[:5])}; write one of these names"
            )
        near = ", ".join(names.near(name, contacts))
        hint = f"known are {near}" if near else "nobody has spoken so far"
        raise ToolError(f"nobody called {name[:70]!r} has ever spoken here: {hint}")

    @property
    def newest(self) -> int:
        """The id of the newest record, which is the number of records."""
        return self._store.number("SELECT max(id) FROM dialogue")

    @property
    def conv_summarized_until(self) -> int:
        """The id of the newest record that is summed up. It only rises."""
        return self._store.number("SELECT max(conv_summarized_until) FROM dialogue_summary")

    @property
    def waiting(self) -> int:
        """How many records are not summed up."""
        return self.newest - self.conv_summarized_until

    def batch(self, size: int) -> Batch | None:
        """The oldest records that are not summed up, if more than ``HELD`` wait."""
        if self.waiting <= HELD:
            return None
        records = self._select(
            "WHERE id > ? ORDER BY id LIMIT ?",
            self.conv_summarized_until,
            min(size, self.waiting - KEPT),
        )
        first = records[0].id
        last = records[-1].id
        return Batch(
            f"conversations {first} to {last}",
            tuple(record.line for record in records),
            lambda narrative, at: self._keep(first, last, narrative, at),
        )

    def documents(self) -> Iterator[Document]:
        """What has to be in the index: the summaries.

        The records are indexed already, as what was heard and said.
        """
        sql = "SELECT id, at, text FROM dialogue_summary ORDER BY id"
        for id, at, text in self._store.rows(sql):
            yield Document(self.kinds[0], id, self._store.moment(at), text)

    def way(self, kind: str, origin: int) -> str:
        """The tool lines that show what a summary is about; empty if there is no such summary."""
        if kind not in self.kinds:
            return ""
        rooms = self.heard_in(kind, origin)
        if not rooms:
            return ""
        lines = " or ".join(f"READ_FILE chats/{room}.md" for room in rooms[:_ROOMS])
        return f"{lines} (summary {origin} of your conversations)"

    def heard_in(self, kind: str, origin: int) -> list[str]:
        """The rooms of which a summary tells."""
        return list(filter(None, self.rooms_of(origin))) if kind in self.kinds else []

    def rooms_of(self, summary: int) -> list[str]:
        """The rooms in which that was said of which a summary tells, in order."""
        return sorted(room for (room,) in self._store.rows(_ROOMS_OF_SUMMARY, (summary,)))

    def narratives(self, count: int) -> list[tuple[int, int, int, str]]:
        """The newest summaries, oldest first: id, the first and the last record, text."""
        sql = (
            "SELECT id, first, conv_summarized_until, text FROM dialogue_summary"
            " ORDER BY id DESC LIMIT ?"
        )
        return self._store.rows(sql, (count,))[::-1]

    def spans(self) -> list[tuple[int, int]]:
        """The first and the last record of each summary; for the check."""
        sql = "SELECT first, conv_summarized_until FROM dialogue_summary ORDER BY id"
        return self._store.rows(sql)

    def _keep(self, first: int, last: int, narrative: str, at: datetime) -> None:
        with self._store.writing() as connection:
            if self.conv_summarized_until != first - 1:
                return  # these records are summed up already
            values = (first, last, int(at.timestamp()), narrative)
            insert = "INSERT INTO dialogue_summary VALUES (NULL, ?, ?, ?, ?)"
            id = connection.execute(insert, values).lastrowid or 0
            self._index.add(Document(self.kinds[0], id, at, narrative))

    def _select(self, where: str, *values: object) -> list[Utterance]:
        facts, beside = ("NULL, NULL", "")
        if self._store.has(_SAID):
            facts, beside = "kind, addressees", f" LEFT JOIN {_SAID} USING (id)"
        columns = f"id, room, partner, speaker, at, text, {facts}"
        rows = self._store.rows(f"SELECT {columns} FROM dialogue{beside} {where}", values)
        return [
            Utterance(
                id,
                room,
                partner,
                speaker,
                self._store.moment(at),
                text,
                kind or (AGENT if names.is_agents(speaker) else PERSON),
                tuple(filter(None, (to or "").split("\n"))),
            )
            for id, room, partner, speaker, at, text, kind, to in rows
        ]
