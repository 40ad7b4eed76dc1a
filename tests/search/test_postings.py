"""What a search may cost: how much of the index it reads, and what it finds all the same."""

from math import inf
from pathlib import Path

import pytest

from dory.search.index import Hit, Index
from dory.search.passages import PAUSE
from dory.search.postings import GLANCE, SearchBudget
from dory.storage.database import Store
from tests.support.shelf import Shelf

ENDLESS = SearchBudget(postings=inf)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 stretches of three entries: every one says ``common``, most ``usual``, a third
    ``frequent``, one ``rare``.
    """
    shelf = Shelf(tmp_path_factory.mktemp("crowd"))
    with shelf.store.writing():
        for number in range(600):
            shelf.say(
                f"common {'usual' if number % 4 else 'seldom'} things number{number}",
                pause=2 * PAUSE,
            )
            shelf.say(
                f"common {'frequent' if number % 3 == 0 else 'usual'} things"
                f" {'rare' if number == 6 else ''}"
            )
            shelf.say("common usual things")
    shelf.store.close()
    return shelf.store.path


def hits(path: Path, query: str, budget: SearchBudget, share: float = 0.0) -> list[Hit]:
    store = Store(path, readonly=True)
    result = Index(store).search(query, budget=budget, share=share)
    store.close()
    return result


@pytest.mark.parametrize(
    "query",
    [
        "rare",
        "common rare",
        "number300 frequent usual",
        "rare number301 common things",
        "seldom frequent",
    ],
)
def test_a_small_budget_finds_first_what_an_endless_one_finds_first(
    crowd: Path, query: str
) -> None:
    small = hits(crowd, query, SearchBudget(postings=400))
    endless = hits(crowd, query, ENDLESS)
    assert small[0].document == endless[0].document
    assert small[0].score == pytest.approx(endless[0].score, rel=0.05)


def test_where_every_word_is_common_the_newest_are_found(crowd: Path) -> None:
    best = hits(crowd, "common things", SearchBudget(postings=30))
    assert len(best) == 10
    assert min(hit.document.origin for hit in best) > 1700


@pytest.mark.parametrize("share", [0.2, 0.45, 0.7])
@pytest.mark.parametrize(
    "query",
    [
        "rare",
        "common rare",
        "number300 frequent usual",
        "rare number301 common things",
        "common things",
    ],
)
def test_a_share_that_hits_must_have_leaves_out_the_others_and_no_more(
    crowd: Path, query: str, share: float
) -> None:
    limited = hits(crowd, query, ENDLESS, share)
    every = hits(crowd, query, ENDLESS)
    assert [(hit.document, hit.share) for hit in limited if hit.share >= share] == [
        (hit.document, hit.share) for hit in every if hit.share >= share
    ]
    assert len(limited) <= len(every)


def test_a_glance_sees_what_is_rare_and_is_silent_about_what_is_common(crowd: Path) -> None:
    glance = SearchBudget(postings=300, counted=100, looked_up=0)
    endless = hits(crowd, "rare common things", ENDLESS)
    assert hits(crowd, "common things", glance) == []
    best = hits(crowd, "rare common things", glance)
    assert best[0].document == endless[0].document
    assert 0.3 * endless[0].share < best[0].share < endless[0].share, (
        "what was not read counts in the measure, and not for the hit"
    )


def test_a_common_word_is_estimated_once_until_the_index_has_grown(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    index = Index(shelf.store, budget=SearchBudget(counted=10))
    asked = list[str]()
    with shelf.store.writing() as connection:
        for _ in range(100):
            shelf.say("a common thing")
        connection.set_trace_callback(
            lambda sql: asked.append(sql) if "MATCH '\"common\"' ORDER" in sql else None
        )
        for added, estimates in ((0, 1), (0, 0), (5, 0), (50, 1)):
            for _ in range(added):
                shelf.say("a common thing")
            asked.clear()
            assert index.search("common")
            assert len(asked) == estimates
    shelf.store.close()


def test_a_search_among_more_than_is_counted_one_by_one_finds_them_all(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    with shelf.store.writing():
        for number in range(SearchBudget().counted + 200):
            shelf.say(f"common number{number}")
    for budget in (SearchBudget(), SearchBudget(postings=100)):
        best = Index(shelf.store, budget=budget).search("common number77")
        assert best[0].document.text == "common number77"
    shelf.store.close()


def test_a_word_of_which_much_was_said_lately_is_as_rare_to_a_search_after_a_glance_as_before(
    tmp_path: Path,
) -> None:
    shelf = Shelf(tmp_path)
    words = SearchBudget(postings=1000, counted=20, looked_up=0)
    with shelf.store.writing():
        for number in range(1500):
            shelf.say("a kestrel" if number >= 1400 else f"some thing number{number}")
    before = [(hit.score, hit.share) for hit in shelf.index.search("kestrel")]
    assert shelf.index.search("kestrel", budget=words)
    assert [(hit.score, hit.share) for hit in shelf.index.search("kestrel")] == before
    assert Index(shelf.store, budget=words).search("kestrel")[0].share == pytest.approx(
        before[0][1], rel=0.1
    )
    shelf.store.close()


def test_a_glance_at_a_long_message_sees_its_beginning(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.say("a canoe")
    message = [*(f"word{number}" for number in range(GLANCE.words - 1)), "canoe"]
    assert shelf.index.search(" ".join(message), budget=GLANCE)
    assert not shelf.index.search(" ".join(["another", *message]), budget=GLANCE)
    shelf.store.close()
