"""The endpoint against a real llama.cpp server: what its wire really carries, and what its cache really keeps."""

import contextlib
from collections.abc import Iterator

import pytest

from dory import context
from dory.context import Entry
from dory.distil import Distilled, Request, distil
from dory.errors import WindowExceeded
from dory.records import Message, Prompt, Purpose, Reply, Usage
from dory.work import in_parallel
from tests.llama import WINDOW, llama_server
from tests.wire import Caller

SYSTEM = Message("system", "You are Dory, who remembers what people tell her.")
STORY = "\n".join(f"[#{number} heard dev] Ada counts fish number {number} in the bay of Lisbon." for number in range(8))


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
    grown = Prompt((SYSTEM, Message("user", f"{STORY}\n[#8 heard dev] Ada asks how many fish there are.")))
    first = caller.endpoint.complete(begun, "turn").usage
    second = caller.endpoint.complete(grown, "turn").usage
    forks = [caller.endpoint.complete(grown.fork(f"[#summarise {at}]\nSum it up."), "summarise").usage for at in ("0-4", "5-8")]
    tail = 12  # tokens behind the text that the chat template adds, and one that may straddle the seam
    assert first.prompt > 150
    assert (second.cached or 0) >= first.prompt - tail
    assert all((fork.cached or 0) >= second.prompt - tail for fork in forks)
    assert all(fork.prompt > (fork.cached or 0) for fork in forks)


def test_the_requests_of_a_compaction_are_served_from_the_cache(caller: Caller) -> None:
    entries = [Entry(at, at, "heard", "dev", f"Ada counts fish number {at} in the bay of Lisbon.") for at in range(1, 9)]
    live = Prompt((SYSTEM, Message("user", context.render(entries))))
    turn = caller.endpoint.complete(live, "turn").usage
    usages: list[Usage] = []

    class Noting:
        """Keeps what the calls used."""

        name = caller.endpoint.name

        def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
            reply = caller.endpoint.complete(prompt, purpose)
            usages.append(reply.usage)
            return reply

    with contextlib.suppress(ValueError):  # so small a model names no chunks; its calls are what counts here
        distil(Noting(), Request(live, [entries[:5]], "Name the chunks.", "Sum it up.", 1), Distilled())
    assert {usage.purpose for usage in usages} >= {"segment"} and len(usages) >= 2
    assert all((usage.cached or 0) >= turn.prompt - 12 for usage in usages)


def test_threads_wait_for_the_only_slot(caller: Caller) -> None:
    replies = in_parallel([lambda: caller.ask("Say hello.")] * 3, "caller")
    assert len({reply.text for reply in replies}) == 1


def test_a_prompt_beyond_the_window_is_told_as_that(caller: Caller) -> None:
    with pytest.raises(WindowExceeded, match=f"{WINDOW} tokens"):
        caller.ask("fish " * 2 * WINDOW)
