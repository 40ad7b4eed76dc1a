"""English words as the offline model compares them: stems without stop words, sentences, and how
much each stem tells.

A word is a run of letters and digits. Its stem is what is left when case, plural, -ing, -ed and a
last -e are taken off, so ``booked``, ``booking`` and ``books`` meet. Other languages pass through
unstemmed.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from dory.text.tokenizer import STOP

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_SUFFIX = re.compile(r"(?<=[^\W\d_]{3})(?:ings?|ed|ly)$")
_DOUBLED = re.compile(r"([^aeiou\d])\1$")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of one lower-case word; empty for a stop word."""
    if word in STOP or (len(word) == 1 and not word.isdigit()):
        return ""
    bare = (
        word[:-1]
        if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
        else word
    )
    bare = bare[:-2] + "y" if bare.endswith("ie") and len(bare) > 4 else bare
    bare = _DOUBLED.sub(r"\1", _SUFFIX.sub("", bare))
    bare = bare[:-1] if len(bare) > 3 and bare.endswith("e") else bare
    return bare[:-1] + "i" if len(bare) > 2 and bare.endswith("y") else bare


def stems(text: str) -> list[str]:
    """The stems of ``text`` in order, stop words left out."""
    return [found for word in _WORD.findall(text.lower()) if (found := stem(word))]


def spelled(text: str) -> list[str]:
    """The words of ``text`` as they are written."""
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """``text`` cut behind full stops, question and exclamation marks, and at line breaks."""
    return [found for part in _SENTENCE.split(text) if (found := part.strip())]


class Weights:
    """How much each stem tells: the fewer of the ``texts`` hold it, the more."""

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        counted = [frozenset(text) for text in texts]
        self._holders = Counter(found for text in counted for found in text)
        self._total = len(counted)

    def __getitem__(self, stem: str) -> float:
        return math.log(1 + (self._total + 1) / (self._holders[stem] or 1))

    def shares(self, wanted: Mapping[str, float]) -> dict[str, float]:
        """What part of the ``wanted`` stems each one is, all together 1: its factor times how much
        it tells.
        """
        worth = {stem: factor * self[stem] for stem, factor in wanted.items()}
        total = sum(worth.values())
        return {stem: value / total for stem, value in worth.items()}


def coverage(shares: Mapping[str, float], held: Collection[str]) -> float:
    """The part, 0 to 1, of ``shares`` whose stems are among those ``held``."""
    return sum(share for stem, share in shares.items() if stem in held)
