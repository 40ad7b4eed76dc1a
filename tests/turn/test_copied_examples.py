"""No example can become a memory: a model that answers a compaction with what stands in the
instruction is not believed.
"""

import re
from pathlib import Path

import pytest

from dory.identity import context
from dory.text import prompt_files
from dory.text.prompt_files import SEGMENT, SUMMARISE
from dory.types import Prompt
from tests.support.compacting import House, Scripted, asked_ids, in_parts, summary

OLD_SUMMARISE = """\
The entries named in the header above this text are about to fade from your context. Write what
should stay in their place. Answer in this form and with nothing else:

    GIST: Ada plans her trip to Lisbon: flights, hotel, budget
    RELEVANCE: 6
    SUMMARY:
    Ada plans a trip to Lisbon in May; flights and a hotel were chosen, a budget was set. Open: an
    insurance.
"""
OLD_SEGMENT = """\
Answer with one line per chunk, first id, last id, a few words, and nothing else:

    12-19 planning the trip to Lisbon
    20-26 the broken build
"""


def example_of(instruction: str) -> str:
    """The indented lines of an instruction, as a weak model copies them."""
    lines = re.findall(r"^    (.*)$", instruction, re.MULTILINE)
    return "\n".join(lines)


@pytest.mark.parametrize("own", ["", OLD_SUMMARISE], ids=["shipped", "edited long ago"])
def test_a_model_that_copies_the_example_of_summarise_is_asked_again_and_not_believed(
    tmp_path: Path, own: str
) -> None:
    house = House(tmp_path, Scripted(segment=in_parts(9)))
    if own:
        (house.me.folder / SUMMARISE).write_text(own)
    example = example_of(house.me.text(SUMMARISE))
    assert "GIST: " in example and "SUMMARY:" in example
    house.model.rules["summarise"] = lambda prompt: re.sub("<a number.*>", "5", example)
    house.hear(29)
    house.compact()
    again = [prompt.text for purpose, prompt in house.model.asked if "[#retry]" in prompt.text]
    assert again and "GIST repeats the instruction" in again[0]
    text = context.render(house.me.context)
    for part in ("Lisbon", "trip", "<who", "sentences>"):
        assert part not in text
    faded = [entry for entry in house.me.context if entry.kind == "compacted"]
    assert faded and all(entry.gist.startswith("ada: crate") for entry in faded)
    assert house.me.state.failures == 0


@pytest.mark.parametrize("own", ["", OLD_SEGMENT], ids=["shipped", "edited long ago"])
def test_a_model_that_copies_the_example_of_segment_does_not_stop_a_compaction(
    tmp_path: Path, own: str
) -> None:
    house = House(tmp_path, Scripted())
    if own:
        (house.me.folder / SEGMENT).write_text(own)
    example = example_of(house.me.text(SEGMENT))
    house.model.rules["segment"] = lambda prompt: example
    house.hear(29)
    house.compact()
    assert any(entry.kind == "compacted" for entry in house.me.context)
    assert house.me.state.failures == 0


def test_the_summary_of_another_stretch_is_not_taken_for_this_one(tmp_path: Path) -> None:
    def mixed_up(prompt: Prompt) -> str:
        return summary("Eve bakes a lemon cake for Sunday", 3)

    house = House(tmp_path, Scripted(segment=in_parts(9), summarise=mixed_up))
    house.hear(29)
    house.compact()
    again = [prompt.text for purpose, prompt in house.model.asked if "[#retry]" in prompt.text]
    assert "GIST has hardly a word in common with entries 1-9" in again[0]
    assert "lemon" not in context.render(house.me.context)


@pytest.mark.parametrize(
    "path",
    [
        *(prompt_files.ROOT / name for name in (SEGMENT, SUMMARISE)),
        *(
            prompt_files.ROOT / "prompts" / f"{name}.md"
            for name in ("dream", "study", "revise", "memories", "narrative", "remind", "unsummed")
        ),
    ],
    ids=lambda path: path.name,
)
def test_no_instruction_holds_what_could_be_taken_for_somebodys_life(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(?:Ada|Bob|Eve|Lisbon|Paris|London)\b", text), "a name"
    months = "January|February|March|April|June|July|August|September|October|November|December"
    assert not re.search(rf"\b(?:{months}|\w+day)\b(?<!birthday)(?<!everyday)", text), "a date"
    assert not re.search(r"\b\d+-\d+ [a-z]|#\d|[0-9a-f]{8,}", text.replace("2-3 sentences", "")), (
        "an id"
    )


def test_what_a_compaction_asks_says_that_it_is_no_turn_and_holds_one_order(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.hear(29)
    house.compact()
    for _, prompt in house.model.asked:
        order = prompt.text[prompt.text.rindex("\n[#") :]
        assert "This is no turn" in order and "tool lines have no effect" in order
        assert prompt_files.prompt("turn") not in prompt.text
        assert asked_ids(prompt)
