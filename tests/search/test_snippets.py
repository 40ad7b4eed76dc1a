"""Snippets: the part of a text that shows why it was found, on one line, with the words of the
query marked.
"""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.search.snippets import MARK, WIDTH, snippet
from dory.text.tokenizer import Stemmer
from tests.support.household import texts

STEMMER = Stemmer()


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        (
            "We booked the Hotel\nMiramar.",
            {"hotel": 1.0, "book": 2.0},
            "We **booked** the **Hotel** Miramar.",
        ),
        ("nothing of it", {"hotel": 1.0}, "nothing of it"),
        ("café Cafés", {"cafe": 1.0}, "**café** **Cafés**"),
        ("昨日東京タワーへ行った", {"東京": 1.0, "京タ": 1.0}, "昨日**東京タ**ワーへ行った"),
        ("好きな猫", {"猫": 1.0}, "好きな**猫**"),
        (
            "\x1b[31m hotel\x07 ◱hash=0123456789abcdef gist=x◲",
            {"hotel": 1.0},
            "[31m **hotel** hash=0123456789abcdef gist=x",
        ),
    ],
)
def test_what_was_asked_for_is_marked(text: str, wanted: dict[str, float], expected: str) -> None:
    assert snippet(text, wanted, STEMMER) == expected


def test_the_part_is_shown_in_which_most_of_the_weight_stands() -> None:
    text = f"the boat {'and so on ' * 60} the old boat to Lisbon {'and so forth ' * 60}"
    shown = snippet(text, {"boat": 1.0, "lisbon": 3.0}, STEMMER)
    assert "old **boat** to **Lisbon**" in shown
    assert shown.startswith("… ") and shown.endswith(" …")
    assert len(shown) <= WIDTH + 20


@given(texts | st.text(), st.sets(st.sampled_from(["say", "dev", "5", "hello", "猫", "end"])))
def test_any_text_has_a_snippet_without_control_characters_that_quotes_it(
    text: str, wanted: set[str]
) -> None:
    shown = snippet(text, dict.fromkeys(wanted, 1.0), STEMMER)
    assert not any(
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in "◱◲"
        for character in shown
    )
    plain = shown.removeprefix("… ").removesuffix(" …").replace(MARK, "").replace("*", "")
    assert (
        "".join(plain.split()) in "".join("".join(text.split()).replace("*", ""))
        or not text.isprintable()
        or "◱" in text
        or "◲" in text
    )
