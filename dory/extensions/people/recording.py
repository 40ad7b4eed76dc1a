"""What is said in the agent's rooms, recorded line by line. Three tables of the agent's one SQLite file.

    dialogue          a record: id (1, 2, 3 …), room, partner, speaker, when, text; which file of the room, and the byte there behind its line
    dialogue_room     how far each room is recorded, and who spoke there last besides the agent
    dialogue_partner  since when each partner is known in each room, the newest record, and how many there are

Whoever speaks in a room is a partner there: a person, another agent, a name that a bridge brings. What the agent says itself belongs to who
spoke there last. Records are added in one transaction with how far that is, so each line is recorded once, also through kills. None is ever
removed: those that are summed up stay, and count.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dory import clock
from dory.storage.store import Store
from dory.types import Line

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
class Place:
    """How far a room is recorded: up to byte ``read`` of its file, before which so many other ones were replaced as ``file`` says."""

    file: int = 0
    read: int = 0
    partner: str = ""


class Recording:
    """The records of one agent. Raises what the store raises."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.tables(_SCHEMA)

    def place(self, room: str) -> Place:
        """How far a room is recorded."""
        return next((Place(*row) for row in self._store.rows("SELECT file, read, partner FROM dialogue_room WHERE room = ?", (room,))), Place())

    def add(self, room: str, lines: Sequence[Line], own: str, file: int, read: int, now: datetime, since: datetime = EVER) -> None:
        """Record ``lines``, and that the room is recorded up to byte ``read``. ``own``: the agent's name. Whatever a tag says, a line was said
        no later than ``now``, and no earlier than ``since`` and the line before it."""
        partner = self.place(room).partner
        sql = "SELECT at FROM dialogue WHERE id = (SELECT max(newest) FROM dialogue_partner WHERE room = ?)"
        before = max(since, *(self._store.moment(at) for (at,) in self._store.rows(sql, (room,))), EVER)
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
                id = connection.execute("INSERT INTO dialogue VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", values).lastrowid
                if partner:  # the agent may speak first, to nobody yet
                    connection.execute(counted, (partner, room, at, id))
            connection.execute("INSERT OR REPLACE INTO dialogue_room VALUES (?, ?, ?, ?)", (room, file, read, partner))

    def recorded(self, room: str, file: int) -> Iterator[tuple[int, str]]:
        """Where in a room's file each record ends, and its speaker; for the check."""
        yield from self._store.rows("SELECT end, speaker FROM dialogue WHERE room = ? AND file = ? ORDER BY id", (room, file))

    def miscounted(self) -> list[str]:
        """The partners whose counts are not those of their records; for the check."""
        counted, records = (
            "SELECT partner, room, newest, count FROM dialogue_partner",
            "FROM dialogue WHERE partner <> '' GROUP BY partner, room",
        )
        there = f"SELECT partner, room, max(id), count(*) {records}"
        wrong = " UNION ".join(f"SELECT partner FROM ({one} EXCEPT {other})" for one, other in ((counted, there), (there, counted)))
        return [name for (name,) in self._store.rows(wrong)]
