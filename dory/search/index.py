"""The search index of one agent: what is searched (``search/passages.py``), and how.

A search reads for each term of the query the list of all passages that have it
(``search/postings.py``), and scores whatever may be among the best (``search/ranking.py``). This
takes the same path for a thousand passages and for a million. Only terms that are too common for
the budget are looked up later, where the other terms found the best passages. No hit is left out
for being too weak: the caller decides what is good enough.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from dory.search.filters import Filter, by
from dory.search.passages import REPEATING, Document, Passages
from dory.search.postings import Estimates, Postings, SearchBudget, Term
from dory.search.ranking import PLACES, Formula, Ranking, weight
from dory.search.snippets import snippet
from dory.search.spellings import asked
from dory.storage.database import Store
from dory.text.tokenizer import STOP, Stemmer, Word

if TYPE_CHECKING:
    from dory.search.meaning import Similarities
    from dory.search.ranking import Bytes, Numbers

_AROUND = 5
"""How many times as many passages are looked at if a filter leaves some of them out: a term is seen
from two places before it to two places behind it.
"""
_ROUNDING = 1 - 1e-9
"""Keeps a passage whose score equals the least score but for rounding."""


@dataclass(frozen=True)
class Hit:
    """A document that was found, by its best passage. Scores compare only within one search.

    ``share`` is the score divided by the best possible one for this query: that of a passage that
    has every word of it, and one more that never occurred. It is 0 if the query has only stop
    words.
    """

    document: Document
    score: float
    share: float
    _weights: Mapping[str, float]
    _stemmer: Stemmer | None

    @cached_property
    def snippet(self) -> str:
        """The part of the text that shows why it was found. Making it takes most of a search's
        time, so it is made only when it is shown.
        """
        return snippet(self.document.text, self._weights, self._stemmer)


class Index:
    """The passages of one store, and the search in them. Belongs to one thread, as its store."""

    def __init__(
        self, store: Store, formula: Formula | None = None, budget: SearchBudget | None = None
    ) -> None:
        """``formula`` is that of the ranking, ``budget`` that of a search without its own."""
        self._store = store
        self._formula = formula or Formula()
        self._budget = budget or SearchBudget()
        self._passages = Passages(store, self._formula)
        self._vocabulary = self._passages.vocabulary
        self._stemmer = Stemmer() if self._formula.stems else None
        self._estimates: defaultdict[SearchBudget, Estimates] = defaultdict(Estimates)

    def add(self, document: Document) -> None:
        """Index a document. Several in one ``store.writing()`` cost one fsync."""
        self._passages.add(document)

    def remove(self, kind: str, origin: int) -> None:
        """Remove a document, if it is there."""
        self._passages.remove(kind, origin)

    def clear(self) -> None:
        """Remove all documents."""
        self._passages.clear()

    def walk(self, kind: str) -> Iterator[Document]:
        """All documents of a kind, by origin, with their whole texts."""
        return self._passages.walk(kind)

    def extent(self) -> tuple[int, int]:
        """How many passages there are, and the newest id; (0, -1) if there are none."""
        return self._passages.extent()

    def outdated(self) -> bool:
        """Whether it was made by the rules of another Dory, and should be made anew."""
        return self._passages.outdated()

    def unknown(self, query: str) -> list[str]:
        """The words of a query that occur nowhere, as they are written there."""
        words = asked(query, self._budget.words, self._formula.stop_words)
        return [query[word.start : word.end] for word in words if not self._vocabulary.occurs(word)]

    def taken_for(self, query: str) -> dict[str, list[str]]:
        """What a search takes words of a query for that occur nowhere, by the words as they are
        written there: similar words, compounds of which they are a part, the parts of a compound.
        """
        words = asked(query, self._budget.words, self._formula.stop_words)
        guessed = {query[word.start : word.end]: self._vocabulary.guesses(word) for word in words}
        return {word: guesses for word, guesses in guessed.items() if guesses}

    def rooms(self) -> list[str]:
        """The rooms in which something was said, for ``Filter.room``."""
        return self._passages.rooms()

    def speakers(self) -> list[str]:
        """Everybody who ever said something, for ``Filter.who``."""
        return self._passages.speakers()

    def search(
        self,
        query: str,
        limit: int = 10,
        kinds: Collection[str] = (),
        budget: SearchBudget | None = None,
        share: float = 0.0,
        without: Collection[str] = (),
        only: Filter | None = None,
        similarities: "Similarities | None" = None,
    ) -> list[Hit]:
        """Return the best ``limit`` documents, best first, of equals the newer. Any text is a
        query.

        ``kinds``: search only these, or all if empty; ``without``: search none of these, which
        costs less than naming all others; ``share``: hits with a smaller share need not be found,
        which saves most of the work; ``only``: search what it admits. With such a filter and no
        words, the newest that it admits are found. ``similarities``: how near passages are in
        meaning, which adds to their scores and also finds some that have no word of the query.
        """
        budget = budget or self._budget
        words = asked(query, budget.words, self._formula.stop_words)
        if not self._passages.extent()[0] or not (words or only):
            return []
        wide = only or Filter()
        only = replace(wide, kinds=kinds or wide.kinds, without=(*wide.without, *without))
        if not words:
            return self._newest(only, limit)
        return self._with_words(words, only, limit, budget, share, similarities)

    def _with_words(
        self,
        words: list[Word],
        only: Filter,
        limit: int,
        budget: SearchBudget,
        share: float,
        similarities: "Similarities | None",
    ) -> list[Hit]:
        """The best documents of those that a filter admits."""
        total, newest = self._passages.extent()
        admitted = partial(only.expression, newest=self._passages.newest_day())
        if budget.guesses:
            words = [self._vocabulary.widened(word) for word in words]
        estimates = self._estimates[budget]
        postings = Postings(self._store, budget, estimates, total, newest, admitted)
        wanted = postings.terms(words, self._stemmer)
        terms = [term for term in wanted if term.documents]
        if not terms and not similarities:
            return []
        named = postings.term(" OR ".join(f'"{by(word.folded)}"' for word in words))
        postings.read([*terms, named])
        count = max(limit, budget.candidates) * (_AROUND if only else 1)
        if budget.looked_up:
            self._look_up(postings, terms, named, count)
        best_possible = _best_possible(words, wanted, total)
        least = share * best_possible * _ROUNDING if share else 0.0
        best = self._best(terms, named, count, least)
        found = self._fused(best, similarities, only)
        return self._hits(found, terms, limit, best_possible)

    def _newest(self, only: Filter, limit: int) -> list[Hit]:
        """The newest documents that a filter admits."""
        admitted = only.expression("", self._passages.newest_day())
        rows = self._store.rows(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?",
            (admitted, limit),
        )
        documents = [
            document for document, _ in self._passages.get([id for (id,) in rows]).values()
        ]
        different = {(document.kind, document.origin): document for document in documents}
        newest_first = sorted(different.values(), key=lambda document: document.at, reverse=True)
        return [
            Hit(document, 0.0, 0.0, {}, self._stemmer)
            for document in newest_first
            if only.admits(document)
        ]

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self._formula)  # imports numpy, which an empty index never needs

    def _look_up(self, postings: Postings, terms: Sequence[Term], named: Term, count: int) -> None:
        """Look up the terms that were too common to be read, where the others found the best."""
        if all(term.places for term in (named, *terms)):
            return
        best = self._best(terms, named, count)
        stretches = list(dict.fromkeys(id // PLACES for _, id in best))
        postings.complete([named, *terms], stretches)

    def _best(
        self, terms: Sequence[Term], named: Term, count: int, least: float = 0.0
    ) -> list[tuple[float, int]]:
        """Score and id of the ``count`` best passages that score at least ``least``, by what is
        known of the terms so far.
        """
        known = [(term.places, term.weight) for term in terms if term.places]
        if not known:
            return []
        return self._ranking.best(known, named.places, count, self._traits, least)

    def _traits(self, stretches: "Numbers") -> "Bytes":
        """The traits of the passages in these stretches, a row for each."""
        import numpy

        known = self._passages.traits(stretches.tolist())
        none = bytes(PLACES)
        rows = (
            known.get(stretch, none)[:PLACES].ljust(PLACES, b"\0") for stretch in stretches.tolist()
        )
        return numpy.frombuffer(b"".join(rows), numpy.uint8).reshape(-1, PLACES)

    def _fused(
        self,
        best: Sequence[tuple[float, int]],
        similarities: "Similarities | None",
        only: Filter,
    ) -> list[tuple[float, int, Document]]:
        """The passages that are found, by words or by meaning, and that a filter admits, with their
        scores, best first.
        """
        ids = [id for _, id in best]
        similar = similarities(ids) if similarities else {}
        known = self._passages.get(list({*ids, *similar}))
        passages = {id: passage for id, passage in known.items() if only.admits(passage[0])}
        scores: list[tuple[float, int]] = []
        for score, id in best:
            if id in passages:
                passage, asks = passages[id]
                repeats = passage.kind in REPEATING
                scores.append((self._ranking.adjusted(score, asks, repeats), id))
        searched = {id: near for id, near in similar.items() if id in passages}
        if searched:
            scores = self._ranking.fused(scores, searched)
        return [(score, id, passages[id][0]) for score, id in sorted(scores, reverse=True)]

    def _hits(
        self,
        found: Sequence[tuple[float, int, Document]],
        terms: Sequence[Term],
        limit: int,
        best_possible: float,
    ) -> list[Hit]:
        """Each document once, by its best passage."""
        weights = {key: term.weight for term in terms for key in term.keys}
        hits: dict[tuple[str, int], Hit] = {}
        for score, _, passage in found:
            key = (passage.kind, passage.origin)
            if len(hits) < limit and key not in hits:
                hits[key] = Hit(passage, score, score / best_possible, weights, self._stemmer)
        return list(hits.values())


def _best_possible(words: Sequence[Word], wanted: Sequence[Term], total: int) -> float:
    """The score of a passage with all words, and one more that never occurred; infinite if there
    are only stop words.
    """
    if all(word.folded in STOP for word in words):
        return math.inf
    return sum(term.weight for term in wanted) + weight(0, total)
