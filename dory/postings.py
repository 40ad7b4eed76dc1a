"""Where terms stand: reading the full-text table, term by term.

Plain FTS5 walks the lists of all terms of a query side by side, and looks up for each piece in any of them what ``bm25()`` needs. Here the list
of a term is read in one go, as one text of numbers that numpy takes apart; all scoring is left to ``ranking.py``. The shortest lists come
first, as far as the ``Budget`` goes. A term that stands in more pieces than that hardly tells one from another: it is looked up only where
the others put the best pieces.

The table ``words`` keeps only which pieces have a term (``detail=none``): no positions, no lengths. An id is ``stretch * PLACES + place``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dory.ranking import PLACES, Places, weight
from dory.store import Store
from dory.terms import Stemmer, Word

if TYPE_CHECKING:
    from dory.ranking import Numbers

COUNTED = 10_000
"""Pieces that are counted one by one; where a term has more, their number is estimated from samples of ids spread over time."""
WINDOWS, WINDOW = 4, 64 * PLACES
FEW = 25
"""Stretches in which a term is looked up at least, or not at all."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one search may cost. The default keeps it below a tenth of a second at a million pieces; an endless one passes nothing over."""

    postings: float = 300_000
    """Entries that are read of all terms together."""
    candidates: int = 100
    """The best pieces, of which it is looked up whether they ask."""
    looked_up: int = 100
    """Stretches in which terms are looked up that were not read, of all such terms together."""


@dataclass(slots=True)
class Term:
    """One term of a query. ``match`` finds it in FTS5, ``documents`` is how many pieces have it: exactly, once they are read."""

    key: str
    match: str
    documents: float
    weight: float
    places: Places | None = None
    """Where it stands, None as long as that is not known."""


class Postings:
    """The table ``words`` of one store, seen by one search: only entries that have one of ``labels`` count, all if there are none."""

    def __init__(self, store: Store, budget: Budget, total: int, last: int, labels: Sequence[str] = ()) -> None:
        """``total``: how many entries there are; ``last``: the newest id."""
        self._store, self._budget, self._total, self._last = store, budget, total, last
        self._labels = " OR ".join(f'"{label}"' for label in labels)

    def terms(self, words: Sequence[Word], stemmer: Stemmer | None) -> list[Term]:
        """The different terms of a query, rarest first: before the others those that stand nowhere."""
        keys = stemmer.stems([word.folded for word in words]) if stemmer else [word.folded for word in words]
        different = {key: f'"{word.folded}"{" *" * word.open}' for key, word in zip(keys, words, strict=True)}
        return sorted((self.term(key, match) for key, match in different.items()), key=lambda term: (term.documents, term.match))

    def term(self, key: str, match: str) -> Term:
        """A term by itself, whether it stands anywhere or not."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        ((counted,),) = self._store.rows(sql, (self._expression(match), COUNTED + 1))
        documents = counted if counted <= COUNTED else max(self._estimate(match), counted)
        return Term(key, match, documents, weight(documents, self._total))

    def read(self, terms: Sequence[Term]) -> None:
        """Fill in where they stand, the rarest first, as far as the budget goes. Where none is rare, the newest pieces with the first one."""
        left = self._budget.postings
        for term in sorted(terms, key=lambda term: term.documents):
            if term.documents <= left:
                ids = self._ids("SELECT rowid FROM words WHERE words MATCH ?", self._expression(term.match))
                term.places, term.documents, term.weight = Places.of(ids), len(ids), weight(len(ids), self._total)
                left -= len(ids)
        if not any(term.places and term.documents for term in terms):
            sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
            terms[0].places = Places.of(self._ids(sql, self._expression(terms[0].match), int(left))[::-1])

    def complete(self, terms: Sequence[Term], stretches: Sequence[int]) -> None:
        """Look up those that were not read in the first of these stretches, as far as the budget goes, and leave out all the others."""
        import numpy

        unread = [term for term in terms if not term.places][: self._budget.looked_up // FEW]
        first = sorted(stretches[: self._budget.looked_up // len(unread)])
        for term in terms:
            if term.places:
                term.places = term.places.only(numpy.array(first, numpy.int64))
        sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        for term in unread:
            ranges = ((self._expression(term.match), stretch * PLACES, stretch * PLACES + PLACES - 1) for stretch in first)
            term.places = Places.of(numpy.array([id for range in ranges for (id,) in self._store.rows(sql, range)], numpy.int64))

    def _ids(self, sql: str, *values: str | int) -> Numbers:
        """What a query finds, in one piece: a row for each would cost four times as much."""
        import numpy

        ((listed,),) = self._store.rows(f"SELECT ifnull(group_concat(rowid), '') FROM ({sql})", values)
        return numpy.fromstring(listed, numpy.int64, sep=",")

    def _estimate(self, match: str) -> float:
        sql = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        step = max(self._last // WINDOWS, WINDOW)
        windows = ((self._expression(match), start, start + WINDOW - 1) for start in range(0, self._last + 1, step))
        return float(sum(self._store.rows(sql, window)[0][0] for window in windows)) * step / WINDOW

    def _expression(self, match: str) -> str:
        return f"({self._labels}) AND ({match})" if self._labels else match
