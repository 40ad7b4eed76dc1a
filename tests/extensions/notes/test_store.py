"""Notes and archives: names and aliases, the five writes and their rules, search, and writes that a
kill interrupts.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import ToolError
from dory.extensions.notes.names import NAME_LIMIT
from dory.extensions.notes.store import CONTENT_LIMIT, Notes, document
from dory.search.index import Index
from dory.storage.database import NAME, Store
from dory.text.prompt_files import ROOT
from tests.support.household import NOON, texts


class Shelf:
    """The notes in one folder, as one process holds them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self.store = Store(self.path)
        self.index = Index(self.store)
        self.notes = Notes(self.store, self.index)

    def add(self, name: str, content: str) -> None:
        self.notes.add(name, content, "Note", NOON)

    @property
    def held(self) -> dict[str, str]:
        """Content by name."""
        return {note.name: note.content for note in self.notes}

    @property
    def whole(self) -> object:
        """Everything that can be seen of it, index included."""
        indexed = [
            (document.origin, document.text)
            for kind in ("Note", "Archive")
            for document in self.index.walk(kind)
        ]
        return list(self.notes), indexed, self.notes.writes


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def refused(shelf: Shelf, act: Callable[[], object], *words: str) -> None:
    """It fails with these words on one line and changes nothing."""
    before = shelf.whole
    with pytest.raises(ToolError) as error:
        act()
    assert all(word in str(error.value) for word in words) and "\n" not in str(error.value)
    assert shelf.whole == before


def test_a_missing_file_is_an_empty_memory_and_appears_with_the_first_write(shelf: Shelf) -> None:
    assert (
        list(shelf.notes) == []
        and shelf.notes.find("a") is None
        and shelf.notes.search("a") == []
        and shelf.notes.writes == 0
    )
    for refusal in (
        lambda: shelf.add("two words", "x"),
        lambda: shelf.notes.remove("a"),
        lambda: shelf.notes.rename("a", "b"),
    ):
        with pytest.raises(ToolError):
            refusal()
    assert not shelf.path.exists()
    shelf.add("a", "x")
    assert shelf.path.exists() and shelf.held == {"a": "x"}


def test_a_note_is_there_again_with_aliases_and_index_when_the_file_is_opened_anew(
    shelf: Shelf,
) -> None:
    shelf.add("lisbon-hotel", "Miramar, until 9 May")
    shelf.notes.alias("lisbon-hotel", "hotel")
    shelf.notes.add(
        "trip-1-9", "the trip", "Archive", NOON + timedelta(hours=1), "5d41402abc4b2a76"
    )
    before = shelf.whole
    again = Shelf(shelf.path.parent)
    assert again.whole == before
    hotel = again.notes.get("hotel")
    assert (hotel.name, hotel.aliases, hotel.kind, hotel.at, hotel.hash) == (
        "lisbon-hotel",
        ("hotel",),
        "Note",
        NOON,
        None,
    )
    assert [note.name for note, _ in again.notes.search("miramar")] == ["lisbon-hotel"]
    assert again.notes.archive_of("5d41402abc4b2a76") == again.notes.get(
        "trip-1-9"
    ) and again.notes.hashes == {"5d41402abc4b2a76"}


def test_ids_rise_and_are_never_used_again(shelf: Shelf) -> None:
    for name in "abc":
        shelf.add(name, name)
    shelf.notes.remove("c")
    shelf.add("d", "d")
    assert [(note.id, note.name) for note in Shelf(shelf.path.parent).notes] == [
        (4, "d"),
        (2, "b"),
        (1, "a"),
    ]


def test_adding_onto_a_name_or_an_alias_that_is_taken_names_the_holder(shelf: Shelf) -> None:
    shelf.add("lisbon", "x")
    shelf.notes.alias("lisbon", "trip")
    refused(shelf, lambda: shelf.add("lisbon", "y"), "'lisbon'", "the name of lisbon")
    refused(shelf, lambda: shelf.add("trip", "y"), "'trip'", "another name of lisbon")


def test_renaming_keeps_the_old_name_as_an_alias(shelf: Shelf) -> None:
    shelf.add("hotel", "Miramar")
    assert shelf.notes.rename("hotel", "lisbon-hotel").name == "lisbon-hotel"
    assert shelf.notes.get("hotel").name == "lisbon-hotel" and shelf.notes.get("hotel").aliases == (
        "hotel",
    )
    assert shelf.notes.rename("hotel", "hotel").aliases == ("lisbon-hotel",), (
        "an alias of its own may become its name"
    )


def test_renaming_onto_a_taken_name_names_the_holder(shelf: Shelf) -> None:
    shelf.add("a", "x")
    shelf.add("b", "y")
    shelf.notes.alias("b", "c")
    refused(shelf, lambda: shelf.notes.rename("a", "b"), "'b'", "the name of b")
    refused(shelf, lambda: shelf.notes.rename("a", "c"), "'c'", "another name of b")
    refused(shelf, lambda: shelf.notes.rename("a", "a"), "'a'", "the name of a")


def test_an_alias_of_another_entry_is_pointed_to_this_one_and_a_name_is_not(shelf: Shelf) -> None:
    shelf.add("a", "x")
    shelf.add("b", "y")
    assert shelf.notes.alias("a", "it") is None
    before = shelf.notes.alias("b", "it")
    assert (
        before
        and before.name == "a"
        and shelf.notes.get("it").name == "b"
        and shelf.notes.get("a").aliases == ()
    )
    refused(shelf, lambda: shelf.notes.alias("b", "a"), "the name of a")
    refused(shelf, lambda: shelf.notes.alias("b", "it"), "another name of b")
    refused(shelf, lambda: shelf.notes.alias("b", "b"), "the name of b")


def test_removing_takes_the_entry_and_all_its_names_out(shelf: Shelf) -> None:
    shelf.add("a", "x")
    shelf.notes.alias("a", "b")
    shelf.notes.rename("a", "c")
    assert shelf.notes.remove("b").name == "c"
    assert [shelf.notes.find(name) for name in "abc"] == [None] * 3 and shelf.notes.search(
        "x"
    ) == []
    shelf.add("a", "y")


def test_writing_replaces_the_content_under_any_name(shelf: Shelf) -> None:
    shelf.add("a", "old words")
    shelf.notes.alias("a", "b")
    shelf.notes.write("b", "new words")
    assert shelf.held == {"a": "new words"}
    assert shelf.notes.search("old") == [] and [
        note.name for note, _ in shelf.notes.search("new")
    ] == ["a"]
    refused(shelf, lambda: shelf.notes.write("a", "new words"), "would not change")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "two words",
        "a\nb",
        "tab\t",
        "◱hash",
        "[#1",
        "x" * (NAME_LIMIT + 1),
        "\x00",
        "\ud800",
        "\u200b",
        "\u2028",
    ],
)
def test_a_name_is_one_printable_word(shelf: Shelf, name: str) -> None:
    refused(shelf, lambda: shelf.add(name, "x"), "no name for a note")
    shelf.add("a", "x")
    refused(shelf, lambda: shelf.notes.rename("a", name), "no name for a note")
    refused(shelf, lambda: shelf.notes.alias("a", name), "no name for a note")
    refused(shelf, lambda: shelf.notes.get(name), "there is no note")


@pytest.mark.parametrize("content", ["", " \n\t "])
def test_a_note_holds_something_and_not_too_much(shelf: Shelf, content: str) -> None:
    refused(shelf, lambda: shelf.add("a", content), "needs a content")
    refused(shelf, lambda: shelf.add("a", "x" * (CONTENT_LIMIT + 1)), str(CONTENT_LIMIT))
    shelf.add("a", "x" * CONTENT_LIMIT)
    refused(shelf, lambda: shelf.notes.write("a", content), "needs a content")
    shelf.notes.add("b", "x" * (CONTENT_LIMIT + 1), "Archive", NOON)


def test_what_is_not_there_is_told_with_similar_names(shelf: Shelf) -> None:
    shelf.add(
        "lisbon-hotel",
        "Miramar\n" + "a long note " * 200 + "with the word breakfast in its last piece",
    )
    for name in ("lisbon-flight", "breakfast"):
        refused(
            shelf,
            partial(shelf.notes.get, name),
            f"{name!r}",
            "similar ones: lisbon-hotel",
        )


def test_content_is_kept_to_the_character(shelf: Shelf) -> None:
    content = "  first\r\n\n◱hash=5d41402abc4b2a76 gist=x◲\n[#1 heard dev]\x00\u2028\t 你好 🐟 "
    shelf.add("a", content)
    assert Shelf(shelf.path.parent).notes.get("a").content == content


def test_names_and_contents_are_searched_and_aliases_contribute_nothing(shelf: Shelf) -> None:
    shelf.add("lisbon-hotel", "booked: Miramar")
    shelf.notes.alias("lisbon-hotel", "accommodation")
    shelf.notes.add("trip-1-9", "Flights and a hotel were chosen.", "Archive", NOON)
    assert shelf.notes.search("accommodation") == []
    assert [note.name for note, _ in shelf.notes.search("lisbon")] == ["lisbon-hotel"]
    assert {note.name for note, score in shelf.notes.search("hotels") if score > 0} == {
        "lisbon-hotel",
        "trip-1-9",
    }
    shelf.notes.rename("lisbon-hotel", "portugal")
    assert shelf.notes.search("lisbon") == [] and [
        note.name for note, _ in shelf.notes.search("portugal")
    ] == ["portugal"]


def test_of_equals_the_newer_entry_comes_first_also_when_the_older_was_written_last(
    shelf: Shelf,
) -> None:
    for name in ("a1", "a2", "a3"):
        shelf.add(name, f"the same words as {name[:1]}")
    shelf.notes.write("a1", "the same words as b")
    assert [note.name for note, _ in shelf.notes.search("same words")] == ["a3", "a2", "a1"]


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = Shelf(tmp_path_factory.mktemp("stocked"))
    shelf.add("fish", 'a "quoted" NEAR(fish) AND * 你好 🐟')
    return shelf


@given(texts | st.text())
def test_every_string_is_a_legal_query_and_a_name_that_may_be_asked_for(
    stocked: Shelf, text: str
) -> None:
    stocked.notes.search(text)
    assert stocked.notes.find(text) is None or text == "fish"


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "fish AND",
        "NEAR(fish",
        "fish*",
        "-fish",
        "你",
        "fish\x00",
        "name:fish",
        "(",
        "'; DROP TABLE note; --fish",
    ],
)
def test_what_looks_like_a_query_language_is_words(stocked: Shelf, query: str) -> None:
    names = [note.name for note, _ in stocked.notes.search(query)]
    assert names == (["fish"] if "fish" in query or "你" in query else [])


WRITER = """
import sys
from pathlib import Path
from tests.extensions.notes.test_store import NOON, Shelf
shelf = Shelf(Path(sys.argv[1]))
number = 0
while True:
    name = f"n{number}"
    shelf.notes.add(name, f"content {number}", "Note", NOON)
    shelf.notes.alias(name, f"alias{number}")
    shelf.notes.write(name, f"written {number}")
    print(number, flush=True)
    number += 1
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 20])
def test_a_writer_killed_at_any_moment_leaves_every_acknowledged_write_and_no_half_of_one(
    tmp_path: Path, acknowledged: int
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        for _ in range(acknowledged):
            child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    shelf = Shelf(tmp_path)
    notes = sorted(shelf.notes, key=lambda note: note.id)
    steps = [(bool(note.aliases), note.content.startswith("written")) for note in notes]
    assert steps[:acknowledged] == [(True, True)] * acknowledged
    assert shelf.notes.writes == sum(1 + aliased + written for aliased, written in steps)
    assert [indexed.text for indexed in shelf.index.walk("Note")] == [
        document(note).text for note in notes
    ]
    assert shelf.store.problems() == []


def test_a_write_that_fails_half_way_changes_nothing(shelf: Shelf) -> None:
    shelf.add("a", "x")
    before = shelf.whole
    for act in (
        lambda: shelf.add("b", "y"),
        lambda: shelf.notes.rename("a", "b"),
        lambda: shelf.notes.write("a", "y"),
        lambda: shelf.notes.remove("a"),
    ):
        with pytest.raises(KeyboardInterrupt), shelf.store.writing():
            act()
            raise KeyboardInterrupt
        assert shelf.whole == before and Shelf(shelf.path.parent).whole == before
