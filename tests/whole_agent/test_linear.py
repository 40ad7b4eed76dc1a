"""Whatever a model, a person or a tool writes, it is read in time that is linear in its length, and
however deep it is nested, nothing but a refusal comes out.

The processor's time for a text is compared with that for a quarter of it: four times as much if it
is linear, sixteen times if it is quadratic. Only what is plainly too much is measured again, with
more of it.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from tests.support.floods import FLOODS, Flood
from tests.support.readers import READERS, REFUSALS

SIZE = 2_000
"""Characters of the shortest text."""
MEASURABLE = 0.02
"""Seconds of the processor below which the growth of a time cannot be told from chance."""
MOST = 10
"""Times the work of a text that four times as much of it may take."""


@pytest.fixture(autouse=True, scope="module")
def without_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def seconds(read: Callable[[str], object], text: str) -> float:
    begin = time.thread_time()
    with suppress(*REFUSALS):
        read(text)
    return time.thread_time() - begin


def growths(read: Callable[[str], object], flood: Flood) -> Iterator[float]:
    """How many times longer four times as much takes: with ever more of it, while it is too long to
    be linear.
    """
    for times in (1, 2, 4):
        short, long = flood(SIZE * times), flood(SIZE * times * 4)
        quadrupled = seconds(read, long)
        if quadrupled < MEASURABLE:
            yield 0
        else:
            yield min(seconds(read, long), quadrupled) / max(
                min(seconds(read, short) for _ in range(3)), 1e-6
            )


@pytest.mark.parametrize("reader", READERS)
def test_the_time_to_read_is_linear_in_the_length(reader: str) -> None:
    read = READERS[reader]
    with suppress(*REFUSALS):
        read("SAY dev hello")  # what is made at the first time
    slow = [name for name, flood in FLOODS.items() if all(g > MOST for g in growths(read, flood))]
    assert slow == []
