"""Search by meaning: vectors of all passages, made beside the loop, and what they add to words."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dory.search.index import Index
from dory.search.meaning import BATCH, Meaning
from dory.storage.database import Store
from tests.support.resembling import Letters
from tests.support.shelf import Shelf

HOTEL = "we stay at the Miramar in Lisbon"
QUERY = "miramarlisbon"
"""Shares pieces of words with ``HOTEL``, and no word."""


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.store.close()


def meant(shelf: Shelf, embedder: Letters | None = None) -> Meaning:
    """The meaning of what is on the shelf, with the store opened anew, as after a start."""
    shelf.store.close()
    shelf.store = Store(shelf.store.path)
    shelf.index = Index(shelf.store)
    return Meaning(shelf.store, embedder or Letters(), timeout=60)


def embed(meaning: Meaning) -> int:
    """Do what is due beside the loop; the number of works."""
    count = 0
    while work := meaning.backlog():
        work()()
        count += 1
    return count


def found(shelf: Shelf, meaning: Meaning, query: str, **restricted: object) -> list[str]:
    similarities = meaning.similarities(query)
    hits = shelf.index.search(query, similarities=similarities, **restricted)  # type: ignore[arg-type]
    return [hit.document.text for hit in hits]


def test_what_has_no_word_of_the_query_is_found_by_its_meaning(shelf: Shelf) -> None:
    shelf.say("bread wants flour")
    shelf.say(HOTEL)
    meaning = meant(shelf)
    assert found(shelf, meaning, QUERY) == [], "there are no vectors yet"
    assert embed(meaning) == 1
    assert found(shelf, meaning, QUERY)[0] == HOTEL
    assert [hit.document.text for hit in shelf.index.search(QUERY)] == []


def test_words_count_more_than_meaning(shelf: Shelf) -> None:
    shelf.say("a kiosk", room="elsewhere")
    shelf.say(HOTEL)
    meaning = meant(shelf)
    embed(meaning)
    assert found(shelf, meaning, f"kiosk {QUERY}") == ["a kiosk", HOTEL]


def test_only_the_kinds_that_are_searched_are_found_by_meaning(shelf: Shelf) -> None:
    shelf.say(HOTEL)
    meaning = meant(shelf)
    embed(meaning)
    assert found(shelf, meaning, QUERY, kinds=["Note"]) == []
    assert found(shelf, meaning, QUERY, without=["heard"]) == []
    assert found(shelf, meaning, QUERY, kinds=["heard"]) == [HOTEL]


def test_each_passage_gets_its_vector_once_in_batches_also_after_a_start(shelf: Shelf) -> None:
    for number in range(BATCH + 3):
        shelf.say(f"thing number {number}")
    embedder = Letters()
    meaning = meant(shelf, embedder)
    work = meaning.backlog()
    assert work and meaning.progress() == f"vectors 0 of {BATCH + 3}"
    work()()
    assert meaning.progress() == f"vectors {BATCH} of {BATCH + 3}"
    again = meant(shelf, embedder)
    shelf.say("something new")
    assert embed(again) == 1 and again.progress() == ""
    assert sorted(text for texts in embedder.asked for text in texts) == sorted(
        [*(f"thing number {number}" for number in range(BATCH + 3)), "something new"]
    )


def test_what_is_indexed_while_nothing_makes_vectors_gets_them_later(shelf: Shelf) -> None:
    shelf.say("first")
    embed(meant(shelf))
    shelf.store.close()
    shelf.store = Store(shelf.store.path)
    shelf.index = Index(shelf.store)
    shelf.say(HOTEL)
    meaning = meant(shelf)
    assert embed(meaning) == 1
    assert found(shelf, meaning, QUERY)[0] == HOTEL


def test_what_there_was_before_vectors_gets_them_although_something_new_came_first(
    shelf: Shelf,
) -> None:
    shelf.say(HOTEL)
    shelf.say("second")
    shelf.store.close()
    shelf.store = Store(shelf.store.path)
    shelf.index = Index(shelf.store)
    meaning = meant(shelf)
    shelf.say("said as it wakes")
    embed(meaning)
    assert found(shelf, meaning, QUERY)[0] == HOTEL


def test_what_was_removed_is_not_found_by_its_meaning_nor_what_was_indexed_anew_in_its_place(
    shelf: Shelf,
) -> None:
    origin = shelf.say(HOTEL)
    shelf.say("bread wants flour")
    meaning = meant(shelf)
    embed(meaning)
    assert found(shelf, meaning, QUERY)[0] == HOTEL
    shelf.index.remove("heard", origin)
    assert HOTEL not in found(shelf, meaning, QUERY)
    shelf.index.clear()
    shelf.say("my bicycle has a flat tyre")
    shelf.say(HOTEL)
    meaning.wake()
    embed(meaning)
    assert found(shelf, meaning, QUERY)[0] == HOTEL
    assert shelf.store.number("SELECT count(*) FROM passage_vector") == 2


@pytest.mark.parametrize("other", [Letters("others"), Letters(dimension=128)])
def test_another_model_or_dimension_makes_all_vectors_anew(shelf: Shelf, other: Letters) -> None:
    for number in range(2 * BATCH):
        shelf.say(f"thing number {number}")
    embed(meant(shelf))
    shelf.say(HOTEL)
    meaning = meant(shelf, other)
    embed(meaning)
    rows = shelf.store.rows("SELECT DISTINCT model, dimension FROM passage_vector")
    assert rows == [(other.name, other.dimension)]
    assert shelf.store.number("SELECT count(*) FROM passage_vector") == 2 * BATCH + 1
    assert found(shelf, meaning, QUERY)[0] == HOTEL


def test_while_many_lack_a_vector_words_alone_rank(shelf: Shelf) -> None:
    shelf.say(HOTEL)
    meaning = meant(shelf)
    embed(meaning)
    for number in range(BATCH + 1):
        shelf.say(f"thing number {number}")
    assert meaning.similarities(QUERY) is None
    meaning.wake()
    embed(meaning)
    assert meaning.similarities(QUERY)


def test_an_embedder_that_fails_or_hangs_leaves_the_words_and_says_why(shelf: Shelf) -> None:
    shelf.say(HOTEL)
    embedder = Letters()
    embedder.away = True
    meaning = meant(shelf, embedder)
    assert embed(meaning) == 1 and meaning.failure == "nobody is at home"
    assert embed(meaning) == 0, "it is asked again when there is something new"
    embedder.away = False
    meaning.wake()
    embed(meaning)
    embedder.away = True
    assert meaning.similarities("hotel") is None and meaning.failure == "nobody is at home"
    embedder.away = False
    hanging = Meaning(shelf.store, embedder, timeout=0.01)
    embedder.free.clear()
    asked = len(embedder.asked)
    assert hanging.similarities("hotel") is None and "not answered" in hanging.failure
    assert hanging.similarities("bread") is None
    assert len(embedder.asked) <= asked + 1, "one request at a time"
    embedder.free.set()
    assert meaning.similarities("hotel") and meaning.failure == ""


def test_a_passage_that_the_model_refuses_does_not_hold_up_the_others(shelf: Shelf) -> None:
    shelf.say("an odd one")
    shelf.say(HOTEL)
    embedder = Letters()
    embedder.odd = "odd"
    meaning = meant(shelf, embedder)
    embed(meaning)
    assert found(shelf, meaning, QUERY)[0] == HOTEL


def test_a_neighbour_in_the_same_talk_lends_its_meaning(shelf: Shelf) -> None:
    shelf.say("bread wants flour")
    shelf.say(HOTEL)
    shelf.say("yes")
    shelf.say("oak trees", room="elsewhere")
    meaning = meant(shelf)
    embed(meaning)
    texts = found(shelf, meaning, QUERY)
    assert texts.index("yes") < (texts.index("oak trees") if "oak trees" in texts else 99)
