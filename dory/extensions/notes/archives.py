"""Archives: what a compaction leaves for good, one for each stretch, and its marker in LIFE.

The archive is stored among the notes: the summary and the reference, under a name made of the gist
and the ids. The marker is a line of LIFE:

    2026-11-21 07:38 archived ◱hash=5d41402abc4b2a76 gist=ada-plans-her-trip-to-lisbon-1-9◲

with the name as it was given and the time, to the minute.

A resume replays the working context from ``context.md``, where the reference stands in place of the
stretch. What stands before a marker is reached by search, by name, and by its hash. Taking a
compaction back leaves its archives.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from dory.extensions.notes.store import Note, Notes
from dory.identity import life
from dory.storage.database import Store
from dory.text import references
from dory.types import Compacted

EVENT = "archived"
"""The kind of a marker's event."""
_NAME_LIMIT = 60
"""Characters of a name, so that the whole name fits into the marker's line."""
_NUMBER_SIZE = 4
"""Characters that stay free for a number behind the name."""
_BETWEEN_WORDS = re.compile(r"\W+")
_SCHEMA = "CREATE TABLE IF NOT EXISTS unmarked (id INTEGER PRIMARY KEY)"


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker of an archive in LIFE."""

    archive_name: str
    archived_at: datetime
    hash: str


class Archives:
    """The archives of one agent, and which of them wait for their marker.

    Raises what ``Notes`` raises.
    """

    def __init__(self, store: Store, notes: Notes) -> None:
        self._store = store
        self._notes = notes
        store.tables(_SCHEMA)

    def keep(self, record: Compacted, at: datetime, waits: bool = True) -> Note:
        """The archive of a stretch, written if there is none yet.

        A new archive ``waits`` for its marker, unless it needs none.
        """
        known = self._notes.archive_of(record.hash)
        if known:
            return known
        content = f"{record.summary}\n{references.reference(record.hash, record.gist)}"
        with self._store.writing() as connection:
            note = self._notes.add(_name(self._notes, record), content, "Archive", at, record.hash)
            if waits:
                connection.execute("INSERT INTO unmarked VALUES (?)", (note.id,))
        return note

    @property
    def waiting(self) -> list[Note]:
        """The archives without a marker, oldest first."""
        rows = self._store.rows("SELECT id FROM unmarked ORDER BY id")
        notes = [self._notes.numbered(id) for (id,) in rows]
        return [note for note in notes if note]

    def marked(self) -> None:
        """Note that the markers of all archives that waited are on disk."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM unmarked")


def markers(lines: Iterable[bytes]) -> Iterator[Marker]:
    """The markers among lines of LIFE.md, in order."""
    return (Marker(name, at, hash) for at, hash, name in life.references(lines, EVENT))


def _name(notes: Notes, record: Compacted) -> str:
    """Words of the gist, or of the summary if the gist has none, and the ids; numbered if that name
    is taken.
    """
    ids = f"-{record.first}-{record.last}"
    words = _words(record.gist) or _words(record.summary)
    words = words[: _NAME_LIMIT - _NUMBER_SIZE - len(ids)].strip("-") or "archive"
    name = words + ids
    if not notes.find(name):
        return name
    return next(free for number in count(2) if not notes.find(free := f"{name}-{number}"))


def _words(text: str) -> str:
    return _BETWEEN_WORDS.sub("-", unicodedata.normalize("NFC", text).casefold()).strip("-")
