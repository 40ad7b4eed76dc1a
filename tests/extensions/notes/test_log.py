"""The log of changes: what was done to notes and memories, by whom, and taking it back."""

import gc
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.errors import ToolError
from dory.extensions import Stores
from dory.extensions.memories.extension import MemoryExtension
from dory.extensions.memories.mending import MendingExtension
from dory.extensions.memories.self_care import SelfCare
from dory.extensions.notes.export import dump, load
from dory.extensions.notes.extension import NoteExtension
from dory.identity.identity import Identity
from dory.storage.changes import SELF_CARE, Changes
from dory.storage.database import NAME, Store
from dory.turn.extension import Extension
from tests.support.compacting import House, Scripted, act
from tests.support.household import NOON, Living, bodies, killed_everywhere


class Logging(Living):
    """A household whose agent has notes and memories."""

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        self.notes, self.bank, self.changes = past.notes, past.bank, past.changes
        self.changes.now = me.now
        care = SelfCare(past.store, past.bank)
        self.noting = NoteExtension(me, past.store, past.notes, self.config.result_limit)
        self.mending = MendingExtension(me, past.bank, care)
        remembering = MemoryExtension(me, past.bank, self.config.result_limit)
        return [self.noting, remembering, self.mending]

    def undo(self, number: int) -> str:
        return self.noting.undo(number) or self.mending.undo(number) or "there is none"

    def titles(self, layer: str = "notes") -> list[str]:
        """Who did what to which thing, oldest first."""
        return [
            f"{change.who}: {change.what} {change.name}" for change in self.changes.after(layer, 0)
        ]

    @property
    def held(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        return {note.name: (note.content, note.aliases) for note in self.notes}


@pytest.fixture
def house(tmp_path: Path) -> Logging:
    return Logging(tmp_path / "home")


LINES = [
    "NOTE_ADD a first",
    "NOTE_ADD b second",
    "NOTE_WRITE a other",
    "NOTE_ALIAS b it",
    "NOTE_ALIAS a it",
    "NOTE_RENAME a c",
    "NOTE_REMOVE c",
]


def test_every_change_of_a_note_is_logged_and_can_be_taken_back_from_the_last_to_the_first(
    house: Logging,
) -> None:
    states = [house.held]
    for line in LINES:
        house.respond(line)
        states.append(house.held)
    assert house.titles() == [
        "the agent: added a",
        "the agent: added b",
        "the agent: changed a",
        "the agent: gave another name to b",
        "the agent: gave another name to a",
        "the agent: renamed c",
        "the agent: removed c",
    ]
    for number in range(len(LINES), 0, -1):
        assert house.held == states[number]
        assert house.undo(number).startswith(f"change {number} is taken back (the agent: ")
        assert house.held == states[number - 1]
    assert list(check.problems(house.home)) == []


def test_taking_back_is_a_change_that_can_be_taken_back(house: Logging) -> None:
    house.respond("NOTE_ADD a first\nNOTE_WRITE a other")
    house.undo(2)
    assert house.held == {"a": ("first", ())}
    assert house.undo(3).endswith("/undo 4 makes it again")
    assert house.held == {"a": ("other", ())}
    assert house.notes.search("other")[0][0].name == "a" and house.notes.search("first") == []


def test_what_has_changed_again_since_is_not_taken_back_and_that_change_is_named(
    house: Logging,
) -> None:
    house.respond("NOTE_ADD a first\nNOTE_WRITE a other\nNOTE_WRITE a third")
    with pytest.raises(ToolError, match=r"changed again since, with change 3 .*/undo 3 first"):
        house.undo(2)
    house.undo(3)
    with pytest.raises(ToolError, match="taken back already, by change 4: /undo 4 makes it again"):
        house.undo(3)
    house.undo(2)
    assert house.held == {"a": ("first", ())}


def test_a_name_that_another_note_has_taken_meanwhile_is_a_reason_not_to_bring_a_note_back(
    house: Logging,
) -> None:
    house.respond("NOTE_ADD a first\nNOTE_REMOVE a\nNOTE_ADD a another")
    with pytest.raises(ToolError, match="'a' is the name of a: rename that one first"):
        house.undo(2)
    assert house.held == {"a": ("another", ())}


def test_memories_have_the_same_log_and_self_care_is_one_change(house: Logging) -> None:
    ids = [house.bank.add(f"thing {number}", NOON).id for number in range(3)]
    house.bank.remove(ids[0])
    house.bank.narrate(ids[1:], "both", NOON)
    assert house.titles("memories") == [
        "the agent: added memory 1",
        "the agent: added memory 2",
        "the agent: added memory 3",
        "the agent: removed memory 1",
        f"{SELF_CARE}: summed up 2 memories in summary 4",
    ]
    with pytest.raises(ToolError, match="memory 3 has changed again since, with change 5"):
        house.undo(3)
    house.undo(5)
    assert [memory.text for memory in house.bank.active()] == ["thing 1", "thing 2"]
    assert house.bank.find(4) is None
    house.undo(6)
    summary = house.bank.get(4)
    assert (summary.text, house.bank.active()) == ("both", [])
    house.undo(4)
    assert [memory.text for memory in house.bank.active()] == ["thing 0"]
    assert house.bank.search("thing 0")[0].text == "thing 0"
    assert list(check.problems(house.home)) == []


def test_bringing_back_the_memories_of_a_summary_can_be_taken_back(house: Logging) -> None:
    ids = [house.bank.add(f"thing {number}", NOON).id for number in range(2)]
    house.bank.narrate(ids, "both", NOON)
    house.bank.restore(3)
    house.undo(4)
    assert house.bank.get(3).text == "both" and house.bank.active() == []
    assert list(check.problems(house.home)) == []


def test_what_a_link_has_brought_is_one_change_and_goes_at_once(
    house: Logging, tmp_path: Path
) -> None:
    house.bank.add("mine", NOON)
    house.respond("NOTE_ADD other x")
    source = Logging(tmp_path / "other")
    for number in range(3):
        source.bank.add(f"theirs {number}", NOON)
    copies = [replace(memory, origin=f"dory-2 {memory.id}") for memory in source.bank.active()]
    house.bank.take(copies, NOON)
    assert house.titles("memories")[-1] == "a link: copied memories, up to memory 4"
    number = house.changes.newest("memories")[0].number
    house.undo(number)
    assert [memory.text for memory in house.bank.active()] == ["mine"]
    house.undo(number + 1)
    assert house.bank.count == 4
    assert list(check.problems(house.home)) == []


def test_people_see_the_log_in_pages_and_what_each_change_of_one_thing_has_changed(
    house: Logging,
) -> None:
    *_, log = (command.run for command in house.noting.commands())
    assert log("") == "no change is logged yet"
    house.respond("\n".join(LINES))
    lines = log("").splitlines()
    assert lines[0].split("  ")[2] == "the agent: removed c" and len(lines) == len(LINES) + 1
    assert lines[-1] == "/undo <number> takes a change back"
    shown = log("c")
    assert "    - first\n    + other" in shown and "    name: a -> c" in shown
    assert "    aliases: none -> it" in shown and "second" not in shown
    for number in range(20):
        house.respond(f"NOTE_ADD n{number} x")
    assert "\n20 of 27; /note-log 2\n" in log("") and log("2").startswith("7  ")
    with pytest.raises(ToolError, match="no note 'nobody' was ever changed"):
        log("nobody")
    *_, log = (command.run for command in house.mending.commands())
    house.bank.add("thing", NOON)
    assert "added memory 1\n    + thing" in log("#1") and "added memory 1" in log("")


def test_who_asked_for_a_change_is_in_the_log_and_undo_is_a_command(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    act(house, "NOTE_ADD a first\nNOTE_WRITE a other")
    for line in ("/undo 2", "/undo 99", "/undo it"):
        house.say(line)
        house.agent.inbox.receive()
    told = house.lines("NOTICE")
    assert told[0].startswith("change 2 is taken back (the agent: changed a)")
    assert told[1].startswith("there is no change 99 that can be taken back: /help")
    assert told[2].startswith("which change? write /undo and its number")
    past = Stores(house.me.folder, house.me.blobs, readonly=True)
    (newest,) = past.changes.newest("notes")
    assert (newest.who, newest.undid, past.notes.get("a").content) == ("ada", 2, "first")
    notices = bodies(house.me.context.entries, "notice")
    assert notices[-1] == (
        "A person has taken back change 2 of your notes (the agent: changed a): it is as before."
    )


def test_archives_are_in_no_log_and_a_loaded_folder_is_one_change(
    house: Logging, tmp_path: Path
) -> None:
    house.respond("NOTE_ADD a first\nNOTE_ADD b second")
    house.notes.add("trip-1-9", "summary", "Archive", NOON, "5d41402abc4b2a76")
    assert len(house.titles()) == 2
    dump(house.notes, tmp_path / "out")
    house.respond("NOTE_WRITE a other")
    load(house.notes, tmp_path / "out")
    assert house.titles()[3:] == ["a person, with dory.recall: loaded notes from a folder: b"]
    house.undo(4)
    assert {name: content for name, (content, _) in house.held.items()} == {
        "a": "other",
        "b": "second",
        "trip-1-9": "summary",
    }


def test_a_file_from_before_the_log_is_read_and_gets_one(house: Logging) -> None:
    house.respond("NOTE_ADD a first")
    house.past.close()
    connection = sqlite3.connect(house.me.folder / NAME)
    for table in ("change", "change_item", "note_head", "note_due", "note_file", "note_folder"):
        connection.execute(f"DROP TABLE {table}")
    connection.commit()
    connection.close()
    past = Stores(house.me.folder, house.me.blobs, readonly=True)
    assert past.notes.get("a").content == "first" and past.changes.newest("notes") == []
    assert past.changes.count("notes") == 0 and list(check.problems(house.home)) == []
    past.close()
    house.restart()
    house.respond("NOTE_WRITE a other")
    house.undo(1)
    assert house.held == {"a": ("first", ())}


@pytest.mark.parametrize(
    "act",
    [
        lambda house: house.undo(4),
        lambda house: house.respond("NOTE_ALIAS b it\nWAIT"),
        lambda house: house.bank.narrate([1, 2], "both", NOON),
    ],
    ids=["undo", "alias", "self-care"],
)
def test_a_kill_leaves_no_change_without_its_row_and_no_row_without_its_change(
    house: Logging, act: Callable[[Logging], object]
) -> None:
    house.respond("NOTE_ADD a first\nNOTE_WRITE a other\nNOTE_ADD b x\nNOTE_ALIAS a it")
    for text in ("one", "two"):
        house.bank.add(text, NOON)
    for _ in killed_everywhere(house, lambda: act(house)):
        pass  # the check compares the log with the notes and the memories


def test_a_change_that_is_in_no_log_is_a_problem_for_the_check(house: Logging) -> None:
    house.respond("NOTE_ADD a first")
    house.bank.add("thing", NOON)
    gc.collect()
    with house.past.store.writing() as connection:
        connection.execute("UPDATE memory SET summary = NULL, origin = 'x' WHERE id = 1")
        connection.execute("UPDATE alias SET name = 'z' WHERE name = 'a'")
        connection.execute("UPDATE note SET name = 'z' WHERE name = 'a'")
    problems = "\n".join(check.problems(house.home))
    assert "the note z is not as its newest change (1) left it" in problems
    assert "the memory 1 is not as its newest change (2) left it" in problems


def test_several_changes_in_one_block_are_one_change_and_none_if_it_fails(tmp_path: Path) -> None:
    store = Store(tmp_path / NAME)
    changes = Changes(store)
    with changes.as_one("did"), changes.as_one("did within"):
        changes.record("x", "a", "one", [], [{"id": 1, "v": 1}])
        changes.record("x", "b", "one", [{"id": 1, "v": 1}], [{"id": 1, "v": 2}])
    (change,) = changes.newest("x")
    assert (change.what, change.before, change.after) == ("did", (), ({"id": 1, "v": 2},))
    with pytest.raises(RuntimeError), changes.as_one("failed"):
        changes.record("x", "a", "one", [], [{"id": 2, "v": 1}])
        raise RuntimeError
    assert changes.count("x") == 1


def test_what_a_person_corrects_is_logged_and_can_be_taken_back(house: Logging) -> None:
    house.respond("ADD_TO_LONGTERM_MEMORY Ada likes tea")
    commands = {command.name: command.run for command in house.mending.commands()}
    commands["correct"]("1 Ada likes coffee")
    assert house.bank.get(1).text == "Ada likes coffee"
    assert [title.partition(": ")[2] for title in house.titles("memories")] == [
        "added memory 1",
        "corrected memory 1",
    ]
    assert "- Ada likes tea" in commands["memory-log"]("#1")
    house.undo(2)
    assert house.bank.get(1).text == "Ada likes tea"
    assert [hit.id for hit in house.bank.search("tea", 5)] == [1]
    assert list(check.problems(house.me.home)) == []
