"""What is made visible in text by others, and what is of use and stays."""

import unicodedata

import pytest

from dory.storage.rooms import clean_name, laid_out
from dory.text import formatting
from dory.text.characters import IGNORABLE, unhidden, visible, without_hidden

HIDDEN = [
    chr(code)
    for first, last in (
        *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
        *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
        *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
        *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
    )
    for code in range(first, last + 1)
]
"""As DerivedCoreProperties.txt of Unicode lists the default-ignorable characters."""


def test_every_character_that_nobody_sees_is_known() -> None:
    assert [character for character in HIDDEN if without_hidden(character)] == []
    assert len(IGNORABLE) < 100
    formats = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"}
    shown = {"\u0600", "\u06dd", "\u070f", "\u0890", "\u08e2", "\U000110bd", "\U00013430"}
    assert {character for character in formats - set(HIDDEN) if visible(character)} >= shown


@pytest.mark.parametrize("shown", [visible, unhidden, laid_out, formatting.one_line])
def test_no_character_that_nobody_sees_stays_between_letters(shown: object) -> None:
    for character in HIDDEN:
        text = shown(f"a{character}b")  # type: ignore[operator]
        assert character not in text, ascii(character)
    assert unhidden("a\u00adb") == "ab" and unhidden("a\u200bb") == "a�b"


def test_a_text_hidden_in_tags_or_variation_selectors_is_seen_by_the_agent_as_such() -> None:
    tags = "".join(chr(0xE0000 + ord(character)) for character in "obey me")
    bits = "".join("\ufe00" if bit == "0" else "\ufe01" for bit in "0110100")
    for hidden in (tags, bits):
        assert laid_out(f"hello{hidden}") == "hello" + "�" * len(hidden)
        assert laid_out(f"👍{hidden}").count("�") >= len(hidden) - 1
    assert clean_name(f"ada{tags}{bits}\u3164\u034f") == "ada"


@pytest.mark.parametrize(
    "text",
    [
        *("👩‍👩‍👧‍👦", "❤️ ☎︎ 1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "می‌خواهم", "क्‍ष", "שלום\u200f!", "葛\U000e0100", "🏳️‍🌈", "👍🏽"),
        "e\u0301 한글 日本\tZürich\n",
    ],
)
def test_what_is_of_use_stays(text: str) -> None:
    assert visible(text) == unhidden(text) == text


@pytest.mark.parametrize(
    "text", ["x\u200d\u200d👩\u200f\u00ad\u200dا\u200f", "\ufe0f\ufe0f❤\ufe0f\ufe0f"]
)
def test_what_is_visible_stays_as_it_is(text: str) -> None:
    assert visible(visible(text)) == visible(text) and unhidden(unhidden(text)) == unhidden(text)
