"""A whole agent with a real language model, the smallest there is (SmolLM2, 135 million
parameters) behind a real llama.cpp server. It says hardly anything sensible. So these tests are
about what the harness promises with any model: nobody waits in vain, nothing is invented in memory,
and every call ends.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.common.stepping import Alone, rest
from dory import check
from dory.clock import utc
from dory.config.settings import Config
from dory.extensions import checked
from dory.identity import context
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.process.signals import ShutdownSignal
from dory.text.prompt_files import SUMMARISE
from dory.turn import models
from tests.support.llama import llama_server
from tests.support.wire import prompt
from tests.turn.test_copied_examples import OLD_SUMMARISE

WINDOW = 4096
MOST = 1000
"""Tokens that an answer may have which is endless."""
PATIENCE = 120.0
"""Seconds for work beside the loop, on a busy machine."""


@pytest.fixture(scope="module")
def settings() -> Iterator[Config]:
    with llama_server(WINDOW) as url:
        given = Config(
            model="smollm2",
            base_url=url,
            temperature=0.0,
            max_tokens=50,
            timeout=PATIENCE,
            extensions="",
        )
        yield checked(models.fitted(given))


@pytest.fixture(scope="module")
def agent(settings: Config, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """One that is spoken with: the server has its prompt cached."""
    return made(settings, tmp_path_factory.mktemp("home"))


def made(settings: Config, home: Path) -> Alone:
    me = Identity(home, boot(home, "dory", "dev", utc), utc)
    me.begin()
    return Alone(me, settings, models.model(settings, settings.own), False, ShutdownSignal())


def told(agent: Alone, text: str) -> dict[str, str]:
    """Say something; what is then said in the room, by the kind of who says it."""
    me = agent.me
    before = me.rooms.size("dev")
    me.rooms.say("dev", "USER", "ada", text, utc())
    rest([agent], PATIENCE)
    lines = me.rooms.read("dev", before)
    return {line.kind: line.text for line in lines if line.kind != "USER"}


def test_a_greeting_is_answered(agent: Alone, settings: Config) -> None:
    assert settings.window == WINDOW and settings.lean
    assert told(agent, "Good morning! How are you today?")["AGENT"].strip()
    assert not agent.me.state.stuck


def test_no_message_is_met_with_silence(agent: Alone) -> None:
    for text in ("Please remember that my cat is called Tom.", "?"):
        said = told(agent, text)
        assert {"AGENT", "NOTICE"} & set(said), text
        assert not agent.me.state.waiting()


def test_a_summary_tells_what_was_said_and_is_never_the_example_of_the_instruction(
    settings: Config, tmp_path: Path
) -> None:
    agent = made(settings, tmp_path)
    me = agent.me
    (me.folder / SUMMARISE).write_text(OLD_SUMMARISE)  # with an example that is easily copied
    for number in range(1, 7):
        text = f"Box {number} of the blue glasses is packed, and stands in the cellar now."
        me.add("heard", "dev", f"[USER:bob 2026-03-02T12:{number:02}:00Z] {text}")
    me.commit()
    agent.compaction.start(by_hand=True)
    rest([agent], PATIENCE)
    faded = [entry for entry in me.context if entry.kind == "compacted"]
    assert faded and me.state.failures == 0
    assert all("glasses" in entry.gist and "[#" not in entry.body for entry in faded)
    for word in ("Lisbon", "insurance", "flights"):
        assert word not in context.render(me.context.entries)
    assert list(check.problems(me.home)) == []


def test_an_endless_answer_is_cut(settings: Config) -> None:
    model = models.model(settings, replace(settings.own, max_tokens=MOST))
    reply = model.complete(prompt(f"Go on with this, without an end: {'one fish, ' * 40}"), "turn")
    assert reply.cut and 0 < reply.usage.completion < MOST
    assert reply.text.strip()
