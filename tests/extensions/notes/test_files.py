"""The notes as files that people edit with any editor, whether the agent runs or not."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dory import check
from dory.clock import second
from dory.extensions import Stores
from dory.extensions.notes.extension import NoteExtension
from dory.extensions.notes.files import GRACE, PAUSE
from dory.identity.identity import Identity
from dory.storage.database import NAME
from dory.turn.extension import Extension
from tests.support.compacting import House, Scripted, act
from tests.support.household import Living, bodies, killed_everywhere


class Vault(Living):
    """A household whose agent has notes, and a person who edits their files."""

    moment = 0.0

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        self.notes, self.folder = past.notes, me.folder / "notes"
        self.extension = NoteExtension(
            me, past.store, past.notes, self.config.result_limit, lambda: self.moment
        )
        me.listeners.append(self.extension.on_event)
        return [self.extension]

    def step(self) -> None:
        """As between two turns, some time later."""
        self.moment += PAUSE
        self.host.step()

    def save(self, name: str, text: str | bytes) -> Path:
        """A person saves a file; it was a moment ago."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(path, (time.time() - 5, time.time() - 5))
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.file(name)
        assert old in text
        self.save(name, text.replace(old, new))

    def delete(self, name: str) -> None:
        (self.folder / name).unlink()
        self.wait()

    def wait(self) -> None:
        """As long as a missing file may be one that is being saved."""
        self.step()
        self.moment += GRACE
        self.step()

    def file(self, name: str) -> str:
        return (self.folder / name).read_text()

    @property
    def files(self) -> set[str]:
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.md")}

    @property
    def held(self) -> dict[str, str]:
        return {note.name: note.content for note in self.notes}

    @property
    def told(self) -> str:
        return "\n".join(bodies(self.me.context.entries, "notice"))

    def authors(self) -> list[str]:
        return [
            f"{change.who}: {change.what} {change.name}"
            for change in self.notes.changes.after("notes", 0)
        ]


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
    assert house.told.count("In your files: notes/hotel.md") == 1
    house.save("hotel.md", "\ufeffRitz".encode("utf-16"))
    house.step()
    assert house.held == {"hotel": "Ritz"}


def test_names_that_no_file_can_have_stand_in_the_front_matter(house: Vault) -> None:
    names = ["a/b", "a:b", "CON", "Hotel", "hotel", "..", "x" * 80, "漢" * 80, "-x-", "caf\u00e9"]
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


def test_two_files_that_name_one_note_are_two_notes(house: Vault) -> None:
    house.respond("NOTE_ADD a/b first")
    house.step()
    house.save("copy.md", house.file("a-b.md"))
    house.save("sub/a-b.md", "second")
    house.wait()
    assert house.held == {"a/b": "first", "a/b-2": "first", "a-b": "second"}


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
    assert "memory.sqlite was missing and is begun anew: 2 of your notes came back" in house.told
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
