"""Where terms stand: reading the full-text table without reading all of it.

Plain FTS5 visits every piece that has any term of the query, to score it: a third of a million for one common word. Here each search has a
budget. Rare terms are read whole, they decide; of a common one only the pieces are read in which a rarer one stands, too, and how many it has
is estimated from samples spread over time. From that ``index.py`` chooses the stretches that may hold the best pieces, and asks for all
terms there: a term within a range of ids is a short look-up, however common the term.

The table ``words`` keeps only which pieces have a term (``detail=none``): no positions, no lengths. An id is ``stretch * PLACES + place``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dory.ranking import PLACES, weight
from dory.store import Store
from dory.terms import Stemmer, Word

WINDOWS, WINDOW = 16, 16 * PLACES
"""Samples of ids by which the common terms are counted."""
TELLING = 3
"""A term that stands in more than one of so many entries hardly tells one from another: it is not read at all before there are candidates."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one search may cost. The default keeps it below a tenth of a second at a million pieces; an endless one passes nothing over."""

    term: float = 20_000
    """Entries of one term that are counted one by one, and read."""
    terms: float = 40_000
    """Entries that are read of all terms together."""
    paired: int = 3
    """Common terms that are read where they stand beside rarer ones."""
    drafts: int = 4000
    """Stretches with most of the query in them, which are judged by what was read."""
    candidates: int = 40
    """Of these the best, which are ranked entry by entry."""


@dataclass(slots=True)
class Term:
    """One term of a query. ``match`` finds it in FTS5, ``documents`` is how many pieces have it, for a common term about so many.

    ``masks`` are the stretches in which it stands, as far as was read, and ``whole`` says that this is all.
    """

    key: str
    match: str
    documents: float
    weight: float
    masks: dict[int, int] = field(default_factory=dict)
    whole: bool = False


class Postings:
    """The table ``words`` of one store, seen by one search: only entries that have one of ``labels`` count, all if there are none."""

    def __init__(self, store: Store, budget: Budget, total: int, last: int, labels: Sequence[str] = ()) -> None:
        """``total``: how many entries there are; ``last``: the newest id."""
        self._store, self._budget, self._total, self._last = store, budget, total, last
        self._labels = " OR ".join(f'"{label}"' for label in labels)
        self._sampled, self._anchor = 0, ""

    def terms(self, words: Sequence[Word], stemmer: Stemmer | None) -> list[Term]:
        """The different terms of a query that stand anywhere, rarest first."""
        keys = stemmer.stems([word.folded for word in words]) if stemmer else [word.folded for word in words]
        different = {key: f'"{word.folded}"{" *" * word.open}' for key, word in zip(keys, words, strict=True)}
        counted = [(self._documents(match), match, key) for key, match in different.items()]
        return [Term(key, match, documents, weight(documents, self._total)) for documents, match, key in sorted(counted) if documents]

    def read(self, terms: Sequence[Term]) -> None:
        """Fill in where they stand, within the budget; ``terms`` come rarest first."""
        left = self._budget.terms
        for term in terms:
            term.whole = term.documents <= min(self._budget.term, left)
            if term.whole:
                term.masks = self._masks(term.match)
                left -= term.documents
        common = [term for term in terms if not term.whole]
        self._anchor = " OR ".join(term.match for term in terms if term.whole) or self._together(common[:2])
        for term in common[: self._budget.paired]:
            if not term.masks and term.documents * TELLING <= self._total:
                term.masks = self.beside(term.match)

    def beside(self, match: str) -> dict[int, int]:
        """Where something stands in a piece that was read, as bits by stretch."""
        return self._masks(f"({match}) AND ({self._anchor})") if self._anchor else {}

    def complete(self, term: Term, stretches: Iterable[int]) -> None:
        """Fill in all of a term in these stretches."""
        if not term.whole:
            for stretch in stretches:
                term.masks[stretch] = self._mask(term.match, stretch)

    def _documents(self, match: str) -> float:
        enough = int(min(self._budget.term, self._total)) + 1
        sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        ((counted,),) = self._store.rows(sql, (self._expression(match), enough))
        return float(counted) if counted < enough else max(self._estimate(match), enough)

    def _estimate(self, match: str) -> float:
        step = max(self._last // WINDOWS, WINDOW)
        windows = [(start, start + WINDOW - 1) for start in range(0, self._last + 1, step)]
        if not self._sampled:
            self._sampled = sum(self._store.rows("SELECT count(*) FROM piece WHERE id BETWEEN ? AND ?", window)[0][0] for window in windows)
        sql = "SELECT count(*) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        found = sum(self._store.rows(sql, (self._expression(match), *window))[0][0] for window in windows)
        return float(found * self._total / max(self._sampled, 1))

    def _together(self, rarest: Sequence[Term]) -> str:
        """Where no term is rare: the newest pieces that have the two rarest ones, or else one."""
        for match in (" AND ".join(term.match for term in rarest), *(term.match for term in rarest[:1])):
            if masks := self._masks(match):
                for term in rarest if " AND " in match else rarest[:1]:
                    term.masks = masks
                return match
        return ""

    def _masks(self, match: str) -> dict[int, int]:
        """Where something stands, as bits by stretch: as many pieces as the budget has for one term, the newest."""
        masks: dict[int, int] = {}
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
        for (id,) in self._store.rows(sql, (self._expression(match), int(min(self._budget.term, self._total)))):
            stretch = id // PLACES
            masks[stretch] = masks.get(stretch, 0) | 1 << id % PLACES
        return masks

    def _mask(self, match: str, stretch: int) -> int:
        sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        first = stretch * PLACES
        return sum(1 << id - first for (id,) in self._store.rows(sql, (self._expression(match), first, first + PLACES - 1)))

    def _expression(self, match: str) -> str:
        return f"({self._labels}) AND ({match})" if self._labels else match
