"""Ranking: what makes one entry a better answer than another."""

import random
from typing import TYPE_CHECKING

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.search.ranking import (
    LENGTH,
    PLACES,
    STRETCHES,
    Formula,
    PositionMasks,
    Ranking,
    is_question,
    trait,
    weight,
)

if TYPE_CHECKING:
    from dory.search.ranking import Bytes, Numbers

BARE = Formula(before=(0, 0), behind=(0, 0), session=0, length=0, own=1, speaker=0, question=0)
RANKING = Ranking(Formula())
MASKS = st.integers(0, 2**PLACES - 1)


def ids(mask: int, stretch: int = 0) -> list[int]:
    return [stretch * PLACES + place for place in range(PLACES) if mask >> place & 1]


def best(
    terms: list[list[int]],
    named: list[int],
    count: int,
    ranking: Ranking = RANKING,
    traits: dict[int, int] | None = None,
) -> list[tuple[float, int]]:
    """Each term by the ids of the entries that have it, with a weight of one; ``traits`` by the
    ids of those that are not as usual.
    """
    places = [PositionMasks.of(numpy.array(sorted(term), numpy.int64)) for term in [*terms, named]]

    def traits_of(stretches: "Numbers") -> "Bytes":
        ids = stretches[:, None] * PLACES + numpy.arange(PLACES)
        return numpy.array(
            [[(traits or {}).get(id, 0) for id in row] for row in ids.tolist()], numpy.uint8
        )

    return ranking.best([(term, 1.0) for term in places[:-1]], places[-1], count, traits_of)


def scores(
    masks: list[int], ranking: Ranking = RANKING, traits: dict[int, int] | None = None
) -> list[float]:
    """What the first places of one stretch have."""
    found = best([ids(mask) for mask in masks], [], PLACES, ranking, traits)
    by_id = {id: score for score, id in found}
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
    assert own == pytest.approx(1.15 * 2.5 / (1.15 + 1.5))


def test_different_terms_around_an_entry_count_more_than_one_term_repeated() -> None:
    repeated = scores([0b110, 0])[2]
    different = scores([0b100, 0b010])[2]
    assert different > repeated > scores([0b100, 0])[2]


@pytest.mark.parametrize(
    "formula", [BARE, Formula(session=0), Formula(before=(0, 0), behind=(0, 0))]
)
def test_what_is_left_out_of_the_formula_has_no_effect(formula: Formula) -> None:
    by_id = scores([0b1, 1 << 7], Ranking(formula))
    assert (by_id[1] > by_id[2]) == bool(formula.before[0])
    assert (by_id[0] > scores([0b1, 0], Ranking(formula))[0]) == bool(formula.session)
    assert Ranking(BARE).adjusted(2.0, asks=True) == 2.0


def test_a_long_passage_has_less_than_a_short_one_and_one_of_ordinary_length_what_is_usual() -> (
    None
):
    traits = {
        number * PLACES: trait(words, False) for number, words in enumerate((2, 30, LENGTH, 400))
    }
    found = best([list(traits)], [], 4, traits=traits)
    assert [id // PLACES for _, id in found] == [0, 1, 2, 3]
    assert found[2][0] == scores([1])[0]
    assert len({trait(words, False) for words in (0, 1)} - {0}) == 1
    bare = best([list(traits)], [], 4, Ranking(BARE), traits)
    assert len({score for score, _ in bare}) == 1


def test_what_the_agent_said_itself_counts_half_and_so_it_does_as_a_neighbour() -> None:
    own = trait(LENGTH, own=True)
    by_itself = scores([0b1], traits={0: own})
    of_a_person = scores([0b1])
    assert by_itself[0] < 0.5 * of_a_person[0]
    assert of_a_person[1] > by_itself[1] > scores([0b1], traits={0: own, 1: own})[1] > 0


def test_a_term_anywhere_in_the_session_counts_a_little_and_in_another_session_nothing() -> None:
    alone = best([[0], [9 * STRETCHES * PLACES]], [], 1)
    near = best([[0], [(STRETCHES - 1) * PLACES]], [], 2)
    assert {id for _, id in near} == {0, (STRETCHES - 1) * PLACES}
    assert near[0][0] > alone[0][0]
    assert best([[0], [STRETCHES * PLACES]], [], 1)[0][0] == alone[0][0]


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
    traits = {id: dice.choice((0, 1, 50, 127, 129, 255)) for id in range(1500 * PLACES)}
    shares = (0.001, 0.01, 0.03, 0.05)
    masks = [
        [sum(1 << place for place in range(PLACES) if dice.random() < share) for _ in range(1500)]
        for share in shares
    ]
    *terms, named = (
        [id for stretch, mask in enumerate(masks_of_term) for id in ids(mask, stretch)]
        for masks_of_term in masks
    )
    ranked = best(terms, named, count, traits=traits)
    every = best(terms, named, 1500 * PLACES, traits=traits)
    assert [score for score, _ in ranked] == [score for score, _ in every[:count]]
    assert set(ranked) <= set(every)
    session = STRETCHES * PLACES
    in_session = [[id for id in term if id // session == 7] for term in [*terms, named]]
    alone = best(in_session[:-1], in_session[-1], session, traits=traits)
    assert dict(map(reversed, alone)) == pytest.approx(  # type: ignore[arg-type]
        {id: score for score, id in every if id // session == 7}
    )


@pytest.mark.parametrize("text", ["Where?", "And you?\n", "“Really?”", "本当？", "**why?**"])
def test_a_text_that_ends_by_asking_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", ["", "Who knows? I do.", "?!", "a"])
def test_any_other_is_none(text: str) -> None:
    assert not is_question(text)
