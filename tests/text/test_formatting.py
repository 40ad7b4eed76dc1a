"""Figures and counts as people and models read them."""

import pytest

from dory.text import formatting


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("abcd", 1), ("abcde", 2), ("艾达", 2), ("字" * 2000, 2000), ("ja, 艾达", 3)],
)
def test_four_letters_are_a_token_and_a_chinese_character_is_one(text: str, tokens: int) -> None:
    assert formatting.tokens(text) == tokens


def test_a_count_agrees_with_its_noun() -> None:
    assert formatting.plural(1, "memory", "memories") == "1 memory"
    assert formatting.plural(0, "memory", "memories") == "0 memories"
    assert formatting.plural(2000, "day") == "2,000 days"
