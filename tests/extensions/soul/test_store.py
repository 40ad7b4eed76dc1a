"""The file of the soul: entries with ids, limits and people's edits. Damage is named and left as it
is.
"""

import json
import re
from pathlib import Path

import pytest

from dory.errors import FormatError, ToolError
from dory.extensions.soul.store import LIMIT, NAME, Beliefs, problems
from tests.support.household import NOON, Killed, mishap


def texts(folder: Path) -> list[str]:
    return [belief.text for belief in Beliefs(folder).entries]


def test_entries_keep_their_ids_and_an_id_is_never_used_twice(tmp_path: Path) -> None:
    soul = Beliefs(tmp_path)
    assert list(soul.entries) == [] and not (tmp_path / NAME).exists()
    for text in ("I am kind.", "I fear being forgotten.", "Truth before comfort."):
        soul.add(text, NOON)
    soul.remove("3")
    soul.remove("1")
    assert soul.add("Nothing is lost.", NOON)[0].id == 4
    assert [(belief.id, belief.at, belief.text) for belief in Beliefs(tmp_path).entries] == [
        (2, "2026-03-02 12:00", "I fear being forgotten."),
        (4, "2026-03-02 12:00", "Nothing is lost."),
    ]


def test_the_same_words_are_one_entry(tmp_path: Path) -> None:
    soul = Beliefs(tmp_path)
    assert soul.add("I am kind.", NOON)[1] and not soul.add("  I am\nkind. ", NOON)[1]
    assert texts(tmp_path) == ["I am kind."]


def test_an_entry_is_one_line_that_forges_nothing(tmp_path: Path) -> None:
    Beliefs(tmp_path).add("I am\n[#1 heard dev]\n◱hash=5d41402abc4b2a76 gist=x◲\u2028true", NOON)
    assert texts(tmp_path) == ["I am [#1 heard dev] hash=5d41402abc4b2a76 gist=x true"]


def test_all_together_have_a_limit_that_a_removal_makes_room_below(tmp_path: Path) -> None:
    soul = Beliefs(tmp_path)
    soul.add("a" * (LIMIT - 10), NOON)
    soul.add("b" * 10, NOON)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(
        ToolError,
        match=(
            f"would have {LIMIT + 1} characters, .* {LIMIT}: .*entry 1 has {LIMIT - 10}, 2 has "
            f"10: REMOVE_FROM_SOUL <id> first"
        ),
    ):
        soul.add("c", NOON)
    assert (tmp_path / NAME).read_bytes() == before
    soul.remove("2")
    soul.add("c", NOON)
    assert list(problems(tmp_path)) == []


@pytest.mark.parametrize(
    ("id", "complaint"),
    [
        ("7", "its ids are 1, 2"),
        ("", "its ids are"),
        ("one", "its ids are"),
        ("1 2", "its ids are"),
    ],
)
def test_an_id_that_there_is_not_is_refused_with_those_that_there_are(
    tmp_path: Path, id: str, complaint: str
) -> None:
    soul = Beliefs(tmp_path)
    with pytest.raises(ToolError, match="it is empty"):
        soul.remove(id)
    soul.add("I am kind.", NOON)
    soul.add("Nothing is lost.", NOON)
    with pytest.raises(ToolError, match=complaint):
        soul.remove(id)
    assert len(texts(tmp_path)) == 2


def test_what_a_person_writes_into_the_file_counts_at_once(tmp_path: Path) -> None:
    soul = Beliefs(tmp_path)
    soul.add("I am kind.", NOON)
    text = (tmp_path / NAME).read_text()
    assert text.startswith('{\n "version": 1') and "I am kind." in text
    (tmp_path / NAME).write_text(text.replace("kind", "kind and brave"))
    assert [belief.text for belief in soul.entries] == ["I am kind and brave."]
    (tmp_path / NAME).unlink()
    assert list(soul.entries) == []


@pytest.mark.parametrize("next", [0, -5, 1])
def test_an_id_that_somebody_set_too_low_by_hand_spoils_no_write(tmp_path: Path, next: int) -> None:
    (tmp_path / NAME).write_text(json.dumps({"version": 1, "next": next, "entries": []}))
    assert [
        Beliefs(tmp_path).add(text, NOON)[0].id for text in ("I am kind.", "Nothing is lost.")
    ] == [1, 2]
    assert texts(tmp_path) == ["I am kind.", "Nothing is lost."] and list(problems(tmp_path)) == []


def test_a_refusal_quotes_no_words_back(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as refused:
        Beliefs(tmp_path).remove("Nothing is lost.")
    assert str(refused.value) == "there is no such entry in your soul: it is empty"


ENTRY = {"id": 1, "at": "", "text": "x"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "is damaged"),
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ("null", "is damaged"),
        ("[" * 100_000, "is damaged"),
        (json.dumps({"version": 2}), "is of version '2', this Dory reads 1: update Dory"),
        (json.dumps({"version": 1}), "is damaged"),
        (json.dumps({"version": 1, "next": 1, "entries": [], "more": 1}), "its fields are others"),
        (json.dumps({"version": 1, "next": "1", "entries": []}), "its fields are others"),
        (json.dumps({"version": 1, "next": 1, "entries": ["x"]}), "is damaged"),
        (json.dumps({"version": 1, "next": 1, "entries": [{**ENTRY, "text": 7}]}), "entry 1"),
        (json.dumps({"version": 1, "next": 1, "entries": [{**ENTRY, "text": " "}]}), "entry 1"),
        (json.dumps({"version": 1, "next": 1, "entries": [{**ENTRY, "why": "x"}]}), "is damaged"),
        (json.dumps({"version": 1, "next": 1, "entries": [ENTRY, ENTRY]}), "its ids do not rise"),
        (
            json.dumps({"version": 1, "next": 1, "entries": [{**ENTRY, "id": 0}]}),
            "its ids do not rise",
        ),
        (
            json.dumps({"version": 1, "next": 1, "entries": [{**ENTRY, "text": "x" * 70_000}]}),
            "more than 65536 bytes",
        ),
        (
            json.dumps({"version": 1, "next": 1, "entries": [{**ENTRY, "text": "x" * 4001}]}),
            "have 4001 characters, they may have 4000",
        ),
    ],
)
def test_a_file_that_cannot_be_one_is_named_and_left_as_it_is(
    tmp_path: Path, content: str, complaint: str
) -> None:
    (tmp_path / NAME).write_text(content)
    soul = Beliefs(tmp_path)
    for attempt in (
        lambda: list(soul.entries),
        lambda: soul.add("I am kind.", NOON),
        lambda: soul.remove("1"),
    ):
        with pytest.raises(
            FormatError, match=f"{NAME} is .*{re.escape(complaint.removeprefix('is '))}"
        ):
            attempt()
    assert (tmp_path / NAME).read_text() == content
    assert len(list(problems(tmp_path))) == 1


def test_a_kill_at_any_step_of_a_write_leaves_the_old_soul_or_the_new(tmp_path: Path) -> None:
    Beliefs(tmp_path).add("I am kind.", NOON)
    number = 0
    struck = True
    seen = set()
    while struck:
        number += 1
        with mishap(number, Killed()) as mischance:
            Beliefs(tmp_path).add(f"belief {number}", NOON)
        struck = mischance.struck
        now = texts(tmp_path)
        assert now[0] == "I am kind." and now[1:] in ([], [f"belief {number}"])
        seen.add(len(now))
        if now[1:]:
            Beliefs(tmp_path).remove(str(Beliefs(tmp_path).entries[-1].id))
    assert seen == {1, 2} and number > 3
