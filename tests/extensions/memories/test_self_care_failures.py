"""Self-care when calls, writes and models fail: what stays, what is reported, and when it is tried
again.
"""

import re
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from dory.errors import ModelAway, ModelRefused, SpendingLimit
from dory.extensions.memories.record import NARRATIVE_LIMIT
from dory.extensions.memories.self_care import HELD
from dory.extensions.memories.self_care_extension import TRIES, SelfCareExtension
from dory.types import Batch
from tests.support.caring import Caring, Telling
from tests.support.household import NOON

FIRST_PAUSE, LONGEST_PAUSE = (timedelta(seconds=pause) for pause in SelfCareExtension.pauses)


@pytest.fixture
def house(tmp_path: Path) -> Caring:
    return Caring(tmp_path)


def refuses(*things: int) -> Telling:
    """A model that refuses what tells of these."""

    def tell(prompt: str) -> str:
        if re.search(rf"thing ({'|'.join(map(str, things))}) ", prompt):
            raise ModelRefused("not this")
        return "It was so."

    return Telling(tell)


def forbid(house: Caring, *what: str) -> None:
    """Writes of this kind fail; without any, none does."""
    with house.past.store.writing() as connection:
        connection.execute("DROP TRIGGER IF EXISTS full")
        for event in what:
            connection.execute(
                f"CREATE TEMP TRIGGER full BEFORE {event} BEGIN SELECT RAISE(ABORT, 'no room'); END"
            )


def test_a_batch_that_fails_stays_as_it_is_and_the_rest_goes_on(house: Caring) -> None:
    house.model = refuses(700, 1700)
    house.hold(2500)
    house.begin()
    house.tend()
    assert [*house.active] == [*range(501, 1001), *range(1501, 2001)] and len(
        house.model.asked
    ) == 5
    first, last = house.notices
    assert first == (
        "Self-care: memories 501 to 1000 could not be summed up: not this. They stay as "
        "they are, and it goes on with the rest."
    )
    assert "1,500 memories are summed up" in last
    assert (
        "Not all could be summed up: 1,000 memories stayed as they were, and the next "
        "SELF_CARE tries them again."
    ) in last
    house.model = Telling(lambda prompt: "At last.")
    house.begin()
    house.tend()
    assert house.active == {} and len(house.bank.active("Summary")) == 5


def test_when_every_call_fails_nothing_is_changed_and_that_it_does_not_hold_is_told(
    house: Caring,
) -> None:
    house.model = Telling(lambda prompt: "Cut in the", cut=True)
    house.hold(3000)
    house.hold(3, NARRATIVE_LIMIT, "Summary")
    before = [*house.bank.everything()]
    house.begin()
    house.tend()
    assert [*house.bank.everything()] == before and len(house.model.asked) == 6
    assert "At most 50,000 tokens were to be left." in house.notices[-1] and not house.care.wish


def test_when_nothing_may_be_spent_it_waits_and_goes_on(house: Caring) -> None:
    def refuse(prompt: str) -> str:
        raise SpendingLimit("spent")

    house.tell = refuse
    house.hold(600)
    house.begin()
    for _ in range(5):
        house.step()
    assert len(house.model.asked) == 1 and len(house.active) == 600
    assert house.notices == [] and house.troubles == []
    house.tell = lambda prompt: "It was so."
    house.clock.at += FIRST_PAUSE
    house.step()
    assert house.active == {}


def test_a_disk_that_refuses_costs_one_call_a_pause(house: Caring) -> None:
    house.hold(30)
    house.begin()
    forbid(house, "INSERT ON memory")
    for _ in range(5):
        house.step()
    assert len(house.model.asked) == 1 and "no room" in " ".join(house.troubles)
    forbid(house)
    house.clock.at += FIRST_PAUSE
    house.step()
    assert house.active == {} and len(house.model.asked) == 2


def test_what_else_is_to_be_cared_for_comes_behind_the_memories_and_a_failure_of_it_ends_it(
    house: Caring,
) -> None:
    kept: list[str] = []
    waiting = ["told in dev", "told in lab"]

    def source(size: int) -> Batch | None:
        def keep(narrative: str, at: datetime) -> None:
            kept.append(f"{waiting.pop(0)}: {narrative}")

        return Batch(f"conversations {len(kept)}", (waiting[0],), keep) if waiting else None

    house.hold(30)
    house.sources.append(source)
    house.begin()
    house.tend(2)
    assert kept == ["told in dev: It was so."] and house.active == {}

    def fail(prompt: str) -> str:
        raise ModelRefused("not this")

    house.tell = fail
    house.tend()
    assert len(kept) == 1 and len(house.model.asked) == 3 and not house.care.wish
    assert "conversations 1 could not be summed up" in house.notices[0]
    assert house.notices[1] == (
        "Self-care has ended: 30 memories are summed up, and you hold 0 memories and 1 "
        "summary, 3 of 100,000 tokens."
        " What was said the longest ago is summed up as well."
        " Not all could be summed up: conversations 1 stayed as they were, and the next "
        "SELF_CARE tries them again."
    )
    house.tell = lambda prompt: "It was so."
    house.hold(30)
    house.begin()
    house.tend()
    assert len(kept) == 2


def test_a_batch_that_cannot_even_be_passed_over_holds_up_the_others_for_a_pause_and_no_longer(
    house: Caring,
) -> None:
    house.model = refuses(7)
    house.hold(1200)
    house.begin()
    forbid(house, "INSERT ON self_care")
    for _ in range(2):
        house.step()
    assert len(house.model.asked) == 1 and house.care.wish and house.notices == []
    assert "no room" in " ".join(house.troubles)
    forbid(house)
    house.clock.at += FIRST_PAUSE
    house.step()
    assert [*house.active] == [*range(1, 501)] and not house.care.wish
    assert (
        "700 memories are summed up" in house.notices[-1]
        and "500 memories stayed as they were" in house.notices[-1]
    )


def test_memories_that_stay_are_no_reason_to_sum_up_summaries_again(house: Caring) -> None:
    house.model = refuses(7)
    house.hold(500, size=340)
    house.hold(5, NARRATIVE_LIMIT, "Summary")
    before = [*house.bank.everything()]
    assert house.bank.tokens > HELD
    house.begin()
    house.tend()
    assert [*house.bank.everything()] == before and len(house.model.asked) == 1


def test_while_the_model_is_away_it_waits_ever_longer_and_gives_nothing_up(house: Caring) -> None:
    times: list[datetime] = []

    def away(prompt: str) -> str:
        times.append(house.clock.at)
        raise ModelAway("nobody there")

    house.tell = away
    house.hold(1200)
    house.begin()
    for _ in range(200):
        house.clock.at += timedelta(minutes=1)
        house.step()
    waited = [later - earlier for earlier, later in pairwise(times)]
    due = [timedelta(minutes=minutes) for minutes in (1, 2, 4, 8, 16, 32, 60, 60)]
    assert all(
        timedelta(0) <= wait - pause < timedelta(minutes=2)
        for wait, pause in zip(waited, due, strict=True)
    )
    assert house.notices == [] and len(house.active) == 1200
    house.clock.at = NOON  # a clock that was put back ends a pause
    house.tell = lambda prompt: "It was so."
    house.step()
    assert (
        house.active == {}
        and len(house.notices) == 1
        and "1,200 memories are summed up" in house.notices[0]
    )


def test_a_batch_that_never_has_an_answer_while_turns_have_fails_for_its_own_sake(
    house: Caring,
) -> None:
    def tell(prompt: str) -> str:
        if "thing 7 " in prompt:
            raise ModelAway("timed out")
        return "It was so."

    house.tell = tell
    house.hold(1000)
    house.begin()
    for _ in range(TRIES + 1):
        house.step()
        house.me.state.turn += 1
        house.clock.at += LONGEST_PAUSE
    assert [*house.active] == [*range(1, 501)] and len(house.model.asked) == TRIES + 2
    assert (
        "memories 1 to 500 could not be summed up: timed out" in house.notices[0]
        and not house.care.wish
    )


def test_the_end_is_told_once_whatever_fails_behind_it(house: Caring) -> None:
    house.hold(30)
    house.begin()
    forbid(house, "DELETE ON self_care")
    for _ in range(3):
        house.step()
        house.clock.at += LONGEST_PAUSE
    forbid(house)
    house.step()
    assert len(house.notices) == 1 and not house.care.wish
