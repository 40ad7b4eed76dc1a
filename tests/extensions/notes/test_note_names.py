"""Notes are found by what people take for their names and words."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import ToolError
from dory.extensions.notes.archives import Archives
from dory.search.spellings import terms
from dory.types import Compacted
from tests.extensions.notes.test_store import Shelf, refused
from tests.support.household import NOON, household, texts


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("lis", "lisbon-hotel, lisbon-trip, old-lisbon"),
        ("Lisbon-T", "lisbon-trip, lisbon-hotel, old-lisbon"),
        ("old", "old-lisbon"),
        ("hotel", "lisbon-hotel, grand-hotel"),
        ("kafak", "kafka"),
        ("cafe\u0301-m", "caf\u00e9-m\u00fcller"),
    ],
)
def test_the_nearest_names_are_named_first_those_that_begin_so(
    shelf: Shelf, asked: str, near: str
) -> None:
    for name in ("grand-hotel", "kafka", "caf\u00e9-m\u00fcller", "old-lisbon", "lisbon-trip"):
        shelf.add(name, "kafak lis hotel old x")
    shelf.add("lisbon-hotel", "Miramar")
    with pytest.raises(ToolError) as refused:
        shelf.notes.get(asked)
    assert str(refused.value).endswith(f"; similar ones: {near}")


@pytest.mark.parametrize(
    ("name", "same"),
    [("Lisbon", "lisbon"), ("Stra\u00dfe", "STRASSE"), ("caf\u00e9", "CAFE\u0301"), ("a", "**A**")],
)
def test_case_and_unicode_make_no_two_notes(shelf: Shelf, name: str, same: str) -> None:
    shelf.add(name, "x")
    shelf.add("other", "y")
    refused(shelf, lambda: shelf.add(same, "y"), f"the name of {name}")
    refused(shelf, lambda: shelf.notes.rename("other", same), f"the name of {name}")
    refused(shelf, lambda: shelf.notes.alias("other", same), f"the name of {name}")
    assert shelf.notes.get(same).content == "x"
    shelf.notes.alias(name, "also")
    moved = shelf.notes.alias("other", "ALSO")
    assert moved and moved.name == name
    assert shelf.notes.get("also").name == "other" and shelf.notes.get(name).aliases == ()
    assert shelf.notes.rename(name, name.swapcase()).content == "x", "its own case may change"


IN_MANY_SCRIPTS = """
    hotel Müller Straße naïve İstanbul ﬁn Ωμέγα велосипед ёлка שלום مرحبا हिन्दी ไทย 東京タワー 猫
    안녕하세요 ½ x² 👍🏽 🇩🇪 NoteStore note_store e-mail 1,250.50 5d41402abc4b2a76 Hochzeitsreise
    O'Brien C++ to be
"""
SCRIPTS = st.lists(
    st.sampled_from(IN_MANY_SCRIPTS.split())
    | st.text(alphabet=st.characters(categories=("L", "N", "M", "So", "P")), max_size=12),
    min_size=1,
    max_size=8,
).map(" ".join)


@given(SCRIPTS | texts | st.text())
def test_any_text_put_into_a_note_is_found_by_each_of_its_words(text: str) -> None:
    with household() as house:
        shelf = Shelf(house.home)
        asked = {text[word.start : word.end] for word in terms(text)}
        if asked:
            shelf.add("n", text)
        for word in sorted(asked):
            assert [note.name for note, _ in shelf.notes.search(word)] == ["n"], word
        shelf.store.close()


@pytest.mark.parametrize(
    ("gist", "name"),
    [
        ("Cafe\u0301 in Lisbon!", "caf\u00e9-in-lisbon-1-9"),
        ("\U0001f389 \u2026", "flights-were-chosen-1-9"),
    ],
)
def test_an_archive_is_called_by_its_gist_or_else_by_its_summary(
    shelf: Shelf, gist: str, name: str
) -> None:
    record = Compacted(1, 9, "5d41402abc4b2a76", gist, "Flights were chosen.", 5)
    assert Archives(shelf.store, shelf.notes).keep(record, NOON).name == name
