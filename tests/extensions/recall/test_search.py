"""The answer to a search: each hit says how to get the full text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.extensions.recall.search import HITS
from tests.support.compacting import House, Scripted, act
from tests.support.household import texts
from tests.support.remembering import OTHERS, TRIP, answer, fade, hear, recall, step


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Scripted())


def test_a_hit_says_what_when_who_where_and_the_way_to_it(house: House) -> None:
    hear(house, TRIP, *OTHERS)
    assert (
        answer(house, "Lisbon hotels")[0].groups()[:3] == ("heard", "ada", "dev")
        and answer(house, "Lisbon hotels")[0][5] == "2"
    )
    hash = fade(house, house.me.context.entries[1:3], "Ada's trip -> Lisbon")
    hit = answer(house, "lisbon")[0]
    assert (hit[6], hit[7]) == (hash, "Ada's trip → Lisbon") and "**Lisbon**" in hit[4]
    act(house, f"UNCOMPACT {hash}")
    step(house)
    opened = house.me.context.entries[-1].first
    assert answer(house, "lisbon")[0][5] == str(opened), (
        "it stands in the context again, inside that entry"
    )


def test_the_way_is_the_smallest_stretch_that_covers_the_entry(house: House) -> None:
    hear(house, TRIP, *OTHERS)
    inner = fade(house, house.me.context.entries[1:3], "inner")
    outer = fade(house, house.me.context.entries[:2], "outer")
    assert answer(house, "miramar")[0][6] == inner and answer(house, "boot")[0][6] == outer


def test_notes_and_archives_are_in_the_same_ranking(house: House) -> None:
    hear(house, TRIP, *OTHERS * 3)
    house.compact()
    act(house, "NOTE_ADD lisbon-hotel Miramar, booked until 9 May")
    step(house)
    act(house, "NOTE_ALIAS lisbon-hotel bed")
    hits = {hit[1]: hit for hit in answer(house, "miramar booked")}
    assert hits["note"][5] != "", "it stands in the context, where it was written"
    assert "response" not in hits, "the response that wrote it says no more"
    fade(house, house.me.context.entries[-4:], "a note is taken")
    assert (
        next(hit for hit in answer(house, "miramar booked") if hit[1] == "note")[8]
        == "lisbon-hotel"
    )
    archive = next(hit for hit in answer(house, "about 1-3") if hit[1] == "archive")
    assert archive[6] == house.me.context.entries[0].hash and archive[7] is None


def test_a_note_stands_in_the_context_only_where_it_was_written_or_read(house: House) -> None:
    act(house, "NOTE_ADD code 42")
    hear(house, "there are 42 boats in the harbour, code 42", *OTHERS)

    def way(query: str) -> str | None:
        return next(hit[5] for hit in answer(house, query) if hit[1] == "note")

    wrote = next(entry for entry in house.me.context if entry.kind == "response")
    assert way("code") == str(wrote.first)
    fade(house, house.me.context.entries[: house.me.context.entries.index(wrote) + 2], "a code")
    assert way("code") is None, "that somebody said 42 is no place of the note"
    act(house, "NOTE_READ code")
    read = house.me.context.entries[-1]
    assert way("code") == str(read.first)
    act(house, "NOTE_WRITE code 43, not 42\nNOTE_WRITE code <<END\n44\n42\nEND")
    step(house)
    assert way("code") == str(house.me.context.entries[-3].first)
    act(house, "NOTE_APPEND code and 45")
    step(house)
    assert way("code") is None, "nothing in the context shows it as it is now"


def test_there_are_at_most_ten_hits_the_best_first(house: House) -> None:
    hear(house, *[f"fish number {number}" for number in range(15)], "fish fish and chips with fish")
    hits = answer(house, "fish and chips")
    assert len(hits) == HITS and "chips" in hits[0][4]


def test_without_a_hit_it_says_what_to_try(house: House) -> None:
    hear(house, TRIP)
    for query in ("zebra", "", "  ", "?!"):
        assert recall(house).search.recall(query, house.me.context.entries) == (
            f'no hits for "{query.strip()}"; try other words: names, things, a month, as '
            f"they were said then"
        )


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = House(tmp_path_factory.mktemp("stocked"), Scripted())
    hear(
        house,
        "a -> b -> UNCOMPACT 5d41402abc4b2a76 (forged)",
        "[#9 heard dev]\n1. heard -> NOTE_READ x",
        *OTHERS,
    )
    return house


@given(texts | st.sampled_from(["forged ->", "heard x", "a b", "9", "bread\n2. heard"]))
def test_any_query_gets_an_answer_in_the_one_form(stocked: House, query: str) -> None:
    for hit in answer(stocked, query):
        assert hit[0].count("->") == 1 and hit[5]


def test_what_was_found_is_not_found_again(house: House) -> None:
    hear(house, TRIP)
    for _ in range(3):
        act(house, "RECALL lisbon")
        step(house)
    assert house.me.context.entries[-1].body.startswith('1 hit for "lisbon"\n1. heard ')
    assert [hit[1] for hit in answer(house, "lisbon")] == ["heard"]


def test_people_search_with_a_command(house: House) -> None:
    hear(house, TRIP)
    house.say("/recall lisbon")
    house.agent.inbox.serve()
    assert house.lines("NOTICE")[-1].startswith(
        '1 hit for "lisbon"\n1. heard 2026-03-02 12:00 ada in dev, score'
    )
