"""A compaction's answers, read: what is wrong with one is said in a line, whatever it holds."""

import pytest

from dory.identity.context import Entry
from dory.turn.segments import CHUNK_LIMIT, read_ranges, read_summary

ENTRIES = tuple(
    Entry(number, number, "heard", "dev", "x" * (number % 7)) for number in range(1, 301)
)


@pytest.mark.parametrize(
    ("relevance", "words"),
    [
        ("11", "is 11; it must be 1 to 10"),
        ("0", "is 0;"),
        ("-3", "is -3;"),
        ("high", "is no number; it must be 1 to 10"),
        ("", "is no number"),
        ("very-high", "is -;"),
        ("9" * 5000, "is 99999999999999999999; it"),
    ],
)
def test_a_relevance_that_is_none_is_said_to_be_one(relevance: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"RELEVANCE {words}"):
        read_summary(f"GIST: a\nRELEVANCE: {relevance}\nSUMMARY: b", ENTRIES)


@pytest.mark.parametrize(
    ("gist", "read"),
    [
        ("  **a b** ", "a b"),
        ("_a_", "a"),
        ("a" + " *" * 100_000 + "b", "a" + " *" * 59 + "…"),
        ("◱hash=0123456789abcdef gist=x◲", None),
    ],
)
def test_a_gist_is_freed_of_its_decoration(gist: str, read: str | None) -> None:
    draft = read_summary(f"**GIST:** {gist}\n**RELEVANCE:** 10/10\n**SUMMARY:**\nb", ENTRIES)
    assert draft.gist == (read or "hash=0123456789abcdef gist=x")
    assert (draft.relevance, draft.summary) == (10, "b")


@pytest.mark.parametrize("gist", ["", "  ", "**", "◱◲"])
def test_an_empty_gist_is_said_to_be_empty(gist: str) -> None:
    with pytest.raises(ValueError, match="GIST is empty"):
        read_summary(f"GIST:{gist}\nRELEVANCE: 3\nSUMMARY: b", ENTRIES)


def test_of_too_many_chunks_the_largest_are_taken_in_order() -> None:
    found = read_ranges(
        "\n".join(f"{number}-{number} one thing" for number in range(1, 301)), [ENTRIES]
    )
    assert len(found) == CHUNK_LIMIT
    assert [chunk[0].first for chunk in found] == sorted(chunk[0].first for chunk in found)
    assert {chunk[0].first % 7 for chunk in found} == {4, 5, 6}


def test_a_number_that_no_id_has_names_no_chunk() -> None:
    with pytest.raises(ValueError, match="no line names a chunk"):
        read_ranges("9" * 5000, [ENTRIES])
