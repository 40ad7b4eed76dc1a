"""The life is read back entry by entry, through references to any depth, with the place where each
entry stands now.
"""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dory import check
from dory.errors import DoryError
from dory.identity import context, expand
from dory.turn.inbox import Inbox
from tests.support.household import Household, household, turns_of_life


@pytest.fixture
def house(tmp_path: Path) -> Household:
    return Household(tmp_path)


def tell(house: Household, count: int) -> None:
    for _ in range(count):
        house.hear("dev", "ada", f"thing {house.me.state.next_id}")
        Inbox(house.me, [], print).receive()


def fail(error: DoryError) -> None:
    raise error


def read(house: Household, start: int = 1) -> list[int]:
    """The ids of all originals; damage is an error."""
    return [
        entry.first
        for entry in expand.originals(house.me.context.entries, house.me.blobs, start, fail)
    ]


def place(house: Household, id: int) -> str:
    """Where it stands: ``#4`` when live, else the gist of the blob."""
    entry = expand.Outline(house.me.blobs).place(id, house.me.context.entries)
    return (
        "nowhere"
        if entry is None
        else entry.gist
        if entry.kind == "compacted"
        else f"#{entry.first}"
    )


def nested(house: Household) -> tuple[str, str]:
    """Ids 1 to 12, of which 2 to 4 are compacted, and that with its neighbours in another one."""
    tell(house, 11)
    entries = house.me.context.entries
    inner = house.fade(entries[1:4], "inner")
    return inner, house.fade(house.me.context.entries[:4], "outer")


def test_every_original_comes_once_in_order_of_its_id_whatever_the_depth(house: Household) -> None:
    nested(house)
    assert (
        read(house) == list(range(1, 13))
        and read(house, 4) == list(range(4, 13))
        and read(house, 13) == []
    )


def test_originals_that_were_put_back_are_quoted_and_not_met_again(house: Household) -> None:
    inner, _ = nested(house)
    house.respond(f"UNCOMPACT {inner}")
    assert read(house) == list(range(1, 14)), "13 is the response, 14 the original"
    opened = house.me.context.entries[-1]
    house.me.context.replace(
        [opened], [context.compacted(opened.first, opened.last, inner, "inner", "folded back")]
    )
    tell(house, 2)
    assert read(house) == [*range(1, 14), 15, 16]
    house.fade(house.me.context.entries[-4:], "with the folded one")
    assert read(house) == [*range(1, 14), 15, 16]


def test_an_original_is_found_where_it_stands_word_for_word(house: Household) -> None:
    nested(house)
    assert [place(house, id) for id in (1, 2, 4, 5, 6)] == [
        "outer",
        "inner",
        "inner",
        "outer",
        "outer",
    ]
    assert [place(house, id) for id in (7, 12, 13)] == ["#7", "#12", "nowhere"]


def test_what_an_opened_original_shows_word_for_word_is_known_by_id(house: Household) -> None:
    _, outer = nested(house)
    house.respond(f"UNCOMPACT {outer}\nREAD_FILE SOUL.md 1-2")
    house.respond(f"UNCOMPACT {house.hash}")
    shown = expand.Outline(house.me.blobs).opened(house.me.context.entries)
    assert {id: entry.first for id, entry in shown.items()} == {1: 14, 5: 14, 6: 14}


def test_every_stretch_is_told_of_as_its_compaction_did_the_inner_one_first(
    house: Household,
) -> None:
    inner, outer = nested(house)
    house.respond(f"UNCOMPACT {inner}")
    live = house.me.context.entries
    blobs = house.me.blobs
    stretches = list(expand.stretches(live, blobs, fail))
    assert [
        (stretch.first, stretch.last, stretch.hash, stretch.gist, stretch.summary)
        for stretch in stretches
    ] == [
        (2, 4, inner, *["inner"] * 2),
        (1, 6, outer, *["outer"] * 2),
    ]


def test_a_damaged_blob_is_told_of_and_the_rest_is_read(house: Household) -> None:
    inner, _ = nested(house)
    house.me.blobs.path(inner).write_text("gone")
    errors: list[str] = []
    live = house.me.context.entries
    blobs = house.me.blobs
    ids = [
        entry.first
        for entry in expand.originals(live, blobs, 1, lambda error: errors.append(str(error)))
    ]
    assert ids == [1, *range(5, 13)] and len(errors) == 1 and inner in errors[0]
    assert place(house, 3) == "inner" and place(house, 5) == "outer"
    assert [
        stretch.gist
        for stretch in expand.stretches(live, blobs, lambda error: errors.append(str(error)))
    ] == ["outer"]
    assert len(errors) == 2 and errors[0] == errors[1]


def test_no_depth_is_too_deep(house: Household) -> None:
    tell(house, 2)
    for number in range(400):
        house.fade(house.me.context.entries[:1], f"level {number}")
    assert len(list(expand.stretches(house.me.context.entries, house.me.blobs, fail))) == 400
    assert place(house, 1) == "level 0" and list(check.problems(house.home)) == []


@settings(max_examples=25)
@given(st.lists(turns_of_life, max_size=12))
def test_whatever_a_life_brings_each_original_is_met_once_and_found_where_it_is_said_to_stand(
    moments: list[tuple[str, str]],
) -> None:
    with household() as house:
        texts: dict[int, str] = {}
        for moment in [("heard", "one"), *moments]:
            house.live(moment)
            live = house.me.context.entries
            texts |= {
                entry.first: entry.body
                for entry in live
                if entry.kind not in ("compacted", "uncompacted")
            }
        met = {
            entry.first: entry.body for entry in expand.originals(live, house.me.blobs, 1, print)
        }
        assert met == texts and list(met) == sorted(met)
        for id, body in texts.items():
            entry = expand.Outline(house.me.blobs).place(id, live)
            assert entry
            inside = expand.behind(entry, house.me.blobs) if entry.kind == "compacted" else [entry]
            assert body in [original.body for original in inside if original.first == id]
