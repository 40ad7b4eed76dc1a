"""Ranking: what makes one entry a better answer than another."""

import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.search.ranking import PLACES, Formula, PositionMasks, Ranking, is_question, weight

BARE = Formula(before=(0, 0), behind=(0, 0), stretch=0, speaker=0, question=0)
RANKING = Ranking(Formula())
MASKS = st.integers(0, 2**PLACES - 1)


def ids(mask: int, stretch: int = 0) -> list[int]:
    return [stretch * PLACES + place for place in range(PLACES) if mask >> place & 1]


def best(
    terms: list[list[int]], named: list[int], count: int, ranking: Ranking = RANKING
) -> list[tuple[float, int]]:
    """Each term by the ids of the entries that have it, with a weight of one."""
    places = [PositionMasks.of(numpy.array(sorted(term), numpy.int64)) for term in [*terms, named]]
    return ranking.best([(term, 1.0) for term in places[:-1]], places[-1], count)


def scores(masks: list[int], ranking: Ranking = RANKING) -> list[float]:
    """What the first places of one stretch have."""
    by_id = {id: score for score, id in best([ids(mask) for mask in masks], [], PLACES, ranking)}
    return [by_id.get(id, 0.0) for id in range(8)]


def test_a_rarer_term_weighs_more_and_none_less_than_nothing() -> None:
    weights = [weight(documents, 1000) for documents in (1, 10, 500, 999, 1000, 1500)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 5 and weights[-1] >= 0


def test_an_entry_gains_most_from_itself_then_from_before_then_from_behind_last_from_afar() -> None:
    far_before, before, own, behind, far_behind = (scores([1 << place])[2] for place in range(5))
    elsewhere = scores([1 << 9, 0b100])[2] - own
    assert own > far_before < before > behind > far_behind > elsewhere > 0
    # the term stands in the entry at ``place``, the score is that of entry 2: places 0 and 1 come
    # before it
    assert own == pytest.approx(1.05 * 1.5 / 1.55)


def test_different_terms_around_an_entry_count_more_than_one_term_repeated() -> None:
    repeated = scores([0b110, 0])[2]
    different = scores([0b100, 0b010])[2]
    assert different > repeated > scores([0b100, 0])[2]


@pytest.mark.parametrize(
    "formula", [BARE, Formula(stretch=0), Formula(before=(0, 0), behind=(0, 0))]
)
def test_what_is_left_out_of_the_formula_has_no_effect(formula: Formula) -> None:
    by_id = scores([0b1, 1 << 7], Ranking(formula))
    assert (by_id[1] > by_id[2]) == bool(formula.before[0])
    assert (by_id[0] > scores([0b1, 0], Ranking(formula))[0]) == bool(formula.stretch)
    assert Ranking(BARE).adjusted(2.0, asks=True) == 2.0


def test_who_is_named_gains_and_who_only_asks_loses() -> None:
    (first, named), (second, other) = best([[0, PLACES, 2 * PLACES]], [PLACES], 2)
    assert (named, other) == (PLACES, 2 * PLACES)
    assert first == second + Formula().speaker
    assert RANKING.adjusted(2.0, asks=False) == 2.0 > RANKING.adjusted(2.0, asks=True) > 0


def test_an_entry_counts_with_a_term_within_two_places_and_of_equals_the_newer_is_first() -> None:
    assert {id for _, id in best([ids(1 << 30)], ids(1 << 10), PLACES)} == {28, 29, 30, 31, 32}
    assert [id for _, id in best([[0, PLACES, 5 * PLACES]], [], 3)] == [5 * PLACES, PLACES, 0]
    assert best([[]], [], 3) == []


@given(st.lists(MASKS, min_size=1, max_size=4), MASKS)
def test_another_term_never_lowers_a_score(masks: list[int], more: int) -> None:
    assert all(b >= a for a, b in zip(scores(masks), scores([*masks, more]), strict=True))


@pytest.mark.parametrize("count", [5, 100])
def test_what_is_passed_over_could_not_be_among_the_best(count: int) -> None:
    dice = random.Random(count)
    shares = (0.001, 0.01, 0.03, 0.05)
    masks = [
        [sum(1 << place for place in range(PLACES) if dice.random() < share) for _ in range(1500)]
        for share in shares
    ]
    *terms, named = (
        [id for stretch, mask in enumerate(masks_of_term) for id in ids(mask, stretch)]
        for masks_of_term in masks
    )
    ranked = best(terms, named, count)
    speaks = set(named)
    all_of_them = {
        id + stretch * PLACES: score + Formula().speaker * (id + stretch * PLACES in speaks)
        for stretch, (*own, _) in enumerate(zip(*masks, strict=True))
        for score, id in best([ids(mask) for mask in own], [], PLACES)
    }
    assert [score for score, _ in ranked] == pytest.approx(
        sorted(all_of_them.values(), reverse=True)[:count]
    )
    assert all(score == pytest.approx(all_of_them[id]) for score, id in ranked)


@pytest.mark.parametrize("text", ["Where?", "And you?\n", "“Really?”", "本当？", "**why?**"])
def test_a_text_that_ends_by_asking_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Who knows? I do.", "?!", "a"])
def test_any_other_is_none(text: str) -> None:
    assert not is_question(text)
