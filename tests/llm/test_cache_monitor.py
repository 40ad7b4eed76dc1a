"""The monitor of the provider's cache, over real HTTP: it reports a prefix that could have been
served from the cache and was not, with the place where the prompts differ.
"""

from pathlib import Path

import pytest

from agent import Agent
from dory.config.settings import Config
from dory.llm import usage_log
from dory.llm.cache_monitor import PAUSE, RECENT, CacheMonitor, settled, shared
from dory.llm.completions import Endpoint
from dory.llm.usage_report import UsageReport
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.process.signals import ShutdownSignal
from dory.types import Message, Prompt, Usage
from tests.support.compacting import House
from tests.support.wire import Caller, Fish

STORY = "".join(f"[#{number} heard dev]\nthing number {number}\n" for number in range(1, 400))
TAIL = "[#memory 4 of 4000 characters]\ncats\n[#life]\nit rained\n[#turn]\nRespond.\n"


def laid_out(story: str, tail: str = TAIL, system: str = "You are a fish.") -> Prompt:
    return Prompt((Message("system", system), Message("user", story + tail)))


class Watch:
    """A cache monitor with the lines that it wrote and the seconds of its clock."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.seconds = 0.0
        self.monitor = CacheMonitor(self.lines.append, lambda: self.seconds)

    def ask(self, server: Server, prompt: Prompt, epoch: int = 1, model: str = "fish") -> None:
        usage = Caller(server.base_url, model=model).endpoint.complete(prompt, "turn").usage
        self.monitor.look(prompt, epoch, usage)


def test_prompts_that_grow_at_their_end_and_are_served_from_the_cache_are_not_worth_a_word() -> (
    None
):
    watch = Watch()
    with Server(Fish()) as server:
        for count in range(5):
            watch.ask(
                server,
                laid_out(
                    STORY
                    + "".join(f"[#{400 + number} heard dev]\nmore\n" for number in range(count))
                ),
            )
    assert watch.lines == []


def test_a_prefix_that_was_not_served_is_told_with_the_first_byte_that_differs() -> None:
    watch = Watch()
    with Server(Fish()) as server, Server(Fish()) as forgetful:
        watch.ask(server, laid_out(STORY))
        watch.seconds = 12.0
        watch.ask(forgetful, laid_out(STORY + "[#400 heard dev]\nzürich\n"))
    same = len(f"You are a fish.\n\n{STORY}[#".encode())
    expected = same // 4 // 64 * 64
    assert watch.lines == [
        f"only 0 of some {expected:,} tokens that could be were served from the provider's cache;"
        " it differs from the one before from byte "
        f"{same:,} on: '400 heard dev]\\nzürich\\n[#memory 4 of 4000', sent 12 s earlier"
    ]


def test_what_is_new_may_be_denser_in_tokens_than_what_was_sent_before() -> None:
    story = STORY[: STORY.index("[#200 ")]
    news = "金魚" * 1000
    for cached, warnings in ((len(story) // 4, 0), (0, 1)):
        watch = Watch()
        watch.monitor.look(laid_out(story), 1, Usage("turn", "m", len(story) // 4, 0, 1, 0.1))
        watch.monitor.look(
            laid_out(f"{story}[#400 heard dev]\n{news}\n"),
            1,
            Usage("turn", "m", len(story) // 4 + len(news), cached, 1, 0.1),
        )
        assert len(watch.lines) == warnings


def test_each_kind_of_warning_is_given_some_times_an_hour_at_most() -> None:
    watch = Watch()
    for number in range(1, 121):
        watch.seconds = 60.0 * number
        watch.monitor.look(laid_out(STORY), 1, Usage("turn", "m", 2000, 0, 1, 0.1))
    assert len(watch.lines) == 120 * 60 / PAUSE


@pytest.mark.parametrize(
    ("pause", "model", "cached", "size"),
    [
        (RECENT + 1, "m", 0, 2000),
        (1, "another", 0, 2000),
        (1, "m", None, 2000),
        (1, "m", 1800, 2000),
        (1, "m", 0, 1000),
    ],
    ids=[
        "long ago",
        "another model",
        "nobody tells",
        "nearly all",
        "too short to be cached at all",
    ],
)
def test_what_could_not_have_been_served_is_not_missed(
    pause: float, model: str, cached: int | None, size: int
) -> None:
    watch = Watch()
    watch.monitor.look(laid_out(STORY), 1, Usage("turn", "m", size, 0, 1, 0.1))
    watch.seconds += pause
    watch.monitor.look(laid_out(STORY), 1, Usage("turn", model, size, cached, 1, 0.1))
    assert watch.lines == []


def test_a_beginning_that_changed_within_an_epoch_is_told_as_the_fault_that_it_is() -> None:
    watch = Watch()
    usage = Usage("turn", "m", 2000, None, 1, 0.1)
    watch.monitor.look(laid_out(STORY), 1, usage)
    watch.monitor.look(laid_out(STORY, system="You are a cat."), 2, usage)
    assert watch.lines == [], "a new epoch may begin with anything"
    watch.monitor.look(laid_out(STORY, system="You are a dog."), 2, usage)
    assert (
        len(watch.lines) == 1
        and "a fault of the harness" in watch.lines[0]
        and watch.lines[0].endswith("from byte 10 on: in the system message, at SOUL")
    )
    watch.seconds += 3600
    for how in ("kind", "mild"):
        watch.monitor.look(
            laid_out(
                STORY,
                system=f"You are a dog.\n\n[#soul]\nIt stands in every prompt.\n1. I am {how}.",
            ),
            3,
            usage,
        )
    assert watch.lines[1].endswith(" on: in the system message, at [#soul"), (
        "what stands there alone is not quoted"
    )


def test_in_the_layout_with_a_tail_all_before_it_is_settled_and_in_the_other_one_all() -> None:
    with_tail = laid_out(STORY)
    assert with_tail.text[settled(with_tail) :] == TAIL
    ledger = Prompt(
        (
            *laid_out(STORY, "[#memory 4 of 4000 characters]\ncats\n").messages,
            Message("assistant", "hm"),
            Message("user", "[#9 x]\ny"),
        )
    )
    assert settled(ledger) == len(ledger.text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("", ""),
        ("a", ""),
        ("abc", "abd"),
        ("abc", "abcd"),
        ("xbc", "abc"),
        ("a" * 999 + "b", "a" * 1000),
    ],
)
def test_what_two_texts_share_is_found_by_halves_as_by_steps(text: str, other: str) -> None:
    assert text[: shared(text, other)] == other[: shared(text, other)]
    assert text[: shared(text, other) + 1] != other[: shared(text, other) + 1] or text == other


def test_an_agent_whose_provider_forgets_tells_its_person(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, OfflineModel())  # type: ignore[arg-type]
    house.hear(40)

    def talk(line: str) -> None:
        turns = house.me.state.turn
        house.say(line)
        house.live(lambda: house.me.state.turn > turns and house.asleep())

    with Server(OfflineModel()) as server:
        config = Config(base_url=server.base_url, model="any", context_limit=100_000)
        house.agent = Agent(
            house.me, config, Endpoint(config), verbose=False, stop=ShutdownSignal()
        )
        talk("hello")
        talk("who are you?")
    assert "served from" not in capsys.readouterr().err
    with Server(OfflineModel(), server.server_port):
        talk("hello again")
    warnings = [
        line
        for line in capsys.readouterr().err.splitlines()
        if "served from the provider's cache" in line
    ]
    assert len(warnings) == 1 and "only 0 of some" in warnings[0] and "SAY dev He" in warnings[0]
    path = house.me.folder / usage_log.NAME
    assert "only 0 of some" in next(
        line
        for line in UsageReport(path).report().splitlines()
        if line.startswith("not served from the cache")
    )
    assert "not counted" not in UsageReport(path).report()
