"""The opening of a prompt: what people said before stands in the user's part, the same bytes for an
epoch, in every layout.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dory.config.settings import Config
from dory.errors import DoryError
from dory.turn.extension import Extension, Freshness
from dory.turn.extension_host import ExtensionHost
from dory.turn.prompt import PromptBuilder
from tests.support.household import Household, household, moments

LAYOUTS: dict[str, dict[str, Any]] = {
    "tail": {"layout": "tail"},
    "ledger": {"layout": "ledger"},
    "lean": {"layout": "ledger", "prompt": "lean"},
}


class Past(Extension):
    """A section about what was said before. It fails while it has no text."""

    name = "past"

    def __init__(self, freshness: Freshness = "opening") -> None:
        self.freshness = freshness
        self.text = "ada in dev: hello"

    def section(self) -> str:
        if not self.text:
            raise DoryError("the records are damaged")
        return self.text


def builder(house: Household, *members: Extension) -> PromptBuilder:
    return PromptBuilder(house.me, house.config, ExtensionHost([house.tools, *members], print))


@pytest.fixture(params=LAYOUTS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Household:
    return Household(tmp_path, replace(Config(), **LAYOUTS[request.param]))


def test_it_stands_before_the_context_and_never_in_the_system_message(house: Household) -> None:
    prompt = builder(house, Past()).build()
    system, user = (message.content for message in prompt.messages[:2])
    assert "ada in dev" not in system
    assert user.startswith("[#past]\nada in dev: hello\n[#")


def test_it_stays_the_same_for_an_epoch_and_is_rendered_again_in_the_next(house: Household) -> None:
    past = Past()
    prompts = builder(house, past)
    prompts.build()
    past.text = "bob in lab: hello"
    house.me.notice("something happens")
    again = prompts.build()
    assert "bob in lab" not in again.text and again.messages[1].content.startswith("[#past]\nada")
    house.me.new_epoch()
    assert prompts.build().messages[1].content.startswith("[#past]\nbob in lab: hello\n")


def test_a_section_that_fails_as_the_epoch_begins_is_missing_until_the_next(
    house: Household,
) -> None:
    past = Past()
    past.text = ""
    prompts = builder(house, past)
    assert "[#past]" not in prompts.build().text
    past.text = "ada in dev: hello"
    assert "[#past]" not in prompts.build().text, "what was sent must not change"
    house.me.new_epoch()
    assert "[#past]" in prompts.build().text


def test_a_change_is_told_once_as_an_entry_if_the_section_says_so(house: Household) -> None:
    past = Past("opening-change")
    prompts = builder(house, past)
    prompts.build()
    past.text = "bob in lab: hello"
    for _ in range(3):
        prompt = prompts.build()
    assert prompt.messages[1].content.startswith("[#past]\nada in dev: hello\n")
    assert prompt.text.count("bob in lab") == 1 and "bob in lab" not in prompt.messages[0].content


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=10)
@given(st.lists(moments, min_size=1, max_size=6))
def test_each_prompt_of_an_epoch_begins_with_the_one_before_up_to_its_tail(
    layout: str, life: list[tuple[str, str]]
) -> None:
    with household() as house:
        house.config = replace(house.config, **LAYOUTS[layout])
        past = Past()
        prompts = builder(house, past)
        stable = ""
        for moment in life:
            house.live(moment)
            past.text = f"at {len(moment[1])}"
            text = prompts.build().text
            assert text.startswith(stable)
            stable = text.rpartition("\n[#memory ")[0] if layout == "tail" else text
