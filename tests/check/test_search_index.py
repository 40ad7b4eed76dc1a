"""The check of the search index against its sources: every kind of damage is named, and unfinished
work is no damage.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.storage import locks
from dory.storage.database import NAME
from dory.types import Prompt
from tests.support.compacting import House, Scripted, act, asked_ids, summary
from tests.support.remembering import OTHERS, TRIP, hear, long_past, step


def named_by_what_was_heard(prompt: Prompt) -> str:
    """A summary that has a word in common with each stretch."""
    return summary(f"hotel build garden bicycle bread {asked_ids(prompt)}", 5)


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path, Scripted(summarise=named_by_what_was_heard))
    hear(house, TRIP, *OTHERS * 3)
    house.compact()
    step(house)
    act(house, "NOTE_ADD lisbon-hotel Miramar")
    act(house, "NOTE_ALIAS lisbon-hotel bed")
    step(house)
    return house


def change(house: House, *statements: str) -> None:
    """What another program might do to the file."""
    with closing(sqlite3.connect(house.me.folder / NAME)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def problems(house: House) -> list[str]:
    return [line.removeprefix(f"agents/{house.hash}: ") for line in check.problems(house.home)]


def test_a_sound_file_is_no_problem_and_neither_is_a_life_from_before_there_was_one(
    house: House, tmp_path: Path
) -> None:
    assert problems(house) == []
    assert problems(long_past(tmp_path / "other", 80)) == []


def test_archives_of_which_life_tells_are_missed_when_the_whole_file_is_gone(house: House) -> None:
    for file in house.me.folder.glob(f"{NAME}*"):
        file.unlink()
    assert problems(house)[-1] == (
        "memory.sqlite lacks archives that LIFE.md tells of (3, the first is"
        " hotel-build-garden-bicycle-bread-1-3-1-3)"
    )
    house.wake()
    step(house)
    assert problems(house) == []


def test_a_marker_that_is_newer_than_the_state_is_no_problem(house: House) -> None:
    with open(house.me.folder / "LIFE.md", "a", encoding="utf-8") as log:
        log.write(f"2026-03-02 12:00 archived ◱hash={house.hash} gist=not-known-yet◲\n")
    assert problems(house) == []


def test_what_is_not_indexed_yet_is_no_problem(house: House) -> None:
    house.me.add("heard", "dev", "[USER:ada 2026-03-02T12:00:00Z] new")
    house.me.commit()
    assert problems(house) == []


DAMAGE: dict[str, tuple[str, str]] = {
    "an entry that is missing": (
        "DELETE FROM piece WHERE kind = 'heard' AND origin = 2",
        "the heard #2 is not in the index",
    ),
    "another text": (
        "UPDATE piece SET text = 'x' WHERE kind = 'heard' AND origin = 3",
        "the heard #3 is in the index with another text",
    ),
    "another speaker": (
        "UPDATE piece SET speaker = 'eve' WHERE origin = 4",
        "the heard #4 is in the index with another text",
    ),
    "an entry twice": (
        "INSERT INTO piece SELECT id + 10000, kind, origin, room, speaker, at, asks, hash, text"
        " FROM piece WHERE origin = 5 AND kind = 'heard'",
        "the heard #5 is in the index with another text",
    ),
    "an entry of nowhere": (
        "INSERT INTO piece SELECT id + 10000, kind, 77, room, speaker, at, asks, hash, text"
        " FROM piece WHERE origin = 5 AND kind = 'heard'",
        "the heard #77 of the index is nowhere else",
    ),
    "a note that is not indexed": (
        "DELETE FROM piece WHERE kind = 'Note'",
        "the Note #4 is not in the index",
    ),
    "a note with another text": (
        "UPDATE note SET content = 'y' WHERE kind = 'Note'",
        "is in the index with another text",
    ),
    "a note that is gone": ("DELETE FROM note WHERE kind = 'Note'", "of the index is nowhere else"),
    "an alias of nothing": (
        "INSERT INTO alias VALUES ('x', 99)",
        "the table alias names an entry that is not there",
    ),
    "a note without its name": (
        "DELETE FROM alias WHERE name = 'lisbon-hotel'",
        "the note lisbon-hotel is not found by its name",
    ),
    "an unknown kind": (
        "UPDATE note SET kind = 'Diary' WHERE kind = 'Note'",
        "of the unknown kind 'Diary'",
    ),
    "an archive of nothing": (
        "UPDATE note SET hash = '0123456789abcdef' WHERE id = 1",
        "refers to 0123456789abcdef, which is missing",
    ),
    "an archive that is gone": (
        "DELETE FROM note WHERE id = 2",
        "lacks archives that LIFE.md tells of (1, the first is"
        " hotel-build-garden-bicycle-bread-4-6-4-6)",
    ),
    "a mark ahead of the life": ("UPDATE mark SET newest = 99", "has indexed entries up to #99"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_kind_of_damage_is_found_and_named(house: House, damage: str) -> None:
    statement, complaint = DAMAGE[damage]
    change(house, statement)
    lines = problems(house)
    assert any(complaint in line for line in lines), lines


def corrupt(house: House) -> None:
    path = house.me.folder / NAME
    with open(path, "r+b") as file:
        file.seek(4096 * 2)
        file.write(b"\xff" * 8192)


@pytest.mark.parametrize(
    "damage", [corrupt, lambda house: (house.me.folder / NAME).write_bytes(b"no database" * 99)]
)
def test_what_sqlite_itself_finds_is_told_of(
    house: House, damage: Callable[[House], object]
) -> None:
    change(house, "PRAGMA wal_checkpoint(TRUNCATE)")
    damage(house)
    assert any(NAME in line for line in problems(house))


def test_in_a_damaged_blob_nothing_is_missed_twice(house: House) -> None:
    hash = house.me.context.entries[0].hash or ""
    house.me.blobs.path(hash).write_text("gone")
    assert not any("nowhere else" in line for line in problems(house)) and any(
        hash in line for line in problems(house)
    )


def test_what_a_running_agent_has_indexed_meanwhile_is_no_problem(house: House) -> None:
    change(house, "UPDATE mark SET newest = 99")
    change(
        house,
        "INSERT INTO piece SELECT id + 10000, kind, 77, room, speaker, at, asks, hash, text"
        " FROM piece WHERE origin = 5 AND kind = 'heard'",
    )
    with locks.held(house.me.folder):
        assert problems(house) == []
    assert len(problems(house)) == 2


def test_a_rebuild_mends_the_index(house: House) -> None:
    for damage in (
        "an entry that is missing",
        "another text",
        "an entry of nowhere",
        "a note that is not indexed",
    ):
        change(house, DAMAGE[damage][0])
    past = Stores(house.me.folder, house.me.blobs)
    past.search.reset()
    past.store.close()
    assert problems(house) == []
    house.wake()
    step(house)
    assert problems(house) == []
