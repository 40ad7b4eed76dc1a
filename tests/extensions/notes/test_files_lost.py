"""Files of notes that both change at once, that are lost, or that a kill has left half done."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from dory import check
from dory.storage.database import NAME
from tests.support.household import assert_told, killed_everywhere
from tests.support.vault import Vault


@pytest.fixture
def house(tmp_path: Path) -> Vault:
    house = Vault(tmp_path / "home")
    house.step()
    return house


def test_when_both_change_a_note_at_once_the_file_wins_and_the_other_is_in_the_log(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD hotel Miramar")
    house.step()
    house.respond("NOTE_WRITE hotel the agent's")
    house.edit("hotel.md", "Miramar", "the person's")
    house.step()
    assert house.held == {"hotel": "the person's"} and "the person's" in house.file("hotel.md")
    assert "at the same time as you. Their text stands now" in house.told
    assert "/undo 3." in house.told
    house.extension.undo(3)
    house.step()
    assert "the agent's" in house.file("hotel.md")


def test_a_note_that_the_agent_adds_where_a_person_has_put_a_file_is_one_note(house: Vault) -> None:
    house.respond("NOTE_ADD hotel the agent's")
    house.save("hotel.md", "the person's")
    house.step()
    assert house.held == {"hotel": "the person's"} and house.files == {"hotel.md"}
    assert [change.after[0]["content"] for change in house.notes.changes.after("notes", 0)] == [
        "the agent's",
        "the person's",
    ]


def test_a_note_that_one_removes_while_the_other_changes_it_stays(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar\nNOTE_ADD flight TP 123")
    house.step()
    house.respond("NOTE_REMOVE hotel\nNOTE_WRITE flight TP 321")
    house.edit("hotel.md", "Miramar", "the person's")
    (house.folder / "flight.md").unlink()
    house.wait()
    assert house.held == {"hotel": "the person's", "flight": "TP 321"}
    assert house.files == {"hotel.md", "flight.md"}


def test_what_a_person_saves_while_the_model_thinks_is_there_when_the_agent_edits_it(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD list milk")
    house.step()
    house.edit("list.md", "milk", "milk\nbread")
    house.respond("NOTE_APPEND list fish")
    assert house.held == {"list": "milk\nbread\nfish"}
    assert [author.partition(":")[0] for author in house.authors()] == [
        "the agent",
        "a person, in notes/list.md",
        "the agent",
    ]


def test_what_the_agent_edits_in_a_file_of_notes_is_its_own_change(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar")
    house.step()
    house.respond(
        "EDIT_FILE notes/hotel.md\n<<<<<<< SEARCH\nMiramar\n=======\nRitz\n>>>>>>> REPLACE"
    )
    house.respond("EDIT_FILE notes/new.md\n<<<<<<< SEARCH\n=======\nplain\n>>>>>>> REPLACE")
    assert house.held == {"hotel": "Ritz", "new": "plain"}
    house.step()
    assert house.authors()[1:] == ["the agent: changed hotel", "the agent: added new"]
    assert "A person" not in house.told
    assert "Ritz" in house.result("READ_FILE notes/hotel.md").body


def test_a_folder_that_is_lost_is_written_again_and_removes_nothing(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar\nNOTE_ADD flight TP 123")
    house.step()
    for path in house.files:
        (house.folder / path).unlink()
    house.wait()
    house.step()
    assert house.files == {"hotel.md", "flight.md"} and len(house.held) == 2
    assert "were gone at once: they are written again" in house.told
    for path in house.files:
        (house.folder / path).unlink()
    house.folder.rmdir()
    house.wait()
    assert house.files == {"hotel.md", "flight.md"} and len(house.held) == 2


def test_a_lost_memory_file_is_noticed_and_its_notes_come_back_from_the_files(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD a/b Miramar\nNOTE_ALIAS a/b bed\nNOTE_ADD flight TP 123")
    house.step()
    at = house.notes.get("bed").at
    house.past.close()
    for lost in house.me.folder.glob(f"{NAME}*"):
        lost.unlink()
    for path in house.files:
        os.utime(house.folder / path, (1, 1))
    house.restart()
    house.step()
    assert house.held == {"a/b": "Miramar", "flight": "TP 123"}
    assert (house.notes.get("bed").name, house.notes.get("bed").at) == ("a/b", at)
    assert "memory.sqlite was missing and is begun anew. 2 notes came back" in house.told
    assert "conversations come back from the rooms' files" in house.told
    assert [owed.room for owed in house.me.state.notices] == ["dev"]
    assert "memory.sqlite was missing" in house.me.state.notices[0].text
    assert "A person" not in house.told and list(check.problems(house.home)) == []
    house.step()
    assert house.told.count("memory.sqlite was missing") == 1


def test_a_home_from_before_there_were_files_gets_one_for_each_note(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar\nNOTE_ADD flight TP 123")
    house.past.close()
    with sqlite3.connect(house.me.folder / NAME) as connection:
        for table in ("note_file", "note_folder", "note_head", "note_due", "change", "change_item"):
            connection.execute(f"DROP TABLE {table}")
    connection.close()
    house.folder.rmdir()
    house.restart()
    house.step()
    assert house.files == {"hotel.md", "flight.md"} and len(house.held) == 2
    assert "missing" not in house.told and list(check.problems(house.home)) == []


def test_what_a_person_changes_while_the_agent_sleeps_is_taken_in_at_its_next_start(
    house: Vault,
) -> None:
    for name in ("a", "b", "c"):
        house.respond(f"NOTE_ADD {name} first")
    house.step()
    house.past.close()
    house.edit("a.md", "first", "other")
    (house.folder / "b.md").unlink()
    house.save("d.md", "new")
    house.restart()
    house.wait()
    assert house.held == {"a": "other", "c": "first", "d": "new"}


def sync(house: Vault) -> None:
    house.step()
    house.wait()


def agent_writes(house: Vault) -> None:
    house.respond("NOTE_WRITE a other\nNOTE_RENAME b bb\nNOTE_REMOVE c\nNOTE_ADD e new")
    sync(house)


def person_writes(house: Vault) -> None:
    house.edit("a.md", "first", "other")
    (house.folder / "b.md").rename(house.folder / "bb.md")
    (house.folder / "c.md").unlink()
    house.save("e.md", "new")
    sync(house)


@pytest.mark.parametrize("act", [agent_writes, person_writes])
def test_a_kill_at_any_write_leaves_notes_and_files_that_soon_say_the_same(
    house: Vault, act: Callable[[Vault], None]
) -> None:
    for name in "abcd":
        house.respond(f"NOTE_ADD {name} first")
    house.step()
    seen = set[str]()
    for _ in killed_everywhere(house, lambda: act(house)):
        sync(house)
        sync(house)
        assert {Path(path).stem for path in house.files} == set(house.held)
        for name, content in house.held.items():
            assert house.file(f"{name}.md").endswith(f"{content}\n") or content == "new"
        assert len(house.held) in (3, 4, 5), "nothing is there twice"
        seen.add(str(sorted(house.held.items())))
    done = {"a": "other", "bb": "first", "d": "first", "e": "new"}
    assert str(sorted(done.items())) in seen and house.held == done


def test_a_kill_while_the_notes_of_a_lost_file_come_back_loses_none_and_is_told(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD a first\nNOTE_ADD b first")
    house.step()
    house.past.close()
    for lost in house.me.folder.glob(f"{NAME}*"):
        lost.unlink()
    for path in house.files:
        os.utime(house.folder / path, (1, 1))
    for _ in killed_everywhere(house, lambda: sync(house)):
        sync(house)
        assert house.held == {"a": "first", "b": "first"}
        assert "memory.sqlite was missing and is begun anew. 2 notes came back" in house.told


def test_what_a_person_saved_before_a_response_acts_is_not_taken_for_the_agents_act(
    house: Vault,
) -> None:
    house.notes.add("list", "milk", "Note", house.clock())
    house.step()
    house.save("list.md", "bread")
    line = "NOTE_ADD a x"
    for _ in killed_everywhere(house, lambda: house.respond(f"{line}\nWAIT")):
        assert_told(house, [line], [line] if "a" in house.held else [])
    assert house.held["list"] == "bread"
