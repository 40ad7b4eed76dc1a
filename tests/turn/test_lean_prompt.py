"""The prompt for a small window: short, and laid out as a chat."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from dory.config.profiles import LOCAL
from dory.config.settings import Config
from dory.llm.local import server
from dory.text import formatting, references
from dory.turn import last_prompt
from dory.turn.inbox import Inbox
from dory.turn.prompt import LEAN_LIFE, PromptBuilder
from dory.types import Prompt
from tests.support.everything import agent_with_everything
from tests.support.household import Household
from tests.turn.test_prompt import builder

TOKENS = 900
LEAN = Config(window=8192, context_limit=4000)


def lean(home: Path) -> tuple[Household, PromptBuilder]:
    """A house whose agent has a small model, after one exchange."""
    house = Household(home, LEAN)
    say(house, "hello")
    house.respond("SAY dev hello ada")
    say(house, "what is new?")
    return house, builder(house)


def say(house: Household, text: str) -> None:
    house.hear("dev", "ada", text)
    Inbox(house.me, [], print).receive()


def test_a_small_window_or_the_setting_makes_prompts_lean() -> None:
    assert LEAN.lean and Config(prompt="lean").lean
    assert not Config().lean and not Config(window=32_768).lean
    assert not Config(window=8192, context_limit=4000, prompt="full").lean


def test_with_everything_on_a_lean_system_message_has_at_most_900_tokens(tmp_path: Path) -> None:
    agent = agent_with_everything(tmp_path, prompt="lean")
    system = agent.prompts.build().messages[0].content
    assert formatting.tokens(system) <= TOKENS
    for tool in agent.extensions.tools():
        assert (f"\n{tool.usage}\n" if tool.everyday else tool.name) in system


def test_the_context_is_laid_out_as_a_chat_that_ends_with_who_waits(tmp_path: Path) -> None:
    house, prompts = lean(tmp_path)
    (house.me.folder / "MEMORY.md").write_text("Ada likes tea.\n")
    messages = prompts.build().messages
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[1].content.startswith("[#memory 15 of 4000 characters]\nAda likes tea.\n")
    assert messages[2].content == "SAY dev hello ada"
    heard, mark, turn = messages[3].content.rpartition("\n[#turn]\n")
    assert mark and heard.endswith("] what is new?")
    assert turn.startswith("ada waits for your answer in dev.") and "WAIT" not in turn


def test_nothing_of_life_is_repeated_that_the_context_holds(tmp_path: Path) -> None:
    house, prompts = lean(tmp_path)
    assert "[#life]" not in prompts.build().text
    faded = [house.me.context.entries[0]]
    for number in range(2 * LEAN_LIFE):
        house.me.log("dream", f"change {number}")
    house.fade(faded, "the beginning")
    house.me.new_epoch()
    text = prompts.build().text.partition("[#life]\n")[2].partition("[#")[0]
    assert text.splitlines()[-2].endswith(f"dream change {2 * LEAN_LIFE - 1}")
    assert len(text.splitlines()) == LEAN_LIFE


def test_within_an_epoch_each_prompt_begins_with_the_one_before(tmp_path: Path) -> None:
    house, prompts = lean(tmp_path)
    sent = [prompts.build()]
    for number in range(3):
        house.respond(f"I am fine, {number}.\nSAY dev fine")
        say(house, f"question {number}")
        sent.append(prompts.build())
    assert all(after.text.startswith(before.text) for before, after in pairwise(sent))
    assert {message.role for message in sent[-1].messages[1::2]} == {"user"}
    house.me.new_epoch()
    again = prompts.build()
    assert [message.role for message in again.messages] == [
        message.role for message in sent[-1].messages
    ]
    assert [m.content for m in again.messages if m.role == "assistant"] == [
        references.unescape(entry.body) for entry in house.me.context if entry.kind == "response"
    ]


def test_the_grammar_of_an_answer_changes_with_rooms_files_and_references(tmp_path: Path) -> None:
    house, prompts = lean(tmp_path)
    before = prompts.build().grammar
    assert 'room ::= "dev"\n' in before
    (house.me.folder / "workspace").mkdir(exist_ok=True)
    (house.me.folder / "workspace" / "plan.md").write_text("fish")
    house.respond("JOIN lab")
    faded = house.fade([house.me.context.entries[0]], "the beginning")
    house.me.new_epoch()
    after = prompts.build().grammar
    assert 'room ::= "dev" | "lab"\n' in after and '"workspace/plan.md"' in after
    hashes = [set(re.findall(r'"([0-9a-f]{16})"', text)) for text in (before, after)]
    assert hashes[1] - hashes[0] == {faded}


def test_without_the_setting_no_grammar_is_made(tmp_path: Path) -> None:
    house = Household(tmp_path, replace(LEAN, grammar="off"))
    assert builder(house).build().grammar == ""


LOCALLY = replace(LEAN, model="toy", base_url=LOCAL)


def local(home: Path) -> tuple[Household, PromptBuilder]:
    """The same with a model on this machine, whose server has made its folder."""
    house = Household(home, LOCALLY)
    (house.me.folder / server.FOLDER).mkdir()
    say(house, "hello")
    prompts = builder(house)
    prompts.build()
    house.respond("SAY dev hello ada")
    say(house, "what is new?")
    return house, prompts


def resumed(house: Household) -> PromptBuilder:
    """The builder of the next process, in which somebody has spoken."""
    house.me.new_epoch()
    say(house, "are you there?")
    return builder(house)


def begins_with(prompt: Prompt, before: Prompt) -> bool:
    """Whether a server that has read ``before`` goes on with ``prompt``."""
    *same, last = before.messages
    at = len(same)
    return (
        list(prompt.messages[:at]) == same
        and prompt.messages[at].role == last.role
        and prompt.messages[at].content.startswith(last.content)
    )


def test_a_resumed_agent_goes_on_with_what_its_local_model_has_read(tmp_path: Path) -> None:
    house, prompts = local(tmp_path)
    (house.me.folder / "MEMORY.md").write_text("Ada likes tea.\n")
    before = prompts.build()
    house.respond("SAY dev nothing yet")
    (house.me.folder / "MEMORY.md").write_text("Ada likes coffee.\n")
    after = resumed(house).build()
    assert begins_with(after, before)
    news = after.text.removeprefix(before.text)
    for text in ("SAY dev nothing yet", "are you there?", "Ada likes coffee.", "[#turn]"):
        assert news.count(text) == 1, news


def test_it_begins_anew_when_what_stands_before_the_news_has_changed(tmp_path: Path) -> None:
    house, prompts = local(tmp_path)
    before = prompts.build()
    house.fade(house.me.context.entries[:1], "the beginning")
    assert not begins_with(resumed(house).build(), before)
    before = builder(house).build()
    assert begins_with(resumed(house).build(), before)
    house.respond("JOIN lab")  # the system message names the rooms
    assert not begins_with(resumed(house).build(), before)


def test_a_damaged_last_prompt_is_passed_over(tmp_path: Path) -> None:
    house, prompts = local(tmp_path)
    before = prompts.build()
    path = house.me.folder / server.FOLDER / last_prompt.NAME
    for content in (b"", b"[]", b'{"version": 1}', path.read_bytes()[:-9]):
        path.write_bytes(content)
        assert resumed(house).build().messages[0] == before.messages[0]


def test_an_agent_with_another_model_keeps_no_prompt(tmp_path: Path) -> None:
    house, _ = lean(tmp_path)
    (house.me.folder / server.FOLDER).mkdir()
    builder(house).build()
    assert not [*(house.me.folder / server.FOLDER).iterdir()]
