"""The limits of spending, over real HTTP: at a limit the model is not called and people are told.
Turns go on by themselves afterwards.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agent import Agent
from dory.clock import second, utc
from dory.config.prices import Price, Prices
from dory.config.settings import Config
from dory.control import Control
from dory.errors import ModelRefused, SpendingLimit
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.budget import Budget
from dory.llm.completions import Endpoint
from dory.llm.retry import RetryingModel
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.process.signals import ShutdownSignal
from dory.text import formatting
from dory.turn.models import Paid
from dory.types import Model, Prompt, Purpose, Reply, Usage
from tests.support.compacting import House
from tests.support.household import Household
from tests.support.wire import Scripted, piece, prompt, stream

DEAR = Prices((("any", Price(1000.0, 1000.0, 1000.0)),))
"""A dollar for a thousand tokens: every turn is beyond the limits here."""


class Spender:
    """An agent with a dear model behind HTTP, and a clock that can be put forward."""

    def __init__(self, home: Path, server: Server, **settings: float) -> None:
        self.house = House(home, OfflineModel())  # type: ignore[arg-type]
        self.server = server
        self.later = timedelta()
        limits = {"spend_per_day": 0.0, **settings}
        self.config = Config(base_url=server.base_url, model="any", prices=DEAR, **limits)  # type: ignore[arg-type]
        self.wake()

    def wake(self) -> None:
        """As after a restart."""
        house = self.house
        house.me = Identity(house.home, house.hash, lambda: utc() + self.later)
        house.me.begin()
        house.agent = Agent(
            house.me, self.config, Endpoint(self.config), verbose=False, stop=ShutdownSignal()
        )
        house.compaction = house.agent.compaction

    def answers(self, line: str, count: int) -> None:
        """Say something, and live until ``count`` answers were given."""
        self.house.say(line)
        self.house.live(
            lambda: len(self.house.lines("AGENT")) == count and not self.house.me.state.awake
        )

    def notices(self, count: int) -> list[str]:
        """Live until there are as many."""
        self.house.live(lambda: len(self.house.lines("NOTICE")) == count)
        return self.house.lines("NOTICE")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(OfflineModel()) as made:
        yield made


@pytest.mark.parametrize(
    ("limit", "words", "window"),
    [("spend_per_hour", "an hour", 61), ("spend_per_day", "a day", 24 * 60 + 1)],
)
def test_a_limit_stops_the_turns_with_one_clear_line_until_its_window_has_passed(
    tmp_path: Path,
    server: Server,
    limit: str,
    words: str,
    window: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spender = Spender(tmp_path, server, **{limit: 0.5})
    house = spender.house
    spender.answers("hello", 1)
    notice = spender.notices(1)[0]
    assert (
        notice.startswith(f"the limit of $0.50 {words} is reached ($")
        and "next turn at 2" in notice
    )
    assert (
        "/usage shows what it went for" in notice
        and f"raise {limit}" in notice
        and notice in capsys.readouterr().err
    )
    asked = len(server.requests)
    house.say("are you there?")
    house.say("/status")
    house.say("/compact")
    assert "turns: 1" in spender.notices(3)[1] and spender.notices(3)[2].startswith(
        "the limit of $0.50"
    )
    assert any("are you there?" in entry.body for entry in house.me.context), (
        "what is said is heard"
    )
    spender.wake()
    assert len(spender.notices(4)[3:]) == 1 and house.me.state.stuck, (
        "a restart knows what was spent"
    )
    assert len(server.requests) == asked
    spender.later = timedelta(minutes=window)
    house.live(lambda: len(house.lines("AGENT")) == 2)
    assert len(server.requests) > asked


def test_no_compaction_is_started_beyond_a_limit_and_one_is_when_the_window_has_passed(
    tmp_path: Path, server: Server
) -> None:
    spender = Spender(tmp_path, server, spend_per_hour=0.5, context_limit=5000)
    house = spender.house
    house.hear(60)
    house.say("hello")
    spender.notices(1)
    house.hear(30)
    assert house.compaction.tokens > spender.config.context_limit
    house.say("/status")
    assert "last compaction: none yet" in spender.notices(2)[1] and not house.compaction.under_way
    spender.later = timedelta(minutes=61)
    house.live(lambda: server.arrived["segment"] > 0)


def test_below_its_limits_an_agent_knows_nothing_of_them(tmp_path: Path, server: Server) -> None:
    spender = Spender(tmp_path, server, spend_per_hour=1e6, spend_per_day=1e6)
    for count, line in enumerate(["hello", "who are you?"], 1):
        spender.answers(line, count)
    assert spender.house.lines("NOTICE") == []


def test_a_call_beside_the_loop_is_refused_and_the_endpoint_never_asked(
    tmp_path: Path, server: Server
) -> None:
    house = Household(tmp_path)
    config = Config(base_url=server.base_url, model="any", prices=DEAR, spend_per_hour=0.001)
    own = paid(house, config, Endpoint(config))
    used = own.complete(prompt("hello"), "segment").usage
    assert used.dollars == pytest.approx((used.prompt + used.completion) / 1000)
    with pytest.raises(SpendingLimit, match=r"the limit of \$0\.0010 an hour is reached"):
        own.complete(prompt("hello"), "summarise")
    assert len(server.requests) == 1


def paid(house: Household, config: Config, model: Model) -> Paid:
    """The agent's own model, paid from a budget of its own."""
    return Paid(model, config.own, Budget(house.me, config, print, None))


def spent(house: Household, *ages: int, dollars: float = 1.0) -> None:
    """Calls that were made so many minutes ago."""
    now = house.clock()
    for age in ages:
        at = now - timedelta(minutes=age)
        log = usage_log.UsageLog(house.me.folder / usage_log.NAME, lambda at=at: at, None)  # type: ignore[misc]
        log.record(Usage("turn", "any", 1, 0, 1, 0.1, dollars))


def reached(house: Household, **limits: float) -> str:
    """The error of a budget that is made now; empty if it is open."""
    given = {"spend_per_day": 0.0, **limits}
    config = Config(base_url="http://localhost/v1", model="any", prices=DEAR, **given)  # type: ignore[arg-type]
    try:
        Budget(house.me, config, print, None).check("turn")
    except SpendingLimit as error:
        return str(error)
    return ""


def test_only_what_was_spent_within_the_window_counts(tmp_path: Path) -> None:
    house = Household(tmp_path)
    spent(house, 5000, 100, 90, 50, 20)
    assert reached(house, spend_per_hour=2.5) == "" == reached(house, spend_per_day=4.5)
    assert "the limit of $2.00 an hour is reached ($2.00)" in reached(house, spend_per_hour=2.0)
    assert "the limit of $3.50 a day is reached ($4.00)" in reached(house, spend_per_day=3.5)


def test_the_next_turn_is_when_enough_of_it_is_old(tmp_path: Path) -> None:
    house = Household(tmp_path)
    spent(house, 50, 40, 10)
    at = house.clock.at

    def minute(ago: int) -> datetime:
        return at + timedelta(minutes=61 - ago)

    assert f"next turn at {minute(50):%Y-%m-%d %H:%M} UTC" in reached(house, spend_per_hour=3.0)
    assert f"next turn at {minute(40):%Y-%m-%d %H:%M} UTC" in reached(house, spend_per_hour=1.5)
    house.clock.at = minute(40).replace(second=0) - timedelta(seconds=20)
    assert reached(house, spend_per_hour=1.5)
    house.clock.at = minute(40).replace(second=0)
    assert not reached(house, spend_per_hour=1.5)


def test_what_a_clock_that_ran_ahead_has_noted_counts_as_if_it_was_spent_now(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    spent(house, -100_000)
    assert "($1.00)" in reached(house, spend_per_hour=0.5)
    house.clock.at += timedelta(minutes=30)
    assert "($1.00)" in reached(house, spend_per_hour=0.5), "its age is known since"
    house.clock.at += timedelta(minutes=32)
    assert reached(house, spend_per_hour=0.5) == "", "nobody is locked out for ever"
    spent(house, -2, 30)
    assert "($2.00)" in reached(house, spend_per_hour=0.5), "clocks differ by a little"


def test_putting_the_clock_back_gets_nobody_past_a_limit(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    config = Config(base_url="http://localhost/v1", model="any", prices=DEAR, spend_per_day=10.0)
    spent(house, 30)
    budget = Budget(house.me, config, print, None)
    house.clock.at += timedelta(days=3)
    assert "in the last day: $0.00" in budget.status()
    dear = (
        Paid(OfflineModel(), config.own, budget)
        .complete(prompt("hello " * 9000), "turn")
        .usage.dollars
    )
    assert dear and dear > 10 and not budget.open()
    house.clock.at -= timedelta(days=3)
    assert not budget.open(), "the dear call was made a moment ago, whatever the clock says"
    assert f"in the last day: {formatting.money(1 + dear)} of" in budget.status()


def test_what_was_spent_before_a_restart_and_a_clock_put_back_by_hours_counts_still(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    spent(house, -5 * 60, 30)
    assert "is reached" in reached(house, spend_per_day=0.5)


class Spending:
    """A budget and a model that spends from it, with the lines that the budget announced."""

    def __init__(self, house: Household, **limits: float) -> None:
        self.house = house
        self.announced = list[str]()
        self.meanwhile: Callable[[], None] = lambda: None
        config = Config(
            base_url="http://localhost/v1",
            model="any",
            prices=Prices((("any", Price(1e6, 1e6, 0.0)),)),
            **{"spend_per_day": 0.0, **limits},  # type: ignore[arg-type]
        )
        self.budget = Budget(house.me, config, self.announced.append, None)
        self.paid = Paid(self, config.own, self.budget)

    name = "any"

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """At a dollar for each letter."""
        self.meanwhile()
        return Reply("yes", "", Usage(purpose, "any", len(prompt.text), 0, 1, 0.1))

    def spend(self, dollars: int) -> None:
        """Now, if it may be."""
        self.paid.complete(prompt("x" * dollars), "turn")

    def after(self, minutes: int) -> bool:
        """Whether the budget is open so many minutes later."""
        self.house.clock.at += timedelta(minutes=minutes)
        return self.budget.open()


def test_a_limit_that_was_reached_holds_until_a_tenth_of_it_is_free_and_is_told_once(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    spending = Spending(house, spend_per_hour=20.0)
    for dollars in (1, 1, 18):
        spending.spend(dollars)
        spending.after(5)
    assert any(spending.after(1) for _ in range(60))
    assert f"next turn at {house.clock.at:%Y-%m-%d %H:%M} UTC" in spending.announced[0]
    assert "in the last hour: $18.00 of $20.00" in spending.budget.status()
    assert spending.after(1) and len(spending.announced) == 1


def test_what_others_have_noted_counts_with_the_next_minute(tmp_path: Path) -> None:
    spending = Spending(Household(tmp_path), spend_per_hour=10.0)
    assert spending.after(0)
    spent(spending.house, 0, dollars=10.0)
    assert spending.after(0) and not spending.after(1)


def test_of_two_limits_that_are_reached_the_one_that_lasts_is_told(tmp_path: Path) -> None:
    house = Household(tmp_path)
    spent(house, 600, dollars=9.0)
    spending = Spending(house, spend_per_hour=10.0, spend_per_day=18.0)
    spending.spend(10)
    assert not spending.after(0) and not spending.after(70)
    assert (
        len(spending.announced) == 1
        and "the limit of $18.00 a day is reached ($19.00)" in spending.announced[0]
    )


def test_when_a_call_that_was_under_way_brings_another_limit_that_is_told_too(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    spent(house, 600, dollars=19.0)
    spending = Spending(house, spend_per_hour=10.0, spend_per_day=30.0)

    def meanwhile() -> None:
        spending.meanwhile = lambda: None
        spending.spend(10)
        assert not spending.after(1)

    spending.meanwhile = meanwhile
    spending.spend(5)
    assert not spending.after(1)
    assert [" an hour " in line for line in spending.announced] == [True, False]


def test_every_try_that_was_billed_is_noted_and_bounded_before_the_next(tmp_path: Path) -> None:
    house = Household(tmp_path)
    counted = {"usage": {"prompt_tokens": 40, "completion_tokens": 10}}
    answers = [
        stream(piece("stop", content=""), counted),
        stream(piece("error"), counted),
        stream(piece("stop", content="hi"), counted),
    ]
    withheld = stream(piece("content_filter"), counted)
    with Scripted(*answers, withheld) as scripted:
        config = Config(base_url=scripted.base_url, model="any", prices=DEAR, spend_per_day=0.2)
        asked = RetryingModel(
            paid(house, config, Endpoint(config)), config, print, lambda pause: None
        )
        assert asked.complete(prompt("hello"), "turn").text == "hi"
        with pytest.raises(ModelRefused, match="content filter"):
            asked.complete(prompt("hello"), "turn")
        calls = [
            call.usage
            for call in usage_log.read(house.me.folder / usage_log.NAME)
            if isinstance(call, usage_log.Call)
        ]
        assert [(call.prompt, call.completion) for call in calls] == [(40, 10)] * 4 and [
            call.dollars for call in calls
        ] == pytest.approx([0.05] * 4)
        with pytest.raises(SpendingLimit):
            asked.complete(prompt("hello"), "turn")
        assert len(scripted.bodies) == 4


def test_no_try_is_repeated_beyond_a_limit(tmp_path: Path) -> None:
    house = Household(tmp_path)
    with Scripted(
        stream(piece("error"), {"usage": {"prompt_tokens": 40, "completion_tokens": 10}})
    ) as scripted:
        config = Config(base_url=scripted.base_url, model="any", prices=DEAR, spend_per_day=0.1)
        asked = RetryingModel(
            paid(house, config, Endpoint(config)), config, print, lambda pause: None
        )
        with pytest.raises(SpendingLimit):
            asked.complete(prompt("hello"), "turn")
        assert len(scripted.bodies) == 2


def test_what_was_spent_is_told_by_the_second_that_it_was_recorded(tmp_path: Path) -> None:
    house = Household(tmp_path)
    spent(house, 0)
    call = next(iter(usage_log.read(house.me.folder / usage_log.NAME)))
    assert isinstance(call, usage_log.Call) and second(call.at) == second(house.clock.at)
