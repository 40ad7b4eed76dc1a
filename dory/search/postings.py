"""Where terms stand: reading the full-text table, term by term.

Plain FTS5 walks the lists of all terms of a query side by side, and looks up for each piece in any
of them what ``bm25()`` needs. Here the list of a term is read in one go, as one text of numbers
that numpy takes apart; all scoring is left to ``search/ranking.py``. The shortest lists come first,
as far as the ``Budget`` goes. A term that stands in more pieces than that hardly tells one from
another: it is looked up only where the others put the best pieces.

The table ``words`` keeps only which pieces have a term (``detail=none``): no positions, no lengths.
An id is ``stretch * PLACES + place``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dory.search.ranking import PLACES, PositionMasks, weight
from dory.storage.database import Store
from dory.text.tokenizer import Stemmer, Word

if TYPE_CHECKING:
    from dory.search.ranking import Numbers

_ESTIMATES, _GROWN = 10_000, 1.1
"""Estimates that are kept at most, and how far the ids may have grown since."""
FEW = 25
"""Stretches in which a term is looked up at least, or not at all."""


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """What one search may cost. The default keeps it below a tenth of a second at a million pieces;
    an endless one passes nothing over.
    """

    postings: float = 300_000
    """Entries that are read of all terms together."""
    counted: int = 10_000
    """Pieces with a term that are read in any case; if there are more, their number is estimated
    first.
    """
    candidates: int = 100
    """The best pieces, of which it is looked up whether they ask."""
    words: int = 48
    """Different words of a query that are looked for: the first."""
    looked_up: int = 100
    """Stretches in which terms are looked up that were not read, of all such terms together."""


GLANCE = SearchBudget(postings=10_000, counted=300, candidates=40, words=24, looked_up=0)
"""For a search that must not take longer in an old life: what is told by common terms alone, or by
where they stand, it does not see.
"""


class Estimates:
    """How many pieces have a common term, as far as that was ever asked; it is asked anew as the
    index grows.
    """

    def __init__(self) -> None:
        self._made: dict[str, float] = {}
        self._at = 0

    def known(self, expression: str, last: int) -> float:
        """The estimate for what ``expression`` matches where ``last`` is the newest id; 0 if there
        is none.
        """
        if last > self._at * _GROWN or last < self._at or len(self._made) > _ESTIMATES:
            self._made, self._at = {}, last
        return self._made.get(expression, 0)

    def keep(self, expression: str, documents: float) -> float:
        """Note it, and give it back."""
        self._made[expression] = documents
        return documents


@dataclass(slots=True)
class Term:
    """One term of a query. ``match`` finds it in FTS5, ``documents`` is how many pieces have it:
    exactly, once they are read.
    """

    key: str
    match: str
    documents: float
    weight: float
    places: PositionMasks | None = None
    """Where it stands, None as long as that is not known."""


class Postings:
    """The table ``words`` of one store, seen by one search: only entries that have one of
    ``labels`` count, all if there are none, but none that has one of ``without``.
    """

    def __init__(
        self,
        store: Store,
        budget: SearchBudget,
        estimates: Estimates,
        total: int,
        last: int,
        labels: Sequence[str],
        without: Sequence[str],
    ) -> None:
        """``total``: how many entries there are; ``last``: the newest id."""
        self._store = store
        self._budget = budget
        self._estimates = estimates
        self._total = total
        self._last = last
        self._labels, self._without = (
            " OR ".join(f'"{label}"' for label in those) for those in (labels, without)
        )

    def terms(self, words: Sequence[Word], stemmer: Stemmer | None) -> list[Term]:
        """The different terms of a query, rarest first: before the others those that stand nowhere."""
        keys = (
            stemmer.stems([word.folded for word in words])
            if stemmer
            else [word.folded for word in words]
        )
        different = {
            key: f'"{word.folded}"{" *" * word.open}' for key, word in zip(keys, words, strict=True)
        }
        return sorted(
            (self.term(key, match) for key, match in different.items()),
            key=lambda term: (term.documents, term.match),
        )

    def term(self, key: str, match: str) -> Term:
        """A term by itself, whether it stands anywhere or not; where it stands if that is not too
        much to count.
        """
        expression, most = self._expression(match), self._budget.counted
        documents, places = self._estimates.known(expression, self._last), None
        if documents <= most:
            ids = self._ids(
                f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT {most + 1}",
                expression,
            )[::-1]
            if len(ids) <= most:
                documents, places = len(ids), PositionMasks.of(ids)
            else:
                documents = self._estimates.keep(
                    expression, max(len(ids), self._estimate(expression, int(ids[0])))
                )
        return Term(key, match, documents, weight(documents, self._total), places)

    def read(self, terms: Sequence[Term]) -> None:
        """Fill in where the others stand, the rarest first, as far as the budget goes. Where none
        is rare, the newest pieces with the first one, if others can be looked up in them.
        """
        left = self._budget.postings - sum(term.documents for term in terms if term.places)
        for term in sorted(
            (term for term in terms if not term.places), key=lambda term: term.documents
        ):
            if term.documents <= left:
                ids = self._ids(
                    "SELECT rowid FROM words WHERE words MATCH ?", self._expression(term.match)
                )
                term.places, term.documents, term.weight = (
                    PositionMasks.of(ids),
                    len(ids),
                    weight(len(ids), self._total),
                )
                left -= len(ids)
        if self._budget.looked_up and not any(term.places and term.documents for term in terms):
            sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
            terms[0].places = PositionMasks.of(
                self._ids(sql, self._expression(terms[0].match), int(left))[::-1]
            )

    def complete(self, terms: Sequence[Term], stretches: Sequence[int]) -> None:
        """Look up those that were not read in the first of these stretches, as far as the budget
        goes, and leave out all the others.
        """
        import numpy

        unread = [term for term in terms if not term.places][: self._budget.looked_up // FEW]
        first = sorted(stretches[: self._budget.looked_up // len(unread)])
        for term in terms:
            if term.places:
                term.places = term.places.only(numpy.array(first, numpy.int64))
        sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        for term in unread:
            ranges = (
                (self._expression(term.match), stretch * PLACES, stretch * PLACES + PLACES - 1)
                for stretch in first
            )
            term.places = PositionMasks.of(
                numpy.array(
                    [id for range in ranges for (id,) in self._store.rows(sql, range)], numpy.int64
                )
            )

    def _ids(self, sql: str, *values: str | int) -> Numbers:
        """What a query finds, in one piece: a row for each would cost four times as much."""
        import numpy

        ((listed,),) = self._store.rows(
            f"SELECT ifnull(group_concat(rowid), '') FROM ({sql})", values
        )
        return numpy.fromstring(listed, numpy.int64, sep=",")

    def _estimate(self, expression: str, newest: int) -> float:
        """From how far back its newest pieces reach, and its oldest ahead: the less of both, as
        words come in bursts.
        """
        sql, most = (
            "SELECT rowid FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?",
            self._budget.counted,
        )
        reach = max(self._last + 1 - newest, self._store.number(sql, expression, most) + 1)
        return (most + 1) * (self._last + 1) / reach

    def _expression(self, match: str) -> str:
        among = f"({self._labels}) AND ({match})" if self._labels else match
        return f"({among}) NOT ({self._without})" if self._without else among
