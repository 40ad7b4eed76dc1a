"""The search over everything that ever was: ``Index.search``. ``pieces.py`` says what it is over, ``ranking.py`` what is a good hit.

A query's rare terms are read whole, its common ones only beside them (``postings.py``). What was read gives the stretches that may hold the
best pieces; the most promising of these are completed, and every piece in them is ranked. So a search costs hardly more for a longer life.
Nothing is left out for want of relevance: whoever searches chooses what is good enough.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest

from dory.pieces import Document as Document
from dory.pieces import Pieces, by, label
from dory.postings import Budget, Postings, Term
from dory.ranking import PLACES, Formula, Ranking
from dory.snippets import snippet
from dory.store import Store
from dory.terms import Stemmer, asked, folded

TERMS = 48
"""Different words of a query that are looked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found: its best piece, and the part of that which tells why. Scores compare only within one search."""

    document: Document
    score: float
    snippet: str


class Index(Pieces):
    """The pieces of one store, and the search over them. For one thread, as its store."""

    def __init__(self, store: Store, formula: Formula | None = None, budget: Budget | None = None) -> None:
        """``formula`` of the ranking; ``budget`` of each search."""
        self._formula, self._budget = formula or Formula(), budget or Budget()
        super().__init__(store, self._formula)
        self._ranking, self._stemmer = Ranking(self._formula), Stemmer() if self._formula.stems else None

    def search(self, query: str, limit: int = 10, kinds: Collection[str] = ()) -> list[Hit]:
        """The best ``limit`` documents, of these ``kinds`` or of all; best first, of equals the newer one. Any text is a query."""
        total, last = self.extent()
        words = asked(query, TERMS, self._formula.stop_words)
        if not total or not words:
            return []
        postings = Postings(self._store, self._budget, total, last, [label(kind) for kind in kinds])
        terms = postings.terms(words, self._stemmer)
        if not terms:
            return []
        postings.read(terms)
        named = postings.beside(" OR ".join(f'"{by(word.folded)}"' for word in words))
        stretches = self._candidates(terms, named)
        for term in terms:
            postings.complete(term, stretches)
        about = {word.folded for word in words}
        speaks = cache(lambda speaker: not about.isdisjoint(folded(speaker).split()))
        scored = [found for stretch in stretches for found in self._scored(stretch, terms, speaks, kinds)]
        return self._hits(sorted(scored, reverse=True), terms, limit)

    def _candidates(self, terms: Sequence[Term], named: Mapping[int, int]) -> list[int]:
        """The stretches that may hold the best pieces, by what was read of the terms; ``named`` are the pieces by whom the query names."""
        worth: dict[int, float] = {}
        for masks, weight in [*((term.masks, term.weight) for term in terms), (named, self._formula.speaker)]:
            for stretch in masks:
                worth[stretch] = worth.get(stretch, 0) + weight
        if len(worth) <= self._budget.candidates:
            return list(worth)
        rich = sorted(worth, key=worth.__getitem__, reverse=True)[: self._budget.drafts]
        read = [(term.masks, term.weight) for term in terms if term.masks]
        drafts = {
            stretch: self._ranking.promise([(mask, weight) for masks, weight in read if (mask := masks.get(stretch))], named.get(stretch, 0))
            for stretch in rich
        }
        return nlargest(self._budget.candidates, drafts, key=lambda stretch: (drafts[stretch], stretch))

    def _scored(
        self, stretch: int, terms: Sequence[Term], speaks: Callable[[str], bool], kinds: Collection[str]
    ) -> Iterator[tuple[float, int]]:
        """Score and id of each piece in a stretch."""
        rows = self.stretch(stretch)
        masks = [term.masks.get(stretch, 0) for term in terms]
        scores = self._ranking.scores(masks, [term.weight for term in terms], [id % PLACES for id, *_ in rows])
        for score, (id, kind, speaker, asks) in zip(scores, rows, strict=True):
            if score and (not kinds or kind in kinds):
                yield self._ranking.adjusted(score, speaks(speaker), bool(asks)), id

    def _hits(self, scored: Sequence[tuple[float, int]], terms: Sequence[Term], limit: int) -> list[Hit]:
        """Each document once, by its best piece."""
        weights, found = {term.key: term.weight for term in terms}, dict[tuple[str, int], Hit]()
        for score, id in scored:
            if len(found) == limit:
                break
            piece = self.piece(id)
            if (piece.kind, piece.origin) not in found:
                found[piece.kind, piece.origin] = Hit(piece, score, snippet(piece.text, weights, self._stemmer))
        return list(found.values())
