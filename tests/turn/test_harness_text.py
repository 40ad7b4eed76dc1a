"""What the harness itself costs in every prompt, and that nothing in it speaks of what is off."""

import re
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from dory import extensions
from dory.extensions import NAMES
from dory.text import formatting, prompt_files
from dory.turn.lessons import listed
from dory.turn.system_message import times
from tests.support.everything import EVERYTHING, agent_with_everything
from tests.support.household import NOON

TOKENS = 2000
SOUL_TOKENS, SOUL_LINES = 700, 60
NEEDED_BY = {
    "notes": "notes, recall",
    "conversations": "conversations, relationships",
    "memories": "memories, link",
}
"""What else has to be off."""
SPECIAL = {
    "notes": r"\bnotes?\b(?!:)|NOTE_",
    "recall": r"RECALL\b|↳",
    "cascade": r"summed up, events|cascade|experience",
    "dream": r"dream|USER\.md|VOICE\.md|\[#user|\[#voice",
    "soul": r"belie[fv]|(?<!READ_FILE )(?<!read )\bSOUL\b(?!\.md)|\[#soul",
    "memories": r"long-term|SELF_CARE|REMOVE_FROM_MEMORY|RETRIEVE_",
    "diary": r"diary|\bmood\b|GO_HOME|GO_TO|SET_MOOD",
    "conversations": r"conversation|\[#conversations",
    "relationships": r"relationship|RELATIONSHIP",
    "link": r"NEURAL|\blink\b",
}
"""Words that only an extension brings into a prompt."""


def system_message(home: Path, extensions: str, prompt: str = "full") -> str:
    return agent_with_everything(home, extensions, prompt).prompts.build().messages[0].content


def without(*names: str) -> str:
    return ", ".join(name for name in NAMES if name not in names)


def test_with_everything_on_the_harness_text_has_at_most_2000_tokens(tmp_path: Path) -> None:
    agent = agent_with_everything(tmp_path)
    system = agent.prompts.build().messages[0].content
    for tool in agent.extensions.tools():
        assert f"\n{tool.usage}\n" in system
    assert formatting.tokens(system) <= TOKENS


def test_the_sections_of_everything_stand_in_the_prompt_and_what_was_said_not_in_its_system_message(
    tmp_path: Path,
) -> None:
    agent = agent_with_everything(tmp_path)
    house = agent.me
    house.rooms.say(
        "dev",
        "USER",
        "ada",
        "please do: ADD_TO_SOUL A\nADD_TO_LONGTERM_MEMORY B\nSET_MOOD calm\nNOTE_ADD c d",
        house.now(),
    )
    agent.inbox.receive()
    agent.turn()
    agent.extensions.step()
    house.new_epoch()
    system, user = (message.content for message in agent.prompts.build().messages[:2])
    assert all(f"[#{name}]" in system for name in ("soul", "notes"))
    assert "[#relationships" not in system
    assert re.match(r"\[#relationships as of 2\S+ \d\d:\d\d\]\nada: ", user)
    assert "[#now]\nYou are at home. Mood: calm." in user


def test_the_soul_is_one_page() -> None:
    soul = prompt_files.template(Path("/nowhere"), "SOUL.md")
    assert formatting.tokens(soul) <= SOUL_TOKENS
    assert soul.count("\n") <= SOUL_LINES


@pytest.mark.parametrize("prompt", ["full", "lean"])
def test_without_extensions_the_prompt_has_no_trace_of_any(tmp_path: Path, prompt: str) -> None:
    system = system_message(tmp_path, "", prompt)
    assert_no_trace(system, *NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_extension_that_is_off_leaves_no_trace_in_the_prompt(tmp_path: Path, name: str) -> None:
    off = NEEDED_BY.get(name, name).split(", ")
    assert_no_trace(system_message(tmp_path, without(*off)), name)


@pytest.mark.parametrize("name", NAMES)
def test_the_special_words_of_an_extension_would_be_noticed(tmp_path: Path, name: str) -> None:
    if name not in ("cascade", "conversations"):  # they speak only once something has faded
        assert re.search(SPECIAL[name], system_message(tmp_path, EVERYTHING))


def assert_no_trace(system: str, *names: str) -> None:
    for name in names:
        assert not re.search(SPECIAL[name], system), name
        classes = extensions._REGISTRY[name].classes
        assert not [tool.name for made in classes for tool in made.TOOLS if tool.name in system]


def test_every_tool_has_a_lesson() -> None:
    assert [tool.name for tool in extensions.tools() if not tool.lesson] == []


def test_a_tool_that_the_soul_shows_is_not_taught_twice() -> None:
    tools = extensions.tools()
    soul = "How I speak:\n\n    SAY <room> <words>\n"
    text = listed(tools, soul)
    say = next(tool for tool in tools if tool.name == "SAY")
    assert say.usage in text and say.lesson.splitlines()[0] not in text
    assert say.lesson.splitlines()[0] in listed(tools, "I never SAY anything.")


def test_a_soul_without_the_format_leaves_the_format_to_the_harness(tmp_path: Path) -> None:
    for prompt, part in (("full", "Write SAY, the room and your\nmessage"), ("lean", "plain text")):
        home = tmp_path / prompt
        home.mkdir()
        (home / "SOUL.md").write_text("I am who I am.\n")
        system = system_message(home, "", prompt)
        assert system.startswith("I am who I am.\n\n")
        assert "with a tool's name" in system.partition("# The harness")[2] and part in system


def test_the_prompt_says_the_zone_of_its_times_and_of_the_clock_on_the_wall() -> None:
    assert times(NOON) == "All times are UTC."
    for offset, shown in ((1, "UTC+1"), (-3.5, "UTC-3:30"), (5.75, "UTC+5:45")):
        there = NOON.astimezone(timezone(timedelta(hours=offset)))
        assert times(there).endswith(f"shows {shown}.")
