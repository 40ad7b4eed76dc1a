"""What an agent does since a person last spoke is limited over all rooms, and people are told."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from agent import Agent
from dory.clock import utc
from dory.config.prices import Price, Prices
from dory.config.settings import DAILY, Config
from dory.config.sources import load
from dory.config.unattended import UnattendedSettings
from dory.control import Control
from dory.errors import ConfigError, SpendingLimit
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm.budget import Budget
from dory.process.signals import ShutdownSignal
from dory.turn.models import Paid
from dory.types import Model, Prompt, Purpose, Reply, Usage
from tests.support.compacting import House, Scripted
from tests.support.household import Household
from tests.support.wire import prompt

FEW = UnattendedSettings(turns=8, calls=3, tokens=100_000)


class Wanderer:
    """A ``Model`` that says something to the other agent at each turn, and takes it to a new room
    before the exchanges in one come to their end.
    """

    name = "scripted"

    def __init__(self) -> None:
        self.other = ""
        self.calls: Counter[str] = Counter()

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        self.calls[purpose] += 1
        number = self.calls["turn"]
        room = f"room-{number // 2}"
        text = f"JOIN {room}\nSAY {room} @{self.other} let us go on, number {number}"
        for old in ("dev", room):
            text += f"\nSAY {old} @{self.other} come to {room}, number {number}"
        return Reply(text, "", Usage(purpose, "scripted", 1000, 0, 10, 0.0))


class Pair:
    """Two agents of one home that talk to each other, each in a thread."""

    def __init__(self, home: Path, unattended: UnattendedSettings) -> None:
        self.models = [Wanderer(), Wanderer()]
        config = Config(model="scripted", exchanges=10**6, extensions="", unattended=unattended)
        hashes = [boot(home, name, "dev", utc) for name in ("otto", "iris")]
        self.identities = [Identity(home, hash, utc) for hash in hashes]
        for me, model in zip(self.identities, self.models[::-1], strict=True):
            me.begin()
            model.other = me.name
        self.agents = [
            Agent(me, config, model, verbose=False, stop=ShutdownSignal())
            for me, model in zip(self.identities, self.models, strict=True)
        ]

    def live(self, until: Callable[[], bool]) -> None:
        threads = [threading.Thread(target=agent.run, daemon=True) for agent in self.agents]
        for agent in self.agents:
            agent.stop.asked = False
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 60
        # looked at while both live: the last lines of one that ends are heard when it goes on
        while not (happened := until()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for agent in self.agents:
            agent.stop.asked = True
        for thread in threads:
            thread.join()
        assert happened, "that did not happen in time"

    def say(self, text: str) -> None:
        self.identities[0].rooms.say("dev", "USER", "ada", text, utc())

    def notices(self) -> list[str]:
        lines = self.identities[0].rooms.read("dev", 0)
        return [line.text for line in lines if line.kind == "NOTICE" and "since a" in line.text]

    def rest(self) -> bool:
        """Whether both sleep and have read everything in their first room, and one had enough."""
        heard = [me.state.rooms["dev"].read == me.rooms.size("dev") for me in self.identities]
        awake = any(me.state.awake for me in self.identities)
        return all(heard) and not awake and bool(self.notices())

    def turns(self) -> list[int]:
        return [model.calls["turn"] for model in self.models]


def test_two_agents_that_go_from_room_to_room_come_to_an_end_and_people_are_told_once(
    tmp_path: Path,
) -> None:
    pair = Pair(tmp_path, FEW)
    pair.say("hello you two, talk to each other")
    pair.live(pair.rest)
    assert max(pair.turns()) == 8, "whatever the rooms"
    told = pair.notices()
    assert told and all(
        notice.startswith("8 turns since a person last spoke to me: I go on when somebody says")
        for notice in told
    )
    pair.identities[0].rooms.say(
        "dev", "AGENT", "x", f"@{pair.identities[0].name} @{pair.identities[1].name}", utc()
    )
    pair.live(pair.rest)
    assert max(pair.turns()) == 8 and len(pair.notices()) <= 2, "each tells it once"
    pair.say("go on")
    pair.live(lambda: sum(pair.turns()) > 16 and pair.rest())
    assert max(pair.turns()) <= 16


class Counting:
    """A budget, and a model whose calls it pays."""

    name = "any"

    def __init__(self, house: Household, **settings: object) -> None:
        self.announced = list[str]()
        self.house = house
        given = {"unattended": FEW, **settings}
        self.config = Config(base_url="http://localhost/v1", model="any", **given)  # type: ignore[arg-type]
        self.budget = Budget(house.me, self.config, self.announced.append, None)
        self.paid: Model = Paid(self, self.config.own, self.budget)

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        return Reply("yes", "", Usage(purpose, "any", len(prompt.text), 0, 10, 0.1))

    def call(self, purpose: Purpose, count: int = 1, tokens: int = 10) -> None:
        for _ in range(count):
            self.paid.complete(prompt("x" * tokens), purpose)


def test_turns_and_the_work_beside_them_have_limits_of_their_own(tmp_path: Path) -> None:
    counting = Counting(Household(tmp_path))
    counting.call("turn", 8)
    with pytest.raises(SpendingLimit, match="8 turns since a person last spoke to me"):
        counting.call("turn")
    assert not counting.budget.open("turn") and counting.budget.open("segment")
    for purpose in ("segment", "dream", "care"):
        counting.call(purpose)
    with pytest.raises(SpendingLimit, match="3 calls beside the turns since a person"):
        counting.call("cascade")
    assert not counting.budget.open("segment") and not counting.budget.open("dream")
    assert len(counting.announced) == 2
    counting.budget.attended()
    counting.call("turn")
    counting.call("embedding")
    assert counting.budget.open("turn") and counting.budget.open("segment")
    assert counting.budget.unattended().startswith(
        "1 of 8 turns (20 tokens), 1 of 3 other calls (20 tokens); at most 100,000 tokens each"
    )


def test_tokens_are_limited_too(tmp_path: Path) -> None:
    counting = Counting(Household(tmp_path))
    counting.call("turn", tokens=60_000)
    assert counting.budget.open("turn")
    counting.call("turn", tokens=60_000)
    with pytest.raises(SpendingLimit, match="100,000 tokens in 2 turns"):
        counting.call("turn")
    counting.call("segment")


def test_the_count_goes_on_over_a_restart_whatever_the_clock_says(tmp_path: Path) -> None:
    house = Household(tmp_path)
    counting = Counting(house)
    counting.call("turn", 2)
    counting.budget.attended()
    counting.call("turn", 5)
    house.me.commit()
    house.clock.at = house.clock.at.replace(year=2001)
    house.restart()
    again = Counting(house)
    assert again.budget.unattended().startswith("5 of 8 turns")
    again.call("turn", 3)
    assert not again.budget.open("turn") and len(again.announced) == 1
    house.restart()
    assert not Counting(house).budget.open("turn") and house.me.state.waits_for_people


def test_an_agent_of_an_older_dory_begins_to_count_when_it_wakes(tmp_path: Path) -> None:
    house = Household(tmp_path)
    Counting(house).call("turn", 8)
    house.me.state.attended = None
    house.me.commit()
    house.restart()
    assert Counting(house).budget.unattended().startswith("0 of 8 turns")


def test_a_usage_log_that_was_moved_away_is_counted_from_its_beginning(tmp_path: Path) -> None:
    house = Household(tmp_path)
    counting = Counting(house)
    counting.call("turn", 4)
    counting.budget.attended()
    house.me.commit()
    (house.me.folder / "usage.jsonl").unlink()
    house.restart()
    counting = Counting(house)
    counting.call("turn", 2)
    assert Counting(house).budget.unattended().startswith("2 of 8 turns")


def test_a_heartbeat_does_not_go_on_for_ever_and_status_shows_how_far_it_is(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), heartbeat=0.01, unattended=FEW)
    house.live(lambda: any("since a person" in text for text in house.lines("NOTICE")))
    entries = len(house.me.context.entries)
    house.say("/status")
    house.live(lambda: any("identity: " in text for text in house.lines("NOTICE")))
    status = house.lines("NOTICE")[-1]
    assert "since a person spoke: 0 of 8 turns" in status, "a command of a person counts"
    assert [purpose for purpose, _ in house.model.asked].count("turn") >= 8
    assert len(house.me.context.entries) < entries + 40


def test_without_a_word_the_spending_of_a_day_is_limited_where_a_price_is_known(
    tmp_path: Path,
) -> None:
    dear = Prices((("any", Price(1e6, 1e6, 0.0)),))
    counting = Counting(Household(tmp_path), prices=dear)
    counting.call("turn", tokens=3)
    with pytest.raises(SpendingLimit, match=r"the limit of \$2.00 a day is reached"):
        counting.call("turn")
    assert "of $2.00 (spend_per_day changes it; none: no limit)" in counting.budget.spending()


@pytest.mark.parametrize(
    ("text", "key", "limit"),
    [
        ("", {"DEEPSEEK_API_KEY": "sk-1"}, DAILY),
        ("spend_per_day: none", {"DEEPSEEK_API_KEY": "sk-1"}, 0.0),
        ("spend_per_day: 0", {"DEEPSEEK_API_KEY": "sk-1"}, 0.0),
        ("spend_per_day: 7.5", {"OPENAI_API_KEY": "sk-1"}, 7.5),
        ("", {}, 0.0),
        ("model: qwen3\nbase_url: http://localhost:1/v1", {}, 0.0),
    ],
)
def test_what_an_agent_may_spend_in_a_day(
    tmp_path: Path, text: str, key: dict[str, str], limit: float
) -> None:
    (tmp_path / "dory.yaml").write_text(text)
    assert load(tmp_path / "dory.yaml", key, {}).daily_limit == limit


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{turns: 0}", "unattended: turns must be at least 1, not 0"),
        ("{turn: 5}", "unattended: unknown key 'turn'; did you mean 'turns'?"),
        ("many", "unattended: must hold turns, calls, tokens"),
    ],
)
def test_a_wrong_limit_is_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "dory.yaml").write_text(f"unattended: {text}")
    with pytest.raises(ConfigError) as raised:
        load(tmp_path / "dory.yaml", {}, {})
    assert complaint in str(raised.value)
