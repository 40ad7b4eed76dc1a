"""How well a passage answers a query: BM25 over the passage and what stands around it. Pure.

Talk is cut into *stretches*: neighbouring passages of one room without a long pause. One passage
seldom holds everything that a question is about: the answer follows its question, the name of a
thing stands in the sentence before. So the frequency of a term at a passage is counted over its
surroundings. Each neighbour is discounted by its distance, and the whole stretch counts a little (a
positional language model, Lv and Zhai 2009, with BM25's saturation):

    score(passage) = Σ over terms: idf(term) · saturated(frequency)
    frequency      = own + Σ discount(distance) · neighbour + stretch · anywhere in the stretch

Then a passage gains a little if the query names its speaker, and loses a little if it only asks.
How often a term occurs in one passage, and how long that is, do not count: passages are short,
because ``search/passages.py`` cuts long texts, and both cost recall.

The numbers rest on the first five conversations of LoCoMo (``python -m bench.recall --held-out``
chooses them anew). They are round figures on a broad plateau.

In one stretch a term is one integer whose bits are the passages that have it, so its part in a
score is a look-up by the five bits around the passage. numpy does this for many stretches at once.
It is imported with the first search.
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
"""Passages in a stretch, at most. A mask of them, with two places more at one end, fits into a
signed integer of 64 bits.
"""
_BLOCK = 10
"""Neighbouring passages that are first judged together: can any of them be good enough?"""
_AT_ONCE = 512
"""Stretches that are scored together."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The numbers of the ranking. A step whose number is 0 is left out. The first two also decide
    what is indexed.
    """

    stems: bool = True
    about: bool = True
    """Speaker, room and date are part of a passage's text."""
    stop_words: bool = True
    """They are dropped from the query."""
    before: tuple[float, float] = (0.5, 0.25)
    """What a term counts that occurs one or two passages before this one. It counts more than
    behind it, because an answer comes after its question.
    """
    behind: tuple[float, float] = (0.25, 0.125)
    stretch: float = 0.05
    saturation: float = 0.5
    """BM25's k1."""
    speaker: float = 1.0
    """What is added to a passage whose speaker the query names."""
    question: float = 0.2
    """The share of its score that a passage loses if it only asks."""


def weight(documents: float, total: int) -> float:
    """A term's inverse document frequency, never negative."""
    return math.log(1 + (max(total - documents, 0) + 0.5) / (documents + 0.5))


@dataclass(frozen=True, slots=True)
class PositionMasks:
    """Where a term occurs: the numbers of the stretches, rising, and for each one its places there
    as bits.
    """

    stretches: Numbers
    masks: Numbers

    @classmethod
    def of(cls, ids: Numbers) -> PositionMasks:
        """The masks for the ids of the passages that have the term; the ids rise."""
        import numpy

        stretches = ids // PLACES
        first = numpy.flatnonzero(numpy.diff(stretches, prepend=-1))
        return cls(stretches[first], numpy.bitwise_or.reduceat(1 << ids % PLACES, first))

    def only(self, stretches: Numbers) -> PositionMasks:
        """The part of it in these stretches, whose numbers rise."""
        masks = self.within(stretches)
        return PositionMasks(stretches[masks != 0], masks[masks != 0])

    def within(self, stretches: Numbers) -> Numbers:
        """Its masks in these stretches, 0 where it does not occur."""
        import numpy

        if not len(self.stretches):
            return numpy.zeros_like(stretches)
        at = numpy.minimum(numpy.searchsorted(self.stretches, stretches), len(self.stretches) - 1)
        return numpy.where(self.stretches[at] == stretches, self.masks[at], 0)


class Ranking:
    """The scores by one formula. A passage counts only if a term occurs in it or next to it."""

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
        """Return score and id of the ``count`` best passages with more than ``least``, best first,
        of equals the newer. ``terms`` are places and weights.

        ``named`` is where somebody speaks whom the query names. Each stretch has an upper bound
        for the scores in it. The stretches are scored in falling order of their bounds, until a
        bound is not above the worst of the best so far; within a stretch, only those blocks whose
        own bound is above it.
        """
        import numpy

        named = named or PositionMasks.of(numpy.empty(0, numpy.int64))
        bounds = self._bounds(terms, named)
        possible = numpy.flatnonzero(bounds > least)
        order = possible[numpy.argsort(bounds[possible], kind="stable")[::-1]]
        scores = numpy.empty(0)
        ids = numpy.empty(0, numpy.int64)
        for start in range(0, len(order), _AT_ONCE):
            stretches = order[start : start + _AT_ONCE]
            if bounds[stretches[0]] <= least:
                break
            masks = [(places.within(stretches), weight) for places, weight in terms]
            new, rows, places_in_row = self.scores(masks, named.within(stretches), least)
            scores = numpy.append(scores, new)
            ids = numpy.append(ids, stretches[rows] * PLACES + places_in_row)
            kept = numpy.lexsort((ids, scores))[::-1][:count]
            scores = scores[kept]
            ids = ids[kept]
            if len(scores) == count:
                least = float(scores[-1])
        return list(zip(scores.tolist(), ids.tolist(), strict=True))

    def scores(
        self, terms: Sequence[tuple[Numbers, float]], named: Numbers, least: float = 0.0
    ) -> tuple[Scores, Numbers, Numbers]:
        """Return each score above ``least``, its row and its place. ``terms`` are masks, one for
        each row, and weights.
        """
        import numpy

        starts = numpy.arange(0, PLACES, _BLOCK)
        speaker = self._formula.speaker
        bounds = self._sum(self._most_in_block, terms, starts) + speaker * (named != 0)[:, None]
        rows, blocks = numpy.nonzero(bounds > least)
        places = starts[blocks, None] + numpy.arange(_BLOCK)
        terms = [(masks[rows], weight) for masks, weight in terms]
        named = named[rows, None]
        near = numpy.bitwise_or.reduce([masks for masks, _ in terms])[:, None] << 2 >> places & 31
        scores = self._sum(self._parts, terms, places) + speaker * (named >> places & 1)
        scores *= near > 0
        enough = scores > least
        return scores[enough], rows[numpy.nonzero(enough)[0]], places[enough]

    def adjusted(self, score: float, asks: bool) -> float:
        """The score of a passage that only ``asks``, or does not."""
        return score * (1 - self._formula.question) if asks else score

    @staticmethod
    def _sum(table: Scores, terms: Sequence[tuple[Numbers, float]], places: Numbers) -> Scores:
        """The sum of the terms' weights, each times the value in ``table`` for the bits of the
        term's mask, beginning two places before each of ``places``.
        """
        import numpy

        parts = (
            weight * (masks != 0)[:, None] * table[masks[:, None] << 2 >> places & len(table) - 1]
            for masks, weight in terms
        )
        return sum(parts, start=numpy.zeros(1))

    def _bounds(self, terms: Sequence[tuple[PositionMasks, float]], named: PositionMasks) -> Scores:
        """The upper bound of the scores in each stretch, by the number of the stretch."""
        import numpy

        parts = [
            weight * self._most_of_bits[numpy.bitwise_count(places.masks).clip(max=5)]
            for places, weight in terms
        ]
        parts.append(numpy.full(len(named.stretches), self._formula.speaker))
        stretches = [*(places.stretches for places, _ in terms), named.stretches]
        return numpy.bincount(numpy.concatenate(stretches), numpy.concatenate(parts)).astype(float)

    def _part(self, bits: int) -> float:
        """A term's part in a score, by where it occurs: bit 2 is the passage itself, bits 1 and 0
        are those before it, bits 3 and 4 those behind it.
        """
        formula = self._formula
        one_before, two_before = formula.before
        counts = (two_before, one_before, 1.0, *formula.behind)
        frequency = formula.stretch + sum(
            count for at, count in enumerate(counts) if bits >> at & 1
        )
        return frequency * (formula.saturation + 1) / (frequency + formula.saturation)


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, quotes and brackets aside."""
    return text.rstrip(" \t\r\n\"'”’»」)*_").endswith(("?", "？", "؟"))
