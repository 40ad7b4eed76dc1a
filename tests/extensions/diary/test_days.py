"""Days of the diary: an entry goes to the day that it names, days are those of the clock on the
wall, and people page through them.
"""

import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from dory import check
from dory.errors import ToolError
from dory.extensions.diary.store import Entry
from dory.text.pages import PAGE
from tests.extensions.diary.test_extension import TODAY, Writing
from tests.support.household import assert_told, killed_everywhere

WRITTEN = "written on 2026-03-02 12:00"


@pytest.fixture
def house(tmp_path: Path) -> Writing:
    return Writing(tmp_path / "home")


@pytest.mark.parametrize(
    ("line", "day", "entry"),
    [
        ("2026-03-01 Ada came.", "2026-03-01", Entry("Ada came.", WRITTEN)),
        ("2026-03-01: Ada came.", "2026-03-01", Entry("Ada came.", WRITTEN)),
        ("date: 2026-02-27; Ada came.", "2026-02-27", Entry("Ada came.", WRITTEN)),
        (
            "2026-03-01 mood: sad; place: the harbour; Ada left.",
            "2026-03-01",
            Entry("Ada left.", WRITTEN, "sad", "the harbour"),
        ),
        ("Ada came | mood: glad | place: dev", TODAY, Entry("Ada came", "12:00", "glad", "dev")),
        ("mood: glad | Ada came.", TODAY, Entry("Ada came.", "12:00", "glad", "home")),
        ("Ada came; mood: glad", TODAY, Entry("Ada came", "12:00", "glad", "home")),
        (
            "Ada came; it rained. Mood: glad; place: a boat",
            TODAY,
            Entry("Ada came; it rained. Mood: glad", "12:00", "calm", "a boat"),
        ),
        (
            "<<END\nMood: glad\nPlace: the pier\nAda came.\nBob left.\nEND",
            TODAY,
            Entry("Ada came.\nBob left.", "12:00", "glad", "the pier"),
        ),
        ("2026-03-02 Ada came.", TODAY, Entry("Ada came.", "12:00", "calm", "home")),
        ("2026-03-01st is a day", TODAY, Entry("2026-03-01st is a day", "12:00", "calm", "home")),
        ("mood: why?; who knows", TODAY, Entry("mood: why?; who knows", "12:00", "calm", "home")),
    ],
)
def test_an_entry_goes_to_the_day_that_it_names_with_the_mood_and_the_place_that_it_names(
    house: Writing, line: str, day: str, entry: Entry
) -> None:
    house.respond("SET_MOOD calm")
    assert house.result(f"WRITE_DIARY {line}").body == f"written into your diary, entry 1 of {day}"
    assert house.diary.entries(date.fromisoformat(day)) == [entry]
    assert (house.me.state.mood, house.me.state.place) == ("calm", "home")
    assert list(check.problems(house.home)) == []


@pytest.fixture
def eastern(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock on the wall is half a day ahead of UTC."""
    monkeypatch.setenv("TZ", "East-12:30")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_days_are_those_of_the_clock_on_the_wall(eastern: None, tmp_path: Path) -> None:
    house = Writing(tmp_path / "home")
    house.respond("WRITE_DIARY after midnight\nWRITE_DIARY 2026-03-02 about yesterday")
    (entry,) = house.diary.entries(date(2026, 3, 3))
    assert entry.at == "00:30"
    assert house.result("SHOW_DIARY_ENTRIES_FROM_DAY yesterday").body.endswith("about yesterday")
    assert "today is 2026-03-03" in house.result("WRITE_DIARY 2026-03-04 x").body
    assert house.past.bank.add("a boat", house.me.now()).title == "memory 1 of 2026-03-03"


def test_people_page_through_the_days_and_search_them(house: Writing) -> None:
    for day in range(1, 29):
        house.respond(f"WRITE_DIARY 2026-02-{day:02} word{day} of the harbour")
    house.between()
    (diary,) = (command.run for command in house.extension.commands())
    lines = diary("").splitlines()
    assert lines[0] == "2026-02-28  word28 of the harbour" and lines[-1] == "20 of 28; /diary 2"
    lines = diary("2").splitlines()
    assert lines[-2] == "2026-02-01  word1 of the harbour" and lines[-1] == "21-28 of 28"
    with pytest.raises(ToolError, match="there is no page 3"):
        diary("3")
    assert diary("word7").startswith("2026-02-07  written on 2026-03-02 12:00 **word7** of")
    assert len(diary("the harbour").splitlines()) == PAGE
    assert diary("zebra") == 'the diary has no day for "zebra"'


def test_after_a_kill_an_entry_of_another_day_is_there_once_and_told(house: Writing) -> None:
    line = "WRITE_DIARY 2026-02-27 two"
    house.respond(line)  # the same words, earlier
    house.fade(house.me.context.entries, "earlier")
    seen = set()
    for _ in killed_everywhere(house, lambda: house.respond(line)):
        count = len(house.diary.entries(date(2026, 2, 27)))
        assert house.diary.days() == [date(2026, 2, 27)]
        assert_told(house, [line], [line][: count - 1])
        seen.add(count)
    assert seen == {1, 2}
