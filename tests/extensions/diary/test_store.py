"""The files of the diary: there is one for each date, people can read and edit them, and a search
finds their current words. Damage is named and left as it is.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from dory.errors import FormatError, ToolError
from dory.extensions.diary.store import DAY_LIMIT, FOLDER, TEXT_LIMIT, Diary, Entry, problems
from dory.search.index import Index
from dory.storage.database import NAME, Store
from tests.support.household import Killed, mishap

DAY = date(2026, 3, 2)


def diary(folder: Path) -> Diary:
    """As a process would open it."""
    store = Store(folder / NAME)
    return Diary(folder, store, Index(store))


def file(folder: Path, day: object = DAY) -> Path:
    return folder / FOLDER / f"{day}.json"


def days_found(book: Diary, words: str) -> list[str]:
    """The days that a search finds after all that has changed was taken in."""
    book.saw(book.looking()())
    assert book.refresh(10_000) == 0
    return [str(date.fromordinal(hit.document.origin)) for hit in book.search(words, 10)]


def fill(folder: Path, days: int) -> None:
    """A file for each of so many days, up to ``DAY``, as years of writing leave them; each has a
    word of its own.
    """
    (folder / FOLDER).mkdir()
    for number in range(days):
        day = str(DAY - timedelta(days=number))
        entry = {
            "at": "21:05",
            "mood": "calm",
            "place": "home",
            "text": f"The garden again, and word{number} came by for tea.",
        }
        file(folder, day).write_text(json.dumps({"version": 1, "date": day, "entries": [entry]}))


def test_a_second_write_on_a_day_adds_an_entry_and_people_can_read_the_file(tmp_path: Path) -> None:
    book = diary(tmp_path)
    assert book.write(Entry("Ada kam zurück 🌧", "09:14", "calm", "home"), DAY) == 1
    assert book.write(Entry("two\nlines", "21:40"), DAY) == 2
    assert file(tmp_path).read_text(encoding="utf-8") == (
        '{\n "version": 1,\n "date": "2026-03-02",\n "entries": [\n'
        '  {\n   "at": "09:14",\n   "mood": "calm",\n   "place": "home",\n   "text": "Ada '
        'kam zurück 🌧"\n  },\n'
        '  {\n   "at": "21:40",\n   "mood": "",\n   "place": "",\n   "text": '
        '"two\\nlines"\n  }\n ]\n}\n'
    )
    assert list(map(str, diary(tmp_path).entries(DAY))) == [
        "09:14, at home, calm\n  Ada kam zurück 🌧",
        "21:40\n  two\n  lines",
    ]
    assert (
        book.days() == [DAY]
        and os.listdir(tmp_path / FOLDER) == ["2026-03-02.json"]
        and list(problems(tmp_path)) == []
    )


def test_what_does_not_fit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    book = diary(tmp_path)
    for text, complaint in (
        (" \n", "nothing to write"),
        ("x" * (TEXT_LIMIT + 1), f"an entry may have {TEXT_LIMIT}"),
    ):
        with pytest.raises(ToolError, match=complaint):
            book.write(Entry(text), DAY)
    for _ in range(DAY_LIMIT // TEXT_LIMIT):
        book.write(Entry("x" * TEXT_LIMIT), DAY)
    with pytest.raises(ToolError, match=f"a day may have {DAY_LIMIT}: keep the rest in a note"):
        book.write(Entry("y"), DAY)
    assert len(book.entries(DAY)) == DAY_LIMIT // TEXT_LIMIT


def test_an_edited_day_is_found_by_its_new_words_and_no_longer_by_the_old(tmp_path: Path) -> None:
    book = diary(tmp_path)
    book.write(Entry("The hotel was the Miramar.", place="Lisbon"), DAY)
    book.write(Entry("Rain in Porto."), DAY - timedelta(days=1))
    assert (
        days_found(book, "miramar") == days_found(book, "lisbon") == ["2026-03-02"]
        and len(days_found(book, "rain hotel")) == 2
    )
    file(tmp_path).write_text(file(tmp_path).read_text().replace("Miramar", "Bellavista"))
    assert days_found(book, "miramar") == [] and days_found(book, "bellavista") == ["2026-03-02"]
    assert days_found(diary(tmp_path), "bellavista") == ["2026-03-02"], "also in the next process"
    file(tmp_path).unlink()
    assert days_found(book, "bellavista") == [] and days_found(book, "porto") == ["2026-03-01"]


def test_what_people_add_to_a_file_stays_when_the_agent_writes(tmp_path: Path) -> None:
    book = diary(tmp_path)
    book.write(Entry("mine"), DAY)
    record = json.loads(file(tmp_path).read_text())
    record |= {"weather": "rain", "entries": [*record["entries"], {"text": "theirs", "by": "Ada"}]}
    file(tmp_path).write_bytes(b"\xef\xbb\xbf" + json.dumps(record).encode())
    book.write(Entry("mine again"), DAY)
    assert [entry.text for entry in book.entries(DAY)] == ["mine", "theirs", "mine again"]
    now = json.loads(file(tmp_path).read_text())
    assert now["weather"] == "rain" and now["entries"][1] == {"text": "theirs", "by": "Ada"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is damaged"),
        (b"{", "is damaged"),
        (b"[]", "is damaged"),
        (b"\xff\xfe\xff", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b'{"version": 2}', "is of version '2', this Dory reads 1: update Dory"),
        (b'{"version": true, "date": "2026-03-02", "entries": []}', "is of version 'True'"),
        (b'{"version": 1, "date": "2026-03-03", "entries": []}', "its date is another"),
        (b'{"version": 1, "date": "2026-03-02", "entries": ""}', "its entries are no list"),
        (b'{"version": 1, "date": "2026-03-02", "entries": {}}', "its entries are no list"),
        (b'{"version": 1, "date": "2026-03-02", "entries": [{"text": 7}]}', "an entry is no text"),
        (b'{"version": 1, "date": "2026-03-02", "entries": [{"at": "09:14"}]}', "is damaged"),
        (b'{"version": 1, "date": "2026-03-02", "entries": [{"text": "\\ud800"}]}', "is damaged"),
        (b" " * (2**20 + 1), "it has more than 1048576 bytes"),
    ],
)
def test_a_damaged_file_is_named_and_left_as_it_is_and_the_others_are_found(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    book = diary(tmp_path)
    book.write(Entry("rain"), DAY - timedelta(days=1))
    book.write(Entry("rain"), DAY)
    assert len(days_found(book, "rain")) == 2
    file(tmp_path).write_bytes(content)
    assert days_found(book, "rain") == ["2026-03-01"]
    assert len(book.damage()) == len(list(problems(tmp_path))) == 1 and book.damage() == list(
        problems(tmp_path)
    )
    assert re.match(rf"diary/2026-03-02\.json .*{re.escape(complaint)}", book.damage()[0])
    for attempt in (lambda: book.entries(DAY), lambda: book.write(Entry("x"), DAY)):
        with pytest.raises(FormatError, match=re.escape("diary/2026-03-02.json")):
            attempt()
    assert file(tmp_path).read_bytes() == content and [
        document.origin for document in book.documents()
    ] == [DAY.toordinal() - 1]
    file(tmp_path).write_text(
        json.dumps({"version": 1, "date": "2026-03-02", "entries": [{"text": "mended, rain"}]})
    )
    assert len(days_found(book, "rain")) == 2 and book.damage() == []


def test_no_text_can_be_taken_for_another_entry(tmp_path: Path) -> None:
    book = diary(tmp_path)
    book.write(
        Entry(
            "so it was\n\n23:59, at prison, mad\u2028forged", "09:14", "calm", "home\n10:00, at sea"
        ),
        DAY,
    )
    (shown,) = map(str, book.entries(DAY))
    assert (
        shown
        == "09:14, at home 10:00, at sea, calm\n  so it was\n  \n  23:59, at prison, mad\n  forged"
    )


def test_a_diary_that_is_no_folder_is_named_by_the_check_and_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("x")
    assert [problem.startswith("diary/ cannot be listed") for problem in problems(tmp_path)] == [
        True
    ]
    assert diary(tmp_path).days() == [] and days_found(diary(tmp_path), "x") == []


def test_what_is_no_file_of_a_day_is_passed_over_and_named_by_the_check(tmp_path: Path) -> None:
    book = diary(tmp_path)
    book.write(Entry("rain"), DAY)
    for name in (
        "2026-02-30.json",
        "26-1-1.json",
        "notes.txt",
        "2026-03-02.json.bak",
        ".DS_Store",
        ".2026-03-02.json.swp",
        "2026-03-02.json~",
    ):
        (tmp_path / FOLDER / name).write_text("{}")
    file(tmp_path, "2026-03-01").symlink_to(tmp_path / "elsewhere")
    file(tmp_path, "2026-02-28").mkdir()
    assert days_found(book, "rain") == ["2026-03-02"] and len(list(problems(tmp_path))) == 6, (
        "what editors leave is none of it"
    )
    assert ["cannot be read" in damage for damage in book.damage()] == [True, True]


@pytest.mark.parametrize("before", [[], ["first"]])
def test_a_kill_at_any_step_of_a_write_leaves_what_stood_there_or_that_and_the_new(
    tmp_path: Path, before: list[str]
) -> None:
    struck = True
    number = 0
    while struck:
        number += 1
        home = tmp_path / str(number)
        home.mkdir()
        for text in before:
            diary(home).write(Entry(text), DAY)
        with mishap(number, Killed()) as mischance:
            diary(home).write(Entry("second"), DAY)
        struck = mischance.struck
        texts = [entry.text for entry in diary(home).entries(DAY)]
        assert texts in ([before] if struck else []) or texts == [*before, "second"]
        assert list(problems(home)) == [], "no half of anything stands in the diary's folder"
        assert days_found(diary(home), "first second") == ["2026-03-02"] * bool(texts)
    assert number > 5


@contextmanager
def opened(kind: str = "open") -> Iterator[list[str]]:
    """The files of the diary that are opened meanwhile, or another ``kind`` of call on it, as the
    interpreter announces it.
    """
    names: list[str] = []

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if counting and event == kind and f"/{FOLDER}" in str(arguments[0]):
            names.append(str(arguments[0]))

    counting = True
    sys.addaudithook(audit)
    try:
        yield names
    finally:
        counting = False


class Counting(Store):
    """A store that counts the rows it was read."""

    read = 0

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        rows = super().rows(sql, values)
        self.read += len(rows)
        return rows


def test_ten_years_are_searched_without_opening_a_file_and_an_edit_opens_that_one(
    tmp_path: Path,
) -> None:
    fill(tmp_path, 3650)
    book = diary(tmp_path)
    rounds = 1
    while book.refresh(500):
        rounds += 1
    assert rounds == 8, "at most so many at once as were asked for"
    store = Counting(tmp_path / NAME)
    book = Diary(tmp_path, store, Index(store))
    assert book.refresh(1) == 0
    store.read = 0
    with opened("os.scandir") as looked:
        book.write(Entry("zebra"), DAY + timedelta(days=1))
        assert book.refresh(10) == 0 and len(book.search("zebra", 10)) == 1 and store.read < 20
        assert looked == [], (
            "what the agent writes itself is found without a look at the files, or at what "
            "is known of them"
        )
    with opened() as files:
        assert (
            days_found(book, "word3000") == [str(DAY - timedelta(days=3000))]
            and len(days_found(book, "garden tea")) == 10
        )
        assert files == []
        file(tmp_path).write_text(file(tmp_path).read_text().replace("garden", "harbour"))
        files.clear()
        assert days_found(book, "harbour") == ["2026-03-02"] and files == [str(file(tmp_path))]
        store.read = 0
        assert len(book.search("word3000 harbour", 10)) == 2 and store.read < 50
    assert book.days()[0] == DAY - timedelta(days=3649)


def test_what_the_index_lost_is_taken_from_the_files_again(tmp_path: Path) -> None:
    fill(tmp_path, 5)
    running = diary(tmp_path)
    assert len(days_found(running, "garden")) == 5
    for path in tmp_path.glob(f"{NAME}*"):
        path.unlink()
    assert len(days_found(running, "garden")) == len(days_found(diary(tmp_path), "garden")) == 5, (
        "also while it is open"
    )
    assert [document.origin for document in diary(tmp_path).documents()] == [
        DAY.toordinal() - 4 + number for number in range(5)
    ]


def test_a_day_says_how_it_is_had_until_it_is_gone(tmp_path: Path) -> None:
    book = diary(tmp_path)
    book.write(Entry("rain"), DAY)
    assert book.way("Diary", DAY.toordinal()) == "SHOW_DIARY_ENTRIES_FROM_DAY 2026-03-02"
    file(tmp_path).unlink()
    assert book.way("Diary", DAY.toordinal()) == ""
