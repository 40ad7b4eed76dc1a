"""The cascade in a life: when it runs, what it covers and keeps through failures and kills, and how
a long life is taken in.
"""

import copy
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from dory import check
from dory.config.profiles import CascadeSettings
from dory.errors import ModelAway
from dory.extensions.cascade.extension import CascadeExtension
from dory.extensions.cascade.life_reader import LifeReader
from dory.extensions.cascade.rolling import BATCH, PIECE
from dory.extensions.cascade.store import FOLDER, Summaries, Summary
from dory.identity.life import LINE_LIMIT
from dory.types import Prompt
from tests.support.cascading import (
    SMALL,
    copied,
    covered,
    events_to,
    happen,
    lined,
    lived,
    related,
)
from tests.support.compacting import House, Scripted
from tests.support.household import NOON, Killed, copy_of, mishap
from tests.support.remembering import step


def calls(house: House) -> int:
    return sum(purpose == "cascade" for purpose, _ in house.model.asked)


def test_summaries_are_made_at_exactly_129_193_257_and_321(tmp_path: Path) -> None:
    house, made = House(tmp_path, Scripted()), list[tuple[int, int]]()
    for instant in (129, 193, 257, 321):
        happen(house, instant - 2, at_once=40)
        happen(house, instant - 1)
        assert copied(house) == made
        happen(house, instant)
        made.append((made[-1][1] + 1 if made else 1, instant - 64))
        assert copied(house) == made and covered(house)[1] == made[-1]
        assert covered(house)[0] == ((1, made[-2][1]) if len(made) > 1 else None)
    assert calls(house) == 1 + 3 * 2
    assert list(check.problems(house.home)) == []


def test_the_first_run_covers_all_that_has_left_the_window_however_many_things_happened_at_once(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted())
    happen(house, 400, at_once=400)
    assert covered(house) == (None, (1, 385 - 64)) and calls(house) == 5
    happen(house, 448, at_once=100)
    assert copied(house) == [(1, 321)]
    happen(house, 449)
    assert covered(house) == ((1, 321), (322, 385))


def test_runs_that_come_late_are_made_up_for_one_by_one(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    happen(house, 13)
    happen(house, 30, at_once=17)
    assert (
        copied(house) == [(1, 5), (6, 9), (10, 13), (14, 17), (18, 21)]
        and calls(house) == 1 + 4 * 2
    )
    happen(house, 33)
    assert covered(house) == ((1, 21), (22, 25)) and list(check.problems(house.home)) == []


def test_a_life_that_is_stopped_and_resumed_again_and_again_has_the_summaries_of_one_that_was_not(
    tmp_path: Path,
) -> None:
    house, chance, resumed = (
        House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade"),
        random.Random(6),
        0,
    )
    happen(house, 13)
    while lived(house) < 100:
        happen(
            house,
            lived(house) + chance.randint(1, 9),
            at_once=chance.randint(1, 9),
            stepping=chance.random() < 0.7,
        )
        if chance.random() < 0.1:
            resumed += 1
            house.wake()
            step(house)
    step(house)
    runs = (lived(house) - 13) // 4 + 1
    made = [(1, 5), *((first, first + 3) for first in range(6, 4 * runs, 4))]
    assert resumed > 2 and copied(house) == made and calls(house) == 2 * runs - 1
    assert covered(house) == ((1, made[-2][1]), made[-1]) and list(check.problems(house.home)) == []


def test_a_kill_at_any_write_of_a_run_is_mended_after_the_resume(tmp_path: Path) -> None:
    before = House(tmp_path / "0", Scripted(), cascade=SMALL, extensions="cascade")
    happen(before, 16, at_once=16)
    happen(before, 17, stepping=False)
    struck, at = True, 0
    while struck:
        at += 1
        house = copy.copy(before)
        house.home = copy_of(before.home, tmp_path / str(at))
        house.wake()
        with mishap(at, Killed()) as killed:
            step(house)
        struck = killed.struck
        house.wake()
        step(house)
        assert covered(house) == ((1, 5), (6, 9)) and copied(house) == [(1, 5), (6, 9)]
        assert {(one.first, one.last) for one in related(house, "a thing of life")} == {
            *lined(house)
        }
        assert list(check.problems(house.home)) == []
    assert at > 8


def test_when_the_model_fails_the_old_summaries_stay_and_the_next_instant_tries_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(prompt: Prompt) -> str:
        if not (text := answers.pop(0)):
            raise ModelAway("nobody is there")
        return text

    answers = [
        "Once upon a time.",
        "Long ago.",
        "",
        "Long ago.",
        "Not so long ago.",
        "Longer ago.",
        "Lately.",
    ]
    house = House(tmp_path, Scripted(cascade=answer), cascade=SMALL, extensions="cascade")
    happen(house, 13, at_once=4)
    before = {path.name: path.read_bytes() for path in (house.me.folder / FOLDER).iterdir()}
    happen(house, 20)
    assert {
        path.name: path.read_bytes() for path in (house.me.folder / FOLDER).iterdir()
    } == before and len(answers) == 4
    assert (
        "cascade: failed: nobody is there; the summaries stay as they are"
        in capsys.readouterr().err
    )
    extension = house.agent.extensions.members[2]
    assert isinstance(extension, CascadeExtension) and extension.status("").endswith(
        "\nthe last run failed: nobody is there"
    )
    happen(house, 21)
    assert covered(house) == ((1, 9), (10, 13)) and copied(house) == [(1, 5), (6, 9), (10, 13)]


def test_of_failures_in_a_row_the_agent_is_told_once(tmp_path: Path) -> None:
    def answer(prompt: Prompt) -> str:
        if away:
            raise ModelAway("nobody is there")
        return "Once."

    house, away = (
        House(tmp_path, Scripted(cascade=answer), cascade=SMALL, extensions="cascade"),
        True,
    )
    for again in (1, 2):
        away = True
        happen(house, lived(house) + 25)
        told = [
            entry.body
            for entry in house.me.context
            if entry.kind == "notice" and "nobody is there" in entry.body
        ]
        assert len(told) == again
        away = False
        happen(house, lived(house) + 5)


def test_a_failure_that_nobody_foresaw_does_not_end_the_cascade(tmp_path: Path) -> None:
    def answer(prompt: Prompt) -> str:
        if not failures:
            failures.append(prompt)
            raise KeyError("a bug in a model")
        return "Once."

    failures: list[Prompt] = []
    house = House(tmp_path, Scripted(cascade=answer), cascade=SMALL, extensions="cascade")
    happen(house, 17, at_once=5)
    assert covered(house) == (None, (1, 9)) and any(
        "a bug in a model" in entry.body for entry in house.me.context
    )


def test_each_step_is_told_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(
        tmp_path, Scripted(cascade=lambda prompt: "It was so."), cascade=SMALL, extensions="cascade"
    )
    happen(house, 17)
    told = [
        line.partition("cascade: ")[2]
        for line in capsys.readouterr().err.splitlines()
        if "cascade: " in line
    ]
    assert told == [
        "14 lines of LIFE, 5 events to sum up, the newest 8 stay",
        "short-term updated (10 chars)",
        "complete (first summary)",
        "18 lines of LIFE, 4 events to sum up, the newest 8 stay",
        "long-term updated (10 chars)",
        "short-term updated (10 chars)",
        "complete (waterfall)",
    ]


def test_there_is_one_run_at_a_time_and_life_goes_on_beside_it(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    house.model.released.clear()
    happen(house, 13, at_once=13, stepping=False)
    for more in range(14, 24):
        house.agent.extensions.step()
        happen(house, more, stepping=False)
    assert calls(house) == 1 and house.agent.extensions.under_way() == ["cascade"]
    house.model.released.set()
    step(house)
    assert copied(house) == [(1, 5), (6, 9), (10, 13)] and house.model.most_at_once["cascade"] == 1


def test_a_long_life_is_taken_in_when_the_cascade_is_switched_on_and_a_kill_costs_a_batch(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(cascade=lambda prompt: "So it was."), extensions="")
    happen(house, 12_000, at_once=12_000)
    house.config = replace(
        house.config, extensions="cascade", cascade=CascadeSettings(recent_window=300)
    )
    house.wake()
    extensions = house.agent.extensions
    while (begun := Summaries(house.me.folder).begun) is None:
        extensions.step()
    piece = PIECE // LINE_LIMIT
    assert (begun.first, events_to(house, begun.last)) == (1, BATCH * piece)
    assert extensions.under_way() == [
        f"cascade {begun.last:,} of {lived(house) + len(['booted', 'resumed']):,}"
    ]
    house.wake()
    step(house)
    last = 365 + (lived(house) - 365) // 300 * 300 - 64
    assert covered(house) == (None, (1, last)) and copied(house) == [(1, last)]
    pieces = -(-last // piece)
    assert pieces <= calls(house) <= pieces + BATCH and list(check.problems(house.home)) == []


def test_damaged_summaries_are_told_once_and_used_again_when_they_were_put_back(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    happen(house, 13, at_once=13)
    file = house.me.folder / FOLDER / "recent.md"
    sound = file.read_bytes()
    file.write_bytes(b"---\ndory: summary 9\n---\n")
    house.wake()
    happen(house, 20)
    told = [entry.body for entry in house.me.context if "update Dory" in entry.body]
    assert len(told) == 1 and told[0].startswith(
        "the extension cascade failed at its background work: UnknownVersion"
    )
    assert "Recent past" not in house.agent.prompts.build().text and copied(house) == [(1, 5)]
    file.write_bytes(sound)
    house.me.new_epoch()
    assert "Recent past" in house.agent.prompts.build().text
    step(house)
    assert covered(house)[0] == (1, 5)


def test_summaries_of_a_home_in_which_each_line_was_an_event_are_gone_on_from(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="")
    for number in range(1, 15):
        house.me.log("heard", f"dev ada: thing {number} of this life.")
        house.me.log("response", f"SAY dev so {number}", house.me.state.parent)
        house.me.log("SAY", "said in dev")
    house.me.commit()
    reader = LifeReader(house.me.life.path)
    summaries = Summaries(house.me.folder)  # as it was: 13 lines, 8 of them in the window
    summaries.save(None, Summary(1, reader.find(5), NOON, "scripted", "Five lines."))
    assert list(check.problems(house.home)) == []
    house.config = replace(house.config, extensions="cascade")
    house.wake()
    step(house)
    kept = Summaries(house.me.folder)
    assert lined(house)[0] == (1, 5) and kept.longterm and kept.longterm.first == 1
    ranges = lined(house)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))
    sizes = [events_to(house, last) - events_to(house, first - 1) for first, last in ranges[1:]]
    assert sizes and set(sizes) == {SMALL.recent_window}
    left = lived(house) - events_to(house, ranges[-1][1])
    assert SMALL.immediate_window <= left < SMALL.immediate_window + SMALL.recent_window
    assert list(check.problems(house.home)) == []


def test_a_damaged_draft_is_told_and_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    happen(house, 13, at_once=13)
    draft = house.me.folder / FOLDER / "draft.md"
    draft.write_bytes(b"no draft")
    house.wake()
    happen(house, 17)
    assert covered(house) == ((1, 5), (6, 9)) and not draft.exists()
    assert capsys.readouterr().err.count("draft.md is damaged") == 1
