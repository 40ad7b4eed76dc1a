"""Links, backlinks and tags in notes, and the tools that edit and list them."""

from pathlib import Path

import pytest

from dory import check
from dory.errors import ToolError
from dory.extensions import Stores
from dory.extensions.notes import links, note_file, properties
from dory.extensions.notes.store import CONTENT_LIMIT
from tests.extensions.notes.test_extension import Noting
from tests.support.compacting import House, Scripted, act
from tests.support.household import NOON, assert_told, killed_everywhere
from tests.support.remembering import step


@pytest.fixture
def house(tmp_path: Path) -> Noting:
    return Noting(tmp_path / "home")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("see [[hotel]]", ["hotel"]),
        ("[[Lisbon hotel|where we stay]] and [[Lisbon hotel]]", ["Lisbon-hotel"]),
        ("[[trips/hotel.md#Rooms|rooms]] ![[map]]", ["hotel", "map"]),
        ("[[hotel^block]] [[#only a heading]] [[]] [[ ]] [x] [[broken", ["hotel"]),
        ("[[cafe\u0301]]", ["caf\u00e9"]),
    ],
)
def test_links_are_read_as_obsidian_writes_them(content: str, names: list[str]) -> None:
    assert list(links.linked(content)) == names


@pytest.mark.parametrize(
    ("head", "content", "tags"),
    [
        ("", "#travel and (#food), #travel/lisbon #Travel", ("travel", "food", "travel/lisbon")),
        ("", "# heading\n## two\nissue #17 a#b http://x/#y &#39;", ()),
        ("", "#caf\u00e9 #旅行 #to-do_2", ("caf\u00e9", "旅行", "to-do_2")),
        ("tags: [a, 'b c']\n", "#a", ("a", "b", "c")),
        ("tags:\n- a\n- '#b'\nother: c\n", "", ("a", "b")),
        ("tag: a, b\n", "", ("a", "b")),
    ],
)
def test_tags_stand_in_the_text_and_in_front_matter(
    head: str, content: str, tags: tuple[str, ...]
) -> None:
    assert links.tags(head, content) == tags


def test_a_note_is_read_with_its_tags_and_the_notes_that_link_to_it(house: Noting) -> None:
    house.respond("NOTE_ADD lisbon-hotel Miramar #travel\nNOTE_ALIAS lisbon-hotel bed")
    house.respond(
        "NOTE_ADD plan sleep at the [[Bed|hotel]]\nNOTE_ADD list pay [[lisbon-hotel]]\nNOTE_ADD x y"
    )
    shown = house.result("NOTE_READ bed").body
    assert shown.splitlines()[0] == (
        "lisbon-hotel (note of 2026-03-02 12:00; also bed; #travel; linked from: list, plan)"
    )
    assert house.result("NOTE_READ plan").body.startswith("plan (note of 2026-03-02 12:00)\n")


def test_links_and_tags_are_found_by_recall(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    act(house, "NOTE_ADD plan sleep at the [[lisbon-hotel]] #travel")
    path = house.me.folder / "notes" / "late.md"
    step(house)
    path.write_text("---\ntags: [souvenir]\n---\nsomething blue")
    for query in ("#travel", "[[lisbon-hotel]]", "travel"):
        act(house, f"RECALL {query}")
        assert "-> NOTE_READ plan" in house.me.context.entries[-1].body or (
            "in your context" in house.me.context.entries[-1].body
        )

    def taken() -> bool:
        return bool(house.agent.extensions.members and _found(house, "#souvenir"))

    house.live(taken)
    assert list(check.problems(house.home)) == []


def _found(house: House, query: str) -> bool:
    past = Stores(house.me.folder, house.me.blobs, readonly=True)
    return [note.name for note, _ in past.notes.search(query)] == ["late"]


def test_notes_are_listed_in_pages_and_by_tag(house: Noting) -> None:
    assert house.result("NOTE_LIST").body == "you have no notes"
    for number in range(24):
        house.respond(f"NOTE_ADD n{number} about {number} #{'even' if number % 2 == 0 else 'odd'}")
    house.notes.add("trip-1-9", "summary", "Archive", house.clock(), "5d41402abc4b2a76")
    first = house.result("NOTE_LIST").body.splitlines()
    assert first[0] == "n23 #odd: about 23 #odd" and first[-1] == "20 of 24; NOTE_LIST 2"
    assert house.result("NOTE_LIST 2").body.splitlines()[-1] == "21-24 of 24"
    assert len(house.result("NOTE_LIST #Odd").body.splitlines()) == 12
    assert house.result("NOTE_LIST blue").body == (
        "no note has the tag #blue; tags: #odd (12), #even (12)"
    )


def test_a_note_is_appended_to_and_edited_in_parts(house: Noting) -> None:
    house.respond("NOTE_ADD list milk")
    assert house.result("NOTE_APPEND list: bread").body == "list changed; it has 10 characters now"
    house.respond("NOTE_APPEND list <<END\nfish\n\n  two\nEND")
    assert house.notes.get("list").content == "milk\nbread\nfish\n\n  two"
    block = "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE"
    house.respond(
        "NOTE_EDIT list\n" + block.format("milk", "oat milk") + "\n" + block.format("fish", "tofu")
    )
    assert house.notes.get("list").content == "oat milk\nbread\ntofu\n\n  two"
    for line, told in (
        ("NOTE_EDIT list\n" + block.format("cheese", "x"), "is not in the note list"),
        ("NOTE_EDIT list", "no search/replace block"),
        ("NOTE_EDIT none\n" + block.format("a", "b"), "there is no note 'none'"),
        ("NOTE_APPEND list", "append what? write NOTE_APPEND list <text>"),
        ("NOTE_APPEND none x", "there is no note 'none'"),
        (f"NOTE_APPEND list {'x' * CONTENT_LIMIT}", "make two of it"),
    ):
        entry = house.result(line)
        assert entry.kind == "error" and told in entry.body and "\n" not in entry.body
    assert house.notes.get("list").content == "oat milk\nbread\ntofu\n\n  two"


LINES = ["NOTE_APPEND a more", "NOTE_EDIT a", "NOTE_APPEND a most"]


def test_after_a_kill_the_agent_is_told_exactly_what_it_has_appended_and_edited(
    house: Noting,
) -> None:
    house.notes.add("a", "first", "Note", NOON)
    text = "\n".join(LINES).replace(
        "EDIT a", "EDIT a\n<<<<<<< SEARCH\nfirst\n=======\nonce\n>>>>>>> REPLACE"
    )
    contents = ["first", "first\nmore", "once\nmore", "once\nmore\nmost"]
    seen = set[int]()
    for _ in killed_everywhere(house, lambda: house.respond(f"{text}\nWAIT")):
        done = contents.index(house.notes.get("a").content)
        assert_told(house, LINES, LINES[:done])
        seen.add(done)
    assert seen == {0, 1, 2, 3}


def test_a_note_as_a_file_says_the_same_when_it_is_read(house: Noting) -> None:
    house.respond("NOTE_ADD a/b x")
    for content in ("x", "x\n", "\n\nx", "---\nname: y\n---\n", "  x  ", "---"):
        if content != "x":
            house.notes.write("a/b", content)
        note = house.notes.get("a/b")
        text = note_file.read(note_file.written(note, "a-b"))
        assert (text.content, text.name, text.created) == (content, "a/b", note.at)
    assert properties.read("a" * 30_000) is None and properties.split("---\n---\n") == ("", "")


def test_a_note_is_found_as_people_write_its_name(house: Noting) -> None:
    house.respond("NOTE_ADD Lisbon-trip in May")
    house.respond("NOTE_ADD Trip one")
    house.respond("NOTE_ADD trip two")  # refused: that is the same name
    for name in ("Lisbon trip", "lisbon-trip", "LISBON TRIP"):
        assert house.notes.get(name).content == "in May"
    for name in ("Trip", "trip", "TRIP"):
        assert house.notes.get(name).content == "one"


def test_two_notes_of_an_older_store_that_differ_in_case_are_both_found(house: Noting) -> None:
    house.respond("NOTE_ADD Trip one")
    house.respond("NOTE_ADD other two")
    with house.notes._store.writing() as connection:
        connection.execute("UPDATE note SET name = 'trip' WHERE name = 'other'")
        connection.execute("UPDATE alias SET name = 'trip' WHERE name = 'other'")
        connection.execute("DELETE FROM alias_key")
    assert (house.notes.get("Trip").content, house.notes.get("trip").content) == ("one", "two")
    with pytest.raises(ToolError, match="there is no note 'TRIP'; similar ones: trip, Trip"):
        house.notes.get("TRIP")  # it may be either
    house.notes.write("trip", "new")
    assert (house.notes.get("Trip").content, house.notes.get("trip").content) == ("one", "new")
