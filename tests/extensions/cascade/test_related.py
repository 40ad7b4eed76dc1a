"""Related experiences: similar ones are found by vectors or by BM25, never by a mixture of both."""

from pathlib import Path

import pytest

from dory.extensions.cascade.related import BATCH, Experience, Related
from dory.search.index import Index
from dory.storage.database import Store
from tests.support.household import NOON
from tests.support.resembling import BIKE, BREAD, TRIP, Letters, embed, filled, texts


def test_without_an_embedder_the_words_choose_and_the_status_says_so(store: Store) -> None:
    related = filled(store)
    assert related.similar("Which hotels are there in Lisbon?", 1) == [
        Experience(1, 64, NOON, TRIP)
    ]
    assert texts(related.similar("a tyre for the bicycle, and some bread", 2)) == [BIKE, BREAD]
    assert (
        related.similar("nothing of all this", 2)
        == related.similar("", 2)
        == related.similar('"(*', 2)
        == []
    )
    assert related.backlog() is None
    assert related.status() == "BM25 over 3 summaries, no embeddings configured"


def test_before_the_first_summary_nothing_is_similar_and_no_file_is_made(tmp_path: Path) -> None:
    related = Related(Store(tmp_path / "memory.sqlite"), Letters())
    assert (related.similar("Lisbon", 2), related.backlog()) == ([], None)
    assert related.status() == "letters, 0 of 0 summaries"
    assert list(tmp_path.iterdir()) == []


def test_with_an_embedder_vectors_choose_as_soon_as_all_summaries_have_one(store: Store) -> None:
    related = filled(store, Letters())
    assert related.similar("lisbontrip bookedhotel", 2) == []
    assert related.status() == "letters, 0 of 3 summaries; BM25 until all have a vector"
    assert embed(related) == 1
    assert texts(related.similar("lisbontrip bookedhotel", 1)) == [TRIP]
    assert related.status() == "letters, 256 numbers, 3 of 3 summaries"
    related.add("Dory swam to the lighthouse.", 193, 256, NOON)
    assert related.similar("lisbontrip bookedhotel", 2) == []
    assert (
        related.status() == "letters, 256 numbers, 3 of 4 summaries; BM25 until all have a vector"
    )
    embed(related)
    assert texts(related.similar("lighthousekeeper", 1)) == ["Dory swam to the lighthouse."]


def test_a_summary_is_stored_as_the_specification_names_it(store: Store) -> None:
    filled(store)
    columns = "type, timestamp, memory_range_start, memory_range_end, summary_text"
    assert store.rows(f"SELECT {columns} FROM summary LIMIT 1") == [
        ("memory_summary", int(NOON.timestamp()), 1, 64, TRIP)
    ]


def test_adding_again_changes_nothing_and_costs_no_request(store: Store) -> None:
    embedder = Letters()
    embed(filled(store, embedder))
    before = store.rows("SELECT * FROM summary")
    assert embed(filled(store, embedder)) == 0
    assert store.rows("SELECT * FROM summary") == before
    assert len(embedder.asked) == 1


def test_a_summary_that_covers_memories_otherwise_takes_the_place_of_those_before(
    store: Store,
) -> None:
    related = filled(store, Letters())
    embed(related)
    related.add("Carl watered the garden.", 100, 150, NOON)
    embed(related)
    for words_only in (related, Related(store, None)):
        assert texts(words_only.similar("bread, a bicycle, the garden in Lisbon", 9)) in (
            ["Carl watered the garden.", TRIP],
            [TRIP, "Carl watered the garden."],
        )
    assert store.rows("SELECT count(*) FROM vector") == [(2,)]


def test_another_model_makes_all_vectors_anew_in_batches_and_words_choose_meanwhile(
    store: Store,
) -> None:
    many = [f"{TRIP} That was day {number}." for number in range(2 * BATCH)]
    embed(filled(store, Letters(), *many, BREAD))
    other = Letters("others", dimension=48)
    related = Related(store, other)
    assert (
        related.status() == f"others, 0 of {2 * BATCH + 1} summaries; BM25 until all have a vector"
    )
    for done in (BATCH, 2 * BATCH):
        work = related.backlog()
        assert work
        work()()
        assert related.status().startswith(f"others, 48 numbers, {done} of")
        assert related.similar("breadflour overnightrest", 2) == []
    assert embed(related) == 1
    assert texts(related.similar("breadflour overnightrest", 1)) == [BREAD]
    assert [len(batch) for batch in other.asked[:3]] == [BATCH, BATCH, 1]


def test_a_model_that_gives_other_numbers_under_its_old_name_is_noticed_by_a_look_up_and_by_a_batch(
    store: Store,
) -> None:
    embed(filled(store, Letters()))
    related = Related(store, Letters(dimension=32))
    assert texts(related.similar("a hotel in Lisbon", 1)) == [TRIP]  # by its words
    assert related.status() == "letters, 0 of 3 summaries; BM25 until all have a vector"
    embed(related)
    again = filled(store, Letters(dimension=16), TRIP, BREAD, BIKE, "Dory swam.")
    assert embed(again) == 2
    assert again.status() == "letters, 16 numbers, 4 of 4 summaries"


def test_the_same_situation_is_embedded_once_and_an_empty_one_never(store: Store) -> None:
    embedder = Letters()
    related = filled(store, embedder)
    embed(related)
    assert (
        related.similar("a hotel", 2)
        == related.similar("a hotel", 2)
        != related.similar("a flat tyre", 1)
    )
    assert related.similar(" ", 2) == []
    assert embedder.asked[1:] == [["a hotel"], ["a flat tyre"]]


def test_vectors_are_dropped_that_were_made_of_what_has_changed_meanwhile(store: Store) -> None:
    related = filled(store, Letters())
    work = related.backlog()
    assert work
    related.add("Carl watered the garden.", 65, 128, NOON)
    work()()
    assert store.rows("SELECT count(*) FROM vector") == [(0,)]
    embed(related)
    assert related.status() == "letters, 256 numbers, 3 of 3 summaries"


def test_a_kill_between_two_batches_costs_neither_summaries_nor_the_vectors_that_were_kept(
    store: Store,
) -> None:
    many = [f"{TRIP} That was day {number}." for number in range(BATCH + 5)]
    killed = filled(store, Letters(), *many)
    embedder = Letters()
    work = killed.backlog()
    assert work
    work()()
    killed.backlog()
    after = Related(Store(store.path), embedder)
    assert embed(after) == 1
    assert embedder.asked == [many[BATCH:]]


def test_when_the_file_is_deleted_adding_the_same_summaries_brings_everything_back(
    store: Store,
) -> None:
    related = filled(store, Letters())
    embed(related)
    before = related.similar("lisbontrip bookedhotel", 3)
    for path in store.path.parent.iterdir():
        path.unlink()
    assert related.similar("lisbontrip bookedhotel", 3) == []
    filled(store, Letters())
    embed(related)
    assert related.similar("lisbontrip bookedhotel", 3) == before


def test_summaries_are_no_hits_of_the_search_over_everything(store: Store) -> None:
    index = Index(store)
    filled(store)
    assert index.search("hotel in Lisbon") == []


@pytest.mark.parametrize(
    "text", ["\ud800 half a character", "昨日は東京タワーへ行きました", "", "x" * 100_000, "\x00"]
)
def test_any_text_can_be_a_summary_and_a_situation(store: Store, text: str) -> None:
    related = filled(store, Letters(), text, TRIP)
    related.similar(text, 2)
    embed(related)
    related.similar(text, 2)
    left = "1 of 2 summaries, none for events 1–64" if len(text) < 2 else "2 of 2 summaries"
    assert related.status() == f"letters, 256 numbers, {left}"
