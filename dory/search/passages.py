"""What the search is over: everything that ever entered the context, notes, archives. Derived:
deleting it loses nothing.

A document is cut into pieces of at most ``PIECE`` characters, and each has an id of its own,
``stretch * PLACES + place``: pieces of one room stand in one stretch as long as no more than
``PAUSE`` passes between two and there is a place left; what belongs to no room stands alone. So
neighbours have neighbouring ids, and a stretch is a range of them. Ids are never used twice.

    piece    a text, when, where and by whom it was said, and where it comes from: kind and origin, the blob
    words    FTS5 without content of its own: which pieces have which term; kind, speaker, room and date are terms, too
    stretch  where each room is, and how many pieces it has
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dory.errors import FormatError
from dory.search.ranking import PLACES, Formula, is_question
from dory.storage.database import NAME, Store, marks
from dory.text.tokenizer import folded

PIECE = 1000
"""Characters."""
PAUSE = 3600
"""Seconds. Who comes back to a room after an hour mostly begins anew."""
_LABEL = "\ue000"  # no letter, so no word of a text can be taken for such a term
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS piece (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, origin INTEGER NOT NULL, room TEXT NOT NULL,"
    " speaker TEXT NOT NULL, at INTEGER NOT NULL, asks INTEGER NOT NULL, hash TEXT, text TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS piece_origin ON piece (kind, origin)",
    "CREATE TABLE IF NOT EXISTS stretch"
    " (room TEXT PRIMARY KEY, last INTEGER NOT NULL, at INTEGER NOT NULL, pieces INTEGER NOT NULL) WITHOUT ROWID",
)
_WORDS = "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, content='', detail=none, columnsize=0, tokenize='{}')"


@dataclass(frozen=True, slots=True)
class Document:
    """Something to be found. ``origin`` is its id where it comes from: the context entry, the note;
    ``hash`` the blob that UNCOMPACT gets.

    Kinds are single words, told apart without regard to case.
    """

    kind: str
    origin: int
    at: datetime
    text: str
    speaker: str = ""
    room: str = ""
    hash: str | None = None


class Passages:
    """The tables of one store. Errors are the store's, and a ``FormatError`` for a piece that
    cannot be one.
    """

    def __init__(self, store: Store, formula: Formula) -> None:
        """``formula`` says what is indexed, which must stay the same for a store."""
        self._store = store
        self._about = formula.about
        store.tables(*_SCHEMA, _WORDS.format("porter ascii" if formula.stems else "ascii"))

    def add(self, document: Document) -> None:
        """Index it. Several in one ``store.writing()`` cost one fsync."""
        at = int(document.at.timestamp())
        with self._store.writing() as connection:
            for number, text in enumerate(cut(document.text)):
                id = _place(connection, document.room, at, joined=bool(document.room or number))
                row = (
                    id,
                    document.kind,
                    document.origin,
                    document.room,
                    document.speaker,
                    at,
                    is_question(text),
                    document.hash,
                    text,
                )
                connection.execute("INSERT INTO piece VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
                connection.execute(
                    "INSERT INTO words(rowid, text) VALUES (?, ?)",
                    (id, self._terms(document, text)),
                )

    def remove(self, kind: str, origin: int) -> None:
        """Take a document out, if it is there."""
        with self._store.writing() as connection:
            found = connection.execute(
                "SELECT * FROM piece WHERE kind = ? AND origin = ?", (kind, origin)
            ).fetchall()
            for row in found:
                terms = self._terms(_document(row), row[-1])
                connection.execute(
                    "INSERT INTO words(words, rowid, text) VALUES ('delete', ?, ?)", (row[0], terms)
                )
                connection.execute("DELETE FROM piece WHERE id = ?", row[:1])
                connection.execute(
                    "UPDATE stretch SET pieces = pieces - 1 WHERE room = ?", (row[3],)
                )

    def clear(self) -> None:
        """Take all documents out."""
        with self._store.writing() as connection:
            connection.execute("INSERT INTO words(words) VALUES ('delete-all')")
            connection.execute("DELETE FROM piece")
            connection.execute("DELETE FROM stretch")

    def walk(self, kind: str) -> Iterator[Document]:
        """All documents of a kind, by origin, with their whole texts."""
        origins = self._store.rows(
            "SELECT DISTINCT origin FROM piece WHERE kind = ? ORDER BY origin", (kind,)
        )
        for (origin,) in origins:
            rows = self._store.rows(
                "SELECT * FROM piece WHERE kind = ? AND origin = ? ORDER BY id", (kind, origin)
            )
            yield _document((*rows[0][:-1], "".join(_document(row).text for row in rows)))

    def pieces(self, ids: Sequence[int]) -> dict[int, tuple[Document, bool]]:
        """Those that are there, each as a document of its own, and whether it is a question."""
        rows = self._store.rows(f"SELECT * FROM piece WHERE id IN ({marks(ids)})", ids)
        return {row[0]: (_document(row), bool(row[6])) for row in rows}

    def extent(self) -> tuple[int, int]:
        """How many pieces there are, and the newest id; (0, -1) when there is none."""
        ((total, last),) = self._store.rows(
            "SELECT total(pieces), ifnull(max(last), -1) FROM stretch"
        )
        return int(total), last

    def _terms(self, document: Document, text: str) -> str:
        about = (
            f"{document.speaker} {document.room} {document.at:%A} {document.at.day} {document.at:%B %Y}"
            if self._about
            else ""
        )
        speaker = " ".join(by(name) for name in folded(document.speaker).split())
        return f"{label(document.kind)} {speaker} {folded(about)} {folded(text)}"


def label(kind: str) -> str:
    """The term that every piece of a kind has."""
    return f"{_LABEL}{kind}"


def by(name: str) -> str:
    """The term that every piece has by a speaker of that name."""
    return f"{_LABEL}{_LABEL}{name}"


def cut(text: str) -> Iterator[str]:
    """``text`` in parts of at most ``PIECE`` characters, cut behind a paragraph, a line, a sentence
    or a word if there is one.
    """
    while len(text) > PIECE:
        ends = (
            text.rfind(mark, PIECE // 2, PIECE) + len(mark) for mark in ("\n\n", "\n", ". ", " ")
        )
        end = next((end for end in ends if PIECE // 2 < end <= PIECE), PIECE)
        yield text[:end]
        text = text[end:]
    if text.strip():
        yield text


def _place(connection: sqlite3.Connection, room: str, at: int, joined: bool) -> int:
    """The id for the next piece of a room: in its stretch, if the piece may be ``joined`` to it."""
    here = connection.execute("SELECT last, at FROM stretch WHERE room = ?", (room,)).fetchone()
    if joined and here and abs(at - here[1]) <= PAUSE and (here[0] + 1) % PLACES:
        id: int = here[0] + 1
    else:
        (newest,) = connection.execute("SELECT ifnull(max(last), -1) FROM stretch").fetchone()
        id = (newest // PLACES + 1) * PLACES
    sql = "INSERT INTO stretch VALUES (?, ?, ?, 1) ON CONFLICT (room) DO UPDATE SET last = excluded.last, at = excluded.at, pieces = pieces + 1"
    connection.execute(sql, (room, id, at))
    return id


def _document(row: Sequence[Any]) -> Document:
    """Raises ``FormatError`` for a row that nobody wrote so: a damaged file may hold anything."""
    id, kind, origin, room, speaker, at, _, hash, text = row
    if [type(value) for value in (kind, origin, room, speaker, at, hash or "", text)] == [
        str,
        int,
        str,
        str,
        int,
        str,
        str,
    ]:
        with suppress(ValueError, OverflowError, OSError):  # a time that there is not
            return Document(
                kind, origin, datetime.fromtimestamp(at, UTC), text, speaker, room, hash
            )
    raise FormatError(
        f"{NAME} is damaged (piece {id} of the index): 'python -m dory.recall HASH --rebuild' makes the index anew"
    )
