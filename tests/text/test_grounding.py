"""Whether a model's text comes from its source or from the instruction that asked for it."""

import pytest

from dory.text import prompt_files
from dory.text.grounding import copied, grounded, salient

BUILD = (
    "the build is broken since this morning, the linker does not find libssl\n"
    "I will look at the runner, it was moved to another image on Monday"
)
OLD = """Answer in this form and with nothing else:

    GIST: Ada plans her trip to Lisbon: flights, hotel, budget
    RELEVANCE: 6
    SUMMARY:
    Ada plans a trip to Lisbon in May; flights and a hotel were chosen, a budget was set. Open: the
    travel insurance.
"""


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("ada reports a broken build; the runner's image was moved", BUILD),
        ("Broken builds, looked into", BUILD),
        ("linker", BUILD),
        ("Der Build ist kaputt, der Runner bekam am Montag ein anderes Image", BUILD),
        ("ada sagt, es sei seit heute früh etwas nicht in Ordnung", BUILD),  # only the name
        ("ada and the agent greet each other", BUILD),  # says nothing else
        ("東京への旅行を計画した", "来週、東京に行きたいです。ホテルはまだ決めていません。"),
        ("ada wants to go to Tokyo next week", "来週、東京に行きたいです。"),
        ("Поездка в Казань в июле", "мы поедем в Казань, поезд в июле"),
        ("room 4711", "the code of the door is 4711"),
        ("They greet each other and ada has no other tasks open", "hi\nhello ada"),
        ("nothing was said", ""),
    ],
)
def test_an_honest_summary_is_taken_in_whatever_language(text: str, source: str) -> None:
    assert grounded(text, f"{source}\nada", ["ada"])


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("ada plans her trip to Lisbon: flights, hotel, budget", BUILD),
        ("They spoke about their holidays", BUILD),
        ("大阪で寿司を食べた", "来週、東京に行きたいです。"),
        ("Праздник у бабушки", "мы поедем в Казань, поезд в июле"),
        (
            # a word in common by accident does not carry a text about something else
            "ada cooked dinner on Monday for twelve guests, with lentils, rice, lemon cake and"
            " homemade bread, and the neighbours brought wine",
            BUILD,
        ),
    ],
)
def test_a_summary_of_something_else_is_not(text: str, source: str) -> None:
    assert not grounded(text, f"{source}\nada", ["ada"])


def test_what_tells_sources_apart_are_names_numbers_and_content_words_but_no_tools() -> None:
    text = "SAY dev it was in 2024 and she is a Ryan fan\nEDIT_FILE USER.md"
    assert salient(text) == {"dev", "2024", "ryan", "fan", "user", "md"}


@pytest.mark.parametrize(
    "text",
    [
        "Ada plans her trip to Lisbon: flights, hotel, budget",
        "**ada plans her trip to lisbon - flights, hotel and budget**",
        "Ada plans a trip to Lisbon in May; flights and a hotel were chosen, a budget was set.",
    ],
)
def test_the_example_of_an_instruction_is_recognised_also_when_a_few_words_differ(
    text: str,
) -> None:
    assert copied(text, OLD)
    assert not copied(text, OLD, source=f"{OLD} and set"), "here it is what was really said"


@pytest.mark.parametrize("name", ["SEGMENT", "SUMMARISE"])
def test_every_line_of_an_instruction_is_recognised_in_an_answer(name: str) -> None:
    instruction = (prompt_files.ROOT / f"{name}.md").read_text()
    for line in filter(None, map(str.strip, instruction.splitlines())):
        text = line.partition(": ")[2] if line.startswith(("GIST", "RELEV")) else line
        if len(text.split()) > 2:
            assert copied(text, instruction), line


def test_a_text_of_its_own_is_no_copy() -> None:
    assert not copied("Ada books a flight to Lisbon and asks for a cheap hotel there", OLD)
    assert not copied("a few sentences on why the build broke and who repairs it", OLD)
