"""The search/replace edit that EDIT_FILE and a Dream share."""

import pytest

from dory.constants import MEMORY_LIMIT
from dory.errors import ToolError
from dory.text.edits import checked, edited
from dory.text.prompt_files import DURABLE


def test_the_text_to_search_must_stand_there_exactly_once() -> None:
    assert edited("a\nb\n", "b", "c", "USER.md") == "a\nc\n"
    for search, complaint in (
        ("x", "'x' is not in USER.md"),
        ("a", "'a' stands 2 times in USER.md"),
    ):
        with pytest.raises(ToolError, match=f"{complaint}: nothing was changed"):
            edited("a a\n", search, "y", "USER.md")


def test_an_empty_search_part_appends_a_line_of_its_own() -> None:
    assert edited("", "", "a", "x") == "a\n"
    assert edited("a", "", "b", "x") == edited("a\n", "", "b", "x") == "a\nb\n"


def test_a_text_whose_lines_end_in_crlf_is_searched_and_stays_so_whatever_ends_the_block_has() -> (
    None
):
    assert (
        edited("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x")
        == edited("a\r\nb\r\nc\r\n", "a\r\nb\r", "x\r\ny\r", "x")
        == "x\r\ny\r\nc\r\n"
    )
    assert edited("a\r\nb", "", "c", "x") == "a\r\nb\r\nc\r\n"
    assert edited("a\r\nb\n", "b", "c", "x") == "a\r\nc\n"


def test_what_is_left_when_the_last_line_is_removed_is_empty() -> None:
    assert edited("a\n", "a", "", "x") == ""


@pytest.mark.parametrize("name", DURABLE)
def test_no_edit_takes_a_durable_text_over_its_limit_but_one_that_grew_by_hand_may_shrink(
    name: str,
) -> None:
    over = "x" * (MEMORY_LIMIT + 100)
    assert checked("", over[:MEMORY_LIMIT], name) == over[:MEMORY_LIMIT]
    for before, after in (("", over), (over, over[1:] + "y"), (over, over + "y")):
        with pytest.raises(
            ToolError,
            match=f"^{name} would have .* it may have {MEMORY_LIMIT}: nothing was changed",
        ):
            checked(before, after, name)
    assert checked(over, over[1:], f"./{name}") == over[1:]
    assert checked("", over, f"workspace/{name}") == over


def test_an_edit_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ToolError, match=r"VOICE.md would not change"):
        checked("a", "a", "VOICE.md")
