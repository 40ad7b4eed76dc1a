"""The search over everything that ever was: ``Index.search``. ``search/passages.py`` says what it
is over, ``search/ranking.py`` what is a good hit.

Where each term of a query stands is read whole (``search/postings.py``), and all that may be among
the best is scored entry by entry: one way for a thousand entries and for a million. Only terms that
are too common for the budget are looked up later, where the others put the best pieces. Nothing is
left out for want of relevance: whoever searches chooses what is good enough.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dory.search.passages import Document, Passages, by, label
from dory.search.postings import Estimates, Postings, SearchBudget, Term
from dory.search.ranking import PLACES, Formula, Ranking, weight
from dory.search.snippets import snippet
from dory.storage.database import Store
from dory.text.tokenizer import STOP, Stemmer, asked


@dataclass(frozen=True)
class Hit:
    """A document that was found: its best piece. Scores compare only within one search.

    ``share`` is the score as a share of what a piece would have in which every word of the query
    stands, and one more that never was; 0 when the query tells nothing, being made of stop words.
    """

    document: Document
    score: float
    share: float
    _weights: Mapping[str, float]
    _stemmer: Stemmer | None

    @cached_property
    def snippet(self) -> str:
        """The part of it that tells why; most of a search's time, so it is made only for what is
        shown.
        """
        return snippet(self.document.text, self._weights, self._stemmer)


class Index(Passages):
    """The pieces of one store, and the search over them. For one thread, as its store."""

    def __init__(
        self, store: Store, formula: Formula | None = None, budget: SearchBudget | None = None
    ) -> None:
        """``formula`` of the ranking; ``budget`` of each search."""
        self._formula = formula or Formula()
        self._budget = budget or SearchBudget()
        super().__init__(store, self._formula)
        self._stemmer = Stemmer() if self._formula.stems else None
        self._estimates: defaultdict[SearchBudget, Estimates] = defaultdict(Estimates)

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self._formula)

    def search(
        self,
        query: str,
        limit: int = 10,
        kinds: Collection[str] = (),
        budget: SearchBudget | None = None,
        share: float = 0.0,
        without: Collection[str] = (),
    ) -> list[Hit]:
        """The best ``limit`` documents, of these ``kinds`` or of all; best first, of equals the
        newer one. Any text is a query.

        ``budget``: another one for this search; ``share``: hits with less need not be found, which
        saves most of the work; ``without``: kinds that are not to be found, which costs less than
        to name all others.
        """
        budget = budget or self._budget
        total, last = self.extent()
        words = asked(query, budget.words, self._formula.stop_words)
        if not total or not words:
            return []
        postings = Postings(
            self._store,
            budget,
            self._estimates[budget],
            total,
            last,
            [*map(label, kinds)],
            [*map(label, without)],
        )
        wanted = postings.terms(words, self._stemmer)
        terms = [term for term in wanted if term.documents]
        if not terms:
            return []
        named = postings.term("", " OR ".join(f'"{by(word.folded)}"' for word in words))
        postings.read([*terms, named])
        whole = sum(term.weight for term in wanted) + weight(0, total)
        most = math.inf if all(word.folded in STOP for word in words) else whole
        count = max(limit, budget.candidates)
        if budget.looked_up and not all(term.places for term in (named, *terms)):
            near = self._best(terms, named, count)
            postings.complete([named, *terms], list(dict.fromkeys(id // PLACES for _, id in near)))
        return self._hits(
            self._best(terms, named, count, share and share * most * (1 - 1e-9)), terms, limit, most
        )

    def _best(
        self, terms: Sequence[Term], named: Term, count: int, least: float = 0.0
    ) -> list[tuple[float, int]]:
        """Score and id of the ``count`` best pieces that have at least ``least``, by what is known
        of the terms so far.
        """
        known = [(term.places, term.weight) for term in terms if term.places]
        return self._ranking.best(known, named.places, count, least) if known else []

    def _hits(
        self, best: Sequence[tuple[float, int]], terms: Sequence[Term], limit: int, most: float
    ) -> list[Hit]:
        """Each document once, by its best piece."""
        read, weights, found = (
            self.pieces([id for _, id in best]),
            {term.key: term.weight for term in terms},
            dict[tuple[str, int], Hit](),
        )
        rated = [
            (self._ranking.adjusted(score, read[id][1]), id) for score, id in best if id in read
        ]
        for score, id in sorted(rated, reverse=True):
            piece, _ = read[id]
            if len(found) < limit and (piece.kind, piece.origin) not in found:
                found[piece.kind, piece.origin] = Hit(
                    piece, score, score / most, weights, self._stemmer
                )
        return list(found.values())
