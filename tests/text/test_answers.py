"""Answers as real models write them, each with the effect that it must have, and what holds for any
answer.

The rows of ``tests/data/answers/*.yaml`` have a ``name``, a ``source`` where the shape was seen,
the ``answer``, and what comes of it: ``calls`` as tool lines, a part of each of the ``errors``, the
``plain`` text, and the beginning of what was ``invented``. What a row does not name must not come.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dory.text.answers import parse, saying
from dory.text.imitations import STOP, begun
from dory.text.thoughts import OPENING
from dory.text.tool_calls import render
from tests.support.household import texts

TOOLS = (
    "SAY <room> <message>",
    "READ_FILE <path> [from-to]",
    "EDIT_FILE <path>, then one or more search/replace blocks",
    "UNCOMPACT <hash>",
    "JOIN <room>",
    "LEAVE <room>",
    "WAIT",
    "RECALL <query>",
    "NOTE_ADD <name> <content>",
    "WRITE_DIARY <text>",
    "SELF_CARE",
)
ROOMS = ("dev", "lobby")
FAMILIES = sorted((Path(__file__).parent.parent / "data" / "answers").glob("*.yaml"))
ROWS: list[dict[str, Any]] = [
    {"family": path.stem, **row} for path in FAMILIES for row in yaml.safe_load(path.read_text())
]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['family']}: {row['name']}" for row in ROWS])
def test_an_answer_has_the_effect_that_it_must_have(row: dict[str, Any]) -> None:
    answer = parse(row["answer"], TOOLS, rooms=ROOMS)
    made = [render([call]) for call in answer.calls if not call.error]
    errors = [call.error for call in answer.calls if call.error]
    assert made == row.get("calls", [])
    wanted = row.get("errors", [])
    assert len(errors) == len(wanted)
    assert all(part in error for part, error in zip(wanted, errors, strict=True))
    assert answer.plain == row.get("plain", "")
    assert answer.invented.startswith(row.get("invented", "")) or not answer.invented
    assert bool(answer.invented) == ("invented" in row)


def test_the_table_is_as_long_as_it_has_to_be() -> None:
    assert len([row for row in ROWS if row["family"] != "prose"]) >= 150
    assert len([row for row in ROWS if row["family"] == "prose"]) >= 30
    assert len({(row["family"], row["name"]) for row in ROWS}) == len(ROWS)


PIECES = [row["answer"] for row in ROWS]
answers = st.lists(st.sampled_from(PIECES) | texts, min_size=1, max_size=4).map("\n".join)


@given(answers)
@settings(max_examples=200, deadline=None)
def test_parsing_raises_on_no_answer_and_every_error_is_one_line(text: str) -> None:
    answer = parse(text, TOOLS, rooms=ROOMS)
    assert all(len(call.error.splitlines()) == 1 for call in answer.calls if call.error)
    assert text.endswith(answer.invented) and begun(text) == len(text) - len(answer.invented)
    saying(text, TOOLS, ROOMS)


@given(st.lists(st.from_regex(r"[a-z]{3,9}( [a-z]{3,9}){0,4}", fullmatch=True), min_size=1))
@settings(deadline=None)
def test_every_line_of_prose_is_kept(lines: list[str]) -> None:
    answer = parse("\n".join(lines), TOOLS, rooms=ROOMS)
    kept = f"{answer.plain}\n{render(answer.calls)}".lower()
    assert all(line in kept for line in lines)


@given(answers, st.from_regex(r"zq[a-z]{8}", fullmatch=True))
@settings(max_examples=150, deadline=None)
def test_a_line_behind_any_answer_is_lost_nowhere(text: str, word: str) -> None:
    """It is plain text, in a message or another body, in the place of a call with an error, in what
    was invented, or in a thought without an end.
    """
    answer = parse(f"{text}\n\n{word}", TOOLS, rooms=ROOMS)
    held = [answer.plain, answer.invented, *(render([call]) for call in answer.calls)]
    last_failed = bool(answer.calls and any(call.error for call in answer.calls))
    assert (
        any(word in part for part in held)
        or last_failed
        or OPENING.search(text)
        or "Thought" in text
    )


PIECES_OF_NOTHING = [
    *(
        '{"tool": "SAY", ',
        "<tool_call>",
        "<tool_call>{",
        '{"name": "SAY"\n',
        "[TOOL_CALLS]",
        "SAY(",
    ),
    *("SAY dev <<A\n A\n", "SAY dev ```\n```\n", "<think>", "<SAY>", "Action: SAY\n", "AB_CD x\n"),
    *("- SAY dev\n", "<function=SAY>", "SAY dev a=b ", "\n" * 50, "<invoke name=", '"', "{[", "`"),
    *("to=functions.", "[#1 heard", "<arg_key>", " ", 'SAY dev """\n', "Thought: a\n"),
]


@pytest.mark.parametrize("piece", PIECES_OF_NOTHING)
def test_a_degenerate_answer_is_read_in_time(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    parse(text, TOOLS, rooms=ROOMS)
    parse(f"SAY dev {text}", TOOLS, rooms=ROOMS)


def test_what_is_being_said_is_known_while_it_is_written() -> None:
    for partial, expected in (
        ("SAY de", None),
        ("SAY dev Hello Ada", ("dev", "Hello Ada")),
        ("SAY dev Hello\nWAI", ("dev", "Hello")),
        ("SAY dev Hello\nWAIT", ("dev", "Hello")),
        ("SAY dev <<END\nHello\nthere", ("dev", "Hello\nthere")),
        ('{"tool": "SAY", "args": {"room": "dev", "message": "Hel', ("dev", "Hel")),
        ("I think\n", None),
        ("SAY dev Hello <think>Ada is", ("dev", "Hello")),
        ("SAY dev Hello\n- WRITE_DI", ("dev", "Hello")),
        ("SAY dev Hello\n- WRITE_DIARY secret", None),
        ("SAY dev Hello\nREAD_FILE a.md\n", None),
    ):
        assert saying(partial, TOOLS, ROOMS) == expected, partial


def test_an_endpoint_may_stop_where_a_header_begins() -> None:
    assert all(stop in "SAY dev hi\n[#12 heard dev]" for stop in STOP)
