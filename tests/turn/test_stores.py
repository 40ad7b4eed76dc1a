"""The table of what belongs where: the stores in use, a line each."""

from dataclasses import replace
from pathlib import Path

import pytest

from dory.config.settings import Config
from dory.extensions import NAMES, tools
from dory.text import formatting, prompt_files
from dory.turn.core_tools import CoreTools
from dory.turn.stores import STORES, table
from tests.support.everything import agent_with_everything

TOKENS = 120


def test_each_store_has_one_line_and_the_whole_is_short() -> None:
    heading, *lines = table(Config()).splitlines()
    assert heading.endswith(":")
    assert [line.removeprefix("- ").partition(":")[0] for line in lines] == list(STORES)
    assert formatting.tokens(table(Config())) <= TOKENS


@pytest.mark.parametrize("extension", [name for name in STORES.values() if name])
def test_a_store_that_is_not_in_use_is_not_named(extension: str) -> None:
    others = ", ".join(name for name in NAMES if name != extension)
    named = table(replace(Config(), extensions=others))
    gone = next(store for store, needed in STORES.items() if needed == extension)
    assert f"- {gone}:" not in named and named.count("\n") == len(STORES) - 1


def test_with_memory_alone_there_is_nothing_to_choose() -> None:
    assert table(replace(Config(), extensions="")) == ""


def test_it_stands_in_the_full_prompt_once(tmp_path: Path) -> None:
    system = agent_with_everything(tmp_path).prompts.build().messages[0].content
    assert system.count(table(Config())) == 1


def test_no_lesson_of_an_extension_says_in_other_words_what_belongs_in_memory() -> None:
    core = {tool.name for tool in CoreTools.TOOLS}
    others = [tool for tool in tools() if tool.name not in core]
    assert [tool.name for tool in others if "MEMORY.md" in tool.lesson] == []


def test_dreams_go_by_the_same_rule() -> None:
    guide = prompt_files.prompt("dream")
    for name in ("USER.md", "MEMORY.md"):
        line = next(line for line in guide.splitlines() if line.startswith(f"- {name}: "))
        said = next(line for line in table(Config()).splitlines() if line.startswith(f"- {name}"))
        word = {"USER.md": "who the people are", "MEMORY.md": "how things are done here"}[name]
        assert word in line and word in said
    words = {
        "notes": "looked up by",
        "long-term memory": "single facts, outcomes and promises",
        "diary": "what a day was like",
        "soul": "believe",
    }
    elsewhere = " ".join(guide.partition("The rest has places of its own")[2].split())
    for store, word in words.items():
        said = next(line for line in table(Config()).splitlines() if line.startswith(f"- {store}"))
        assert word in said and word in elsewhere, store
