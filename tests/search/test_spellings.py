"""Words as people type them: whatever way a word is written, it is found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.search import spellings
from dory.search.index import Index
from dory.search.passages import PAUSE
from dory.search.postings import GLANCE
from dory.storage.database import Store
from dory.text.tokenizer import words
from tests.support.household import texts
from tests.support.shelf import Shelf

HASH = "5d41402abc4b2a76"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.store.close()


FOUND = [
    ("well done 👍🏽", "👍"),
    ("well done 👍", "👍🏿"),
    ("from 🇩🇪 with ❤️", "🇩🇪"),
    ("from 🇩🇪 with ❤️", "❤"),
    ("class NoteStore holds them", "store"),
    ("class NoteStore holds them", "notestore"),
    ("class NoteStore holds them", "note_store"),
    ("the note_store holds them", "NoteStore"),
    ("the note_store holds them", "notestore"),
    ("the note_store holds them", "store"),
    ("the note store holds them", "NoteStore"),
    ("parseHTTPResponse fails", "response"),
    ("parseHTTPResponse fails", "http"),
    ("send an e-mail", "email"),
    ("send an email", "e-mail"),
    ("see dory/search/index.py there", "index.py"),
    ("see dory/search/index.py there", "search/index"),
    ("see dory/search/index.py there", "dory/search/index.py"),
    (r"C:\Users\bert\Desktop", r"users\bert"),
    (f"it is in {HASH}", "5d41402a"),
    (f"it is in {HASH}", "5d41"),
    ("commit 1234567890abcdef", "1234567"),
    ("it costs 1250 euros", "1,250"),
    ("it costs 1,250 euros", "1250"),
    ("it costs 1,250.50 euros", "1250"),
    ("it costs 1.250,50 Euro", "1250"),
    ("it costs 1'250'000 francs", "1250000"),
    ("at 192.168.100.200 it answers", "192.168"),
    ("Herr Müller kommt", "mueller"),
    ("Herr Mueller kommt", "Müller"),
    ("Herr Mu\u0308ller kommt", "Mueller"),
    ("Herr Müller kommt", "muller"),
    ("in der Hauptstraße", "hauptstrasse"),
    ("in der Hauptstrasse", "Hauptstraße"),
    ("the Øresund bridge", "oeresund"),
    ("the Øresund bridge", "oresund"),
    ("the wheelbarrow is red", "wheelbarow"),
    ("the wheelbarrow is red", "wheelbarrrow"),
    ("the wheelbarrow is red", "whelebarrow"),
    ("the wheelbarrow is red", "wheelbarriw"),
    ("the wheelbarrow is red", "qheelbarrow"),
    ("das Fahrrad steht dort", "Fahrard"),
    ("велосипед сломан", "велосипет"),
    ("die Hochzeitsreise war schön", "Hochzeit"),
    ("die Hochzeitsreise war schön", "Reise"),
    ("die Krankenversicherung zahlt", "Versicherung"),
    ("the children sleep", "child"),
    ("a child sleeps", "children"),
    ("two mice ran", "mouse"),
    ("her feet hurt", "foot"),
    ("the wolf howls", "wolves"),
    ("all criteria hold", "criterion"),
]


@pytest.mark.parametrize(("text", "query"), FOUND)
def test_a_word_is_found_as_people_type_it(shelf: Shelf, text: str, query: str) -> None:
    said = shelf.say(text, pause=2 * PAUSE)
    shelf.say("something else altogether", pause=2 * PAUSE)
    (hit,) = shelf.index.search(query)
    assert hit.document.origin == said
    assert "**" in hit.snippet, "it is shown why it was found"


NOT_FOUND = [
    ("the house is red", "horse mouse"),  # two edits, and what occurs is no slip
    ("a cart is red", "card"),  # four letters
    ("it costs 12500 euros", "1250"),
    ("my phone rings", "MyPhone"),
    ("the book is red", "boot"),
    ("beaded bag", "bead5"),
]


@pytest.mark.parametrize(("text", "query"), NOT_FOUND)
def test_a_word_is_not_taken_for_another(shelf: Shelf, text: str, query: str) -> None:
    shelf.say(text, pause=2 * PAUSE)
    shelf.say("a horse and a mouse; neither card nor boot", pause=2 * PAUSE)
    assert 1 not in shelf.origins(query)


def test_only_a_word_that_occurs_nowhere_is_taken_for_a_similar_one(shelf: Shelf) -> None:
    horse = shelf.say("the horse is brown", pause=2 * PAUSE)
    house = shelf.say("the house is brown", pause=2 * PAUSE)
    assert shelf.origins("horse") == [horse]
    assert shelf.origins("house") == [house]
    assert set(shelf.origins("hoese")) == {horse, house}
    assert shelf.index.taken_for("hoese brown") == {"hoese": ["horse", "house"]}
    assert shelf.index.unknown("hoese brown") == ["hoese"]


def test_a_slip_is_taken_for_the_word_that_occurs_most(shelf: Shelf) -> None:
    for text in ("a cable", *["a table"] * 3, *["a fable"] * 2):
        shelf.say(text, pause=2 * PAUSE)
    assert shelf.index.taken_for("xable") == {"xable": ["table", "fable", "cable"]}


def test_what_was_removed_is_no_guess(shelf: Shelf) -> None:
    origin = shelf.say("the wheelbarrow is red")
    shelf.index.remove("heard", origin)
    shelf.say("something else")
    assert shelf.origins("wheelbarow") == []
    assert shelf.index.taken_for("wheelbarow") == {}


def test_a_compound_is_found_beside_its_part_if_its_other_part_is_known(shelf: Shelf) -> None:
    part = shelf.say("die Reise war lang", pause=2 * PAUSE)
    compound = shelf.say("die Hochzeitsreise war kurz", pause=2 * PAUSE)
    assert shelf.origins("Reise") == [part]
    shelf.say("die Hochzeit war im Mai", pause=2 * PAUSE)
    assert set(shelf.origins("Reise")) == {part, compound}


def test_a_glance_guesses_nothing(shelf: Shelf) -> None:
    shelf.say("the wheelbarrow is red")
    assert shelf.origins("wheelbarow", budget=GLANCE) == []


def test_a_slip_costs_a_look_at_a_small_part_of_the_vocabulary(shelf: Shelf) -> None:
    with shelf.store.writing() as connection:
        for number in range(300):
            letters = "".join(chr(97 + int(digit)) for digit in f"{number:04}")
            shelf.say(f"q{letters}word z{letters}", pause=2 * PAUSE)
        shelf.say("the wheelbarrow is red", pause=2 * PAUSE)
        plans = [
            row[3]
            for column in ("word", "reversed")
            for row in connection.execute(
                f"EXPLAIN QUERY PLAN SELECT word FROM vocabulary WHERE {column} >= 'whe'"
                f" AND {column} < 'whf'"
            )
        ]
    assert all(plan.startswith("SEARCH") for plan in plans)
    assert len(shelf.origins("wheelbarow")) == 1


def test_a_reader_of_an_older_index_finds_what_is_written_as_it_is_asked_for(shelf: Shelf) -> None:
    origin = shelf.say("the wheelbarrow is red")
    with shelf.store.writing() as connection:
        connection.execute("DROP TABLE vocabulary")
        connection.execute("DROP TABLE speaker")
    shelf.store.close()
    older = Index(Store(shelf.store.path, readonly=True))
    assert [hit.document.origin for hit in older.search("wheelbarrow")] == [origin]
    assert older.search("wheelbarow") == []
    assert older.speakers() == []


@given(texts | st.text())
def test_every_spelling_is_one_token_and_stands_where_it_says(text: str) -> None:
    for term in spellings.terms(text):
        assert term.folded and " " not in term.folded
        assert 0 <= term.start < term.end <= len(text)
    indexed = spellings.indexed(text).split()
    assert sorted(indexed) == sorted(term.folded for term in spellings.terms(text))
    assert {word.folded for word in words(text)} <= {term.folded for term in spellings.terms(text)}


@given(st.text(max_size=200) | texts)
def test_every_string_can_be_asked(text: str) -> None:
    asked = spellings.asked(text, 48)
    assert all(word.folded for word in asked)
    assert len(asked) == len({word.folded for word in asked})
