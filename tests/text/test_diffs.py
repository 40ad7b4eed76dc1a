"""A change of texts, as a subject line and as a diff."""

import difflib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.text import diffs
from tests.support.household import texts

A = "Ada's birthday is 4 May\n"
B = "Ada's birthday is 5 May\n"


@pytest.mark.parametrize(
    ("before", "after", "subject"),
    [
        (A, B, "Ada's birthday is 5 May (was: … 4 May)"),
        ("tea\n", "coffee\n", "coffee (was: tea)"),
        ("x\n", f"x\n{A}", "+ Ada's birthday is 4 May"),
        (f"{A}\nx\n", "x\n", "- Ada's birthday is 4 May"),
        ("", "a\nb\nc\n", "3 lines added"),
        ("a\nb\nc\n", "b\nd\n\ne\n", "3 lines added, 2 removed"),
        ("a\n", "a\r\n", "1 line added, 1 removed"),
        ("a\n", "\na\n", "1 line added"),
    ],
)
def test_a_change_of_one_line_is_that_line_and_others_are_counted(
    before: str, after: str, subject: str
) -> None:
    assert diffs.subject({"USER.md": before}, {"USER.md": after}) == f"USER.md: {subject}"


def test_files_that_come_and_go_are_named() -> None:
    assert diffs.subject({}, {"USER.md": ""}) == "USER.md: begun, empty"
    assert diffs.subject({"USER.md": ""}, {}) == "USER.md: gone"
    assert diffs.subject({"USER.md": "a\n"}, {}) == "USER.md: - a"
    assert (
        diffs.subject({"USER.md": "a\n", "VOICE.md": ""}, {"VOICE.md": "b\n"})
        == "USER.md, VOICE.md: 1 line added, 1 removed"
    )


def test_a_diff_is_as_git_writes_it() -> None:
    assert diffs.unified(
        {"USER.md": "a\nb"}, {"USER.md": "a\nc\n", "VOICE.md": "\u2028\x0c\n"}
    ) == (
        "--- a/USER.md\n+++ b/USER.md\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
        "--- /dev/null\n+++ b/VOICE.md\n@@ -0,0 +1 @@\n+\u2028\x0c\n"
    )


@given(texts, texts)
def test_nothing_in_a_text_makes_a_line_of_its_own_that_ends_the_diff(
    before: str, after: str
) -> None:
    diff = diffs.unified({"USER.md": before}, {"USER.md": after})
    assert bool(diff) == (before != after)
    assert all(line[0] in " +-@\\" for line in diff.split("\n")[:-1])


@given(texts, texts)
def test_lines_that_were_carried_over_are_the_same_lines_in_their_order(
    older: str, newer: str
) -> None:
    old = older.split("\n")
    new = newer.split("\n")
    carried = diffs.carried(older, newer)
    assert all(old[carried[number]] == new[number] for number in carried)
    assert list(carried.values()) == sorted(set(carried.values())) and len(carried) <= diffs.count(
        newer
    )


def worked(function: Callable[[], object]) -> int:
    """How many lines of the program are run by it."""
    count = 0

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tea\n" * 4000, "milk\n" + "tea\n" * 4000),
        ("tea\n" * 4000, "tea\n" * 2000 + "milk\n" + "tea\n" * 2000),
        ("milk\n" + "tea\n" * 4000 + "milk\n", "tea\n" * 4000),
        (
            "".join(f"a{number}\ntea\n" for number in range(2000)),
            "".join(f"b{number}\ntea\n" for number in range(2000)) + "b\n",
        ),
    ],
)
def test_the_work_does_not_grow_with_the_square_of_the_lines(old: str, new: str) -> None:
    before = {"USER.md": old}
    after = {"USER.md": new}
    lines = diffs.count(old) + diffs.count(new)
    for function in (
        lambda: diffs.unified(before, after),
        lambda: diffs.subject(before, after),
        lambda: diffs.carried(old, new),
    ):
        assert worked(function) < 12 * lines


def test_one_line_between_many_that_are_equal_is_told_as_that_line() -> None:
    for old, new in (
        ("tea\n" * 4000, "tea\n" * 2000 + "milk\n" + "tea\n" * 2000),
        ("tea\n" * 4000, "milk\n" + "tea\n" * 4000),
    ):
        assert diffs.subject({"USER.md": old}, {"USER.md": new}) == "USER.md: + milk"


numbered = st.lists(st.integers(1, 30), unique=True).map(
    lambda numbers: [f"{number}\n" for number in numbers]
)


@given(numbered, numbered)
def test_where_each_line_is_another_a_diff_is_that_of_the_standard_library(
    old: list[str], new: list[str]
) -> None:
    diff = diffs.unified({"USER.md": "".join(old)}, {"USER.md": "".join(new)})
    assert diff == "".join(difflib.unified_diff(old, new, "a/USER.md", "b/USER.md"))


def test_a_tally_counts_the_lines_of_each_file() -> None:
    before = {"USER.md": "a\nb\n", "MEMORY.md": "c\n", "VOICE.md": "d\n"}
    after = {"USER.md": "a\nx\ny\n", "MEMORY.md": "c\n\ne\n", "VOICE.md": "d\n"}
    assert diffs.tally(before, after) == "USER +2 −1, MEMORY +1"
    assert diffs.tally(after, before) == "USER +1 −2, MEMORY −1"
    assert diffs.tally({"USER.md": "a\n"}, {"USER.md": "a\n\n"}) == "USER +1"
    assert diffs.tally(before, before) == ""


@pytest.mark.parametrize(
    ("content", "conflicted"),
    [
        (b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", True),
        (b"x\r\n<<<<<<< HEAD\r\na\r\n=======\r\n>>>>>>> other\r\n", True),
        (b"<<<<<<< HEAD\na\n||||||| base\nb\n=======\nc\n>>>>>>> other", True),
        (b"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", False),
        (b"a\n=======\nb\n", False),
        (b">>>>>>> b\n=======\n<<<<<<< a\n", False),
        (b" <<<<<<< HEAD\n=======\n>>>>>>> other\n", False),
    ],
)
def test_marks_of_a_conflict_are_told_from_those_of_an_edit_block(
    content: bytes, conflicted: bool
) -> None:
    assert diffs.in_conflict(content) == conflicted
