"""Vectors of texts without a model, by feature hashing: the hash of a stem gives its place in the
vector and its sign. A stem that comes again counts logarithmically.

Texts that share words have similar vectors. Texts that do not have similar ones only by chance.
Every vector has the length 1.
"""

import math
import zlib
from collections import Counter

from dory.offline.words import stems

SIZE = 256
"""Numbers in a vector."""


def vector(text: str) -> list[float]:
    """The vector of one text. A text without stems gets the first axis."""
    numbers = [0.0] * SIZE
    for stem, count in sorted(Counter(stems(text)).items()):
        digest = zlib.crc32(stem.encode("utf-8", "replace"))
        sign = 1 if digest >> 16 & 1 else -1
        numbers[digest % SIZE] += sign * (1 + math.log(count))
    length = math.hypot(*numbers)
    if not length:
        return [1.0] + [0.0] * (SIZE - 1)
    return [round(number / length, 6) for number in numbers]
