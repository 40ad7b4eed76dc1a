"""The line of the prompt that is true now: place, mood, what waits for self-care."""

import time
from pathlib import Path

import pytest

from agent import Agent
from dory.extensions.memories.self_care import LEAST
from dory.extensions.people.conversations import HELD
from dory.extensions.people.conversations_extension import ConversationsExtension
from dory.types import Line
from tests.support.everything import agent_with_everything
from tests.support.household import NOON


def prompt(agent: Agent) -> str:
    return "\n".join(message.content for message in agent.prompts.build().messages)


def line(agent: Agent) -> str:
    """What stands in the newest prompt below the newest header."""
    return prompt(agent).rpartition("[#now]\n")[2].partition("\n")[0]


def act(agent: Agent, *lines: str) -> None:
    """A turn of the offline model in which somebody has it do these tool lines."""
    asked = "please do: " + "\n".join(lines)
    agent.me.rooms.say("dev", "USER", "ada", asked, agent.me.now())
    agent.inbox.receive()
    agent.turn()


def remember(agent: Agent, count: int) -> None:
    care = next(member for member in agent.extensions.members if member.name == "mending")
    for number in range(count):
        care._bank.add(f"thing {number}", NOON)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["full", "lean"])
def test_place_mood_and_counts_are_told_as_they_are_now_in_one_line_and_nowhere_else(
    tmp_path: Path, kind: str
) -> None:
    agent = agent_with_everything(tmp_path, prompt=kind)
    empty = "You are at home. Your diary: empty. Your long-term memory: empty."
    assert line(agent) == empty and prompt(agent).count("[#now]") == 1
    act(agent, "SET_MOOD calm", "GO_TO_PLACE the harbour", "ADD_TO_LONGTERM_MEMORY rain")
    assert line(agent) == (
        "You are at the harbour. Mood: calm. Your diary: empty."
        " 1 memory so far (SELF_CARE needs 30)."
    )
    system = agent.prompts.build().messages[0].content
    assert "You are at" not in system and "memories so far" not in system
    remember(agent, LEAST)
    assert line(agent).endswith(
        "Your diary: empty. 31 memories so far: SELF_CARE is possible at home."
    )
    act(agent, "GO_HOME")
    assert line(agent).endswith("31 memories so far: SELF_CARE is possible.")
    act(agent, "SELF_CARE")
    assert line(agent).endswith("Self-care is under way, 0 of 31 memories done.")


def test_after_self_care_the_memories_since_then_are_counted(tmp_path: Path) -> None:
    agent = agent_with_everything(tmp_path)
    remember(agent, LEAST)
    bank = next(m for m in agent.extensions.members if m.name == "mending")._bank  # type: ignore[attr-defined]
    bank.narrate(range(1, LEAST + 1), "Things were.", NOON)
    assert line(agent).endswith("No memories since the last self-care (SELF_CARE needs 30).")
    remember(agent, 1)
    assert line(agent).endswith("1 memory since the last self-care (SELF_CARE needs 30).")


def test_where_it_is_told_again_within_an_epoch_the_prompt_says_that_the_last_is_true(
    tmp_path: Path,
) -> None:
    agent = agent_with_everything(tmp_path, prompt="lean")
    prompt(agent)
    act(agent, "SET_MOOD calm")
    assert prompt(agent).count("\n[#now]\n") == 2 and "Mood: calm." in line(agent)
    assert "stands here twice, the last is true." in prompt(agent)


def test_that_many_lines_wait_for_self_care_is_told_as_it_is_now_and_in_no_section_of_an_epoch(
    tmp_path: Path,
) -> None:
    agent = agent_with_everything(tmp_path)
    members = agent.extensions.members
    dialogues = next(member for member in members if isinstance(member, ConversationsExtension))
    records = dialogues._dialogues
    lines = [Line("dev", "USER", "ada", "", f"thing {number}", 0) for number in range(HELD)]
    records.add("dev", lines, agent.me.name, 1, 1, NOON, NOON, {})
    assert line(agent) == "You are at home. Your diary: empty. Your long-term memory: empty."
    records.add("dev", lines[:1], agent.me.name, 1, 2, NOON, NOON, {})
    many = f"More than {HELD:,} lines of your conversations wait to be summed up"
    assert line(agent) == (
        f"You are at home. Your diary: empty. No memories so far: SELF_CARE is possible. {many}."
    )
    agent.me.new_epoch()
    assert prompt(agent).count(many) == 1, "in no section of the epoch"
    batch = records.batch(500)
    assert batch
    batch.keep("We talked.", NOON)
    assert many not in prompt(agent)


def test_it_has_only_what_the_extensions_in_use_know(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("memories", "diary", "notes")]
    told = [
        "Your long-term memory: empty.",
        "You are at home. Your diary: empty.",
    ]
    for home, expected in zip(homes, told, strict=False):
        home.mkdir()
        assert line(agent_with_everything(home, home.name)) == expected
    homes[2].mkdir()
    assert "[#now]" not in prompt(agent_with_everything(homes[2], "notes"))


def test_what_self_care_has_made_is_before_the_model_from_the_next_epoch_on(tmp_path: Path) -> None:
    agent = agent_with_everything(tmp_path)
    remember(agent, LEAST)
    act(agent, "SELF_CARE")
    for _ in range(500):
        agent.extensions.step()
        if not line(agent).count("Self-care is under way"):
            break
        time.sleep(0.01)
    assert "No memories since the last self-care" in line(agent)
    assert "[#memories]" not in prompt(agent)
    agent.me.new_epoch()
    system, user = (message.content for message in agent.prompts.build().messages)
    assert "[#memories]" not in system, "it retells what people said"
    assert f"\nsummary {LEAST + 1} of " in user.partition("[#1 ")[0]
