"""The parser of tool calls never raises, reads back what is rendered, and runs no part of a broken
call.
"""

import re
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from dory.text import answers
from dory.text.imitations import begun
from dory.text.thoughts import as_thought, without_thoughts
from dory.text.tool_calls import render
from dory.types import Call
from tests.support.household import texts

TOOLS = (
    "SAY <room> <message>",
    "READ_FILE <path> [from-to]",
    "EDIT_FILE <path>, then one or more search/replace blocks",
    "UNCOMPACT <hash>",
    "JOIN <room>",
    "LEAVE <room>",
    "WAIT",
)


def parse(text: str, tools: Sequence[str]) -> list[Call]:
    """The calls in ``text``."""
    return list(answers.parse(text, tools).calls)


NAMES = tuple(tool.partition(" ")[0] for tool in TOOLS)
MARKS = {"<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"}
EDIT = "EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE"


def without(*marks: str) -> st.SearchStrategy[str]:
    """Texts that an edit block can hold: none of whose lines is a mark."""
    return texts.filter(lambda text: not {line.rstrip() for line in text.split("\n")} & set(marks))


# What can be written as a tool line: one line of arguments, without white space at its ends; then a
# body, or edit blocks, or neither.
one_line = texts.map(lambda text: text.replace("\n", " ").strip())
plain_line = one_line.filter(
    lambda args: not re.fullmatch(r".*<<\s*(['\"]?)[A-Za-z_]\w*\1\s*", args)
)
bodies = texts.filter(lambda text: begun(text) == len(text))
edits = st.lists(
    st.tuples(without(*MARKS), without("<<<<<<< SEARCH", ">>>>>>> REPLACE")), max_size=3
).map(tuple)
calls = st.builds(Call, st.sampled_from(NAMES), one_line, bodies) | st.builds(
    Call, st.sampled_from(NAMES), plain_line, st.none(), edits
)


@given(texts)
def test_parsing_raises_on_no_text(text: str) -> None:
    for call in parse(text, TOOLS):
        assert call.tool in NAMES or call.error


@given(st.lists(calls, max_size=4))
@settings(max_examples=150)
def test_rendered_calls_parse_back(wanted: list[Call]) -> None:
    """By name alone, a tool takes what it is given as it is."""
    text = render(wanted)
    assert begun(text) < len(text) or parse(text, NAMES) == wanted


@given(texts, texts)
def test_reasoning_before_a_response_changes_nothing_in_what_is_parsed(
    reasoning: str, text: str
) -> None:
    assert parse(as_thought(reasoning) + text, TOOLS) == parse(text, TOOLS)


def test_reasoning_cannot_close_its_own_tag() -> None:
    text = (
        as_thought("hm </reasoning>\nSAY dev not this\n</REASONING>\nSAY dev nor this")
        + "SAY dev this"
    )
    assert [call.args for call in parse(text, TOOLS)] == ["dev this"]


def test_prose_between_calls_is_private() -> None:
    parsed = parse("I think I should SAY something.\nSAY dev hello\nWAIT\nand then\n", TOOLS)
    assert parsed == [Call("SAY", "dev hello"), Call("WAIT")]


def test_code_fences_around_calls_and_before_edit_blocks_are_passed_over() -> None:
    text = (
        "```\nEDIT_FILE MEMORY.md\n```text\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n```\n"
        "```\nSAY dev done\n```"
    )
    assert parse(text, TOOLS) == [
        Call("EDIT_FILE", "MEMORY.md", edits=(("", "x"),)),
        Call("SAY", "dev done"),
    ]


def test_nothing_inside_a_thought_is_a_call() -> None:
    text = (
        "<think>\nSAY dev a\n</think>\nSAY dev b\n<Reasoning> so\nSAY dev c\n</reasoning>\n"
        "SAY dev d\n<think>\nSAY dev e"
    )
    assert [call.args for call in parse(text, TOOLS)] == ["dev b", "dev d"]


def test_lines_may_end_as_on_windows() -> None:
    text = "SAY dev <<END\r\na\r\nb\r\nEND\r\nWAIT\r\n"
    assert parse(text, TOOLS) == [Call("SAY", "dev", body="a\r\nb\r"), Call("WAIT")]


def test_a_here_document_takes_any_delimiter_quoted_or_not() -> None:
    for mark in ("<<END", "<< EOF", "<<'TEXT'", '<<"done_1"'):
        name = mark.strip("<' \"")
        assert parse(f"SAY dev {mark}\nSAY dev inner\n{name}", TOOLS) == [
            Call("SAY", "dev", body="SAY dev inner")
        ]


def test_an_unterminated_text_with_tool_lines_is_one_error_and_swallows_the_rest() -> None:
    assert parse("SAY dev <<END\nhello\n", TOOLS) == [Call("SAY", "dev", body="hello")]
    (call,) = parse("SAY dev <<END\nhello\nEDIT_FILE MEMORY.md\nWAIT", TOOLS)
    assert call.error == "unterminated text: nothing was done; end it with a line that is just END"


def test_an_edit_block_that_lacks_a_mark_is_one_error_and_swallows_the_rest() -> None:
    whole = (
        EDIT.format("old", "SAY dev inner")
        + "\n"
        + EDIT.format("b", "SAY dev inner").partition("\n")[2]
        + "\nSAY dev done"
    )
    lines = whole.split("\n")
    for number in (at for at, line in enumerate(lines) if line in ("=======", ">>>>>>> REPLACE")):
        parsed = parse("\n".join(lines[:number] + lines[number + 1 :]), TOOLS)
        assert (
            len(parsed) == 1
            and parsed[0].error
            and parsed[0].error.startswith("unterminated edit block: nothing was changed")
        ), number


def test_an_underline_may_stand_in_the_new_text() -> None:
    (call,) = parse(EDIT.format("old", "Title\n======="), TOOLS)
    assert call.edits == (("old", "Title\n======="),)


def test_a_misspelt_tool_gets_a_hint() -> None:
    for line, meant in (
        ("READFILE MEMORY.md", "READ_FILE"),
        ("READ MEMORY.md", "READ_FILE"),
        ("UNCOMPAKT 5d41402abc4b2a76", "UNCOMPACT"),
        ("EDIT_FIL", "EDIT_FILE"),
    ):
        (call,) = parse(line, TOOLS)
        assert call.error and f"did you mean the tool {meant}?" in call.error


def test_words_in_capitals_that_are_no_tool_are_prose() -> None:
    assert parse("NASA launched it.\nTODO: water the plants\nOK\nWAITING\nsay dev hi", TOOLS) == []


def test_a_shift_operator_in_a_message_is_no_here_document() -> None:
    assert parse("SAY dev use cout << x\nWAIT", TOOLS) == [
        Call("SAY", "dev use cout << x"),
        Call("WAIT"),
    ]


def test_a_tag_that_is_only_mentioned_hides_nothing() -> None:
    assert parse("The <think> tag is odd.\nWAIT", TOOLS) == [Call("WAIT")]
    assert parse("well <think> so\nSAY dev no\n</think>\nWAIT", TOOLS) == [Call("WAIT")]


def test_thoughts_are_taken_out_in_whatever_case_as_far_as_they_end() -> None:
    assert (
        without_thoughts("<Think>well\nwell</THINK>NOTHING<reasoning></Reasoning> <think>more")
        == "NOTHING <think>more"
    )
    assert without_thoughts("<thin\u212a>kept</thin\u212a>") == "<thin\u212a>kept</thin\u212a>"


def test_a_long_degenerate_line_is_read_at_once() -> None:
    (call,) = parse("SAY dev" + " " * 200_000 + "x", TOOLS)
    assert call.args.endswith("x")
