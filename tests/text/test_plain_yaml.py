"""YAML in settings and notes: an alias cannot make a small file hold more than any memory."""

import pytest

from dory.config import loader
from dory.extensions.notes import properties

BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{number}: &a{number} [*a{number - 1}, *a{number - 1}]\n" for number in range(1, 40)
)


def test_lists_of_lists_of_aliases_are_refused_in_settings() -> None:
    with pytest.raises(ValueError, match="line 2: an alias may stand for a text only"):
        loader.read_yaml(BOMB)


def test_an_alias_of_a_text_stands_for_it() -> None:
    assert loader.read_yaml("model: &name qwen\nname: *name") == {"model": "qwen", "name": "qwen"}


def test_lists_of_lists_of_aliases_are_no_front_matter() -> None:
    assert properties.read(BOMB) is None
