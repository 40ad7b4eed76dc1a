"""English words as the offline model compares them: stems without stop words, sentences, and the
weight of each stem.

A word is a run of letters and digits. Its stem is the word in lower case without plural, -ing, -ed
and a last -e, so ``booked``, ``booking`` and ``books`` have the same stem. Words of other languages
are not changed.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from dory.text.tokenizer import STOP

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_SUFFIX = re.compile(r"(?<=[^\W\d_]{3})(?:ings?|ed|ly)$")
_DOUBLED_CONSONANT = re.compile(r"([^aeiou\d])\1$")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of one lower-case word; empty for a stop word."""
    if word in STOP or (len(word) == 1 and not word.isdigit()):
        return ""
    bare = word
    if len(bare) > 3 and bare.endswith("s") and not bare.endswith(("ss", "us", "is")):
        bare = bare[:-1]
    if len(bare) > 4 and bare.endswith("ie"):
        bare = bare[:-2] + "y"
    bare = _DOUBLED_CONSONANT.sub(r"\1", _SUFFIX.sub("", bare))
    if len(bare) > 3 and bare.endswith("e"):
        bare = bare[:-1]
    if len(bare) > 2 and bare.endswith("y"):
        bare = bare[:-1] + "i"
    return bare


def stems(text: str) -> list[str]:
    """The stems of ``text`` in order, without stop words."""
    return [found for word in _WORD.findall(text.lower()) if (found := stem(word))]


def spelled(text: str) -> list[str]:
    """The words of ``text`` as they are written."""
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """``text`` cut after full stops, question and exclamation marks, and at line breaks."""
    return [sentence for part in _SENTENCE_END.split(text) if (sentence := part.strip())]


class Weights:
    """The weight of each stem: the fewer of the ``texts`` hold it, the more it weighs."""

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        stem_sets = [frozenset(text) for text in texts]
        self._holders = Counter(stem for stem_set in stem_sets for stem in stem_set)
        self._total = len(stem_sets)

    def __getitem__(self, stem: str) -> float:
        return math.log(1 + (self._total + 1) / (self._holders[stem] or 1))

    def shares(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """Each stem's share of the ``wanted`` ones: its factor times its weight, scaled so that the
        shares add up to 1.
        """
        values = {stem: factor * self[stem] for stem, factor in wanted.items()}
        total = sum(values.values())
        return {stem: value / total for stem, value in values.items()}


def coverage(shares: Mapping[str, float], held: Collection[str]) -> float:
    """The sum, 0 to 1, of the shares whose stems are among those ``held``."""
    return sum(share for stem, share in shares.items() if stem in held)
