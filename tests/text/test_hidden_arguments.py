"""What a response gives to hidden tools does not stand in what is kept of it, and everything else
is read from that as before.
"""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dory.text.hidden_arguments import MARK, discreet, hushed
from dory.text.tool_calls import as_thought, parse
from dory.types import Call
from tests.support.household import texts

TOOLS = ("SAY", "EDIT_FILE", "ADD_TO_SOUL", "WAIT")
HIDDEN = {"ADD_TO_SOUL"}
SECRET = "I fear being forgotten by Ada"


def kept(text: str, reasoning: str = "") -> str:
    text, reasoning = discreet(text, reasoning, TOOLS, HIDDEN)
    return as_thought(reasoning) + text


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
        (f"ADD_SOUL {SECRET}", f"ADD_SOUL {MARK}"),
        (f"ADD_TO_SOUL: {SECRET}\n<<<<<<< SEARCH", f"ADD_TO_SOUL: {MARK}\n<<<<<<< SEARCH"),
        (f"- ADD_TO_SOUL {SECRET}", f"- ADD_TO_SOUL {MARK}"),
        (f"**ADD_TO_SOUL** {SECRET}", f"**ADD_TO_SOUL** {MARK}"),
        (
            f"<think>I will ADD_TO_SOUL {SECRET}</think>\nSAY dev hi",
            f"<think>I will ADD_TO_SOUL {MARK}</think>\nSAY dev hi",
        ),
        (
            f"{SECRET}, that is it.\nADD_TO_SOUL {SECRET}",
            f"{MARK}, that is it.\nADD_TO_SOUL {MARK}",
        ),
        (
            f"  ADD_TO_SOUL <<END\n  {SECRET}\n\n  and more\n  END\nso",
            f"  ADD_TO_SOUL <<END\n{MARK}\n  END\nso",
        ),
        (f"- ADD_TO_SOUL <<END\n{SECRET}\nEND\nso", f"- ADD_TO_SOUL <<END\n{MARK}\nEND\nso"),
        (f"ADD_TO_SOUL <<END>>\n{SECRET}\nEND\nso", f"ADD_TO_SOUL {MARK}\n{MARK}\nEND\nso"),
        (f"ADD_TO_SOUL\n{SECRET}\nand more\n\nso", f"ADD_TO_SOUL\n{MARK}\n\nso"),
        (f"ADD_TO_SOUL:\n{SECRET}\nWAIT\nso", f"ADD_TO_SOUL:\n{MARK}\nWAIT\nso"),
        (f"- ADD_TO_SOUL\n  {SECRET}\n- SAY dev hi", f"- ADD_TO_SOUL\n{MARK}\n- SAY dev hi"),
        (
            f"<think>\nADD_TO_SOUL <<END\n{SECRET}\nEND\n</think>\nWAIT",
            f"<think>\nADD_TO_SOUL <<END\n{MARK}\nEND\n</think>\nWAIT",
        ),
        (f"add_to_soul {SECRET}", f"add_to_soul {MARK}"),
        (f"add_to_soul:\n{SECRET} </think> x", f"add_to_soul:\n{MARK}</think>{MARK}"),
        (
            f"<think>{SECRET.upper()}!</think>\nADD_TO_SOUL {SECRET}",
            f"<think>{MARK}!</think>\nADD_TO_SOUL {MARK}",
        ),
        ("ADD_TO_SOUL I love <3 and x", f"ADD_TO_SOUL {MARK}"),
        ("- ADD_TO_SOUL 12.", "- ADD_TO_SOUL 12."),
        ("ADD_TO_SOUL", "ADD_TO_SOUL"),
        ("what would ADD_TO_SOUL do?", f"what would ADD_TO_SOUL {MARK}"),
        ("SAY dev use ADD_TO_SOUL <text> for that", "SAY dev use ADD_TO_SOUL <text> for that"),
    ],
)
def test_it_is_taken_out_however_it_is_written(text: str, left: str) -> None:
    assert kept(text) == left


def test_it_is_taken_out_of_the_reasoning_too() -> None:
    shown = kept(f"ADD_TO_SOUL {SECRET}", f"Deep down {SECRET}.\nADD_TO_SOUL {SECRET} a bit\nyes")
    assert (
        shown == as_thought(f"Deep down {MARK}.\nADD_TO_SOUL {MARK}\nyes") + f"ADD_TO_SOUL {MARK}"
    )


def test_what_is_said_in_a_room_stays_as_it_was_said() -> None:
    text = f"SAY dev <<END\nADD_TO_SOUL {SECRET}\nEND\nSAY dev {SECRET}\nADD_TO_SOUL {SECRET}"
    assert kept(text) == text.removesuffix(SECRET) + MARK


@pytest.mark.parametrize("line", ["WRITE_DIARY", "WRITE_DIAR"])
def test_it_is_taken_out_of_a_line_that_does_nothing_too(line: str) -> None:
    text = f"{line} {SECRET}\nADD_TO_SOUL {SECRET}"
    assert (
        discreet(text, "", TOOLS, HIDDEN, known=("WRITE_DIARY",))[0]
        == f"{line} {MARK}\nADD_TO_SOUL {MARK}"
    )


def test_without_hidden_tools_nothing_is_touched() -> None:
    text = f"ADD_TO_SOUL {SECRET}"
    assert discreet(text, text, TOOLS, ()) == (text, text)


LINES = [
    "ADD_TO_SOUL " + SECRET,
    "ADD_TO_SOUL <<END",
    "END",
    "SAY dev hi",
    "SAY dev <<END",
    "<think>",
    "</think> ADD_TO_SOUL x",
    "WAIT",
    SECRET,
]
FORMS = [
    "ADD_TO_SOUL {}",
    "ADD_TO_SOUL: {}",
    "ADD_TO_SOUL\n{}",
    "ADD_TO_SOUL:\n\n{}",
    "ADD_TO_SOUL <<END\n{}\nEND",
    "ADD_TO_SOUL <<END>>\n{}\nEND",
    "ADD_TO_SOUL <<'END'\nso\n\n{}\nEND",
    "- ADD_TO_SOUL {}",
    "- ADD_TO_SOUL\n  {}",
    "  ADD_TO_SOUL <<END\n  so\n\n  {}\n  END",
    "**ADD_TO_SOUL**: {}",
    "add_to_soul {}",
    "I will Add_to_Soul:\n{}",
]
"""How a model may write it that has not quite understood, or only thinks of it."""
responses = st.lists(st.sampled_from(LINES) | texts, max_size=8).map("\n".join)


@given(responses, responses)
@settings(max_examples=300)
def test_the_same_calls_are_read_from_what_is_kept(text: str, reasoning: str) -> None:
    def shown(calls: list[Call]) -> list[Call]:
        """Without what is hidden, and without what is wrong with such a call."""
        return [
            replace(call, args="", body=None, edits=(), error=None) if call.tool in HIDDEN else call
            for call in calls
        ]

    assert shown(parse(kept(text, reasoning), TOOLS)) == shown(
        parse(as_thought(reasoning) + text, TOOLS)
    )
    assert discreet(*discreet(text, reasoning, TOOLS, HIDDEN), TOOLS, HIDDEN) == discreet(
        text, reasoning, TOOLS, HIDDEN
    )


quiet = st.lists(
    st.sampled_from([line for line in LINES if "SAY" not in line]) | texts, max_size=4
).map("\n".join)


@given(quiet, st.sampled_from(FORMS), quiet, st.booleans())
@settings(max_examples=500)
def test_what_is_meant_for_a_hidden_tool_is_in_nothing_that_is_kept_in_whatever_form_it_is_written(
    before: str, form: str, behind: str, thought: bool
) -> None:
    written = form.format(SECRET)
    text, reasoning = (
        ("WAIT", f"{before}\n{written}\n{behind}")
        if thought
        else (f"{before}\n{written}\n{behind}", SECRET.upper())
    )
    assume(
        not any("SAY" in (call.tool, call.args[:3]) for call in parse(text, TOOLS))
    )  # what is said in a room is public
    assert SECRET.lower() not in kept(text, reasoning).lower()


def test_what_hidden_tools_hold_already_is_in_no_thought_but_is_said_as_it_was_said() -> None:
    text, reasoning = discreet(
        f"So, {SECRET.lower()}.\nSAY dev {SECRET}", f"As {SECRET}, no", TOOLS, HIDDEN, [SECRET]
    )
    assert (text, reasoning) == (f"So, {MARK}.\nSAY dev {SECRET}", f"As {MARK}, no")


def test_a_summary_that_repeats_it_is_kept_without_it_however_it_is_broken_into_lines() -> None:
    assert (
        hushed("GIST: i FEAR being\n forgotten by Ada, short", [SECRET, "short", MARK])
        == f"GIST: {MARK}, short"
    )


@pytest.mark.parametrize("one", ["Kindness", "I like tea", "be honest", "hunter22"])
def test_what_anybody_might_say_otherwise_stays(one: str) -> None:
    text = "Ada's unkindnesses; kindness; I like teaching; to be honest, hunter22"
    assert hushed(text, [one]) == text


@pytest.mark.parametrize("one", ["I like tea", "Radical kindness", "我害怕被艾达忘记", "x" * 24])
def test_what_can_be_told_from_that_is_taken_out_in_any_script(one: str) -> None:
    assert hushed(f"So: {one}, as Ada said.", [one]) == f"So: {MARK}, as Ada said."
    assert hushed("Ada我害怕被艾达忘记了", ["我害怕被艾达忘记"]) == f"Ada{MARK}了"


def test_what_was_given_to_a_tool_that_is_switched_off_is_no_line_for_a_hidden_one() -> None:
    text = f"WRITE_DIARY <<END\nADD_TO_SOUL {SECRET}\nEND"
    assert discreet(text, "", TOOLS, HIDDEN, known=["WRITE_DIARY"]) == (text, "")


def test_a_response_of_spaces_without_end_is_read_in_time() -> None:
    assert kept(f"x ADD_TO_SOUL{' ' * 300_000}") == f"x ADD_TO_SOUL{' ' * 300_000}"
