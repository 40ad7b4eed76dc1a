"""A clock that jumps: forward by years, back before the birth of the agent, or not at all. Order
and identities hold.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory import check, clock
from dory.identity import listing
from dory.identity.create import boot
from dory.turn.inbox import Inbox
from tests.support.household import NOON, Household, bodies, household

Written = Callable[[datetime], str]
Read = Callable[[str], datetime]
JUMPS = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=6)


@given(JUMPS)
def test_whatever_the_clock_does_lines_keep_their_order_and_a_resume_goes_on(
    jumps: list[int],
) -> None:
    with household() as house:
        for number, seconds in enumerate(jumps):
            house.clock.at += timedelta(seconds=seconds)
            house.hear("dev", "ada", f"line {number}")
            Inbox(house.me, [], print).receive()
            house.respond(f"SAY dev answer {number}")
            house.restart().begin()
        expected = [f"line {number}" for number in range(len(jumps))]
        heard = [body.partition("] ")[2] for body in bodies(house.me.context.entries, "heard")]
        said = [
            line.partition(" heard dev ada: ")[2]
            for line in house.me.life.tail(64).splitlines()
            if " heard " in line
        ]
        assert heard == expected and said == expected
        assert house.said("dev") == [f"answer {number}" for number in range(len(jumps))]
        assert list(check.problems(house.home)) == []


def test_a_clock_that_stands_still_or_was_put_back_gives_two_boots_two_identities(
    tmp_path: Path,
) -> None:
    hashes = {boot(tmp_path, "dory", "dev", lambda: NOON) for _ in range(3)}
    assert len(hashes) == 3
    assert {folder.name for folder in listing.folders(tmp_path)} == hashes
    assert list(check.problems(tmp_path)) == []


@pytest.mark.parametrize(
    ("written", "read", "least"),
    [
        (clock.minute, clock.of_minute, timedelta(minutes=1)),
        (clock.second, clock.of_second, timedelta(seconds=1)),
        (clock.exact, clock.moment, timedelta(microseconds=1)),
    ],
)
def test_what_a_time_is_written_as_is_read_as_that_time(
    written: Written, read: Read, least: timedelta
) -> None:
    for at in (NOON, NOON + least, NOON - least):
        assert read(written(at)) == at
    for wrong in (
        "",
        "noon",
        written(NOON)[:-1] + "x",
        written(NOON).replace("-03-", "-13-"),
        "2026-03-02T12:00:00",
    ):
        with pytest.raises(ValueError):
            read(wrong)


def test_the_same_thing_said_twice_at_one_time_is_heard_twice(tmp_path: Path) -> None:
    house = Household(tmp_path)
    for _ in range(2):
        house.me.rooms.say("dev", "USER", "ada", "hello", NOON)
    Inbox(house.me, [], print).receive()
    assert [body.partition("] ")[2] for body in bodies(house.me.context.entries, "heard")] == [
        "hello",
        "hello",
    ]
