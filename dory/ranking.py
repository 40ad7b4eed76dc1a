"""How well an entry answers a query: BM25 over the entry and what stands around it. Pure.

Talk is cut into *stretches*: neighbouring entries of one room without a long pause. What a question is about is seldom said in one entry: the
answer stands behind its question, the name of a thing in the sentence before. So the frequency of a term at an entry is counted over its
surroundings, each entry discounted by its distance, the whole stretch counting a little (a positional language model, Lv and Zhai 2009, with
BM25's saturation):

    score(entry) = Σ over terms: idf(term) · saturated(own + Σ discount(distance) · neighbour + stretch · anywhere in the stretch)

Then an entry by somebody whom the query names gains a little, and one that asks is worth less than one that tells. How often a term stands
in one entry and how long that is are left out: entries are short, ``pieces.py`` cuts long ones into pieces, and both cost recall.

The numbers rest on the first five conversations of LoCoMo (``python -m bench.recall --held-out`` chooses them anew): they are round figures on
a broad plateau. In one stretch a term is one integer whose bits are the entries that have it, so its part in a score is a look-up by
the five bits around the entry.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PLACES = 64
"""Entries in a stretch, at most."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The numbers of the ranking; 0 leaves its step out. The first two also decide what is indexed."""

    stems: bool = True
    about: bool = True
    """Speaker, room and date are part of an entry's text."""
    stop_words: bool = True
    """They are dropped from the query."""
    before: tuple[float, float] = (0.5, 0.25)
    """What a term counts that stands one or two entries before this one. More than behind it: an answer comes after its question."""
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


class Ranking:
    """One formula at work."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._parts = [self._part(bits) for bits in range(32)]

    def scores(self, masks: Sequence[int], weights: Sequence[float], places: Iterable[int]) -> list[float]:
        """For each of the ``places`` of one stretch its score, from the ``masks`` and ``weights`` of the terms."""
        parts = self._parts
        terms = [(mask << 2, weight) for mask, weight in zip(masks, weights, strict=True) if mask]
        return [sum(weight * parts[mask >> place & 31] for mask, weight in terms) for place in places]

    def promise(self, terms: Iterable[tuple[int, float]], named: int) -> float:
        """About the best score in a stretch, from mask and weight of the terms, the heaviest first: where most of them stand together.

        ``named`` is the mask of the entries by somebody whom the query names.
        """
        places, near = -1, []
        for mask, weight in terms:
            around = mask << 2
            near.append((around, weight))
            places = places & (mask | around | mask << 1 | mask >> 1 | mask >> 2) or places
        places = places & named or places
        best, parts = 0.0, self._parts
        while places > 0:
            place = (places & -places).bit_length() - 1
            places &= places - 1
            best = max(best, sum([weight * parts[mask >> place & 31] for mask, weight in near]) + self._formula.speaker * (named >> place & 1))
        return best

    def adjusted(self, score: float, named: bool, asks: bool) -> float:
        """The score of an entry whose speaker the query has ``named``, and of one that ``asks``."""
        return (score + self._formula.speaker * named) * (1 - self._formula.question * asks)

    def _part(self, bits: int) -> float:
        """A term's part, by where it stands: bit 2 is the entry itself, bits 1 and 0 those before it, 3 and 4 those behind it."""
        (near, far), behind = self._formula.before, self._formula.behind
        frequency = self._formula.stretch + sum(count for at, count in enumerate((far, near, 1.0, *behind)) if bits >> at & 1)
        return frequency * (self._formula.saturation + 1) / (frequency + self._formula.saturation)


def is_question(text: str) -> bool:
    """Whether a text ends by asking."""
    return text.rstrip(" \t\r\n\"'”’»」)*_").endswith(("?", "？", "؟"))
