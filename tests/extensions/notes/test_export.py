"""Notes as a folder of markdown files: they are exported and imported byte for byte, and bad input
is refused before anything changes.
"""

import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import DoryError, FormatError
from dory.extensions.notes.export import dump, file_name, load
from dory.extensions.notes.store import CONTENT_LIMIT
from tests.extensions.notes.test_store import Shelf
from tests.support.household import NOON, household, texts

GOOD = """---
dory: note 1
name: "lisbon-hotel"
aliases: ["hotel"]
kind: Note
at: 2026-03-02T12:00:00Z
hash: null
---
Miramar, booked until 9 May.
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    shelf.add("lisbon-hotel", "Miramar, booked until 9 May.\n")
    shelf.notes.alias("lisbon-hotel", "hotel")
    shelf.notes.add(
        "../../etc/你好", "summary\r\n\n---\nname: x", "Archive", NOON, "5d41402abc4b2a76"
    )
    return shelf


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_an_entry_is_a_file_that_a_person_can_read(shelf: Shelf, tmp_path: Path) -> None:
    assert dump(shelf.notes, tmp_path / "out") == 2
    contents = files(tmp_path / "out")
    assert (
        list(contents) == ["0001-lisbon-hotel.md", "0002-.._.._etc_你好.md"]
        and contents["0001-lisbon-hotel.md"].decode() == GOOD
    )


def test_what_was_dumped_is_loaded_and_dumped_again_byte_for_byte(
    shelf: Shelf, tmp_path: Path
) -> None:
    shelf.notes.set_head("hotel", "tags: [travel]\ncssclass: wide\n")
    dump(shelf.notes, tmp_path / "out")
    other = Shelf(tmp_path / "out")
    other.add("gone", "this goes")
    assert load(other.notes, tmp_path / "out") == 2
    dump(other.notes, tmp_path / "again")
    assert files(tmp_path / "again") == {
        name: content for name, content in files(tmp_path / "out").items() if name.endswith(".md")
    }
    assert other.notes.find("gone") is None and [note.id for note in other.notes] == [3, 2]
    assert [note.name for note, _ in other.notes.search("miramar gone")] == ["lisbon-hotel"]
    assert other.notes.get("hotel").name == "lisbon-hotel"
    assert other.notes.get("hotel").tags == ("travel",)
    assert [note.name for note, _ in other.notes.search("travel")] == ["lisbon-hotel"]


@given(st.dictionaries(st.from_regex(r"[a-z/.你]{1,8}", fullmatch=True), texts, max_size=5))
def test_any_contents_survive_the_way_there_and_back(contents: dict[str, str]) -> None:
    with household() as house:
        source = Shelf(house.me.folder)
        target = Shelf(house.home)
        kept = {name: content for name, content in contents.items() if content.strip()} | {
            "always": "one"
        }
        for name, content in kept.items():
            source.add(name, content)
        dump(source.notes, house.home / "out")
        load(target.notes, house.home / "out")
        assert target.held == kept and [note.name for note in source.notes] == [
            note.name for note in target.notes
        ]


def test_a_folder_that_holds_markdown_already_is_not_written_to(
    shelf: Shelf, tmp_path: Path
) -> None:
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(DoryError, match="name a new folder"):
        dump(shelf.notes, tmp_path)
    assert (tmp_path / "mine.md").read_text() == "mine"


def changed(old: str, new: str) -> bytes:
    assert old in GOOD
    return GOOD.replace(old, new).encode()


BAD = {
    "no front matter": b"just a text",
    "an open front matter": b'---\ndory: note 1\nname: "x"\n',
    "no UTF-8": GOOD.encode() + b"\xff",
    "UTF-16": GOOD.encode("utf-16"),
    "another version": changed("note 1", "note 2"),
    "an unknown kind": changed("kind: Note", "kind: Diary"),
    "an unknown field": changed("hash: null", "hash: null\ncolour: red"),
    "a field twice": changed("kind: Note", "kind: Note\nkind: Note"),
    "a missing field": changed("kind: Note\n", ""),
    "a line without a colon": changed("kind: Note", "kind Note"),
    "a name that is no text": changed('name: "lisbon-hotel"', "name: 7"),
    "a name without quotes": changed('name: "lisbon-hotel"', "name: lisbon-hotel"),
    "a name of two words": changed("lisbon-hotel", "lisbon hotel"),
    "aliases that are no list": changed('["hotel"]', '"hotel"'),
    "aliases of another kind": changed('["hotel"]', "[1]"),
    "an alias that is no name": changed('["hotel"]', '["two words"]'),
    "an alias that is the name": changed('["hotel"]', '["lisbon-hotel"]'),
    "an alias twice": changed('["hotel"]', '["hotel", "hotel"]'),
    "endless brackets": changed('["hotel"]', "[" * 100_000),
    "a time that there is not": changed("2026-03-02", "2026-02-30"),
    "a time in another form": changed("T12:00:00Z", " 12:00"),
    "a hash that is none": changed("hash: null", 'hash: "../../x"'),
    "no content": changed("Miramar, booked until 9 May.\n", " \n"),
    "too much content": changed("Miramar", "x" * CONTENT_LIMIT),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_one_bad_file_is_named_on_one_line_and_nothing_is_loaded(
    shelf: Shelf, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0001-good.md").write_text(GOOD.replace("hotel", "house"))
    (tmp_path / "in" / "0002-bad.md").write_bytes(content)
    refused(shelf, tmp_path / "in", "")


@pytest.mark.parametrize("twice", ['name: "lisbon-hotel"', 'name: "hotel"'])
def test_a_name_in_two_files_is_told_with_both_entries(
    shelf: Shelf, tmp_path: Path, twice: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.md").write_text(GOOD)
    (tmp_path / "in" / "2.md").write_text(
        GOOD.replace('name: "lisbon-hotel"', twice).replace('["hotel"]', "[]")
    )
    refused(shelf, tmp_path / "in", "two entries are called")


@pytest.mark.parametrize("make", [lambda folder: None, Path.mkdir])
def test_an_empty_or_missing_folder_does_not_empty_the_memory(
    shelf: Shelf, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "in")
    refused(shelf, tmp_path / "in", "no markdown files")


def test_a_dump_that_was_cut_short_is_not_loaded(shelf: Shelf, tmp_path: Path) -> None:
    shelf.notes.add("long", "x" * 9000, "Archive", NOON, "7d793037a0760186")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, usual[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            dump(shelf.notes, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert len([*(tmp_path / "out").glob("*.md")]) == 2
    refused(shelf, tmp_path / "out", "cut short")


def test_the_files_sort_in_the_order_of_the_entries_however_many_there_are() -> None:
    for count in (3, 9_999, 10_000, 123_456):
        names = [file_name(number, count, "x") for number in (1, count // 2, count - 1, count)]
        assert names == sorted(names)
    assert file_name(7, 9_999, "x") == "0007-x.md"


def refused(shelf: Shelf, folder: Path, words: str) -> None:
    before = shelf.whole
    with pytest.raises(FormatError) as error:
        load(shelf.notes, folder)
    assert (
        words in str(error.value) and "\n" not in str(error.value) and len(str(error.value)) < 400
    )
    assert shelf.whole == before and Shelf(shelf.path.parent).whole == before
