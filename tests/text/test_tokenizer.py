"""The tokenizer: stored texts and queries are split and folded in the same way, in any script, and
any text may be a query.
"""

import sqlite3
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.text.tokenizer import STOP, Stemmer, folded, query_words, words
from tests.support.household import texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, Wörld's naïve CAFÉ", "hello world s naive cafe"),
        ("snake_case and/or C++ 3.14", "snake case and or c 3 14"),
        ("cafe\u0301 ＡＢＣ ½ ⒈", "cafe abc 12 1"),
        ("東京タワー", "東京 京タ タワ ワー ー"),
        ("猫 in Kyoto京都", "猫 in kyoto 京都 都"),
        ("안녕하세요", "안녕 녕하 하세 세요 요"),
        ("well done👍🏽 ❤️ 🇩🇪", "well done 👍 ❤ 🇩🇪"),
        ("Øresund Łódź Æther ılık", "oresund lodz aether ilik"),
        ("◱ → \x00 \ud800", ""),
    ],
)
def test_words_are_folded_and_scripts_without_spaces_become_pairs(text: str, expected: str) -> None:
    assert folded(text) == expected


@given(texts | st.text())
def test_every_word_is_exactly_one_token_for_the_index_and_stands_where_it_says(text: str) -> None:
    tokens = list(words(text))
    assert " ".join(word.folded for word in tokens) == folded(text)
    assert all(0 <= word.start < word.end <= len(text) for word in tokens)
    assert all(first.start <= second.start for first, second in pairwise(tokens))
    assert len(Stemmer().stems([word.folded for word in tokens])) == len(tokens)


@given(st.text(alphabet=st.characters(categories=("L", "N", "M"))))
def test_the_index_needs_no_phrase_for_any_word(text: str) -> None:
    table = sqlite3.connect(":memory:")
    table.execute(
        "CREATE VIRTUAL TABLE word USING fts5"
        "(text, content='', detail=none, columnsize=0, tokenize='porter ascii')"
    )
    for word in words(text):
        table.execute("SELECT 1 FROM word WHERE word MATCH ?", (f'"{word.folded}"',)).fetchall()
    table.close()


def test_a_query_loses_its_stop_words_unless_nothing_else_is_left() -> None:
    assert [word.folded for word in query_words("What did you say about the hotel?", 9)] == [
        "say",
        "hotel",
    ]
    assert [word.folded for word in query_words("To be or not to be", 9)] == [
        "to",
        "be",
        "or",
        "not",
    ]
    assert [word.folded for word in query_words("the hotel", 9, stop_words=False)] == [
        "the",
        "hotel",
    ]
    assert all(folded(word) == word for word in STOP)


def test_a_query_asks_for_each_word_once_and_for_no_half_of_a_pair_that_is_there() -> None:
    assert [word.folded for word in query_words("hotel Hotel hôtel", 9)] == ["hotel"]
    assert [(word.folded, word.open) for word in query_words("東京タ 猫", 9)] == [
        ("東京", False),
        ("京タ", False),
        ("猫", True),
    ]
    assert len(query_words(" ".join(f"w{number}" for number in range(200_000)), 48)) == 48
    assert query_words("", 9) == []


def test_stems_are_porters() -> None:
    assert Stemmer().stems(["running", "researched", "research", "universities", "東京"]) == [
        "run",
        "research",
        "research",
        "univers",
        "東京",
    ]
    assert Stemmer().stems([]) == []
