"""Vectors: the nearest are the same as if all were compared, for any model. Stored vectors survive,
and those that do not fit are refused.
"""

import sqlite3
from pathlib import Path

import numpy
import pytest

from dory.errors import FormatError
from dory.search.vectors import Vectors
from dory.storage.database import APPLICATION, VERSION, Store

DIMENSION = 96


def clustered(count: int, dimension: int = DIMENSION, common: float = 0.0) -> list[list[float]]:
    """Vectors of any lengths around a few centres, as texts about a few things have; with as much
    in ``common`` as some models give to all.
    """
    dice = numpy.random.default_rng(7)
    centres = dice.standard_normal((12, dimension)) + common
    matrix = (
        centres[dice.integers(0, 12, count)] + dice.standard_normal((count, dimension))
    ) * dice.uniform(0.1, 9, (count, 1))
    return matrix.tolist()  # type: ignore[no-any-return]


def cosines(all: list[list[float]], vector: list[float]) -> list[float]:
    """Those of a vector with each of them, in the full precision of the processor."""
    matrix = numpy.array(all)
    query = numpy.array(vector)
    return (matrix @ query / numpy.linalg.norm(matrix, axis=1) / numpy.linalg.norm(query)).tolist()  # type: ignore[no-any-return]


def test_without_vectors_nothing_is_near_and_no_file_is_made(tmp_path: Path) -> None:
    vectors = Vectors(Store(tmp_path / "memory.sqlite"))
    assert (vectors.nearest([1.0, 2.0], 2), vectors.newest, vectors.model) == ([], 0, ("", 0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("common", [0.0, 2.0])
def test_the_nearest_of_many_are_those_that_comparing_all_would_find_and_their_cosines_are_told(
    store: Store, common: float
) -> None:
    held = clustered(2560, common=common)
    vectors = Vectors(store)
    vectors.add("fish", dict(enumerate(held, 1)))
    for wanted in clustered(40, common=common):
        exact = cosines(held, wanted)
        nearest = vectors.nearest(wanted, 2)
        assert [cosine for _, cosine in nearest] == pytest.approx(
            sorted(exact, reverse=True)[:2], abs=1e-4
        )
        assert [cosine for _, cosine in nearest] == pytest.approx(
            [exact[id - 1] for id, _ in nearest], abs=1e-4
        )


@pytest.mark.parametrize("dimension", [1, 2, 1536])
def test_any_dimension_will_do_and_the_length_of_a_vector_says_nothing(
    store: Store, dimension: int
) -> None:
    vectors = Vectors(store)
    up = [1e-30] * dimension
    down = [-1e30] * dimension
    vectors.add("fish", {1: down, 2: up, 3: [0.0] * dimension})
    ((id, cosine),) = vectors.nearest([5.0] * dimension, 3)
    assert id == 2 and cosine == pytest.approx(1, abs=1e-3)
    assert vectors.nearest([0.0] * dimension, 3) == []


def test_what_is_added_after_a_look_up_and_by_another_process_is_found(store: Store) -> None:
    writer = Vectors(store)
    reader = Vectors(Store(store.path))
    writer.add("fish", {1: [1.0, 0.0]})
    assert [id for id, _ in reader.nearest([1.0, 0.1], 2)] == [1]
    writer.add("fish", {4: [1.0, 0.5]})
    assert [[id for id, _ in vectors.nearest([1.0, 0.1], 2)] for vectors in (writer, reader)] == [
        [1, 4],
        [1, 4],
    ]
    assert (reader.newest, reader.model) == (4, ("fish", 2))


def test_of_equally_near_ones_the_older_come_first_and_no_more_than_asked_for(
    store: Store,
) -> None:
    vectors = Vectors(store)
    vectors.add("fish", {1: [0.0, 1.0], 2: [1.0, 0.0], 3: [1.0, 0.0], 4: [1.0, 0.0]})
    assert [id for id, _ in vectors.nearest([1.0, 0.0], 2)] == [2, 3]


def test_the_zeros_that_stand_for_a_text_without_a_vector_are_known_and_never_near(
    store: Store,
) -> None:
    vectors = Vectors(store)
    vectors.add("fish", {1: [0.0, 0.0], 2: [1.0, 0.0], 3: [0.0, 0.0]})
    assert vectors.empty() == [1, 3]
    assert [id for id, _ in vectors.nearest([1.0, 1.0], 3)] == [2]


def test_a_file_of_version_1_keeps_its_vectors_and_loses_their_signatures(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    numbers = numpy.array([0.6, 0.8], "<f2").tobytes()
    old = sqlite3.connect(path)
    old.execute(
        "CREATE TABLE vector (id INTEGER PRIMARY KEY, model TEXT NOT NULL,"
        " dimension INTEGER NOT NULL, signature BLOB NOT NULL, numbers BLOB NOT NULL)"
    )
    old.execute("INSERT INTO vector VALUES (3, 'fish', 2, x'00', ?)", (numbers,))
    old.execute(f"PRAGMA application_id={APPLICATION}")
    old.execute("PRAGMA user_version=1")
    old.commit()
    old.close()
    for readonly, version in ((True, 1), (False, VERSION)):
        store = Store(path, readonly)
        vectors = Vectors(store)
        ((id, score),) = vectors.nearest([6.0, 8.0], 1)
        assert id == 3 and score == pytest.approx(1, abs=1e-3)
        assert store.number("PRAGMA user_version") == version
        store.close()
    vectors.add("fish", {4: [1.0, 0.0]})
    assert [id for id, _ in vectors.nearest([6.0, 8.0], 2)] == [3, 4]


def test_a_dimension_that_another_process_has_changed_is_taken_over(store: Store) -> None:
    vectors = Vectors(store)
    other = Vectors(Store(store.path))
    vectors.add("fish", {1: [1.0, 0.0]})
    assert vectors.nearest([1.0, 0.0], 1)
    other.clear()
    other.add("bird", {2: [1.0, 0.0, 0.0]})
    assert [id for id, _ in vectors.nearest([1.0, 0.0, 0.0], 1)] == [2]


def test_what_was_removed_or_taken_back_is_not_found_any_more(store: Store) -> None:
    vectors = Vectors(store)
    vectors.add("fish", {1: [1.0, 0.0], 2: [1.0, 0.1], 3: [0.0, 1.0]})
    with pytest.raises(KeyError), store.writing():
        vectors.add("fish", {4: [1.0, 0.2]})
        assert len(vectors.nearest([1.0, 0.1], 9)) == 4
        raise KeyError
    assert [id for id, _ in vectors.nearest([1.0, 0.1], 9)] == [2, 1, 3]
    vectors.remove([1])
    assert [id for id, _ in vectors.nearest([1.0, 0.1], 9)] == [2, 3]
    vectors.clear()
    assert vectors.nearest([1.0, 0.1], 9) == []


def test_vectors_of_two_models_or_dimensions_are_never_mixed(store: Store) -> None:
    vectors = Vectors(store)
    vectors.add("fish", {1: [1.0, 0.0]})
    for model, vector in (("bird", [1.0, 0.0]), ("fish", [1.0, 0.0, 0.0])):
        with pytest.raises(ValueError, match="do not go with those of"):
            vectors.add(model, {2: vector})
    assert vectors.newest == 1
    vectors.clear()
    vectors.add("bird", {1: [1.0, 0.0, 0.0]})
    assert vectors.model == ("bird", 3)


def test_when_the_file_is_deleted_its_vectors_are_gone_and_others_can_be_added(
    store: Store,
) -> None:
    vectors = Vectors(store)
    vectors.add("fish", {number: [1.0, number] for number in range(1, 9)})
    assert vectors.nearest([1.0, 3.0], 1)[0][0] == 3
    for path in store.path.parent.iterdir():
        path.unlink()
    assert vectors.nearest([1.0, 3.0], 1) == []
    vectors.add("bird", {1: [1.0, 0.0, 0.0]})
    assert [id for id, _ in vectors.nearest([1.0, 0.0, 0.0], 1)] == [1]


@pytest.mark.parametrize("damage", ["numbers = x'00ff00'", "numbers = 7", "numbers = 'text'"])
def test_a_damaged_vector_is_told_of(store: Store, damage: str) -> None:
    vectors = Vectors(store)
    vectors.add("fish", {1: [1.0, 0.0], 2: [0.0, 1.0]})
    with store.writing() as connection:
        connection.execute(f"UPDATE vector SET {damage} WHERE id = 2")
    with pytest.raises(FormatError, match=r"memory\.sqlite is damaged"):
        vectors.nearest([1.0, 0.0], 1)
