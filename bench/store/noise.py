"""Text that means nothing, in any amount, the same for the same seed: words as frequent as in a
language (Zipf's law), spelled from syllables.

Where real text is to be hidden in it, the most frequent words are that text's own, most frequent
first: else a glance at the vocabulary would tell the two apart.
"""

import random
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

VOCABULARY = 300_000
_DRAWS = 1 << 22
_SHIFT = 2.7  # Mandelbrot's, for natural text
_SYLLABLES = [
    start + middle
    for start in (*"bcdfghjklmnprstvwz", "br", "st", "tr")
    for middle in (*"aeiou", "ea", "ou")
]


class Noise:
    """An endless source of texts."""

    def __init__(self, seed: int, frequent: Sequence[str] = ()) -> None:
        self._random = random.Random(seed)
        self._pool = _pool(tuple(frequent))

    def text(self, size: int) -> str:
        """A text of ``size`` characters, of which the last word may be cut."""
        return " ".join(self._random.choices(self._pool, k=size // 4))[:size]

    def query(self, text: str, count: int) -> str:
        """``count`` different words of a text: rare ones and common ones, as they come."""
        return " ".join(self._random.sample(sorted(set(text.split()[:-1])), count))


@cache
def _pool(frequent: tuple[str, ...]) -> list[str]:
    """Every word as often as it shall be drawn."""
    words = _vocabulary(frequent)
    bounds = list(accumulate(1 / (rank + _SHIFT) for rank in range(1, VOCABULARY + 1)))
    step, rank, pool = bounds[-1] / _DRAWS, 0, []
    for draw in range(_DRAWS):
        while bounds[rank] < (draw + 0.5) * step:
            rank += 1
        pool.append(words[rank])
    return pool


def _vocabulary(frequent: Sequence[str]) -> list[str]:
    """``VOCABULARY`` different words: the ``frequent`` ones, then invented ones, shortest first."""
    dice, words = random.Random(0), dict.fromkeys(frequent)
    while len(words) < VOCABULARY:
        syllables = dice.choices(
            _SYLLABLES, k=1 + (len(words) > 300) + (len(words) > 20_000) + (dice.random() < 0.5)
        )
        words["".join(syllables) + dice.choice(("", "n", "r", "s", "t", "l", "ck"))] = None
    return list(words)
