"""Vectors of texts without a model: each stem has a place and a sign by its hash, and counts the
less the more often it came already.

Texts that share words have vectors near each other, and other texts do not, but for chance. Every
vector has the length 1.
"""

import math
import zlib
from collections import Counter

from dory.offline.words import stems

SIZE = 256
"""Numbers of a vector."""


def vector(text: str) -> list[float]:
    """The vector of one text; of one without any word that tells something the first axis."""
    made = [0.0] * SIZE
    for stem, count in sorted(Counter(stems(text)).items()):
        hash = zlib.crc32(stem.encode("utf-8", "replace"))
        made[hash % SIZE] += (1 + math.log(count)) * (1 if hash >> 16 & 1 else -1)
    length = math.hypot(*made)
    return [round(number / length, 6) for number in made] if length else [1.0] + [0.0] * (SIZE - 1)
