"""Whatever a model, a person or a tool writes, it is read in time that is linear in its length, and
however deep it is nested, nothing but a refusal comes out.
"""

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from tests.support.floods import FLOODS
from tests.support.growth import is_slow
from tests.support.readers import READERS, REFUSALS


@pytest.fixture(autouse=True, scope="module")
def without_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("reader", READERS)
def test_the_time_to_read_is_linear_in_the_length(reader: str) -> None:
    read = READERS[reader]
    with suppress(*REFUSALS):
        read("SAY dev hello")  # what is made at the first time
    assert [flood for flood in FLOODS if is_slow(read, flood)] == []


def peeled(text: str) -> str:
    """Takes off brackets one by one. Each step copies the rest, which hardly takes time."""
    while text.startswith("["):
        text = text[1:]
    return text


def marked(text: str) -> list[int]:
    """Counts, for each tool line, the lines before it."""
    places = [match.start() for match in re.finditer("^SAY", text, re.MULTILINE)]
    return [text.count("\n", 0, place) for place in places]


def closed(text: str) -> list[int]:
    """Looks for the end of each thought that is begun."""
    return [text.find("</think>", match.end()) for match in re.finditer("<think>", text)]


def trimmed(text: str) -> str:
    """Tries each space as the first of those at the end."""
    return re.sub(r" +$", "", text)


@pytest.mark.parametrize(
    ("read", "flood"),
    [
        (peeled, "opening brackets"),
        (marked, "tool lines"),
        (closed, "thoughts begun in lines"),
        (trimmed, "an answer, spaces and an answer"),
    ],
)
def test_a_reader_that_takes_quadratic_time_is_found_however_fast_its_steps_are(
    read: Callable[[str], object], flood: str
) -> None:
    assert is_slow(read, flood)


@pytest.mark.parametrize("read", [len, str.split, str.casefold])
def test_a_reader_that_takes_linear_time_is_not_suspected(read: Callable[[str], object]) -> None:
    assert [flood for flood in FLOODS if is_slow(read, flood)] == []
