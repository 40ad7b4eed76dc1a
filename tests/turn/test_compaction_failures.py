"""Compaction when the model does not help: retries, pauses, and what is done without it."""

from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.constants import PAUSE_TURNS
from dory.errors import ModelAway, SpendingLimit, WindowExceeded
from dory.identity import context
from dory.types import Prompt
from tests.support.compacting import House, Scripted, asked_ids, in_parts, kinds, originals, summary


def never(prompt: Prompt) -> str:
    raise ModelAway("nobody answers")


def test_a_malformed_answer_is_asked_again_once_with_the_error(tmp_path: Path) -> None:
    answers = iter(["nothing of use", "1-9 first\n10-18 second"])
    house = House(tmp_path, Scripted(segment=lambda prompt: next(answers)))
    house.hear(29)
    house.compact()
    segments = [prompt for purpose, prompt in house.model.asked if purpose == "segment"]
    assert len(segments) == 2
    assert "[#retry]" in segments[1].text and "no line names a chunk" in segments[1].text
    assert "1-9 compacted" in kinds(house.me.context.entries)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("1-9 a\n5-12 b", "overlap"),
        ("1-400 a", "not within"),
        ("9-1 a", "not within"),
        ("certainly! here are the chunks", "no line names a chunk"),
    ],
)
def test_a_context_whose_chunks_cannot_be_read_is_cut_without_the_model(
    tmp_path: Path, answer: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, Scripted(segment=lambda prompt: answer))
    house.hear(29)
    house.compact()
    segments = [prompt for purpose, prompt in house.model.asked if purpose == "segment"]
    assert len(segments) == 2 and complaint in segments[1].text
    assert "1-8 compacted" in kinds(house.me.context.entries)
    assert "about 1-8" in house.me.context.entries[0].body, "the model summarises as ever"
    assert house.me.state.failures == 0
    told = capsys.readouterr().err
    assert "its chunks were cut at pauses" in told and complaint in told


def test_a_limit_of_spending_that_is_reached_meanwhile_is_no_failure(tmp_path: Path) -> None:
    def refused(prompt: Prompt) -> str:
        raise SpendingLimit("the limit is reached")

    house = House(tmp_path, Scripted(segment=refused))
    house.hear(29)
    for turn in (1, 2):
        house.me.state.turn = turn
        house.compaction.step()
        house.finish()
    assert (
        house.me.state.failures == 0
        and house.me.state.last_compaction == "turn 2: not now, the limit is reached"
    )
    assert house.me.state.paused_until == 2 and len(house.model.asked) == 2


def test_two_failures_in_a_row_pause_compaction_for_ten_turns(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(segment=never))
    house.hear(29)
    for turn in (1, 2):
        house.me.state.turn = turn
        house.compaction.step()
        house.finish()
    assert house.me.state.paused_until == 2 + PAUSE_TURNS
    assert "Compaction failed 2 times" in house.me.context.entries[-1].body
    asked = len(house.model.asked)
    for turn in range(3, 3 + PAUSE_TURNS):
        house.me.state.turn = turn
        house.compaction.step()
        assert house.compaction.under_way == (turn == 2 + PAUSE_TURNS + 1)
        house.finish()
    house.me.state.turn = 2 + PAUSE_TURNS + 1
    house.compaction.step()
    house.finish()
    assert len(house.model.asked) > asked


def test_at_the_hard_limit_the_oldest_entries_fold_when_the_model_stays_away(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(segment=never))
    house.hear(60)
    assert house.compaction.at_hard_limit
    before = list(house.me.context)
    house.compaction.make_room(lambda: None)
    assert not house.compaction.at_hard_limit
    first = house.me.context.entries[0]
    assert first.kind == "compacted" and first.first == 1 and "not summarised" in first.gist
    kept = [
        entry
        for entry in originals(house.me.context.entries, house.me.blobs)
        if entry.kind != "notice"
    ]
    assert kept == [entry for entry in before if entry.kind != "notice"]


def test_all_folds_that_the_hard_limit_needs_count_as_one_swap(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(segment=never))
    house.hear(200)
    house.compaction.make_room(lambda: None)
    folds = [line for line in house.me.life.tail(50).splitlines() if " compacted " in line]
    assert len(folds) > 1
    assert len(house.me.state.last_swap) == len(folds)


def test_at_the_hard_limit_a_compaction_that_helps_is_waited_for(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    house.hear(45, 200)
    calls: list[int] = []
    house.compaction.make_room(lambda: calls.append(1))
    assert not house.compaction.at_hard_limit
    assert "not summarised" not in context.render(house.me.context)


def test_a_chunk_whose_call_fails_stays_and_what_was_used_is_recorded(tmp_path: Path) -> None:
    def summarise(prompt: Prompt) -> str:
        return never(prompt) if asked_ids(prompt) == "4-6" else summary("a crate", 1)

    house = House(tmp_path, Scripted(summarise=summarise))
    house.hear(29)
    house.compact()
    assert "4 heard, 5 heard, 6 heard" in kinds(house.me.context.entries)
    lines = (house.me.folder / "usage.jsonl").read_text().splitlines()
    assert len(lines) == len(house.model.asked) - 1


def test_calls_whose_answers_were_no_use_are_recorded_and_the_person_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, Scripted(segment=lambda prompt: "nothing of use"))
    house.hear(29)
    house.compact()
    used = (house.me.folder / "usage.jsonl").read_text().splitlines()
    assert sum('"segment"' in line for line in used) == 2
    assert "its chunks were cut at pauses" in capsys.readouterr().err


def test_a_compaction_whose_model_is_away_fails_and_the_person_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    house = House(tmp_path, Scripted(segment=never))
    house.hear(29)
    before = list(house.me.context)
    house.compact()
    assert list(house.me.context) == before
    assert house.me.state.failures == 1
    assert "compaction failed: nobody answers" in capsys.readouterr().err


def test_a_compaction_whose_call_does_not_fit_the_window_folds_the_oldest(tmp_path: Path) -> None:
    def too_long(prompt: Prompt) -> str:
        raise WindowExceeded("too long")

    house = House(tmp_path, Scripted(segment=too_long))
    house.hear(29)
    house.compact()
    assert "not summarised" in house.me.context.entries[0].gist


def test_the_gist_of_a_mechanical_fold_does_not_nest(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(segment=never))
    for _ in range(6):
        house.hear(60)
        house.compaction.make_room(lambda: None)
    assert all(entry.gist.count("not summarised") <= 1 for entry in house.me.context)
    assert list(check.problems(tmp_path)) == []


def test_a_failed_compaction_that_a_person_asked_for_pauses_nothing(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(segment=never))
    house.hear(29)
    for _ in range(3):
        house.compaction.start(by_hand=True)
        house.finish()
    assert house.me.state.failures == 0 and house.me.state.paused_until == house.me.state.turn


def test_a_model_that_goes_away_is_not_asked_for_every_chunk(tmp_path: Path) -> None:
    answered: list[str] = []

    def summarise(prompt: Prompt) -> str:
        answered.append(asked_ids(prompt))
        return summary("dev", 1) if len(answered) == 1 else never(prompt)

    house = House(tmp_path, Scripted(segment=in_parts(1), summarise=summarise), workers=2)
    house.hear(40, 100)
    house.compact()
    assert len(answered) == 3, "one alone, and one batch"
    assert "1 compacted, 2 heard" in kinds(house.me.context.entries), (
        "what came before it went is of use"
    )


def test_a_model_that_cannot_summarise_is_not_asked_for_every_chunk(tmp_path: Path) -> None:
    house = House(
        tmp_path, Scripted(segment=in_parts(1), summarise=lambda prompt: "They talked."), workers=3
    )
    house.hear(40, 100)
    house.compact()
    assert len(house.model.asked) == 1 + 2 * (1 + 3)
    assert house.me.state.failures == 0
    assert house.me.context.entries[1].gist.startswith("ada: crate"), "by extraction"


def test_an_answer_that_was_cut_is_no_answer_to_a_compaction(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    complete = house.model.complete
    house.model.complete = lambda prompt, purpose, control=None: replace(  # type: ignore[method-assign]
        complete(prompt, purpose), cut=True
    )
    house.hear(29)
    house.compact()
    assert "cut off at its length limit" in house.model.asked[1][1].text
    faded = [entry for entry in house.me.context if entry.kind == "compacted"]
    assert faded and all("“crate" in entry.body for entry in faded), "by extraction"
