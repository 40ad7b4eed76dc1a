"""How well an entry answers a query: BM25 over the entry and what stands around it. Pure.

Talk is cut into *stretches*: neighbouring entries of one room without a long pause. What a question
is about is seldom said in one entry: the answer stands behind its question, the name of a thing in
the sentence before. So the frequency of a term at an entry is counted over its surroundings, each
entry discounted by its distance, the whole stretch counting a little (a positional language model,
Lv and Zhai 2009, with BM25's saturation):

    score(entry) = Σ over terms: idf(term) · saturated(own + Σ discount(distance) · neighbour + stretch · anywhere in the stretch)

Then an entry by somebody whom the query names gains a little, and one that asks is worth less than
one that tells. How often a term stands in one entry and how long that is are left out: entries are
short, ``search/passages.py`` cuts long ones into pieces, and both cost recall.

The numbers rest on the first five conversations of LoCoMo (``python -m bench.recall --held-out``
chooses them anew): they are round figures on a broad plateau. In one stretch a term is one integer
whose bits are the entries that have it, so its part in a score is a look-up by the five bits around
the entry. numpy does this for many stretches at once; it is imported with the first search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.typing import NDArray

    Numbers = NDArray[int64]
    Scores = NDArray[float64]

PLACES = 60
"""Entries in a stretch, at most. A mask of them, with two places more at an end, is an integer of
64 bits with a sign.
"""
_BLOCK = 10
"""Entries of which it is asked first whether any can be good enough."""
_AT_ONCE = 512
"""Stretches that are gone through together."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The numbers of the ranking; 0 leaves its step out. The first two also decide what is indexed."""

    stems: bool = True
    about: bool = True
    """Speaker, room and date are part of an entry's text."""
    stop_words: bool = True
    """They are dropped from the query."""
    before: tuple[float, float] = (0.5, 0.25)
    """What a term counts that stands one or two entries before this one. More than behind it: an
    answer comes after its question.
    """
    behind: tuple[float, float] = (0.25, 0.125)
    stretch: float = 0.05
    saturation: float = 0.5
    """BM25's k1."""
    speaker: float = 1.0
    """What is added to an entry by somebody whom the query names."""
    question: float = 0.2
    """The share that an entry loses that only asks."""


def weight(documents: float, total: int) -> float:
    """A term's inverse document frequency, never negative."""
    return math.log(1 + (max(total - documents, 0) + 0.5) / (documents + 0.5))


@dataclass(frozen=True, slots=True)
class PositionMasks:
    """Where something stands: the numbers of the stretches, rising, and for each its places there
    as bits.
    """

    stretches: Numbers
    masks: Numbers

    @classmethod
    def of(cls, ids: Numbers) -> PositionMasks:
        """From the ids, rising, of the entries that have it."""
        import numpy

        stretches = ids // PLACES
        first = numpy.flatnonzero(numpy.diff(stretches, prepend=-1))
        return cls(stretches[first], numpy.bitwise_or.reduceat(1 << ids % PLACES, first))

    def only(self, stretches: Numbers) -> PositionMasks:
        """What of it stands in these stretches, which rise."""
        masks = self.within(stretches)
        return PositionMasks(stretches[masks != 0], masks[masks != 0])

    def within(self, stretches: Numbers) -> Numbers:
        """Its masks in these stretches, 0 where it does not stand."""
        import numpy

        if not len(self.stretches):
            return numpy.zeros_like(stretches)
        at = numpy.minimum(numpy.searchsorted(self.stretches, stretches), len(self.stretches) - 1)
        return numpy.where(self.stretches[at] == stretches, self.masks[at], 0)


class Ranking:
    """One formula at work. Only entries count that a term stands in or near."""

    def __init__(self, formula: Formula) -> None:
        import numpy

        self._formula = formula
        around = numpy.arange(32)
        blocks = numpy.arange(1 << _BLOCK + 4)
        self._parts = numpy.array([self._part(bits) for bits in range(32)])
        self._most_in_block = self._parts[blocks[:, None] >> numpy.arange(_BLOCK) & 31].max(axis=1)
        self._most_of_bits = numpy.array(
            [self._parts[numpy.bitwise_count(around) == count].max() for count in range(6)]
        )

    def best(
        self,
        terms: Sequence[tuple[PositionMasks, float]],
        named: PositionMasks | None,
        count: int,
        least: float = 0.0,
    ) -> list[tuple[float, int]]:
        """Score and id of the ``count`` best entries from ``least`` on, best first, of equals the
        newer one; by the terms' places and weights.

        ``named`` is where somebody speaks whom the query names. Stretches are gone through by the
        most that an entry in them can have, as long as that is more than the last of the best has
        so far; in each only blocks of places are looked into that can have more.
        """
        import numpy

        named = named or PositionMasks.of(numpy.empty(0, numpy.int64))
        bounds = self._bounds(terms, named)
        there = numpy.flatnonzero(bounds > least)
        order = there[numpy.argsort(bounds[there], kind="stable")[::-1]]
        scores, ids = numpy.empty(0), numpy.empty(0, numpy.int64)
        for start in range(0, len(order), _AT_ONCE):
            stretches = order[start : start + _AT_ONCE]
            if bounds[stretches[0]] <= least:
                break
            found = self.scores(
                [(places.within(stretches), weight) for places, weight in terms],
                named.within(stretches),
                least,
            )
            scores, ids = (
                numpy.append(scores, found[0]),
                numpy.append(ids, stretches[found[1]] * PLACES + found[2]),
            )
            kept = numpy.lexsort((ids, scores))[::-1][:count]
            scores, ids = scores[kept], ids[kept]
            least = float(scores[-1]) if len(scores) == count else least
        return list(zip(scores.tolist(), ids.tolist(), strict=True))

    def scores(
        self, terms: Sequence[tuple[Numbers, float]], named: Numbers, least: float = 0.0
    ) -> tuple[Scores, Numbers, Numbers]:
        """Each score above ``least``, with row and place; from the terms' masks, one for each row,
        and their weights.
        """
        import numpy

        starts = numpy.arange(0, PLACES, _BLOCK)
        bounds = (
            self._sum(self._most_in_block, terms, starts)
            + self._formula.speaker * (named != 0)[:, None]
        )
        rows, blocks = numpy.nonzero(bounds > least)
        places = starts[blocks, None] + numpy.arange(_BLOCK)
        terms, named = [(masks[rows], weight) for masks, weight in terms], named[rows, None]
        near = numpy.bitwise_or.reduce([masks for masks, _ in terms])[:, None] << 2 >> places & 31
        scores = (
            self._sum(self._parts, terms, places) + self._formula.speaker * (named >> places & 1)
        ) * (near > 0)
        found = scores > least
        return scores[found], rows[numpy.nonzero(found)[0]], places[found]

    def adjusted(self, score: float, asks: bool) -> float:
        """The score of an entry that only ``asks``, or does not."""
        return score * (1 - self._formula.question * asks)

    @staticmethod
    def _sum(table: Scores, terms: Sequence[tuple[Numbers, float]], places: Numbers) -> Scores:
        """The weights of the terms, each times what the ``table`` has for the bits of its mask from
        two before a place on.
        """
        import numpy

        parts = (
            weight * (masks != 0)[:, None] * table[masks[:, None] << 2 >> places & len(table) - 1]
            for masks, weight in terms
        )
        return sum(parts, start=numpy.zeros(1))

    def _bounds(self, terms: Sequence[tuple[PositionMasks, float]], named: PositionMasks) -> Scores:
        """By number of a stretch the most that an entry in it can have."""
        import numpy

        parts = [
            weight * self._most_of_bits[numpy.bitwise_count(places.masks).clip(max=5)]
            for places, weight in terms
        ]
        parts.append(numpy.full(len(named.stretches), self._formula.speaker))
        stretches = [*(places.stretches for places, _ in terms), named.stretches]
        return numpy.bincount(numpy.concatenate(stretches), numpy.concatenate(parts)).astype(float)

    def _part(self, bits: int) -> float:
        """A term's part, by where it stands: bit 2 is the entry itself, bits 1 and 0 those before
        it, 3 and 4 those behind it.
        """
        (near, far), behind = self._formula.before, self._formula.behind
        frequency = self._formula.stretch + sum(
            count for at, count in enumerate((far, near, 1.0, *behind)) if bits >> at & 1
        )
        return frequency * (self._formula.saturation + 1) / (frequency + self._formula.saturation)


def is_question(text: str) -> bool:
    """Whether a text ends by asking."""
    return text.rstrip(" \t\r\n\"'”’»」)*_").endswith(("?", "？", "؟"))
