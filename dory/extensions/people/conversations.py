"""Conversations: who has spoken with the agent, and what was said, of which self-care sums up the
oldest. Beside the records (``extensions/people/conversations.py``) a table of the agent's one
SQLite file.

    dialogue_summary  what self-care made of the oldest records, and up to which one: the watermark ``conv_summarized_until``

What is said in the agent's rooms, recorded line by line. Three tables of the agent's one SQLite
file.

    dialogue          a record: id (1, 2, 3 …), room, partner, speaker, when, text; which file of the room, and the byte there behind its line
    dialogue_room     how far each room is recorded, and who spoke there last besides the agent
    dialogue_partner  since when each partner is known in each room, the newest record, and how many there are

Whoever speaks in a room is a partner there: a person, another agent, a name that a bridge brings.
What the agent says itself belongs to who spoke there last. Records are added in one transaction
with how far that is, so each line is recorded once, also through kills. None is ever removed: those
that are summed up stay, and count.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dory import clock
from dory.errors import ToolError
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import Store, marks
from dory.text import formatting, names
from dory.types import Batch, Line

EVER = datetime.min.replace(tzinfo=UTC)
TEXT_LIMIT = 2000
"""Characters of a record; the whole of what was said stands in the room's file."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS dialogue
 (id INTEGER PRIMARY KEY, room TEXT, partner TEXT, speaker TEXT, at INTEGER, text TEXT, file INTEGER, end INTEGER);
CREATE INDEX IF NOT EXISTS dialogue_with ON dialogue (partner, id);
CREATE TABLE IF NOT EXISTS dialogue_room (room TEXT PRIMARY KEY, file INTEGER, read INTEGER, partner TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dialogue_partner (partner TEXT, room TEXT, met INTEGER, newest INTEGER, count INTEGER, PRIMARY KEY (partner, room))\
"""


@dataclass(frozen=True, slots=True)
class RoomPosition:
    """How far a room is recorded: up to byte ``read`` of its file, before which so many other ones
    were replaced as ``file`` says.
    """

    file: int = 0
    read: int = 0
    partner: str = ""


HELD, KEPT = 1000, 200
"""Records that may wait for self-care; and the newest, of which it takes none."""
_SUMMARIES = "CREATE TABLE IF NOT EXISTS dialogue_summary (id INTEGER PRIMARY KEY, first INTEGER, conv_summarized_until INTEGER, at INTEGER, text TEXT)"


@dataclass(frozen=True, slots=True)
class Utterance:
    """One record."""

    id: int
    room: str
    partner: str
    speaker: str
    at: datetime
    text: str

    @property
    def line(self) -> str:
        """As a person or a model reads it: one line, in which nothing is a mark."""
        return f"{clock.minute(self.at)} {self.speaker} in {self.room}: {formatting.one_line(self.text, TEXT_LIMIT)}"


@dataclass(frozen=True, slots=True)
class Contact:
    """Somebody the agent has dealt with in these ``rooms``. Each line of theirs counts, and each
    answer to them.
    """

    name: str
    rooms: tuple[str, ...]
    first_met_at: datetime
    last_met_at: datetime
    interaction_count: int


class Conversations:
    """The conversations of one agent. Raises a ``ToolError`` for somebody it never met, and what
    the store raises.
    """

    kinds = ("Conversation",)

    def __init__(self, store: Store, index: Index) -> None:
        self._store = store
        self._index = index
        store.tables(_SCHEMA)
        store.tables(_SUMMARIES)

    def place(self, room: str) -> RoomPosition:
        """How far a room is recorded."""
        return next(
            (
                RoomPosition(*row)
                for row in self._store.rows(
                    "SELECT file, read, partner FROM dialogue_room WHERE room = ?", (room,)
                )
            ),
            RoomPosition(),
        )

    def add(
        self,
        room: str,
        lines: Sequence[Line],
        own: str,
        file: int,
        read: int,
        now: datetime,
        since: datetime = EVER,
    ) -> None:
        """Record ``lines``, and that the room is recorded up to byte ``read``. ``own``: the agent's
        name. Whatever a tag says, a line was said no later than ``now``, and no earlier than
        ``since`` and the line before it.
        """
        partner = self.place(room).partner
        sql = "SELECT at FROM dialogue WHERE id = (SELECT max(newest) FROM dialogue_partner WHERE room = ?)"
        before = max(
            since, *(self._store.moment(at) for (at,) in self._store.rows(sql, (room,))), EVER
        )
        counted = (
            "INSERT INTO dialogue_partner VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET"
            " met = min(met, excluded.met), newest = excluded.newest, count = count + 1"
        )
        with self._store.writing() as connection:
            for line in lines:
                told = max(clock.parsed(line.at, now), before)
                at, before = int(min(told, now).timestamp()), told if told < now else before
                partner = partner if (line.kind, line.name) == ("AGENT", own) else line.name
                values = (room, partner, line.name, at, line.text[:TEXT_LIMIT], file, line.end)
                id = connection.execute(
                    "INSERT INTO dialogue VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", values
                ).lastrowid
                if partner:  # the agent may speak first, to nobody yet
                    connection.execute(counted, (partner, room, at, id))
            connection.execute(
                "INSERT OR REPLACE INTO dialogue_room VALUES (?, ?, ?, ?)",
                (room, file, read, partner),
            )

    def recorded(self, room: str, file: int) -> Iterator[tuple[int, str]]:
        """Where in a room's file each record ends, and its speaker; for the check."""
        yield from self._store.rows(
            "SELECT end, speaker FROM dialogue WHERE room = ? AND file = ? ORDER BY id",
            (room, file),
        )

    def miscounted(self) -> list[str]:
        """The partners whose counts are not those of their records; for the check."""
        counted, records = (
            "SELECT partner, room, newest, count FROM dialogue_partner",
            "FROM dialogue WHERE partner <> '' GROUP BY partner, room",
        )
        there = f"SELECT partner, room, max(id), count(*) {records}"
        wrong = " UNION ".join(
            f"SELECT partner FROM ({one} EXCEPT {other})"
            for one, other in ((counted, there), (there, counted))
        )
        return [name for (name,) in self._store.rows(wrong)]

    def recent(self, count: int, partner: str | None = None) -> list[Utterance]:
        """The newest records, of all or with one partner; the oldest of them first."""
        where, values = ("", ()) if partner is None else ("WHERE partner = ?", (partner,))
        return self._found(f"{where} ORDER BY id DESC LIMIT ?", *values, count)[::-1]

    def who(self, rooms: Collection[str] | None = None) -> list[Contact]:
        """Everyone the agent has dealt with, who spoke last first; in these ``rooms``, or in all."""
        sql = (
            "SELECT partner.*, dialogue.at FROM (SELECT partner, group_concat(room, ' '), min(met), sum(count), max(newest) AS newest"
            " FROM dialogue_partner {} GROUP BY partner) AS partner JOIN dialogue ON id = newest ORDER BY newest DESC"
        )
        where = "" if rooms is None else f"WHERE room IN ({marks(rooms)})"
        rows, moment = self._store.rows(sql.format(where), tuple(rooms or ())), self._store.moment
        return [
            Contact(name, tuple(found.split()), moment(met), moment(at), count)
            for name, found, met, count, _, at in rows
        ]

    def partner(self, name: str) -> Contact:
        """The one whom ``name`` means (``text/names.py``). Raises a ``ToolError`` that names
        others.
        """
        everyone = {one.name: one for one in self.who()}
        found = names.meant(name, everyone)
        if len(found) == 1:
            return everyone[found[0]]
        if found:
            raise ToolError(
                f"{name[:70]!r} fits several: {', '.join(found[:5])}; write one of these names"
            )
        known = ", ".join(names.near(name, everyone))
        raise ToolError(
            f"nobody called {name[:70]!r} has ever spoken here: "
            + (f"known are {known}" if known else "nobody has spoken so far")
        )

    @property
    def newest(self) -> int:
        """The newest record's id, which is how many there are."""
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
        """The oldest records that are due to be summed up, when more than ``HELD`` wait."""
        if self.waiting <= HELD:
            return None
        found = self._found(
            "WHERE id > ? ORDER BY id LIMIT ?",
            self.conv_summarized_until,
            min(size, self.waiting - KEPT),
        )
        first, last = found[0].id, found[-1].id
        name = f"conversations {first} to {last}"
        return Batch(
            name,
            tuple(said.line for said in found),
            lambda narrative, at: self._keep(first, last, narrative, at),
        )

    def documents(self) -> Iterator[Document]:
        """What is to be in the index: the summaries. The records are there as what was heard and
        said.
        """
        for id, at, text in self._store.rows(
            "SELECT id, at, text FROM dialogue_summary ORDER BY id"
        ):
            yield Document(self.kinds[0], id, self._store.moment(at), text)

    def way(self, kind: str, origin: int) -> str:
        """How what a summary tells of is to be had; empty for none of these."""
        sql = "SELECT DISTINCT room FROM dialogue, dialogue_summary s WHERE s.id = ? AND dialogue.id BETWEEN first AND conv_summarized_until"
        rooms = (
            sorted(room for (room,) in self._store.rows(sql, (origin,)))
            if kind in self.kinds
            else []
        )
        return (
            f"{' or '.join(f'READ_FILE chats/{room}.md' for room in rooms)} (summary {origin} of your conversations)"
            if rooms
            else ""
        )

    def spans(self) -> list[tuple[int, int]]:
        """The records that each summary stands for, first and last; for the check."""
        return self._store.rows(
            "SELECT first, conv_summarized_until FROM dialogue_summary ORDER BY id"
        )

    def _keep(self, first: int, last: int, narrative: str, at: datetime) -> None:
        with self._store.writing() as connection:
            if self.conv_summarized_until == first - 1:  # else somebody has kept them already
                values = (first, last, int(at.timestamp()), narrative)
                id = (
                    connection.execute(
                        "INSERT INTO dialogue_summary VALUES (NULL, ?, ?, ?, ?)", values
                    ).lastrowid
                    or 0
                )
                self._index.add(Document(self.kinds[0], id, at, narrative))

    def _found(self, where: str, *values: object) -> list[Utterance]:
        rows = self._store.rows(
            f"SELECT id, room, partner, speaker, at, text FROM dialogue {where}", values
        )
        return [
            Utterance(id, room, partner, speaker, self._store.moment(at), text)
            for id, room, partner, speaker, at, text in rows
        ]
