"""How the time that a reader takes grows with the length of its text.

The processor's time for a text is compared with that for a quarter of it: four times as much if it
is linear, sixteen times if it is quadratic. A fast reader gets more of the text until its time can
be measured. One that is too fast even for ``LONGEST`` characters looks at a bounded part of them,
or takes so little for each that a square of their number is out of the question.

Only what is plainly too much is measured again, with more of it.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from tests.support.floods import FLOODS
from tests.support.readers import REFUSALS

Reader = Callable[[str], object]

SHORTEST, LONGEST = 8_000, 128_000
"""Characters of a text whose time is compared with that for a quarter of it."""
MEASURABLE = 0.004
"""Seconds of the processor below which the growth of a time cannot be told from chance."""
MOST = 8
"""Times the work of a text that four times as much of it may take: between linear and quadratic."""
SUSPICIOUS = 6
"""The same, from which on longer texts are looked at: a square may be hidden by what is linear."""


def is_slow(read: Reader, flood: str) -> bool:
    """Whether the reader reads that flood in more than linear time."""
    size = SHORTEST
    while (taken := _seconds(read, flood, size)) < MEASURABLE:
        if size >= LONGEST:
            return False
        size *= 4
    once = taken / max(_seconds(read, flood, size // 4), 1e-6)
    if once <= SUSPICIOUS or _growth(read, flood, size) <= SUSPICIOUS:
        return False
    return _growth(read, flood, size * 4) > MOST  # bounded work is no more for so much


def _growth(read: Reader, flood: str, size: int) -> float:
    """How many times longer it takes than for a quarter. Each is measured several times: the first
    time, memory for so long a text may have to be fetched, and other programs may push it out.
    """
    short, long = (
        min(_seconds(read, flood, length) for _ in range(4)) for length in (size // 4, size)
    )
    return long / max(short, 1e-6)


def _seconds(read: Reader, flood: str, size: int) -> float:
    text = _text(flood, size)
    begin = time.thread_time()
    with suppress(*REFUSALS):
        read(text)
    return time.thread_time() - begin


@cache
def _text(flood: str, size: int) -> str:
    return FLOODS[flood](size)
