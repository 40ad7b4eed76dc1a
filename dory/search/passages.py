"""What is searched: everything that ever entered the context, notes, archives. Derived: deleting it
loses nothing.

A document is cut into passages of at most ``PASSAGE_LIMIT`` characters. Each passage has an id,
``stretch * PLACES + place``. Passages of one room share a session as long as no more than ``PAUSE``
passes between two of them and a place is left in it; a session is ``STRETCHES`` stretches. A
passage without a room has a session of its own. So neighbours have neighbouring ids, and a session
is a range of ids. No id is ever used twice. What the agent says in a few words, a notice or a short
result stands aside, in sessions of its own: an acknowledgement between them does not part what two
people say to each other.

    piece    a passage: its text, when, where and by whom it was said, where it comes from (kind and
             origin), and its blob
    words    FTS5 without content of its own: which passages have which term; kind, speaker, room
             and day are terms, too (``search/filters.py``)
    speaker  everybody who ever spoke
    stretch  the newest passage of each room and of what stands aside there, and how many they have
    traits   how long the passages of a stretch are, and which are the agent's own speech: a byte
             for each
    edition  by which rules the index was made: one of an older Dory is made anew
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from dory.errors import FormatError
from dory.search import numbering
from dory.search.filters import UNDATED, labels
from dory.search.ranking import PLACES, STRETCHES, Formula, is_question, trait
from dory.search.spellings import indexed
from dory.search.vocabulary import Vocabulary
from dory.storage.database import NAME, Store, marks, rebuilding
from dory.text.tokenizer import folded

PASSAGE_LIMIT = 1000
"""Characters of a passage."""
PAUSE = 3600
"""Seconds. After an hour, people mostly begin a new subject."""
EDITION = 3
"""The rules by which passages are made and indexed."""
OWN = ("response",)
"""The kinds of which the agent is the speaker."""
REPEATING = ("Archive",)
"""The kinds that say in other words what other passages say."""
ASIDE = 40
"""Words of what others did not say, at most, that stands aside."""
ASKING = 40
"""Words of a passage that may be no more than a question."""
_OF_THE_AGENT = ("response", "result", "error", "notice")
_ASIDE_SIGN = "\ue000"  # no room has it in its name
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS piece (id INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
    " origin INTEGER NOT NULL, room TEXT NOT NULL, speaker TEXT NOT NULL, at INTEGER NOT NULL,"
    " asks INTEGER NOT NULL, hash TEXT, text TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS piece_origin ON piece (kind, origin)",
    "CREATE TABLE IF NOT EXISTS stretch (room TEXT PRIMARY KEY, last INTEGER NOT NULL,"
    " at INTEGER NOT NULL, pieces INTEGER NOT NULL) WITHOUT ROWID",
)
_SINCE_EDITION_2 = (
    "CREATE TABLE IF NOT EXISTS traits (stretch INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS edition (number INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS speaker (name TEXT PRIMARY KEY) WITHOUT ROWID",
)
"""A reader does without them."""
_WORDS = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words"
    " USING fts5(text, content='', detail=none, columnsize=0, tokenize='{}')"
)
_DOCUMENT = "id, kind, origin, room, speaker, at, hash, text"
"""The columns that ``_document`` reads."""


@dataclass(frozen=True, slots=True)
class Document:
    """Something that can be found.

    ``origin`` is its id where it comes from: of the context entry, of the note. ``speaker`` is who
    says it, or the name that it goes by. ``hash`` is the blob that UNCOMPACT brings back. Kinds are
    single words whose case does not matter.
    """

    kind: str
    origin: int
    at: datetime
    text: str
    speaker: str = ""
    room: str = ""
    hash: str | None = None


class Passages:
    """The tables of one store. Raises what the store raises, and a ``FormatError`` for a damaged
    passage.
    """

    def __init__(self, store: Store, formula: Formula) -> None:
        """``formula`` says what is indexed. It must stay the same for a store."""
        self._store = store
        self._about = formula.about
        self.vocabulary = Vocabulary(store)
        store.tables(*_SCHEMA, _WORDS.format("porter ascii" if formula.stems else "ascii"))
        if not store.readonly:
            store.tables(*_SINCE_EDITION_2)

    def add(self, document: Document) -> None:
        """Index a document. Several in one ``store.writing()`` cost one fsync."""
        at = int(document.at.timestamp())
        row = _row(document.kind, document.room, document.text)
        occurring = set[str]()
        with self._store.writing() as connection:
            for number, text in enumerate(cut(document.text)):
                id = _place(connection, row, at, joined=bool(document.room or number))
                words = folded(text).count(" ") + 1
                connection.execute(
                    "INSERT INTO piece (id, kind, origin, room, speaker, at, asks, hash, text)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        id,
                        document.kind,
                        document.origin,
                        document.room,
                        document.speaker,
                        at,
                        is_question(text) and words <= ASKING,
                        document.hash,
                        text,
                    ),
                )
                said = self._terms(document, text)
                connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (id, said))
                occurring.update(said.split(" "))
                _set_trait(connection, id, trait(words, document.kind in OWN))
                numbering.add(connection, id)
            self.vocabulary.add(connection, occurring)
            if document.speaker and document.kind not in UNDATED:
                connection.execute("INSERT OR IGNORE INTO speaker VALUES (?)", (document.speaker,))

    def remove(self, kind: str, origin: int) -> None:
        """Remove a document, if it is there."""
        with self._store.writing() as connection:
            rows = connection.execute(
                f"SELECT {_DOCUMENT} FROM piece WHERE kind = ? AND origin = ?", (kind, origin)
            ).fetchall()
            passages = {row[0]: self._document(row) for row in rows}
            whole = "".join(passage.text for passage in passages.values())
            # an older index has other terms than these, and is made anew soon; until then a term
            # leads to a passage that is not there
            known = not self.outdated()
            for id, passage in passages.items():
                if known:
                    connection.execute(
                        "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)",
                        (id, self._terms(passage, passage.text)),
                    )
                connection.execute("DELETE FROM piece WHERE id = ?", (id,))
                numbering.remove(connection, id)
                connection.execute(
                    "UPDATE stretch SET pieces = pieces - 1 WHERE room = ?",
                    (_row(passage.kind, passage.room, whole),),
                )

    def clear(self) -> None:
        """Remove all documents."""
        with self._store.writing() as connection:
            connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
            connection.execute("DELETE FROM piece")
            connection.execute("DELETE FROM stretch")
            connection.execute("DELETE FROM traits")
            connection.execute("DELETE FROM edition")
            connection.execute("DELETE FROM speaker")
            self.vocabulary.clear(connection)
            numbering.clear(connection)

    def outdated(self) -> bool:
        """Whether there are passages that were made by other rules than today's."""
        if not self.extent()[0]:
            return False
        known = self._store.has("edition")
        return not known or self._store.rows("SELECT number FROM edition") != [(EDITION,)]

    def walk(self, kind: str) -> Iterator[Document]:
        """All documents of a kind, by origin, with their whole texts."""
        origins = self._store.rows(
            "SELECT DISTINCT origin FROM piece WHERE kind = ? ORDER BY origin", (kind,)
        )
        for (origin,) in origins:
            rows = self._store.rows(
                f"SELECT {_DOCUMENT} FROM piece WHERE kind = ? AND origin = ? ORDER BY id",
                (kind, origin),
            )
            text = "".join(self._document(row).text for row in rows)
            yield self._document((*rows[0][:-1], text))

    def get(self, ids: Sequence[int]) -> dict[int, tuple[Document, bool]]:
        """The passages with these ids that are there, by id: each as a document of its own, and
        whether it is a question.
        """
        rows = self._store.rows(
            f"SELECT {_DOCUMENT}, asks FROM piece WHERE id IN ({marks(ids)})", ids
        )
        return {row[0]: (self._document(row[:-1]), bool(row[-1])) for row in rows}

    def traits(self, stretches: Sequence[int]) -> dict[int, bytes]:
        """The traits of the passages in these stretches, by the number of the stretch; none of what
        an older Dory indexed.
        """
        if self._store.readonly and not self._store.has("traits"):
            return {}
        rows = self._store.rows(
            "SELECT stretch, bytes FROM traits WHERE stretch IN (SELECT value FROM json_each(?))",
            (json.dumps(stretches),),
        )
        return {stretch: traits for stretch, traits in rows if type(traits) is bytes}

    def extent(self) -> tuple[int, int]:
        """How many passages there are, and the newest id; (0, -1) if there are none."""
        ((total, newest),) = self._store.rows(
            "SELECT total(pieces), ifnull(max(last), -1) FROM stretch"
        )
        return int(total), newest

    def newest_day(self) -> date:
        """The last day of which there is a passage."""
        return self._store.moment(self._store.number("SELECT max(at) FROM stretch")).date()

    def rooms(self) -> list[str]:
        """The rooms from which there are passages."""
        rows = self._store.rows("SELECT room FROM stretch WHERE room <> ''")
        return sorted({room.removesuffix(_ASIDE_SIGN) for (room,) in rows})

    def speakers(self) -> list[str]:
        """Everybody who ever spoke; nobody in an index of an older Dory that is only read."""
        if self._store.readonly and not self._store.has("speaker"):
            return []
        return [name for (name,) in self._store.rows("SELECT name FROM speaker ORDER BY name")]

    def _terms(self, document: Document, text: str) -> str:
        """What the full-text table is given for a passage. The day on which a note was written is
        nothing that it says.
        """
        about = ""
        if self._about:
            about = f"{document.speaker} {document.room}"
            if document.kind not in UNDATED:
                about += f" {document.at:%A} {document.at.day} {document.at:%B %Y}"
        return f"{labels(document)} {folded(about)} {indexed(text)}"

    def _document(self, row: Sequence[Any]) -> Document:
        """The document in a row of ``_DOCUMENT``. Raises ``FormatError`` for values of other types:
        a damaged file may hold anything.
        """
        id, kind, origin, room, speaker, at, hash, text = row
        texts = (kind, room, speaker, hash or "", text)
        if {type(value) for value in texts} == {str} and type(origin) is type(at) is int:
            with suppress(ValueError, OverflowError, OSError):  # there is no such time
                moment = datetime.fromtimestamp(at, UTC)
                return Document(kind, origin, moment, text, speaker, room, hash)
        raise FormatError(
            f"{NAME} is damaged (piece {id} of the index):"
            f" '{rebuilding(self._store.path)}' makes the index anew"
        )


def cut(text: str) -> Iterator[str]:
    """``text`` in parts of at most ``PASSAGE_LIMIT`` characters. A part ends behind a paragraph, a
    line, a sentence or a word, if there is one in its second half.
    """
    half = PASSAGE_LIMIT // 2
    at = 0
    while len(text) - at > PASSAGE_LIMIT:
        least, most = at + half, at + PASSAGE_LIMIT
        ends = (text.rfind(mark, least, most) + len(mark) for mark in ("\n\n", "\n", ". ", " "))
        end = next((end for end in ends if least < end <= most), most)
        yield text[at:end]
        at = end
    if text[at:].strip():
        yield text[at:]


def _row(kind: str, room: str, text: str) -> str:
    """In which row of neighbours the passages of a document stand: that of the room, or the one
    aside.
    """
    aside = kind in _OF_THE_AGENT and len(text.split()) <= ASIDE
    return f"{room}{_ASIDE_SIGN}" if room and aside else room


def _place(connection: sqlite3.Connection, room: str, at: int, joined: bool) -> int:
    """The id for the next passage in a row of neighbours. ``joined``: it may be in the last session
    of that row.
    """
    row = connection.execute("SELECT last, at FROM stretch WHERE room = ?", (room,)).fetchone()
    session = PLACES * STRETCHES
    if joined and row and abs(at - row[1]) <= PAUSE and (row[0] + 1) % session:
        id: int = row[0] + 1
    else:
        (newest,) = connection.execute("SELECT ifnull(max(last), -1) FROM stretch").fetchone()
        id = (newest // session + 1) * session
    connection.execute(
        "INSERT INTO stretch (room, last, at, pieces) VALUES (?, ?, ?, 1) ON CONFLICT (room)"
        " DO UPDATE SET last = excluded.last, at = excluded.at, pieces = pieces + 1",
        (room, id, at),
    )
    return id


def _set_trait(connection: sqlite3.Connection, id: int, trait: int) -> None:
    """Note the trait of a new passage. With the first one of all, the edition is noted."""
    stretch, place = divmod(id, PLACES)
    row = connection.execute("SELECT bytes FROM traits WHERE stretch = ?", (stretch,)).fetchone()
    traits = bytearray(row[0] if row else bytes(PLACES))
    traits[place] = trait
    connection.execute("INSERT OR REPLACE INTO traits VALUES (?, ?)", (stretch, bytes(traits)))
    if connection.execute("SELECT total(pieces) FROM stretch").fetchone() == (1,):
        connection.execute("DELETE FROM edition")
        connection.execute("INSERT INTO edition VALUES (?)", (EDITION,))
