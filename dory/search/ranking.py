"""How well a passage answers a query: BM25 over the passage and what stands around it. Pure.

Neighbouring passages of one room without a long pause are a *session*. One passage seldom holds
everything that a question is about: the answer follows its question, the name of a thing stands in
the sentence before. So the frequency of a term at a passage is counted over its surroundings. Each
neighbour is discounted by its distance, and the whole session counts a little (a positional
language model, Lv and Zhai 2009, with BM25's saturation and its norm of length):

    score(passage) = share · Σ over terms: idf(term) · saturated(frequency)
    frequency      = own + Σ discount(distance) · neighbour + session · anywhere in the session
    saturated(f)   = f · (k1 + 1) / (f + k1 · (1 - b + b · words of the passage / LENGTH))

What the agent itself said counts half as a frequency, and its passages have half the share: an
agent says more than people do, and mostly what they told it. A passage gains a little if the query
names its speaker, and a short one loses a little if it only asks. How often a term occurs in one
passage does not count: passages are short, because ``search/passages.py`` cuts long texts.

The numbers were chosen for short talk (LoCoMo) and for long messages (BEAM) together. They are
round figures on a broad plateau; ``python -m bench.recall --held-out`` chooses them anew.

A session is cut into *stretches* of 60 places. In one stretch a term is one integer whose bits are
the passages that have it, so the frequency of a term is a look-up by the five bits around the
passage. Length and speaker of a passage are one byte (``trait``). numpy does this for many
stretches at once. It is imported with the first search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import bool_, float64, int64, uint8
    from numpy.typing import NDArray

    Bytes = NDArray[uint8]
    Flags = NDArray[bool_]
    Numbers = NDArray[int64]
    Scores = NDArray[float64]

PLACES = 60
"""Passages in a stretch, at most. A mask of them, with two places more at one end, fits into a
signed integer of 64 bits.
"""
STRETCHES = 4
"""Stretches of a session, at most. Their numbers are consecutive, and the first is a multiple of
this.
"""
_BLOCK = 10
"""Neighbouring passages that are first judged together: can any of them be good enough?"""
_AT_ONCE = 512
"""Stretches that are scored together."""
LENGTH = 60
"""Words of a passage of ordinary length. A fixed number, so that no score changes because something
else was said.
"""
_OWN = 128
"""The bit of a trait that says: the agent itself said it."""


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
    before: tuple[float, float] = (0.4, 0.25)
    """What a term counts that occurs one or two passages before this one. It counts more than
    behind it, because an answer comes after its question.
    """
    behind: tuple[float, float] = (0.3, 0.15)
    session: float = 0.15
    saturation: float = 1.5
    """BM25's k1."""
    length: float = 0.35
    """BM25's b."""
    own: float = 0.5
    """What counts of the agent's own words: of their frequency, and once more of the score."""
    speaker: float = 1.5
    """What is added to a passage whose speaker the query names."""
    question: float = 0.2
    """The share of its score that a short passage loses if it only asks."""
    repeats: float = 0.2
    """The share of its score that an archive loses: its stretch says the same word for word."""
    meaning: float = 0.25
    """What the passage that is nearest in meaning gains: this share of the best score by words, and
    the others less by as much as they are farther away. It needs vectors (``search/meaning.py``).
    """


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

    def seen_from(self, stretches: Numbers) -> tuple[Numbers, Flags]:
        """For each of these stretches its mask, and whether it occurs in the session."""
        return self.within(stretches), self._anywhere(stretches)

    def _anywhere(self, stretches: Numbers) -> Flags:
        import numpy

        if not len(self.stretches):
            return numpy.zeros(len(stretches), bool)
        sessions = self.stretches // STRETCHES
        at = numpy.minimum(numpy.searchsorted(sessions, stretches // STRETCHES), len(sessions) - 1)
        return numpy.equal(sessions[at], stretches // STRETCHES)


class Ranking:
    """The scores by one formula. A passage counts only if a term occurs in it or next to it."""

    def __init__(self, formula: Formula) -> None:
        import numpy

        self._formula = formula
        around = numpy.arange(32)
        blocks = numpy.arange(1 << _BLOCK + 4)
        self._frequencies = numpy.array([self._frequency(bits) for bits in range(32)])
        in_blocks = self._frequencies[blocks[:, None] >> numpy.arange(_BLOCK) & 31]
        self._most_in_block = in_blocks.max(axis=1)
        words = 2 * (numpy.arange(256) & _OWN - 1)
        words[0] = LENGTH
        norms = 1 - formula.length + formula.length * words / LENGTH
        self._constants = formula.saturation * norms
        """What BM25 adds to the frequency, by the trait of the passage."""
        most = [self._frequencies[numpy.bitwise_count(around) == count].max() for count in range(6)]
        at_most = self._saturated(formula.session + numpy.array([0, *most]), self._constants.min())
        self._most_elsewhere = at_most[0]
        """What a term counts at most that occurs in another stretch of the session."""
        self._most_of_bits = at_most[1:]

    def best(
        self,
        terms: Sequence[tuple[PositionMasks, float]],
        named: PositionMasks | None,
        count: int,
        traits: Callable[[Numbers], Bytes],
        least: float = 0.0,
    ) -> list[tuple[float, int]]:
        """Return score and id of the ``count`` best passages with more than ``least``, best first,
        of equals the newer. ``terms`` are places and weights.

        ``named`` is where somebody speaks whom the query names. ``traits`` returns those of the
        passages in some stretches, a row of ``PLACES`` for each. Each stretch has an upper bound
        for the scores in it. The stretches are scored in falling order of their bounds, until a
        bound is not above the worst of the best so far; within a stretch, only those blocks whose
        own bound is above it.
        """
        import numpy

        named = named or PositionMasks.of(numpy.empty(0, numpy.int64))
        bounds = self._bounds(terms, named)
        possible = numpy.flatnonzero(bounds > least)
        order = possible[numpy.argsort(bounds[possible], kind="stable")[::-1]]
        scores, ids = numpy.empty(0), numpy.empty(0, numpy.int64)
        for start in range(0, len(order), _AT_ONCE):
            stretches = order[start : start + _AT_ONCE]
            stretches = stretches[bounds[stretches] > least]
            if not len(stretches):
                break
            found = [(*places.seen_from(stretches), weight) for places, weight in terms]
            speaks = named.within(stretches)
            new, rows, places_in_row = self.scores(found, speaks, traits(stretches), least)
            scores = numpy.append(scores, new)
            ids = numpy.append(ids, stretches[rows] * PLACES + places_in_row)
            kept = numpy.lexsort((ids, scores))[::-1][:count]
            scores, ids = scores[kept], ids[kept]
            if len(scores) == count:
                least = float(scores[-1])
        return list(zip(scores.tolist(), ids.tolist(), strict=True))

    def scores(
        self,
        terms: Sequence[tuple[Numbers, Flags, float]],
        named: Numbers,
        traits: Bytes,
        least: float = 0.0,
    ) -> tuple[Scores, Numbers, Numbers]:
        """Return each score above ``least``, its row and its place. ``terms`` are for each row the
        mask and whether the term occurs anywhere in the session, and the weight.
        """
        import numpy

        formula = self._formula
        starts = numpy.arange(0, PLACES, _BLOCK)
        constants = self._constants[traits]
        least_constants = constants.reshape(len(traits), len(starts), _BLOCK).min(axis=2)
        bounds = formula.speaker * (named != 0)[:, None]
        for masks, anywhere, weight in terms:
            most = _looked_up(self._most_in_block, masks, starts)
            most = most + formula.session * anywhere[:, None]
            bounds = bounds + weight * self._saturated(most, least_constants)
        rows, blocks = numpy.nonzero(bounds > least)
        places: Numbers = starts[blocks, None] + numpy.arange(_BLOCK)
        constants = constants[rows[:, None], places]
        own = traits[rows[:, None], places] >= _OWN
        persons = ((traits < _OWN) << numpy.arange(PLACES)).sum(axis=1)[rows]
        scores: Scores = formula.speaker * (named[rows, None] >> places & 1).astype(float)
        near = numpy.zeros(len(rows), numpy.int64)
        for masks_of_all, anywhere, weight in terms:
            masks = masks_of_all[rows]
            frequencies = formula.own * _looked_up(self._frequencies, masks, places)
            frequencies += (1 - formula.own) * _looked_up(
                self._frequencies, masks & persons, places
            )
            frequencies += formula.session * anywhere[rows, None]
            scores = scores + weight * self._saturated(frequencies, constants)
            near |= masks
        scores = scores * numpy.where(own, formula.own, 1) * (near[:, None] << 2 >> places & 31 > 0)
        enough = scores > least
        return scores[enough], rows[numpy.nonzero(enough)[0]], places[enough]

    def adjusted(self, score: float, asks: bool, repeats: bool = False) -> float:
        """The score of a passage that is short and only ``asks``, or ``repeats`` others."""
        asked = score * (1 - self._formula.question) if asks else score
        return asked * (1 - self._formula.repeats) if repeats else asked

    def fused(
        self, scores: Sequence[tuple[float, int]], similarities: Mapping[int, float]
    ) -> list[tuple[float, int]]:
        """Return score and id of all passages that have a score by words or a similarity of
        meaning.
        """
        by_words = {id: score for score, id in scores}
        most = max(by_words.values(), default=0.0) or 1.0
        nearest = max(similarities.values(), default=0.0) or 1.0
        gain = self._formula.meaning * most / nearest
        return [
            (by_words.get(id, 0.0) + gain * similarities.get(id, 0.0), id)
            for id in by_words.keys() | similarities.keys()
        ]

    def _bounds(self, terms: Sequence[tuple[PositionMasks, float]], named: PositionMasks) -> Scores:
        """The upper bound of the scores in each stretch, by the number of the stretch."""
        import numpy

        elsewhere = self._most_elsewhere
        parts = [
            weight * (self._most_of_bits[numpy.bitwise_count(places.masks).clip(max=5)] - elsewhere)
            for places, weight in terms
        ]
        parts.append(numpy.full(len(named.stretches), self._formula.speaker))
        stretches = [*(places.stretches for places, _ in terms), named.stretches]
        bounds = numpy.bincount(numpy.concatenate(stretches), numpy.concatenate(parts))
        sessions = numpy.zeros(len(bounds) // STRETCHES + 1)
        for places, weight in terms:
            sessions[places.stretches // STRETCHES] += weight * elsewhere
        at_most = bounds + numpy.repeat(sessions, STRETCHES)[: len(bounds)]
        return numpy.where(bounds > 0, at_most, 0.0)

    def _saturated(self, frequencies: Scores, constants: Scores) -> Scores:
        """What frequencies count: each less than the one before."""
        return frequencies * (self._formula.saturation + 1) / (frequencies + constants)

    def _frequency(self, bits: int) -> float:
        """How often a term counts, by where in a stretch it occurs: bit 2 is the passage itself,
        bits 1 and 0 are those before it, bits 3 and 4 those behind it.
        """
        one_before, two_before = self._formula.before
        counts = (two_before, one_before, 1.0, *self._formula.behind)
        return sum(count for at, count in enumerate(counts) if bits >> at & 1)


def _looked_up(table: Scores, masks: Numbers, places: Numbers) -> Scores:
    """The values in ``table`` for the bits of the masks, one for each row, beginning two places
    before each of ``places``; 0 where a mask is.
    """
    values: Scores = table[masks[:, None] << 2 >> places & len(table) - 1] * (masks != 0)[:, None]
    return values


def trait(words: int, own: bool) -> int:
    """The byte that says how many words a passage has, and whether it is the agent's own speech.
    0 stands for a person's passage of ordinary length.
    """
    return max(1, min(words // 2, _OWN - 1)) | own * _OWN


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, quotes and brackets aside."""
    return text.rstrip(" \t\r\n\"'”’»」)*_").endswith(("?", "？", "؟"))
