"""Filters in what is asked of RECALL: by day, room, speaker and kind."""

from pathlib import Path

import pytest
from hypothesis import given

from dory.errors import ToolError
from dory.extensions.recall import request
from dory.extensions.recall.request import Known
from tests.extensions.recall.test_rooms import Recalling
from tests.support.compacting import House, Scripted, act
from tests.support.household import texts
from tests.support.remembering import OTHERS, answer, fade, hear, recall, step

KNOWN = Known(("heard", "Note"), ("dev", "lab"), ("ada", "Bert Brown"))


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path, Scripted())
    hear(house, "the canoe is blue", at="2026-02-27T12:00:00Z")
    hear(house, "the canoe was red", name="bert", at="2026-03-01T00:00:00Z")
    hear(house, "a canoe for May", at="2026-05-31T23:59:59Z")
    act(house, "NOTE_ADD boats one canoe and one kayak")
    step(house)
    fade(house, house.me.context.entries[-1:], "the note of the boats")
    return house


def told(house: House, query: str) -> str:
    return recall(house).search.recall(query, house.me.context.entries)


def said(house: House, query: str) -> set[str]:
    return {hit[4].replace("**", "") for hit in answer(house, query)}


BLUE, RED, MAY = "the canoe is blue", "the canoe was red", "a canoe for May"
BOATS = "boats one canoe and one kayak"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("canoe kind:heard", {BLUE, RED, MAY}),
        ("canoe since:2026-03-01 kind:heard", {RED, MAY}),
        ("canoe since:2026-03 kind:heard", {RED, MAY}),
        ("canoe since:2026-04 kind:heard", {MAY}),
        ("canoe until:2026-02-28 kind:heard", {BLUE}),
        ("canoe until:2026-03-01 kind:heard", {BLUE, RED}),
        ("canoe until:2026-05 kind:heard", {BLUE, RED, MAY}),
        ("since:2026-02-27 until:2026-02-27 canoe", {BLUE}),
        ("since:2026 until:2026 canoe KIND:Heard", {BLUE, RED, MAY}),
        ("until:2025 canoe", set()),
        ("canoe who:bert", {RED}),
        ("who:@Bert canoe", {RED}),
        ('canoe who:"bert"', {RED}),
        ("canoe room:dev who:ada", {BLUE, MAY}),
        ("canoe kind:note", {BOATS}),
        ("canoe kind:notes", {BOATS}),
        ("notes: canoe", {BOATS}),
        ("Notes:  canoe", {BOATS}),
        ("notes:", {BOATS}),
        ("who:bert", {RED}),
        ("until:2026-03", {BLUE, RED}),
        ("boats kind:heard", set()),
    ],
)
def test_a_filter_leaves_only_what_it_admits(house: House, query: str, expected: set[str]) -> None:
    assert said(house, query) == expected


def test_a_neighbour_of_a_match_is_no_hit_that_the_filter_does_not_admit(house: House) -> None:
    hear(house, "where is the kayak?", at="2026-06-01T12:00:00Z")
    hear(house, "at the pier", name="bert", at="2026-06-01T12:00:10Z")
    assert "(beside a match) at the pier" in said(house, "kayak")
    assert said(house, "kayak who:ada") == {"where is the kayak?"}


def test_a_filter_admits_few_among_many_others(house: House) -> None:
    hear(house, *["the canoe again"] * 150)
    assert said(house, "canoe who:bert") == {RED}


def test_no_hits_behind_a_filter_say_how_to_widen(house: House) -> None:
    assert told(house, "zebra kind:heard").endswith(", or leave out a filter")
    assert not told(house, "zebra").endswith(", or leave out a filter")


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("x since:yesterday", "since:yesterday is no day: write since:2026-03-01, a month"),
        ("x until:2026-02-30", "until:2026-02-30 is no day"),
        ("x since:2026-13", "since:2026-13 is no day"),
        ("x since:0000", "since:0000 is no day"),
        ("x since:2026-04 until:2026-03", "since:2026-04 is later than until:2026-03"),
        ("x kind:letter", "kind:letter is unknown; kinds are heard, note"),
        ("x room:attic", "room:attic is unknown; rooms are dev, lab"),
        ("x who:carl", "who:carl is unknown; heard were ada, Bert Brown"),
        ("x who:!!", "who:!! is unknown"),
    ],
)
def test_a_filter_that_nothing_can_have_is_answered_with_what_is_legal(
    query: str, line: str
) -> None:
    with pytest.raises(ToolError) as refused:
        request.read(query, KNOWN)
    assert str(refused.value).startswith(line) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "query", ["who: said it", "the notes: are they there", "a:since:b", "room:", "nosince:2026", ""]
)
def test_what_only_looks_like_a_filter_is_words(query: str) -> None:
    asked = request.read(query, KNOWN)
    assert asked.words == query and not asked.only


@given(texts)
def test_any_text_is_words_or_is_answered_with_a_line(text: str) -> None:
    for query in (text, f"notes: {text}", f"{text} who:ada", f"since:{text}"):
        try:
            assert len(request.read(query, KNOWN).words) <= len(query)
        except ToolError as refused:
            assert "\n" not in str(refused)


def test_the_tool_and_the_command_take_filters(house: House) -> None:
    act(house, "RECALL canoe who:bert")
    assert '1 hit for "canoe who:bert"\n' in house.me.context.entries[-1].body
    act(house, "RECALL canoe kind:letter")
    assert house.me.context.entries[-1].kind == "error"
    assert "kinds are archive, " in house.me.context.entries[-1].body
    house.say("/recall canoe who:bert kind:heard")
    house.agent.inbox.serve()
    assert house.lines("NOTICE")[-1].startswith("1 hit for")
    house.say("/recall canoe since:x")
    house.agent.inbox.serve()
    assert "since:x is no day" in house.lines("NOTICE")[-1]


def test_people_learn_of_no_room_and_nobody_that_they_may_not_know_of(tmp_path: Path) -> None:
    house = Recalling(tmp_path / "home")
    house.me.join("lab")
    house.hear("lab", "bob", "the merger closes on Friday")
    house.hear("dev", "ada", "hello")
    house.listen()
    for query in ("merger room:lab", "merger room:attic"):
        assert house.asked("dev", "ada", query).endswith("is unknown; rooms are dev")
    assert house.asked("dev", "ada", "merger who:bob").startswith("no hits")
    assert house.asked("dev", "ada", "merger who:carl").startswith("no hits")
    assert "Friday" in house.asked("lab", "bob", "merger room:lab")


def test_an_answer_in_the_context_is_corrected_in_the_next_epoch(house: House) -> None:
    hear(house, "the paddle is new", *OTHERS)
    entry = next(entry for entry in house.me.context if "paddle" in entry.body)
    act(house, "RECALL paddle")
    assert f"-> in your context at #{entry.first}" in house.me.context.entries[-1].body
    (extension,) = [one for one in house.agent.extensions.members if one.name == "recall"]
    assert extension.section() == ""
    hash = fade(house, [entry], "Ada's paddle")
    assert extension.section().splitlines()[1:] == [
        f"#{entry.first} -> UNCOMPACT {hash} (Ada's paddle)"
    ]
    assert extension.freshness == "opening", "its bytes stay as they are until the next epoch"
    assert f"#{entry.first} -> UNCOMPACT {hash}" in house.agent.prompts.build().text
    act(house, f"UNCOMPACT {hash}")
    assert f"#{entry.first} -> in your context at #" in extension.section()
