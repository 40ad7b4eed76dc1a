"""Lists in pages."""

import pytest

from dory.errors import ToolError
from dory.text import pages


def shown(total: int, number: int) -> list[str]:
    lines = [f"line {at}" for at in range(total)]
    text = pages.page("/notes", total, number, lambda at, length: lines[at : at + length])
    return text.splitlines()


def test_a_short_list_is_one_page_without_a_last_line() -> None:
    assert shown(pages.PAGE, 1) == [f"line {at}" for at in range(pages.PAGE)]


def test_every_line_stands_on_exactly_one_page_and_each_names_the_next() -> None:
    first, second, third = shown(45, 1), shown(45, 2), shown(45, 3)
    assert first[-1] == "20 of 45; /notes 2"
    assert second[-1] == "21-40 of 45; /notes 3"
    assert third[-1] == "41-45 of 45"
    assert first[:-1] + second[:-1] + third[:-1] == [f"line {at}" for at in range(45)]


@pytest.mark.parametrize(("total", "number", "last"), [(45, 4, 3), (45, 0, 3), (0, 2, 1)])
def test_a_page_that_does_not_exist_is_refused_with_the_last_one(
    total: int, number: int, last: int
) -> None:
    with pytest.raises(ToolError, match=f"there is no page {number}: /notes {last} is the last"):
        shown(total, number)


@pytest.mark.parametrize(
    ("argument", "words", "number"),
    [
        ("", "", 1),
        ("2", "", 2),
        ("lisbon 3", "lisbon", 3),
        ("the trip", "the trip", 1),
        (" ben  12 ", "ben", 12),
        ("room2", "room2", 1),
    ],
)
def test_the_page_stands_behind_the_words(argument: str, words: str, number: int) -> None:
    assert pages.wanted(argument) == (words, number)
