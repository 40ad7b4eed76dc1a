"""The endpoint against a real llama.cpp server: what is sent and received, and what the server's
cache keeps.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from operator import mul
from pathlib import Path

import pytest

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.control import Control
from dory.errors import WindowExceeded
from dory.extensions import tools
from dory.extensions.cascade import rolling
from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.life_reader import LifeReader
from dory.extensions.cascade.rolling import Task
from dory.extensions.cascade.store import Summary
from dory.identity import context
from dory.identity.context import Entry
from dory.identity.life import HEADING
from dory.llm.completions import Endpoint
from dory.llm.embeddings import Embeddings
from dory.process.jobs import in_parallel
from dory.storage.blobs import Blobs
from dory.text import grammar
from dory.text.grammar import Present
from dory.turn.summarize import Distilled, Request, distil
from dory.types import Message, Prompt, Purpose, Reply, Usage
from tests.support.household import NOON
from tests.support.llama import WINDOW, llama_server
from tests.support.wire import Caller, prompt

SYSTEM = Message("system", "You are Dory, who remembers what people tell her.")
STORY = "\n".join(
    f"[#{number} heard dev] Ada counts fish number {number} in the bay of Lisbon."
    for number in range(8)
)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with llama_server() as url:
        yield url


@pytest.fixture
def caller(base_url: str) -> Caller:
    return Caller(base_url, key="", retries=0, timeout=60.0, max_tokens=6, temperature=0.0)


def test_a_turn_is_streamed_and_counted(caller: Caller) -> None:
    reply = caller.ask("Say hello.")
    assert reply.text.strip()
    assert reply.cut, "six tokens are too few for this model"
    assert reply.usage.completion == 6
    assert 5 < reply.usage.prompt < 60
    assert reply.usage.cached is not None


def test_a_longer_prompt_and_forks_of_it_are_served_from_the_cache(caller: Caller) -> None:
    begun = Prompt((SYSTEM, Message("user", STORY)))
    grown = Prompt(
        (SYSTEM, Message("user", f"{STORY}\n[#8 heard dev] Ada asks how many fish there are."))
    )
    first = caller.endpoint.complete(begun, "turn").usage
    second = caller.endpoint.complete(grown, "turn").usage
    forks = [
        caller.endpoint.complete(grown.fork(f"[#summarise {at}]\nSum it up."), "summarise").usage
        for at in ("0-4", "5-8")
    ]
    tail = (
        12  # tokens behind the text that the chat template adds, and one that may straddle the seam
    )
    assert first.prompt > 150
    assert (second.cached or 0) >= first.prompt - tail
    assert all((fork.cached or 0) >= second.prompt - tail for fork in forks)
    assert all(fork.prompt > (fork.cached or 0) for fork in forks)


def test_the_requests_of_a_compaction_are_served_from_the_cache(caller: Caller) -> None:
    entries = [
        Entry(at, at, "heard", "dev", f"Ada counts fish number {at} in the bay of Lisbon.")
        for at in range(1, 9)
    ]
    live = Prompt((SYSTEM, Message("user", context.render(entries))))
    turn = caller.endpoint.complete(live, "turn").usage
    usages: list[Usage] = []

    class Noting:
        """Keeps what the calls used."""

        name = caller.endpoint.name

        def complete(
            self, prompt: Prompt, purpose: Purpose, control: Control | None = None
        ) -> Reply:
            reply = caller.endpoint.complete(prompt, purpose)
            usages.append(reply.usage)
            return reply

    with contextlib.suppress(
        ValueError
    ):  # so small a model names no chunks; its calls are what counts here
        distil(
            Noting(), Request(live, [entries[:5]], "Name the chunks.", "Sum it up.", 1), Distilled()
        )
    assert {usage.purpose for usage in usages} >= {"segment"} and len(usages) >= 2
    assert all((usage.cached or 0) >= turn.prompt - 12 for usage in usages)


def test_threads_wait_for_the_only_slot(caller: Caller) -> None:
    replies = in_parallel([lambda: caller.ask("Say hello.")] * 3, "caller")
    assert len({reply.text for reply in replies}) == 1


def test_a_prompt_beyond_the_window_is_told_as_that(caller: Caller) -> None:
    with pytest.raises(WindowExceeded, match=f"{WINDOW} tokens"):
        caller.ask("fish " * 2 * WINDOW)


def test_a_plain_text_is_gone_on_with_until_a_stop_token(base_url: str) -> None:
    counting = prompt("one two three four five six seven")
    config = Config(timeout=60.0)
    model = Profile("any", base_url, api="completions", max_tokens=12, temperature=0.0)
    free, stopped = (
        Endpoint(config, replace(model, stop=stop)).complete(counting, "cascade")
        for stop in ((), ("ten",))
    )
    assert free.text.startswith("eight nine ten") and free.cut and free.usage.completion == 12
    assert stopped.text == "eight nine" and not stopped.cut
    assert free.usage.prompt == 7


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_a_run_of_the_cascade_makes_both_summaries(base_url: str, tmp_path: Path, api: str) -> None:
    model = Endpoint(
        Config(timeout=60.0), Profile("any", base_url, api=api, max_tokens=40, temperature=0.0)
    )
    events = [
        "heard dev ada: I have booked the hotel in Lisbon.",
        "heard dev ada: It has a garden.",
        "heard dev bob: The build is broken again.",
    ]
    path = tmp_path / "LIFE.md"
    path.write_text(HEADING + "".join(f"2026-03-02 12:00 {text}\n" for text in events))
    memories = LifeReader(path)
    old = Summary(1, memories.find(1), NOON, "any", "Ada booked the hotel in Lisbon.")
    task = Task(None, old, None, old.place, 2, 65, event_limit=1000)
    texts = EventTexts(Blobs(tmp_path / "blobs"), tools(), plainly=False)
    made = rolling.run(model, memories, texts, task, lambda text: text)
    assert made.place == memories.find(3)
    for text in (made.longterm, made.recent):
        assert (
            10 < len(text) <= rolling.LIMIT
            and text == " ".join(text.split())
            and "Summarize these memories" not in text
        )


def test_with_the_grammar_of_its_tools_a_model_writes_nothing_else(base_url: str) -> None:
    """This model never writes a tool line by itself."""
    usages = [tool.usage for tool in tools()]
    present = Present(["dev"], ["dev"], ["MEMORY.md"], ["MEMORY.md"], ["5d41402abc4b2a76"])
    asked = Prompt((Message("user", "Say hello to me."),), grammar=grammar.of(usages, present))
    heads = tuple(usage.split()[0].rstrip(",") for usage in usages)
    for mode in ("off", "auto"):
        config = Config("any", base_url, timeout=60.0, max_tokens=24, temperature=0.0, grammar=mode)
        text = Endpoint(config).complete(asked, "turn").text
        assert text.startswith(heads) is (mode == "auto"), text


def test_vectors_of_texts_are_the_nearer_the_more_alike_they_are(base_url: str) -> None:
    texts = [
        "Ada booked a hotel in Lisbon.",
        "Ada reserved a hotel room in Lisbon.",
        "def main(): return 0",
    ]
    made = Embeddings(Config(timeout=60.0), Profile("any", base_url)).embed(texts)
    assert [len(vector) for vector in made.vectors] == [576] * 3
    first, alike, other = made.vectors
    assert sum(map(mul, first, alike)) > sum(map(mul, first, other)), "llama.cpp normalises them"
    assert (
        made.usage.prompt > 20 and made.usage.completion == 0 and made.usage.purpose == "embedding"
    )
