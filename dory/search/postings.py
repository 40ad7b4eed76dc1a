"""Where terms occur: reading the full-text table, term by term.

Plain FTS5 walks the lists of all terms of a query side by side, and looks up what ``bm25()`` needs
for each passage in any of them. Here the list of a term is read at once, as one text of numbers
that numpy takes apart. All scoring is left to ``search/ranking.py``. The shortest lists are read
first, as far as the budget goes. A term that occurs in more passages than that hardly distinguishes
them: it is looked up only where the other terms found the best passages.

The table ``words`` keeps only which passages have a term (``detail=none``): no positions, no
lengths. The id of a passage is ``stretch * PLACES + place``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dory.search.ranking import PLACES, PositionMasks, weight
from dory.search.spellings import is_hash
from dory.storage.database import Store
from dory.text.tokenizer import Stemmer, Word

if TYPE_CHECKING:
    from dory.search.ranking import Numbers

FEW = 25
"""A term is looked up in at least so many stretches, or not at all."""
_ESTIMATES = 10_000
"""Estimates that are kept at most."""
_GROWTH = 1.1
"""How far the ids may grow before the estimates are made anew."""
_ALL = "SELECT rowid FROM words WHERE words MATCH ?"
_NEWEST_FIRST = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
_IN_RANGE = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
_NTH_OLDEST = "SELECT rowid FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?"


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """What one search may cost. The default keeps it below a tenth of a second at a million
    passages. With infinite ``postings`` nothing is passed over.
    """

    postings: float = 300_000
    """Occurrences that are read, of all terms together."""
    counted: int = 10_000
    """Occurrences of a term that are read in any case. If there are more, their number is estimated
    first.
    """
    candidates: int = 100
    """The best passages, which are read to see whether they ask."""
    words: int = 48
    """Different words of a query that are searched for: the first."""
    looked_up: int = 100
    """Stretches in which terms are looked up that were not read, of all such terms together."""
    guesses: bool = True
    """Whether a word that occurs nowhere is taken for a similar one, and a word for a part of
    compounds.
    """


GLANCE = SearchBudget(
    postings=10_000, counted=300, candidates=40, words=24, looked_up=0, guesses=False
)
"""For a search that must not take longer in an old life. It does not find what only common terms
tell, or where they occur.
"""


class Estimates:
    """How many passages have a common term, remembered until the index has grown."""

    def __init__(self) -> None:
        self._by_expression: dict[str, float] = {}
        self._newest = 0

    def known(self, expression: str, newest: int) -> float:
        """The estimate for what ``expression`` matches, where ``newest`` is the newest id; 0 if
        there is none.
        """
        grown = newest > self._newest * _GROWTH or newest < self._newest
        if grown or len(self._by_expression) > _ESTIMATES:
            self._by_expression = {}
            self._newest = newest
        return self._by_expression.get(expression, 0)

    def keep(self, expression: str, documents: float) -> None:
        """Remember an estimate."""
        self._by_expression[expression] = documents


@dataclass(slots=True)
class Term:
    """One term of a query.

    ``match`` finds it in FTS5: a word, or any of those that stand for the same. ``documents`` is
    how many passages have it: exactly, once ``places`` were read.
    """

    match: str
    documents: float
    weight: float
    keys: tuple[str, ...] = ()
    """The stems of all words for which it stands; one with a ``*`` for all words that begin so."""
    places: PositionMasks | None = None
    """Where it occurs; None as long as that is not known."""


def expression(word: Word) -> str:
    """What FTS5 is asked for a word of a query."""
    open = word.open or is_hash(word.folded)
    alternatives = [f'"{word.folded}"{" *" if open else ""}']
    for other in word.others:
        together = " AND ".join(f'"{part}"' for part in other.split())
        alternatives.append(f"({together})")
    return " OR ".join(alternatives)


class Postings:
    """The table ``words`` of one store, as one search sees it: only what its filter admits."""

    def __init__(
        self,
        store: Store,
        budget: SearchBudget,
        estimates: Estimates,
        total: int,
        newest: int,
        admitted: Callable[[str], str],
    ) -> None:
        """``total``: how many passages there are; ``newest``: the newest id; ``admitted``: the
        expression that finds of what another finds only what counts.
        """
        self._store = store
        self._budget = budget
        self._estimates = estimates
        self._total = total
        self._newest = newest
        self._admitted = admitted

    def terms(self, words: Sequence[Word], stemmer: Stemmer | None) -> list[Term]:
        """The different terms of a query, rarest first; those that occur nowhere among them."""
        different: dict[tuple[str, ...], str] = {}
        for word in words:
            keys = " ".join((word.folded, *word.others)).split()
            if stemmer:
                keys = stemmer.stems(keys)
            if is_hash(word.folded):
                keys.append(f"{word.folded}*")
            different.setdefault(tuple(keys), expression(word))
        terms = [self.term(match, keys) for keys, match in different.items()]
        return sorted(terms, key=lambda term: (term.documents, term.match))

    def term(self, match: str, keys: tuple[str, ...] = ()) -> Term:
        """A term, whether it occurs anywhere or not. Its places are filled in if they are few
        enough to be counted.
        """
        expression = self._admitted(match)
        limit = self._budget.counted
        documents = self._estimates.known(expression, self._newest)
        places = None
        if documents <= limit:
            ids = self._ids(_NEWEST_FIRST, expression, limit + 1)[::-1]
            if len(ids) <= limit:
                documents = len(ids)
                places = PositionMasks.of(ids)
            else:
                documents = max(len(ids), self._estimate(expression, int(ids[0])))
                self._estimates.keep(expression, documents)
        return Term(match, documents, weight(documents, self._total), keys, places)

    def read(self, terms: Sequence[Term]) -> None:
        """Fill in the places of the other terms, rarest first, as far as the budget goes.

        If no term is rare enough, read the newest passages of the first one, provided that the
        others can be looked up in them.
        """
        left = self._budget.postings - sum(term.documents for term in terms if term.places)
        unread = [term for term in terms if not term.places]
        for term in sorted(unread, key=lambda term: term.documents):
            if term.documents <= left:
                ids = self._ids(_ALL, self._admitted(term.match))
                term.places = PositionMasks.of(ids)
                term.documents = len(ids)
                term.weight = weight(len(ids), self._total)
                left -= len(ids)
        if self._budget.looked_up and not any(term.places and term.documents for term in terms):
            ids = self._ids(_NEWEST_FIRST, self._admitted(terms[0].match), int(left))[::-1]
            terms[0].places = PositionMasks.of(ids)

    def complete(self, terms: Sequence[Term], stretches: Sequence[int]) -> None:
        """Look up the terms that were not read in the first of these stretches, as far as the
        budget goes. All other stretches are left out.
        """
        import numpy

        unread = [term for term in terms if not term.places][: self._budget.looked_up // FEW]
        first = sorted(stretches[: self._budget.looked_up // len(unread)])
        for term in terms:
            if term.places:
                term.places = term.places.only(numpy.array(first, numpy.int64))
        for term in unread:
            expression = self._admitted(term.match)
            ids: list[int] = []
            for stretch in first:
                start = stretch * PLACES
                rows = self._store.rows(_IN_RANGE, (expression, start, start + PLACES - 1))
                ids += [id for (id,) in rows]
            term.places = PositionMasks.of(numpy.array(ids, numpy.int64))

    def _ids(self, sql: str, *values: str | int) -> Numbers:
        """The ids that a query finds, read as one text: a row for each would cost four times as
        much.
        """
        import numpy

        ((listed,),) = self._store.rows(
            f"SELECT ifnull(group_concat(rowid), '') FROM ({sql})", values
        )
        return numpy.fromstring(listed, numpy.int64, sep=",")

    def _estimate(self, expression: str, oldest_of_newest: int) -> float:
        """How many passages match, judged by how many ids the newest ``counted`` matches span, and
        the oldest: the smaller estimate, as words come in bursts.
        """
        counted = self._budget.counted
        span_of_newest = self._newest + 1 - oldest_of_newest
        span_of_oldest = self._store.number(_NTH_OLDEST, expression, counted) + 1
        return (counted + 1) * (self._newest + 1) / max(span_of_newest, span_of_oldest)
