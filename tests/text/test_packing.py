"""How many items fit into one request."""

from dory.text.packing import fitting


def test_as_many_are_taken_as_fit_together() -> None:
    assert fitting([3, 4, 5], 7) == 2
    assert fitting([3, 4, 5], 12) == 3
    assert fitting([], 12) == 0


def test_some_are_taken_however_large_they_are() -> None:
    assert fitting([30, 40], 7) == 1
    assert fitting([30, 40, 50], 7, least=2) == 2
    assert fitting([30], 7, least=2) == 1


def test_nothing_is_taken_behind_an_item_that_does_not_fit() -> None:
    assert fitting([3, 9, 1], 7) == 1
