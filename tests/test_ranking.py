"""ranking: what makes one entry a better answer than another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.ranking import PLACES, Formula, Ranking, is_question, weight

BARE = Formula(before=(0, 0), behind=(0, 0), stretch=0, speaker=0, question=0)
MASKS = st.integers(0, 2**PLACES - 1)


def scores(masks: list[int], weights: list[float] | None = None, formula: Formula | None = None) -> list[float]:
    return Ranking(formula or Formula()).scores(masks, weights or [1.0] * len(masks), range(8))


def test_a_rarer_term_weighs_more_and_none_less_than_nothing() -> None:
    weights = [weight(documents, 1000) for documents in (1, 10, 500, 999, 1000, 1500)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 5 and weights[-1] >= 0


def test_an_entry_gains_most_from_what_stands_in_itself_then_from_before_then_from_behind_and_a_little_from_the_stretch() -> None:
    far_before, before, own, behind, far_behind, elsewhere, *_ = (scores([1 << place])[2] for place in range(8))
    assert own > far_before < before > behind > far_behind > elsewhere > 0
    # the term stands in the entry at ``place``, the score is that of entry 2: places 0 and 1 come before it
    assert own == pytest.approx(1.05 * 1.5 / 1.55)


def test_different_terms_around_an_entry_count_more_than_one_term_repeated() -> None:
    repeated, different = scores([0b110, 0])[2], scores([0b100, 0b010])[2]
    assert different > repeated > scores([0b100, 0])[2]


@pytest.mark.parametrize("formula", [BARE, Formula(stretch=0), Formula(before=(0, 0), behind=(0, 0))])
def test_what_is_left_out_of_the_formula_has_no_effect(formula: Formula) -> None:
    found = scores([0b1], formula=formula)
    assert (found[1] > 0) == bool(formula.stretch or formula.before[0])
    assert (found[7] > 0) == bool(formula.stretch)
    assert Ranking(BARE).adjusted(2.0, named=True, asks=True) == 2.0


def test_who_is_named_gains_and_who_only_asks_loses() -> None:
    ranking = Ranking(Formula())
    assert ranking.adjusted(2.0, named=True, asks=False) > 2.0 > ranking.adjusted(2.0, named=False, asks=True) > 0


@given(st.lists(MASKS, min_size=1, max_size=4), MASKS)
def test_another_term_never_lowers_a_score(masks: list[int], more: int) -> None:
    places = range(PLACES)
    ranking = Ranking(Formula())
    less = ranking.scores(masks, [1.0] * len(masks), places)
    assert all(b >= a for a, b in zip(less, ranking.scores([*masks, more], [1.0] * (len(masks) + 1), places), strict=True))


@pytest.mark.parametrize("text", ["Where?", "And you?\n", "“Really?”", "本当？", "**why?**"])
def test_a_text_that_ends_by_asking_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Who knows? I do.", "?!", "a"])
def test_any_other_is_none(text: str) -> None:
    assert not is_question(text)
