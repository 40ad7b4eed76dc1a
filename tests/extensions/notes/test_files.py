"""The notes as files that people edit with any editor, while the agent runs."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from dory import check
from dory.clock import second
from dory.extensions import Stores
from tests.support.compacting import House, Scripted, act
from tests.support.vault import Vault


@pytest.fixture
def house(tmp_path: Path) -> Vault:
    house = Vault(tmp_path / "home")
    house.step()
    return house


def test_every_note_is_a_file_that_follows_what_the_agent_does(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar, until 9 May\nNOTE_ALIAS hotel bed")
    house.notes.add("trip-1-9", "summary", "Archive", house.clock(), "5d41402abc4b2a76")
    house.step()
    assert house.files == {"hotel.md"}, "archives are no notes of anybody"
    assert house.file("hotel.md") == (
        f"---\naliases: [bed]\ncreated: {second(house.notes.get('bed').at)}\n---\n"
        "Miramar, until 9 May\n"
    )
    house.respond("NOTE_RENAME hotel lisbon-hotel\nNOTE_WRITE bed Ritz")
    house.step()
    assert house.files == {"lisbon-hotel.md"} and house.file("lisbon-hotel.md").endswith("\nRitz\n")
    house.respond("NOTE_REMOVE bed")
    house.step()
    assert house.files == set()


def test_what_a_person_edits_becomes_the_note_with_its_author_and_the_agent_is_told(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD hotel Miramar")
    house.step()
    house.edit("hotel.md", "Miramar", "Ritz\n\n  from 3 May")
    before = house.file("hotel.md")
    house.step()
    assert house.held == {"hotel": "Ritz\n\n  from 3 May"} and house.file("hotel.md") == before
    assert house.authors()[-1] == "a person, in notes/hotel.md: changed hotel"
    assert house.told.endswith(
        "A person has changed the note hotel in notes/hotel.md: NOTE_READ hotel shows it."
    )
    assert house.notes.search("ritz")[0][0].name == "hotel"
    house.extension.undo(2)
    house.step()
    assert house.file("hotel.md").endswith("---\nMiramar\n")
    assert list(check.problems(house.home)) == []


def test_an_editor_that_saves_every_few_seconds_is_told_of_once_a_turn(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar")
    for number in range(5):
        house.step()
        house.save("hotel.md", f"draft {number}")
        house.step()
    assert house.told.count("A person has changed the note hotel") == 1
    house.respond("NOTE_READ hotel")
    house.save("hotel.md", "last")
    house.step()
    assert house.told.count("A person has changed the note hotel") == 2


def test_plain_markdown_that_a_person_puts_there_is_a_note_named_by_its_file(house: Vault) -> None:
    house.save("Lisbon trip.md", "# Lisbon\n\nby train\n")
    house.save("people/ada.md", "likes fish")
    house.step()
    assert house.held == {"Lisbon-trip": "# Lisbon\n\nby train", "ada": "likes fish"}
    assert house.authors() == [
        "a person, in notes/Lisbon trip.md: added Lisbon-trip",
        "a person, in notes/people/ada.md: added ada",
    ]
    house.respond("NOTE_APPEND ada and bread\nNOTE_RENAME ada ada-lovelace")
    house.step()
    assert house.files == {"Lisbon trip.md", "people/ada-lovelace.md"}
    assert house.file("people/ada-lovelace.md").endswith("---\nlikes fish\nand bread\n")
    assert house.file("Lisbon trip.md") == "# Lisbon\n\nby train\n"


def test_front_matter_is_read_leniently_and_what_dory_does_not_know_stays(house: Vault) -> None:
    house.save(
        "hotel.md",
        "---\nAliases:\n  - Lisbon bed\n  - room\ntags: [travel, food]\ncssclass: wide # mine\n"
        "created: 2025-01-02\n---\nMiramar",
    )
    house.step()
    note = house.notes.get("room")
    assert (note.name, note.aliases, note.tags) == (
        "hotel",
        ("Lisbon-bed", "room"),
        ("travel", "food"),
    )
    assert str(note.at) == "2025-01-02 00:00:00+00:00"
    house.respond("NOTE_WRITE hotel Ritz")
    house.step()
    assert house.file("hotel.md") == (
        "---\naliases: [Lisbon-bed, room]\ncreated: 2025-01-02T00:00:00Z\ntags: [travel, food]\n"
        "cssclass: wide # mine\n---\nRitz\n"
    )
    house.edit("hotel.md", "aliases: [Lisbon-bed, room]\n", "")
    house.step()
    assert house.notes.get("hotel").aliases == ()


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: x\nno colon\n---\nbody",
        "---\n: : :\n---\nbody",
        "---\na: [\n---\nbody",
        "---\nname: x\nname: y\n---\nbody",
        "---\nnever ended",
        "--- \n- a list\n---\nbody",
    ],
)
def test_front_matter_that_cannot_be_read_is_text_and_is_not_lost(house: Vault, text: str) -> None:
    house.save("odd.md", text)
    house.step()
    assert house.held == {"odd": text}
    house.respond("NOTE_APPEND odd more")
    house.step()
    assert house.file("odd.md").endswith(f"---\n{text}\nmore\n")


def test_a_file_that_a_person_renames_renames_its_note_and_the_old_name_still_finds_it(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD hotel Miramar")
    house.step()
    (house.folder / "hotel.md").rename(house.folder / "bed.md")
    house.wait()
    note = house.notes.get("hotel")
    assert (note.name, note.aliases, note.content) == ("bed", ("hotel",), "Miramar")
    assert house.held == {"bed": "Miramar"} and house.files == {"bed.md"}
    house.step()
    assert "aliases: [hotel]" in house.file("bed.md")
    (house.folder / "old").mkdir()
    (house.folder / "bed.md").rename(house.folder / "old" / "bed.md")
    house.wait()
    assert house.held == {"bed": "Miramar"} and len(house.authors()) == 2


def test_a_file_that_a_person_deletes_removes_its_note_and_undo_brings_both_back(
    house: Vault,
) -> None:
    house.respond("NOTE_ADD hotel Miramar\nNOTE_ADD flight TP 123")
    house.step()
    house.delete("hotel.md")
    assert house.held == {"flight": "TP 123"}
    assert "A person has removed the note hotel (the file notes/hotel.md)." in house.told
    house.extension.undo(3)
    house.step()
    assert house.files == {"hotel.md", "flight.md"} and list(check.problems(house.home)) == []


def test_a_file_that_is_being_saved_is_no_deleted_one(house: Vault) -> None:
    house.respond("NOTE_ADD hotel Miramar\nNOTE_ADD flight TP 123")
    house.step()
    whole = house.file("hotel.md")
    (house.folder / "hotel.md").unlink()
    house.step()
    assert "hotel" in house.held, "it has been missing for no time yet"
    house.save("hotel.md", "")
    house.wait()
    assert house.held["hotel"] == "Miramar", "an empty file says nothing"
    house.save("hotel.md", whole.replace("Miramar", "Ritz"))
    house.step()
    assert house.held["hotel"] == "Ritz"
    assert [author for author in house.authors() if "removed" in author] == []


def test_a_file_that_was_just_written_is_taken_when_it_rests(house: Vault) -> None:
    path = house.save("long.md", "first half")
    os.utime(path)
    house.step()
    assert house.held == {}, "its writer may not have ended"
    house.step()
    assert house.held == {"long": "first half"}


def test_what_editors_and_desktops_leave_is_no_note(house: Vault) -> None:
    for name in (
        ".hidden.md",
        ".obsidian/plugins/readme.md",
        ".hotel.md.swp",
        "hotel.md~",
        "#hotel.md#",
        "~$hotel.md",
        ".#hotel.md",
        "4913",
        "picture.png",
        "canvas.canvas",
    ):
        house.save(name, "x")
    outside = house.home / "secret.md"
    outside.write_text("secret")
    (house.folder / "link.md").symlink_to(outside)
    house.wait()
    assert house.held == {}


@pytest.mark.parametrize("content", [b"a\0b", b"caf\xe9", b"x" * 500_000])
def test_a_file_that_is_no_text_is_told_of_once_and_its_note_stays(
    house: Vault, content: bytes
) -> None:
    house.respond("NOTE_ADD hotel Miramar")
    house.step()
    house.save("hotel.md", content)
    for _ in range(3):
        house.step()
    assert house.held == {"hotel": "Miramar"}
    assert house.told.count("notes/hotel.md ") == 1
    house.save("hotel.md", "\ufeffRitz".encode("utf-16"))
    house.step()
    assert house.held == {"hotel": "Ritz"}


def test_names_that_no_file_can_have_stand_in_the_front_matter(house: Vault) -> None:
    names = [
        "a/b",
        "a:b",
        "CON",
        "Con-note",
        "Hotel",
        "..",
        "x" * 80,
        "漢" * 80,
        "-x-",
        "caf\u00e9",
    ]
    for name in names:
        house.respond(f"NOTE_ADD {name} about {name}")
    house.step()
    assert len({path.casefold() for path in house.files}) == len(names)
    assert {len(Path(path).parts) for path in house.files} == {1}
    assert 'name: "a/b"\n' in house.file("a-b.md")
    held = house.held
    for path in sorted(house.files):
        house.edit(path, "about", "more about")
    house.step()
    assert house.held == {
        name: content.replace("about", "more about") for name, content in held.items()
    }


def test_a_note_that_is_longer_than_a_result_says_where_all_of_it_is(house: Vault) -> None:
    house.save("sub/long story.md", "line\n" * 5_000)
    house.step()
    shown = house.result("NOTE_READ long-story").body
    assert len(shown) <= house.config.result_limit
    assert shown.endswith("\n… it goes on: READ_FILE notes/sub/long story.md shows all of it")
    assert "line\nline" in house.result("READ_FILE notes/sub/long story.md 4000-").body
    line = "NOTE_EDIT long-story\n<<<<<<< SEARCH\n=======\nmore\n>>>>>>> REPLACE"
    assert "make two of it" in house.result(line).body
    house.respond("NOTE_WRITE long-story short")
    assert house.held == {"long-story": "short"}


def test_two_files_that_name_one_note_are_two_notes(house: Vault) -> None:
    house.respond("NOTE_ADD a/b first")
    house.step()
    house.save("copy.md", house.file("a-b.md"))
    house.save("sub/a-b.md", "second")
    house.wait()
    assert house.held == {"a/b": "first", "a/b-2": "first", "a-b": "second"}


def test_a_running_agent_takes_an_edit_in_while_it_sleeps(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    act(house, "NOTE_ADD hotel Miramar")
    path = house.me.folder / "notes" / "hotel.md"
    house.live(path.exists)
    path.write_text("Ritz")

    def taken() -> bool:
        with closing(Stores(house.me.folder, house.me.blobs, readonly=True)) as past:
            return past.notes.get("hotel").content == "Ritz"

    house.live(taken)


def test_a_file_that_is_no_note_is_named_only_where_notes_may_be_shown(house: Vault) -> None:
    house.me.join("lab")
    for room, name in (("dev", "ada"), ("lab", "ada"), ("lab", "bob")):
        house.hear(room, name, "hello")
    house.save("surprise-for-bob.md", b"a\0b")
    house.step()
    assert "notes/surprise-for-bob.md is no text" in house.told
    assert [owed.room for owed in house.me.state.notices] == ["dev"], "Bob was never there"
