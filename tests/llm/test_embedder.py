"""embedding: what comes back, and what is told, while the embedder is slow, is away, or does not
take a summary.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dory.config.profiles import Profile, Profiles
from dory.config.settings import Config
from dory.errors import ModelRefused
from dory.extensions.cascade.related import Related
from dory.llm.budget import Budget
from dory.llm.embedder import vectors
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.storage.database import NAME, Store
from dory.turn.models import Models
from dory.types import Embedder
from tests.support.household import Household
from tests.support.resembling import BIKE, BREAD, TRIP, Letters, embed, filled, texts
from tests.support.wire import KEY

LONG = "".join(f"{number} " for number in range(150))


def over_http(house: Household, base_url: str, model: str) -> Embedder:
    """What an agent embeds with whose settings name this endpoint."""
    profiles = Profiles((("vectors", Profile(model, base_url, KEY)),))
    config = Config(
        model="main", base_url="http://localhost:1/v1", profiles=profiles, embeddings="vectors"
    )
    made = Models(config, OfflineModel(), Budget(house.me, config, print, None), print).embedder()
    assert made
    return made


def test_when_the_endpoint_fails_words_choose_the_status_says_why_and_the_next_turn_tries_again(
    store: Store,
) -> None:
    embedder = Letters()
    related = filled(store, embedder)
    embedder.away = True
    work = related.backlog()
    assert work
    work()()
    assert related.backlog() is None
    assert (
        related.status()
        == "letters, 0 of 3 summaries; BM25 until all have a vector (nobody is at home)"
    )
    assert texts(related.similar("a hotel", 1)) == [TRIP]
    embedder.away = False
    assert embed(related) == 1
    assert related.status() == "letters, 256 numbers, 3 of 3 summaries"
    embedder.away = True
    assert texts(related.similar("a hotel", 1)) == [TRIP]
    assert (
        related.status()
        == "letters, 256 numbers, 3 of 3 summaries; BM25 for now: nobody is at home"
    )
    embedder.away = False
    assert texts(related.similar("lisbontrip bookedhotel", 1)) == [TRIP]
    assert related.status() == "letters, 256 numbers, 3 of 3 summaries"


def test_no_turn_waits_for_an_endpoint_that_hangs_and_it_gets_no_second_request(
    store: Store,
) -> None:
    embedder = Letters()
    embed(filled(store, embedder))
    related = Related(store, embedder)
    embedder.free.clear()
    for situation in ("a hotel", "a hotel", "the hotel"):
        assert texts(related.similar(situation, 1)) == [TRIP]
    assert related.status().endswith("; BM25 for now: the endpoint has not answered yet")
    embedder.free.set()
    while related.status().endswith("yet"):
        assert texts(related.similar("a hotel", 1)) == [TRIP]
    assert embedder.asked[1:] == [["a hotel"]]


def test_while_the_vector_of_a_situation_is_made_that_of_the_one_before_chooses(
    store: Store,
) -> None:
    embedder = Letters()
    embed(filled(store, embedder))
    related = Related(store, embedder, timeout=0)
    embedder.free.clear()
    assert related.similar("lisbontrip bookedhotel", 1) == []
    embedder.free.set()
    while related.status().endswith("yet"):
        related.similar("lisbontrip bookedhotel", 1)
    embedder.free.clear()
    assert texts(related.similar("breadflour overnightrest", 1)) == [TRIP]
    assert related.status() == "letters, 256 numbers, 3 of 3 summaries"
    assert related.similar("flattyre", 1) == [] and related.status().endswith("yet")
    embedder.free.set()
    while related.status().endswith("yet"):
        related.similar("breadflour overnightrest", 1)
    assert texts(related.similar("breadflour overnightrest", 1)) == [BREAD]


def test_a_summary_that_the_model_does_not_take_holds_up_no_other_and_is_told(store: Store) -> None:
    embedder = Letters()
    embedder.odd = "Bert"
    related = filled(store, embedder)
    assert embed(related) == 2  # the refused one once more
    told = "letters, 256 numbers, 2 of 3 summaries, none for events 65–128"
    assert related.status() == f"{told} (nothing with Bert)"
    assert texts(related.similar("breadflour overnightrest lisbontrip", 1)) == [TRIP]
    embedder.odd = ""
    assert embed(related) == 0
    again = Related(store, embedder, timeout=60)
    assert again.status() == told
    assert embed(again) == 1
    assert again.status() == "letters, 256 numbers, 3 of 3 summaries"
    assert texts(again.similar("breadflour overnightrest", 1)) == [BREAD]


def test_a_refused_summary_that_goes_while_it_is_tried_again_stays_away(store: Store) -> None:
    embedder = Letters()
    embedder.odd = "Bert"
    embed(filled(store, embedder))
    embedder.odd = ""
    related = Related(store, embedder)
    work = related.backlog()
    assert work
    apply = work()
    related.remove([2])
    apply()
    assert store.rows("SELECT id FROM vector") == [(1,), (3,)]


def test_an_endpoint_that_dies_meanwhile_leaves_no_summary_out(store: Store) -> None:
    embedder = Letters()
    embedder.odd = "memory"
    related = filled(store, embedder, TRIP, f"{BREAD} That is in my memory.")
    assert embed(related) == 1 and len(embedder.asked) == 2
    assert (
        related.status()
        == "letters, 0 of 2 summaries; BM25 until all have a vector (nothing with memory)"
    )


def test_over_a_real_endpoint_vectors_choose_change_with_the_model_and_are_not_needed_when_it_dies(
    tmp_path: Path,
) -> None:
    house, asked = Household(tmp_path), "Who rested overnight with rye?"
    store = Store(house.me.folder / NAME)
    with Server(OfflineModel()) as server:
        for model in ("words", "others"):
            related = filled(store, over_http(house, server.base_url, model))
            assert related.status().endswith("0 of 3 summaries; BM25 until all have a vector")
            embed(related)
            assert texts(related.similar(asked, 1)) == [BREAD]
            assert related.status() == f"{model}, 256 numbers, 3 of 3 summaries"
        assert server.embedded == [[TRIP, BREAD, BIKE], [asked]] * 2
    assert texts(related.similar(f"{asked} Once more.", 1)) == [BREAD]
    assert related.status().startswith("others, 256 numbers, 3 of 3 summaries; BM25 for now: ")
    store.close()


def test_of_a_text_that_is_too_long_for_the_model_as_much_is_embedded_as_fits(store: Store) -> None:
    embedder = Letters(window=100)
    related = filled(store, embedder, LONG + BREAD, TRIP)
    embed(related)
    assert texts(related.similar(LONG + "breadflour overnightrest", 1)) == [LONG + BREAD]
    assert related.status() == "letters, 256 numbers, 2 of 2 summaries"


def test_a_model_whose_vectors_change_their_length_is_refused() -> None:
    class Growing(Letters):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            self.dimension += 1
            return super().embed(texts)

    with pytest.raises(ModelRefused, match="letters makes vectors of different lengths"):
        vectors(Growing(window=10), [TRIP, BREAD])
