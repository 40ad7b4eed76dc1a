"""Patience with a model that fails: when it is tried again, what people are told, and what a prompt
that is too long may cost.
"""

import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from dory.errors import ModelAway, ModelError, ModelRefused, WindowExceeded
from dory.turn.model_call import ModelCall, TurnRetry
from dory.types import Prompt, Reply, Usage
from tests.support.compacting import House, Scripted, kinds


def pauses(retry: TurnRetry, news: bool, times: int) -> Iterator[float]:
    """The seconds between one failed try and the next, when each is made as soon as it may be."""
    now = 0.0
    for _ in range(times):
        retry.failed(now)
        after = next(
            after
            for after in (seconds / 2 for seconds in count())
            if retry.ready(now + after, news)
        )
        now += after
        yield after


def test_the_pauses_double_up_to_a_limit_and_are_shorter_when_there_are_news() -> None:
    assert list(pauses(TurnRetry(), False, 7)) == [30, 60, 120, 240, 480, 600, 600]
    assert list(pauses(TurnRetry(), True, 7)) == [1, 2, 4, 8, 16, 30, 30]


def test_they_begin_anew_after_a_success_and_stay_limited_however_long_it_lasts() -> None:
    retry = TurnRetry()
    assert retry.ready(0, False), "nothing has failed"
    assert list(pauses(retry, True, 3000))[-1] == 30
    retry.succeeded()
    assert retry.ready(90_000, False)
    assert list(pauses(retry, True, 2)) == [1, 2]


def test_news_that_come_too_soon_for_a_try_are_not_forgotten() -> None:
    retry = TurnRetry()
    for now in (0, 1, 3):
        retry.failed(now)
    assert not retry.ready(4, True)
    assert not retry.ready(6.5, False)
    assert retry.ready(7, False)
    retry.failed(7)
    assert not retry.ready(100, False), "the try knew of them"


def test_who_speaks_after_a_while_is_heard_at_once() -> None:
    retry = TurnRetry()
    for now in range(20):
        retry.failed(now)
    assert not retry.ready(60, False)
    assert retry.ready(60, True)


def ask(house: House) -> Reply | None:
    """One try for a turn."""
    return house.agent.model_call.ask(house.agent.prompts.build(), house.compaction)


def failing(errors: Iterator[ModelError]) -> Callable[[Prompt], str]:
    def turn(prompt: Prompt) -> str:
        raise next(errors)

    return turn


def test_people_are_told_of_a_trouble_once_whatever_numbers_stand_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    errors = (ModelAway(f"busy, wait {number}.5 s, request req_{number}a") for number in count())
    house = House(tmp_path, Scripted(turn=failing(errors)))
    assert [ask(house) for _ in range(3)] == [None] * 3
    assert house.lines("NOTICE") == ["I cannot think now: busy, wait 0.5 s, request req_0a"]
    assert house.me.state.stuck
    tries = [line.partition("; ")[2] for line in capsys.readouterr().err.splitlines()]
    assert tries == [
        f"the turn is tried again at the next news, or in {pause} s" for pause in (30, 60, 120)
    ]


def test_a_new_process_is_not_stuck_before_it_has_tried(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(turn=failing(ModelAway("busy") for _ in count())))
    ask(house)
    assert house.me.state.stuck
    house.wake()
    assert not house.me.state.stuck


def test_a_compaction_that_is_taken_back_during_a_call_is_no_fault_of_the_harness(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, Scripted())
    house.hear(29)
    house.compact()
    ask(house)

    def turn(prompt: Prompt) -> str:
        house.say("/undo-compaction")
        until = time.monotonic() + 10
        while house.me.state.last_swap and time.monotonic() < until:
            time.sleep(0.01)
        return "WAIT"

    house.model.rules["turn"] = turn
    ask(house)
    assert not house.me.state.last_swap
    ask(house)
    assert "fault of the harness" not in capsys.readouterr().err


def test_another_trouble_is_told_and_after_a_success_each_is_told_again(tmp_path: Path) -> None:
    rules = iter(
        [
            failing(iter([error]))
            for error in (ModelAway("busy"), ModelRefused("no key"), ModelAway("busy"))
        ]
    )
    house = House(
        tmp_path, Scripted(turn=lambda prompt: next(rules, lambda prompt: "WAIT")(prompt))
    )
    for _ in range(4):
        ask(house)
    assert house.lines("NOTICE") == ["I cannot think now: busy", "I cannot think now: no key"]
    assert not house.me.state.stuck
    house.model.rules["turn"] = failing(iter([ModelAway("busy")]))
    ask(house)
    assert house.lines("NOTICE")[2:] == ["I cannot think now: busy"]


def test_two_answers_in_a_row_that_come_to_nothing_are_told(tmp_path: Path) -> None:
    usage = Usage("turn", "m", 1, None, 1, 0.0)
    empty, cut, good = (
        Reply(" \n", "", usage),
        Reply("SAY dev half", "", usage, cut=True),
        Reply("WAIT", "", usage),
    )
    replies = iter(
        [empty, good, empty, empty, empty, cut, cut, good, Reply("", "hm", usage), empty, empty]
    )
    house = House(tmp_path, Scripted())
    house.model.complete = lambda prompt, purpose, control=None: next(replies)  # type: ignore[method-assign]
    house.agent.model_call = ModelCall(
        house.me, house.model, house.agent.inbox.serve, print
    )  # nobody asks again
    told: list[int] = []
    for _ in range(11):
        ask(house)
        told.append(len(house.lines("NOTICE")))
    assert told == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3]
    assert house.lines("NOTICE")[:2] == [
        "I cannot think well now: again the answer of my model was empty",
        "I cannot think well now: again the answer of my model was cut off at its length limit",
    ]


def test_what_is_not_answered_yet_is_not_folded_for_a_window_that_little_would_not_help(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(turn=failing(WindowExceeded("too long") for _ in count())))
    for number in range(5):
        house.say(f"line {number}")
    house.agent.inbox.receive()
    before = kinds(house.me.context.entries)
    assert ask(house) is None
    assert kinds(house.me.context.entries) == before
    assert house.lines("NOTICE") == ["I cannot think now: too long"]


def test_a_window_that_stays_too_small_is_folded_for_a_few_times_only(tmp_path: Path) -> None:
    house = House(
        tmp_path,
        Scripted(turn=failing(WindowExceeded("too long") for _ in count())),
        context_limit=20_000,
    )
    house.hear(300)
    while not house.me.state.stuck:
        ask(house)
    assert 3 <= len(house.model.asked) <= 8
    assert len(house.me.context.entries) > 3
