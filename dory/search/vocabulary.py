"""The words that occur in what is searched: what a word of a query may stand for that occurs
nowhere, and the compounds that it is a part of.

    vocabulary  every word of letters alone that was ever indexed, forwards and backwards

Both look at a small range of the table: words with one edit between them share their first half or
their second half. Words of what was removed since stay, so a word found here may occur nowhere.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace

from dory.search.postings import expression
from dory.storage.database import Store
from dory.text.tokenizer import STOP, Word, is_paired

LEAST = 5
"""Letters of a word that may be misspelt, or be a part of a compound."""
_STORED = range(3, 41)
"""Letters of the words that are kept."""
_OTHER_PART = 3
"""Letters of the other part of a compound."""
_LINKS = ("", "s", "es", "n", "en", "er", "e", "ns")
"""What German puts between the parts of a compound."""
_SIMILAR = 3
"""Words for which one is taken that occurs nowhere."""
_COMPOUNDS = 30
"""Compounds that are searched for with one of their parts."""
_RANGE = 2000
"""Words of a range that are looked at."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vocabulary (word TEXT PRIMARY KEY, reversed TEXT NOT NULL)"
    " WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS vocabulary_reversed ON vocabulary (reversed)",
)
_END = chr(0x10FFFF)
_IN_RANGE = (
    "SELECT word FROM vocabulary WHERE {0} >= ? AND {0} < ? AND length(word) BETWEEN ? AND ?"
    f" LIMIT {_RANGE}"
)


class Vocabulary:
    """The vocabulary of one store. Empty in a file of an older Dory that is only read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        if not store.readonly:
            store.tables(*_SCHEMA)

    def add(self, connection: sqlite3.Connection, words: Iterable[str]) -> None:
        """Add folded words."""
        kept = {word for word in words if _is_kept(word)}
        connection.executemany(
            "INSERT OR IGNORE INTO vocabulary VALUES (?, ?)",
            [(word, word[::-1]) for word in sorted(kept)],
        )

    def clear(self, connection: sqlite3.Connection) -> None:
        """Remove all words."""
        connection.execute("DELETE FROM vocabulary")

    def widened(self, word: Word) -> Word:
        """A word of a query with what it may stand for besides: compounds of which it is a part; if
        it occurs nowhere, its guesses.
        """
        guesses = self.guesses(word)
        others = guesses or self.compounds(word.folded, certain=True)[:_COMPOUNDS]
        return replace(word, others=(*word.others, *others)) if others else word

    def guesses(self, word: Word) -> list[str]:
        """What a word of a query may stand for that occurs nowhere, what occurs most often first;
        none for a word that occurs.
        """
        if len(word.folded) < LEAST or self.occurs(word):
            return []
        counts = {other: self._count(other) for other in self.near(word.folded)}
        near = sorted(
            (other for other in counts if counts[other]), key=lambda other: -counts[other]
        )
        if near:
            return near[:_SIMILAR]
        compounds = self.compounds(word.folded, certain=False)
        return [other for other in compounds if self._count(other)][:_COMPOUNDS]

    def occurs(self, word: Word) -> bool:
        """Whether any passage has a word of a query, or what stands for the same."""
        return bool(
            self._store.rows("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (expression(word),))
        )

    def near(self, word: str) -> list[str]:
        """The words that are one edit from a folded word: a letter more, less or other, or two
        neighbours exchanged. Only those with its first letter, if there are any.
        """
        if len(word) < LEAST or not _is_kept(word) or not self._there:
            return []
        half = len(word) // 2
        lengths = (len(word) - 1, len(word) + 1)
        swapped = [
            f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}" for at in range(len(word) - 1)
        ]
        found = self._known(swapped)
        found |= {
            candidate
            for candidate in (
                *self._beginning(word[:half], *lengths),
                *self._ending(word[half:], *lengths),
            )
            if _one_edit(word, candidate)
        }
        found.discard(word)
        return sorted([candidate for candidate in found if candidate[0] == word[0]] or found)

    def compounds(self, part: str, certain: bool) -> list[str]:
        """The words that begin or end with a folded word, as ``Hochzeitsreise`` does with
        ``Hochzeit`` and ``Reise``. ``certain``: only if the rest is a word that occurs, too.
        """
        if len(part) < LEAST or not _is_kept(part) or not self._there:
            return []
        lengths = (len(part) + _OTHER_PART, _STORED.stop)
        rests = {
            word: (word[len(part) :], word[: -len(part)])[word.endswith(part)]
            for word in (*self._beginning(part, *lengths), *self._ending(part, *lengths))
        }
        if not certain:
            return sorted(rests)
        spelt = {
            word: [
                bare
                for link in _LINKS
                for bare in (rest.removesuffix(link), rest.removeprefix(link))
                if len(bare) >= _OTHER_PART and bare not in STOP
            ]
            for word, rest in rests.items()
        }
        known = self._known({bare for some in spelt.values() for bare in some})
        return sorted(word for word, some in spelt.items() if known.intersection(some))

    def _count(self, word: str) -> int:
        """How many passages have a word, up to a hundred."""
        return self._store.number(
            "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT 100)", f'"{word}"'
        )

    @property
    def _there(self) -> bool:
        return not self._store.readonly or self._store.has("vocabulary")

    def _beginning(self, start: str, shortest: int, longest: int) -> list[str]:
        values = (start, start + _END, shortest, longest)
        return [word for (word,) in self._store.rows(_IN_RANGE.format("word"), values)]

    def _ending(self, end: str, shortest: int, longest: int) -> list[str]:
        values = (end[::-1], end[::-1] + _END, shortest, longest)
        return [word for (word,) in self._store.rows(_IN_RANGE.format("reversed"), values)]

    def _known(self, words: Iterable[str]) -> set[str]:
        rows = self._store.rows(
            "SELECT word FROM vocabulary WHERE word IN (SELECT value FROM json_each(?))",
            (json.dumps([*words]),),
        )
        return {word for (word,) in rows}


def _is_kept(word: str) -> bool:
    letters = len(word) in _STORED and word.isalpha()
    return letters and (word.isascii() or not is_paired(word))


def _one_edit(word: str, other: str) -> bool:
    """Whether one letter more, less or other makes ``other`` of ``word``."""
    start = 0
    for one, another in zip(word, other, strict=False):
        if one != another:
            break
        start += 1
    more = len(other) - len(word)
    if more > 0:
        return word[start:] == other[start + 1 :]
    if more < 0:
        return word[start + 1 :] == other[start:]
    return word[start + 1 :] == other[start + 1 :]
