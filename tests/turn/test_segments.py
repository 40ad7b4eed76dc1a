"""A compaction's answers, read: what is wrong with one is said in a line, whatever it holds."""

import pytest

from dory.identity.context import Entry
from dory.turn.segments import CHUNK_LIMIT, DEFAULT_RELEVANCE, read_ranges, read_summary

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


@pytest.mark.parametrize(
    "answer",
    [
        "1-9 the hedge\n10-18 the build",
        "**1-9** the hedge\n**10–18** the build",
        "- Entries 1 to 9: the hedge\n- Entries 10 to 18: the build",
        "1. 1-9 the hedge\n2. 10-18 the build",
        "1. Entries 1-9: the hedge\n2. Entries 10-18: the build",
        "Chunk 1: 1-9 the hedge\nChunk 2: 10-18 the build",
        "<1>-<9> the hedge\n<10>-<18> the build",
        "#1 - #9 the hedge\n#10 - #18 the build",
        "[1-9] the hedge\n[10-18] the build",
        "| 1-9 | the hedge |\n| 10-18 | the build |",
        "```\n1-9 the hedge\n10-18 the build\n```",
        '[{"first": 1, "last": 9, "about": "the hedge"}, {"first": 10, "last": 18, "about": "x"}]',
        '```json\n{"chunks": [[1, 9, "the hedge"], [10, 18, "the build"]]}\n```',
        '{"1-9": "the hedge", "10-18": "the build"}',
        "<think>maybe 1-5?\n1-5 no</think>\n1-9 the hedge\n10-18 the build",
        "They speak of the hedge (entries 1 to 9), and then entries 10-18 are about the build.",
    ],
)
def test_chunks_are_read_in_whatever_form_they_are_named(answer: str) -> None:
    chunks = read_ranges(answer, [ENTRIES])
    assert [(chunk[0].first, chunk[-1].last) for chunk in chunks] == [(1, 9), (10, 18)]


@pytest.mark.parametrize(
    "answer",
    [
        "GIST: the hedge\nRELEVANCE: 7\nSUMMARY:\nAda plants it.",
        "**GIST:** the hedge\n**RELEVANCE:** 7/10\n**SUMMARY:** Ada plants it.",
        "**GIST**: the hedge\n**RELEVANCE**: 7\n**SUMMARY**: Ada plants it.",
        "- GIST: the hedge\n- RELEVANCE: 7\n- SUMMARY: Ada plants it.",
        "1. GIST: the hedge\n2. RELEVANCE: 7\n3. SUMMARY: Ada plants it.",
        "## Gist\nthe hedge\n## Relevance\n7\n## Summary\nAda plants it.",
        "SUMMARY: Ada plants it.\nGIST: the hedge\nRELEVANCE: 7",
        "<think>GIST: no</think>\nGIST: the hedge\nRELEVANCE: 7\nSUMMARY: Ada plants it.",
        '{"gist": "the hedge", "relevance": 7, "summary": "Ada plants it."}',
        '```json\n{"GIST": "the hedge", "RELEVANCE": "7", "SUMMARY": ["Ada plants it."]}\n```',
        "GIST: the hedge\nRELEVANCE: 7\nSUMMARY: Ada plants it.\nGIST: again\nSUMMARY: again",
    ],
)
def test_a_summary_is_read_in_whatever_form_it_is_given(answer: str) -> None:
    draft = read_summary(answer, ENTRIES)
    assert (draft.gist, draft.relevance, draft.summary) == ("the hedge", 7, "Ada plants it.")


def test_what_a_summary_leaves_out_is_made_up_for() -> None:
    draft = read_summary("SUMMARY: Ada plants a hedge. Bob helps.", ENTRIES)
    assert (draft.gist, draft.relevance) == ("Ada plants a hedge.", DEFAULT_RELEVANCE)


def test_an_answer_without_a_summary_is_said_to_have_none() -> None:
    with pytest.raises(ValueError, match="no line begins with SUMMARY:"):
        read_summary("They talked.", ENTRIES)
