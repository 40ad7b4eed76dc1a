"""Malformed input, for the tests of every parser."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin

from hypothesis import strategies as st

from tests.support.household import texts

HASH = "5d41402abc4b2a76"
MONSTERS = [
    "9" * 5000,
    "[" * 12_000,
    "0x" + "f" * 5000,
    "1e999",
    "nan",
    "-1",
    "٣",
    "\ud800",
    "\x00",
]
"""What Python's own readers choke on: numbers of too many digits, nesting beyond its stack, what no
encoding holds.
"""

words = texts | st.sampled_from(MONSTERS) | st.text(max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
contents = st.binary(max_size=80) | (words | values.map(json.dumps)).map(
    lambda text: text.encode("utf-8", "replace")
)


@contextlib.contextmanager
def complaint(*kinds: type[Exception], naming: str = "") -> Iterator[list[str]]:
    """The block may raise these and no others, each one line, with ``naming`` in it; what was told
    is in the list then.
    """
    complaints: list[str] = []
    try:
        yield complaints
    except kinds as error:
        complaints.append(str(error))
        assert len(complaints[0].splitlines()) == 1 and naming in complaints[0]


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """``text`` with a piece of it replaced by another."""
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(words) + text[draw(st.integers(start, min(len(text), start + 12))) :]


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the type that an annotation names, all the way down."""
    if get_origin(kind) is UnionType:
        return any(fits(value, part) for part in get_args(kind))
    if get_origin(kind) is dict:
        return type(value) is dict and all(
            type(key) is str and fits(inner, get_args(kind)[1]) for key, inner in value.items()
        )
    if get_origin(kind) in (list, tuple):
        inner = (
            get_args(kind)
            if get_origin(kind) is tuple and Ellipsis not in get_args(kind)
            else get_args(kind)[:1] * len(value)
        )
        return (
            type(value) is get_origin(kind)
            and len(value) == len(inner)
            and all(map(fits, value, inner))
        )
    return type(value) is kind and (
        not is_dataclass(kind)
        or all(fits(getattr(value, part.name), part.type) for part in fields(kind))
    )
