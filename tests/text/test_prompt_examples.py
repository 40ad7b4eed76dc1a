"""No example in a prompt can become a memory: a model takes what stands there for something that
happened, and a summary of it is believed for weeks.

So an example has placeholders, ``<what they said>``. It has no name of a person or a place, no hash
and no date that looks real.
"""

import re
from pathlib import Path

import pytest

from dory.text.prompt_files import ROOT

FILES = sorted(
    [
        ROOT / "SOUL.md",
        *(ROOT / "prompts" / f"{name}.md" for name in ("harness", "lean", "ledger", "references")),
        *(ROOT / "prompts" / f"{name}.md" for name in ("turn", "lean_turn", "idle")),
        *Path(__file__).parents[2].glob("dory/**/lessons.md"),
    ]
)
_PLACEHOLDER = re.compile(r"<[^<>\n]+>|\{\w+\}")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8,64}\b")
_DATE = re.compile(
    r"\b\d{4}-\d\d(?:-\d\d)?\b|\b\d\d:\d\d\b|\b\d{1,2}\.? (?:January|February|March|April|May|June"
    r"|July|August|September|October|November|December)\b"
)
_NAME = re.compile(r"(?<![.!?:;`]\s)(?<![-#>]\s)(?<=[\w,;(\"'“] )[A-Z][a-z]+\b(?!\.md)")
"""A word with a capital in the middle of a sentence."""
_KNOWN = {"Dory", "Dream", "Dreams", "Reason"}
"""Names that belong to the program."""


def suspects(text: str) -> list[str]:
    """What of a prompt could be taken for something from the user's life."""
    plain = "\n".join(_PLACEHOLDER.sub("<>", line).strip() for line in text.splitlines())
    names = {match[0] for match in _NAME.finditer(plain)} - _KNOWN
    return [*sorted(names), *_HASH.findall(plain), *_DATE.findall(plain)]


def test_there_are_files_to_look_at() -> None:
    assert len(FILES) > 12


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_no_example_in_a_prompt_can_become_a_memory(path: Path) -> None:
    assert suspects(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "example",
    [
        "    GIST: a trip that Ada plans",
        "the hotel in Lisbon is booked",
        "NOTE_READ 5d41402abc4b2a76",
        "UNCOMPACT dory-5d41402a",
        "SHOW_DIARY_ENTRIES_FROM_DAY 2026-03-02",
        "remember that my birthday is on 4 May",
        "we meet at 09:14",
    ],
)
def test_what_could_be_taken_for_a_life_is_noticed(example: str) -> None:
    assert suspects(example)


@pytest.mark.parametrize(
    "harmless",
    [
        "NOTE_ADD <subject> <what Ada said on 4 May>",
        "Keep it short. Replace a line; MEMORY.md is yours.",
        "- Answer whoever speaks.",
        "You are {name}, or Dory.",
    ],
)
def test_placeholders_and_plain_words_are_not_suspected(harmless: str) -> None:
    assert suspects(harmless) == []


def test_the_soul_shows_no_call_with_its_result_and_answer_in_one_piece() -> None:
    soul = (ROOT / "SOUL.md").read_text(encoding="utf-8")
    assert "[#" not in soul and "[USER:" not in soul
