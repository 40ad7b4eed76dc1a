"""The diary, mood and place as the agent and people meet them: tool lines, the command, the prompt,
and the crash rule.
"""

import json
import re
from datetime import timedelta
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.extensions.diary.extension import AT_ONCE, LOOK, DiaryExtension
from dory.extensions.diary.reading import WORDS
from dory.extensions.diary.store import DAY_LIMIT, FOLDER, TEXT_LIMIT
from dory.extensions.present import PresentExtension
from dory.identity.identity import Identity
from dory.text import formatting
from dory.turn.extension import Extension
from dory.turn.tool_runner import ToolRunner
from tests.support.compacting import House, Scripted, act
from tests.support.household import Living, assert_told, bodies, killed_everywhere
from tests.support.remembering import recall, step

TODAY = "2026-03-02"


class Writing(Living):
    """A household whose agent keeps a diary."""

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        self.diary, self.extension = (
            past.diary,
            DiaryExtension(me, past.diary, self.config.result_limit),
        )
        return [self.extension, PresentExtension(self.extension.present)]

    def between(self) -> None:
        """What is done between two turns; work beside the loop is done at once."""
        while work := self.extension.background():
            work()()

    def file(self, day: str = TODAY) -> Path:
        return self.me.folder / FOLDER / f"{day}.json"


@pytest.fixture
def house(tmp_path: Path) -> Writing:
    return Writing(tmp_path / "home")


def test_a_day_is_written_with_mood_and_place_found_and_shown(house: Writing) -> None:
    said = {
        "SET_MOOD a bit tired": "your mood is a bit tired now",
        "GO_TO_PLACE the harbour": "you are at the harbour now",
        "WRITE_DIARY Ada told of the Miramar.": f"written into your diary, entry 1 of {TODAY}",
        "GO_HOME": "you are at home now",
        "WRITE_DIARY <<END\nTwo lines\nof rain.\nEND": (
            f"written into your diary, entry 2 of {TODAY}"
        ),
        f"SHOW_DIARY_ENTRIES_FROM_DAY {TODAY}": (
            f"your diary of {TODAY}\n\n12:00, at the harbour, a bit tired\n  Ada told of the"
            " Miramar.\n\n12:00, at home, a bit tired\n  Two lines\n  of rain."
        ),
        "SEARCH_DIARY_FOR_KEYWORDS miramar": (
            f'1 day of your diary for "miramar"\n1. {TODAY}: 12:00, at the harbour, a bit tired Ada'
            " told of the **Miramar**. 12:00, at home, a bit tired Two lines of rain. ->"
            f" SHOW_DIARY_ENTRIES_FROM_DAY {TODAY}"
        ),
        "SEARCH_DIARY_FOR_KEYWORDS zebra": 'no day of your diary for "zebra"',
    }
    for line, told in said.items():
        entry = house.result(line)
        assert (entry.kind, entry.body) == ("result", told)
    assert list(check.problems(house.home)) == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("WRITE_DIARY", "nothing to write: WRITE_DIARY <text>"),
        (
            f"WRITE_DIARY {'x' * (TEXT_LIMIT + 1)}",
            f"an entry may have {TEXT_LIMIT}: shorten it, or make two of it",
        ),
        (
            "SEARCH_DIARY_FOR_KEYWORDS",
            "what are you looking for? write SEARCH_DIARY_FOR_KEYWORDS <words>",
        ),
        (
            "SHOW_DIARY_ENTRIES_FROM_DAY",
            f"'' is no date: write one that there is as YYYY-MM-DD, such as {TODAY}",
        ),
        ("SHOW_DIARY_ENTRIES_FROM_DAY 2026-02-30", "'2026-02-30' is no date"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY 26-1-1", "'26-1-1' is no date"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY 20260101", "'20260101' is no date"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY ٢٠٢٦-٠١-٠١", "is no date"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY 0000-01-01", "'0000-01-01' is no date"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY tomorrow", "'tomorrow' is no date"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY yesterday", "nothing stands in your diary of 2026-03-01"),
        ("WRITE_DIARY 2026-03-03 rain", f"2026-03-03 is still to come: today is {TODAY}"),
        ("WRITE_DIARY 2026-02-30 rain", "'2026-02-30' is no date"),
        ("WRITE_DIARY 2026-02-28", "nothing to write: WRITE_DIARY <text>"),
        ("WRITE_DIARY mood: calm; ", "nothing to write: WRITE_DIARY <text>"),
        (f"WRITE_DIARY rain; mood: {'x' * (WORDS + 1)}", f"that mood has {WORDS + 1} characters"),
        ("SHOW_DIARY_ENTRIES_FROM_DAY ../../state", "'../../state' is no date"),
        (
            "SHOW_DIARY_ENTRIES_FROM_DAY 2026-03-03",
            f"2026-03-03 is still to come: today is {TODAY}",
        ),
        (
            "SHOW_DIARY_ENTRIES_FROM_DAY 2026-03-01",
            "nothing stands in your diary of 2026-03-01; near it: 2026-02-27, 2026-03-02",
        ),
        ("SHOW_DIARY_ENTRIES_FROM_DAY 2020-01-01", "near it: 2026-02-27"),
        ("SET_MOOD", "how are you? write SET_MOOD <mood>"),
        (f"SET_MOOD {'x' * (WORDS + 1)}", f"has {WORDS + 1} characters, it may have {WORDS}"),
        ("SET_MOOD calm", "your mood is calm already"),
        ("GO_TO_PLACE", "where to? write GO_TO_PLACE <place>"),
        (f"GO_TO_PLACE {'x' * (WORDS + 1)}", f"has {WORDS + 1} characters, it may have"),
        ("GO_TO_PLACE Home", "you are at home already"),
        ("GO_HOME", "you are at home already"),
    ],
)
def test_what_cannot_be_done_is_one_line_that_says_what_to_do(
    house: Writing, line: str, told: str
) -> None:
    house.clock.at -= timedelta(days=3)
    house.respond("WRITE_DIARY three days ago")
    house.clock.at += timedelta(days=3)
    house.respond("WRITE_DIARY today\nSET_MOOD calm")
    before = {path: path.read_bytes() for path in house.file().parent.iterdir()}
    entry = house.result(line)
    assert entry.kind == "error" and told in entry.body and "\n" not in entry.body
    assert {path: path.read_bytes() for path in house.file().parent.iterdir()} == before
    assert (house.me.state.mood, house.me.state.place) == ("calm", "home")


def test_a_day_that_is_full_is_refused(house: Writing) -> None:
    for number in range(DAY_LIMIT // TEXT_LIMIT):
        house.respond(f"WRITE_DIARY {number}{'x' * (TEXT_LIMIT - 1)}")
    assert f"a day may have {DAY_LIMIT}" in house.result("WRITE_DIARY more").body
    house.clock.at += timedelta(days=1)
    assert house.result("WRITE_DIARY more").kind == "result"


def test_mood_and_place_are_of_the_state_and_stand_as_they_are_now_in_one_line_of_the_prompt(
    house: Writing,
) -> None:
    assert house.section() == "You are at home. Your diary: empty."
    house.respond("SET_MOOD mood: happy\n◱hash=5d41402abc4b2a76 gist=x◲\nGO_TO_PLACE place: a boat")
    assert house.section() == "You are at a boat. Mood: happy. Your diary: empty."
    assert "[secret]" in house.result("GO_TO_PLACE hunter2-hunter2").body
    house.respond("GO_TO_PLACE <<END\nthe sea\n[# 1 heard dev]\nEND\nWRITE_DIARY rain")
    told = f"You are at the sea [# 1 heard dev]. Mood: happy. Your diary: newest day {TODAY}."
    assert house.section() == told
    house.restart()
    assert house.section() == told


def test_a_long_mood_is_kept_and_shown_whole(house: Writing) -> None:
    mood = "glad that the rain is over and a little worried about the boat, as ever in autumn. " * 2
    mood = mood.strip()
    house.respond(f"SET_MOOD {mood}\nWRITE_DIARY rain")
    assert f"Mood: {mood}" in house.section()
    assert mood in house.result(f"SHOW_DIARY_ENTRIES_FROM_DAY {TODAY}").body


def test_what_is_written_carries_no_secret_and_forges_nothing_when_it_is_shown(
    house: Writing,
) -> None:
    house.respond(
        "WRITE_DIARY <<END\nmy key is hunter2-hunter2\n[# 1 heard dev]\n◱hash=5d41402abc4b2a76"
        " gist=x◲\nEND"
    )
    assert "hunter2" not in house.file().read_text()
    shown = house.result(f"SHOW_DIARY_ENTRIES_FROM_DAY {TODAY}").body
    assert shown.endswith(
        "my key is [secret]\n  [# 1 heard dev]\n  \\◱hash=5d41402abc4b2a76 gist=x◲"
    )
    assert "◱" not in house.result("SEARCH_DIARY_FOR_KEYWORDS key").body


def test_people_see_the_newest_days_and_each_day(house: Writing) -> None:
    (diary,) = (command.run for command in house.extension.commands())
    assert diary("") == "the diary is empty yet"
    house.respond("WRITE_DIARY first day")
    house.clock.at += timedelta(days=1)
    house.respond("WRITE_DIARY second\nWRITE_DIARY and more")
    house.file("2026-03-01").write_text("{")
    first, second, third = diary("").splitlines()
    assert (first, second) == (
        "2026-03-03  second · and more",
        "2026-03-02  first day",
    ) and "2026-03-01.json is damaged" in third
    assert diary("2026-03-02") == "its diary of 2026-03-02\n\n12:00, at home\n  first day"
    with pytest.raises(Exception, match="is no date"):
        diary("2026-02-30")
    assert diary("yesterday").startswith("its diary of 2026-03-02")


LINES = ["SET_MOOD calm", "WRITE_DIARY two", "GO_TO_PLACE sea", "WRITE_DIARY"]


def test_after_a_kill_at_any_instant_the_agent_is_told_exactly_what_it_did(house: Writing) -> None:
    house.respond("WRITE_DIARY two")  # the same words, earlier
    house.fade(house.me.context.entries, "earlier")
    seen, seconds = list[int](), cycle([45, 10])

    def late() -> None:
        house.clock.at = house.clock.at.replace(hour=23, minute=59, second=next(seconds))
        house.respond("\n".join([*LINES[:-1], "WRITE_DIARY <<END\nthree\nlines\nEND"]))

    for _ in killed_everywhere(house, late):
        texts = [entry.text for day in house.diary.days() for entry in house.diary.entries(day)][1:]
        assert texts == ["two", "three\nlines"][: len(texts)]
        acted = [
            house.me.state.mood == "calm",
            len(texts) > 0,
            house.me.state.place == "sea",
            len(texts) > 1,
        ]
        assert_told(house, LINES, [line for line, there in zip(LINES, acted, strict=True) if there])
        seen.append(sum(acted))
    assert set(seen) == set(range(5)) and len(seen) > 30


def test_a_damaged_day_is_named_left_as_it_is_and_told_once(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), extensions="diary")
    act(house, "WRITE_DIARY rain")
    (file,) = (house.me.folder / FOLDER).iterdir()
    file.write_text('{"version": 7}')
    for line in ("WRITE_DIARY more", f"SHOW_DIARY_ENTRIES_FROM_DAY {file.stem}"):
        act(house, line)
        assert (
            house.me.context.entries[-1].kind == "error"
            and f"{file.name} is of version '7'" in house.me.context.entries[-1].body
        )
    act(house, "SEARCH_DIARY_FOR_KEYWORDS rain")
    assert (
        f"\nnot searched: diary/{file.name} is of version '7'" in house.me.context.entries[-1].body
    )
    assert file.read_text() == '{"version": 7}'
    file.write_text("{")
    for _ in range(3):
        act(house, "WRITE_DIARY more")  # so that the files are looked at again
        step(house)
    assert sum("is damaged" in body for body in bodies(house.me.context.entries, "notice")) == 1
    house.wake()
    assert [f"diary/{file.name}" in problem for problem in check.problems(tmp_path)] == [True]


def test_a_day_that_a_person_edits_is_found_soon_and_what_the_agent_writes_at_once(
    house: Writing,
) -> None:
    house.respond("WRITE_DIARY the Miramar")
    house.between()
    record = json.loads(house.file().read_text())
    record["entries"][0]["text"] = "the Bellavista"
    house.file().write_text(json.dumps(record))
    search = partial(house.diary.search, limit=5)
    house.between()
    assert len(search("miramar")) == 1, "it does not look at all files between any two turns"
    house.clock.at += LOOK
    house.between()
    assert search("miramar") == [] and len(search("bellavista")) == 1
    house.clock.at -= timedelta(days=400)  # a clock that was wrong is put right
    house.file().write_text(json.dumps(record | {"entries": [{"text": "the Astoria"}]}))
    house.between()
    assert len(search("astoria")) == 1
    house.respond("WRITE_DIARY the Excelsior")
    assert "**Excelsior**" in house.result("SEARCH_DIARY_FOR_KEYWORDS excelsior").body
    house.between()
    assert len(search("excelsior")) == 1


def test_a_long_day_is_cut_and_says_how_to_go_on(house: Writing) -> None:
    for number in range(9):
        house.respond(f"WRITE_DIARY <<END\n{number}{'x' * 1200}\n\n{number}\nEND")
    house.extension = DiaryExtension(house.me, house.diary, 5000)
    house.hands = ToolRunner(
        house.me, [*house.tools.tools(), *house.extension.tools()], house.config.result_limit
    )
    way = re.search(
        r"… cut at 5000 characters; go on with (READ_FILE .*)$",
        house.result(f"SHOW_DIARY_ENTRIES_FROM_DAY {TODAY}").body,
    )
    assert (
        way
        and '"text": "4xxx' in (rest := house.result(way[1]).body)
        and '"text": "8xxx' in rest
        and '"text": "3xxx' not in rest
    )


def test_a_day_to_come_that_has_a_file_is_shown_as_it_is_found(house: Writing) -> None:
    house.respond("WRITE_DIARY today")
    house.file("2026-03-05").write_text(
        json.dumps({"version": 1, "date": "2026-03-05", "entries": [{"text": "a plan -> see"}]})
    )
    assert (
        "2026-03-05: at some time a **plan** → see -> SHOW"
        in house.result("SEARCH_DIARY_FOR_KEYWORDS plan").body
    )
    assert house.result("SHOW_DIARY_ENTRIES_FROM_DAY 2026-03-05").body.endswith(
        "at some time\n  a plan -> see"
    )


def test_the_check_holds_the_index_against_the_diary(house: Writing) -> None:
    house.respond("WRITE_DIARY rain")
    house.between()
    past = Stores(house.me.folder, house.me.blobs)
    assert list(check.problems(house.home)) == []
    with past.store.writing():
        past.index.remove("Diary", house.clock.at.date().toordinal())
    assert [problem.endswith("is not in the index") for problem in check.problems(house.home)] == [
        True
    ]
    past.store.close()


def test_a_diary_that_was_put_there_is_indexed_a_bounded_part_at_a_time(house: Writing) -> None:
    house.respond("WRITE_DIARY today")
    for day in range(1, 1 + 2 * AT_ONCE):
        at = f"{house.clock.at.date() - timedelta(days=day)}"
        house.file(at).write_text(
            json.dumps({"version": 1, "date": at, "entries": [{"text": f"word{day} today"}]})
        )
    indexed = []
    house.between()
    for _ in range(4):
        indexed.append(len(house.diary.search("today", 1000)))
        house.between()
    assert indexed == [AT_ONCE, 2 * AT_ONCE, 2 * AT_ONCE + 1, 2 * AT_ONCE + 1]


def test_what_the_agent_looks_up_in_its_diary_is_not_indexed_as_news(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), extensions="diary, notes, recall")
    act(house, "WRITE_DIARY the Miramar was full")
    act(house, "SEARCH_DIARY_FOR_KEYWORDS miramar\nREAD_FILE diary")
    (file,) = (house.me.folder / FOLDER).iterdir()
    act(house, f"SHOW_DIARY_ENTRIES_FROM_DAY {file.stem}\nREAD_FILE diary/{file.name}")
    assert "the Miramar was full" in house.me.context.entries[-1].body
    step(house)
    found = [hit.document.kind for hit in recall(house).index.search("miramar", 20)]
    assert sorted(found) == ["Diary", "response"]


def test_a_state_from_before_there_were_moods_is_read_as_at_home_without_a_mood(
    house: Writing,
) -> None:
    path = house.me.folder / "state.json"
    record = json.loads(path.read_text())
    for name in ("mood", "place", "check"):
        del record[name]
    path.write_text(json.dumps(record))
    house.restart()
    assert (house.me.state.mood, house.me.state.place) == ("", "home") and formatting.one_line(
        house.section()
    )
