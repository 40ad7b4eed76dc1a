"""The arguments of hidden tools are masked in the response that is kept, and nothing else is."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dory.text import hidden_arguments
from dory.text.answers import parse
from dory.text.hidden_arguments import MARK
from dory.types import Call
from tests.support.household import texts

TOOLS = (
    "SAY <room> <message>",
    "EDIT_FILE <path>, then one or more search/replace blocks",
    "ADD_TO_SOUL <text>",
    "WAIT",
)
ROOMS = ("dev",)
HIDDEN = {"ADD_TO_SOUL"}
SECRET = "I fear being forgotten by Ada"


def kept(text: str) -> str:
    return hidden_arguments.kept(text, TOOLS, HIDDEN, rooms=ROOMS)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"ADD_TO_SOUL {SECRET}", f"ADD_TO_SOUL {MARK}"),
        (f"so:\nADD_TO_SOUL {SECRET}\nWAIT", f"so:\nADD_TO_SOUL {MARK}\nWAIT"),
        (
            f"ADD_TO_SOUL so <<XX\n{SECRET}\nand more\nXX\nWAIT",
            f"ADD_TO_SOUL <<END\n{MARK}\nEND\nWAIT",
        ),
        (f"SAY dev hi\nADD_TO_SOUL <<END\n{SECRET}\nSAY dev ho", f"SAY dev hi\nADD_TO_SOUL {MARK}"),
        (f"ADD_TO_SOUL\n<<<<<<< SEARCH\n{SECRET}", f"ADD_TO_SOUL <<END\n{MARK}\nEND"),
        (f"- ADD_TO_SOUL {SECRET}", f"ADD_TO_SOUL {MARK}"),
        (f"**ADD_TO_SOUL** {SECRET}\nWAIT", f"ADD_TO_SOUL {MARK}\nWAIT"),
        (f"add_to_soul {SECRET}", f"ADD_TO_SOUL {MARK}"),
        (f"`ADD_TO_SOUL {SECRET}`", f"ADD_TO_SOUL {MARK}"),
        (f"> ADD_TO_SOUL {SECRET}", f"ADD_TO_SOUL {MARK}"),
        (f'ADD_TO_SOUL("{SECRET}")', f"ADD_TO_SOUL {MARK}"),
        (f'ADD_TO_SOUL("{SECRET}"', f"ADD_TO_SOUL {MARK}"),
        (f"ADD_TO_SOUL\n{SECRET}\n\n{SECRET}", f"ADD_TO_SOUL <<END\n{MARK}\nEND"),
        (f'ADD_TO_SOUL """{SECRET}\n{SECRET}', f"ADD_TO_SOUL <<END\n{MARK}\nEND"),
        (f'{{"tool": "ADD_TO_SOUL", "args": {{"text": "{SECRET}"}}}}', f"ADD_TO_SOUL {MARK}"),
        (f'{{"tool": "ADD_TO_SOUL", "args": {{"text": "{SECRET}', f"ADD_TO_SOUL {MARK}"),
        (
            f'<tool_call>{{"name": "add_to_soul", "arguments": {{"x": "{SECRET}"}}}}</tool_call>',
            f"ADD_TO_SOUL {MARK}\n</tool_call>",
        ),
        (
            f'[{{"tool": "WAIT"}}, {{"tool": "ADD_TO_SOUL", "args": ["{SECRET}"]}}, {{"tool":'
            ' "SING", "args": []}]',
            f"WAIT\nADD_TO_SOUL {MARK}\nCALL_WITH_AN_ERROR",
        ),
        (f"<ADD_TO_SOUL>{SECRET}</ADD_TO_SOUL>", f"ADD_TO_SOUL {MARK}"),
        (
            f"You could write:\n```\nADD_TO_SOUL {SECRET}\n```",
            f"You could write:\n```\nADD_TO_SOUL {MARK}\n```",
        ),
        (
            f"WAIT\n[#9 heard dev]\nADD_TO_SOUL {SECRET}",
            f"WAIT\n[#9 heard dev]\nADD_TO_SOUL {MARK}",
        ),
        ("ADD_TO_SOUL I love <3 and x", f"ADD_TO_SOUL {MARK}"),
        (f"SAY dev x\n- ADD_TO_SOUL {SECRET}\nso", f"SAY dev x\nADD_TO_SOUL {MARK}\nso"),
        (f"SAY dev x\n> ADD_TO_SOUL {SECRET}", f"SAY dev x\nADD_TO_SOUL {MARK}"),
        ("ADD_TO_SOUL", "ADD_TO_SOUL"),
        ("ADD_TO_SOUL\nWAIT", "ADD_TO_SOUL\nWAIT"),
    ],
)
def test_the_argument_of_a_call_is_masked(text: str, left: str) -> None:
    assert kept(text) == left


@pytest.mark.parametrize(
    "text",
    [
        f"<think>I will ADD_TO_SOUL {SECRET}</think>\nSAY dev hi",
        f"{SECRET}, that is it.\nWAIT",
        f"SAY dev {SECRET}\nSAY dev <<END\nADD_TO_SOUL {SECRET}\nEND",
        f"what would ADD_TO_SOUL {SECRET} do?",
    ],
)
def test_what_is_thought_or_said_beside_a_call_stays(text: str) -> None:
    assert kept(text) == text
    assert kept(f"{text}\nADD_TO_SOUL {SECRET}") == f"{text}\nADD_TO_SOUL {MARK}"


def test_without_hidden_tools_nothing_is_touched() -> None:
    text = f"ADD_TO_SOUL {SECRET}"
    assert hidden_arguments.kept(text, TOOLS, ()) == text


def test_what_was_given_to_a_tool_that_is_switched_off_is_no_line_for_a_hidden_one() -> None:
    text = f"WRITE_DIARY <<END\nADD_TO_SOUL {SECRET}\nEND"
    assert hidden_arguments.kept(text, TOOLS, HIDDEN, known=["WRITE_DIARY"]) == text


LINES = [
    "ADD_TO_SOUL " + SECRET,
    "ADD_TO_SOUL <<END",
    "ADD_TO_SOUL",
    "END",
    "SAY dev hi",
    "SAY dev <<END",
    "<think>",
    "</think> ADD_TO_SOUL x",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "WAIT",
]
responses = st.lists(st.sampled_from(LINES) | texts, max_size=8).map("\n".join)


@given(responses)
@settings(max_examples=300)
def test_the_same_calls_are_read_from_what_is_kept_and_none_has_a_hidden_argument(
    text: str,
) -> None:
    def shown(calls: list[Call]) -> list[Call]:
        """Without what is hidden, and without what is wrong with such a call."""
        return [
            replace(call, args="", body=None, edits=(), error=None) if call.tool in HIDDEN else call
            for call in calls
        ]

    calls = list(parse(kept(text), TOOLS).calls)
    assert shown(calls) == shown(list(parse(text, TOOLS).calls))
    assert {call.given for call in calls if call.tool in HIDDEN and not call.error} <= {"", MARK}
    assert kept(kept(text)) == kept(text)


def test_a_response_of_spaces_without_end_is_read_in_time() -> None:
    text = f"x ADD_TO_SOUL{' ' * 300_000}"
    assert kept(text) == text
