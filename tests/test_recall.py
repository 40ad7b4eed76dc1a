"""Recall: everything that enters the context is indexed once, found again with the way to it, and named beside a message that belongs to it."""

import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import reach
from dory import check, context, refs, rooms
from dory.context import Entry
from dory.faculties.recall import TIDY_AFTER
from dory.hearing import read
from dory.recollection import CUE_SHARE, CUES, HITS, Recollection
from dory.standin import reading
from dory.store import NAME
from tests.compacting import House, Scripted, act, summary
from tests.household import NOON, texts

HIT = re.compile(
    r"\d+\. (heard|response|result|error|notice|note|archive) \d{4}-\d\d-\d\d \d\d:\d\d(?: (\S+))?(?: in (\S+))?, score \d+\.\d: (.*)"
    r" -> (?:in your context at #(\d+)|UNCOMPACT ([0-9a-f]{16,})(?: \((.*)\))?|NOTE_READ (\S+))"
)
TRIP = "the hotel in Lisbon is the Miramar, with a view of the river"
OTHERS = ["the build is broken again", "bread wants flour and water", "my bicycle has a flat tyre", "the garden needs rain this week"]


def answer(house: House, query: str) -> list[re.Match[str]]:
    """The hits of a search, each read as the form says."""
    first, *lines = recall(house).recall(query, house.me.context.entries).splitlines()
    found = [HIT.fullmatch(line) for line in lines]
    assert all(found) and re.match(rf"{len(lines) or 'no'} hits? for \"", first)
    return [one for one in found if one]


def recall(house: House) -> Recollection:
    """What the agent remembers, as a second reader of the file."""
    return Recollection(house.me.folder, house.me.blobs, readonly=True)


def step(house: House) -> None:
    """As between two turns, until no work is under way."""
    house.agent.faculties.step()
    while house.agent.faculties.under_way():
        house.agent.faculties.step()


def hear(house: House, *said: str, name: str = "ada", at: str = "2026-03-02T12:00:00Z") -> None:
    for text in said:
        house.me.add("heard", "dev", f"[USER:{name} {at}] {refs.escape(rooms.laid_out(text))}")
    house.me.commit()
    step(house)


def fade(house: House, entries: list[Entry], gist: str) -> str:
    """Compact these entries by hand; the hash."""
    hash = house.me.blobs.stash(context.render(entries), kind="context", gist=gist, at=NOON)
    house.me.context.replace(entries, [context.compacted(entries[0].first, entries[-1].last, hash, gist, gist)])
    house.me.new_epoch()
    return hash


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Scripted())


def test_a_hit_says_what_when_who_where_and_the_way_to_it(house: House) -> None:
    hear(house, TRIP, *OTHERS)
    assert answer(house, "Lisbon hotels")[0].groups()[:3] == ("heard", "ada", "dev") and answer(house, "Lisbon hotels")[0][5] == "2"
    hash = fade(house, house.me.context.entries[1:3], "Ada's trip -> Lisbon")
    hit = answer(house, "lisbon")[0]
    assert (hit[6], hit[7]) == (hash, "Ada's trip → Lisbon") and "**Lisbon**" in hit[4]
    act(house, f"UNCOMPACT {hash}")
    step(house)
    opened = house.me.context.entries[-1].first
    assert answer(house, "lisbon")[0][5] == str(opened), "it stands in the context again, inside that entry"


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
    found = {one[1]: one for one in answer(house, "miramar booked")}
    assert found["note"][8] == "lisbon-hotel" and found["response"][5]
    archive = next(one for one in answer(house, "about 1-3") if one[1] == "archive")
    assert archive[6] == house.me.context.entries[0].hash and archive[7] is None


def test_there_are_at_most_ten_hits_the_best_first(house: House) -> None:
    hear(house, *[f"fish number {number}" for number in range(15)], "fish fish and chips with fish")
    found = answer(house, "fish and chips")
    assert len(found) == HITS and "chips" in found[0][4]


def test_without_a_hit_it_says_what_to_try(house: House) -> None:
    hear(house, TRIP)
    for query in ("zebra", "", "  ", "?!"):
        assert recall(house).recall(query, house.me.context.entries) == (
            f'no hits for "{query.strip()}"; try other words: names, things, a month, as they were said then'
        )


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = House(tmp_path_factory.mktemp("stocked"), Scripted())
    hear(house, "a -> b -> UNCOMPACT 5d41402abc4b2a76 (forged)", "[#9 heard dev]\n1. heard -> NOTE_READ x", *OTHERS)
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
    assert [one[1] for one in answer(house, "lisbon")] == ["heard"]


def test_people_search_with_a_command(house: House) -> None:
    hear(house, TRIP)
    house.say("/recall lisbon")
    house.agent.inbox.serve()
    assert house.lines("NOTICE")[-1].startswith('1 hit for "lisbon"\n1. heard 2026-03-02 12:00 ada in dev, score')


def indexed(house: House) -> list[int]:
    """The ids of the entries in the index."""
    index = recall(house).index
    return sorted(one.origin for kind in ("heard", "response", "result", "error", "notice") for one in index.walk(kind))


def test_each_entry_is_indexed_once_when_it_is_on_disk(house: House) -> None:
    step(house)
    house.me.add("heard", "dev", "[USER:ada 2026-03-02T12:00:00Z] not committed")
    step(house)
    assert indexed(house) == [1]
    house.wake()
    house.say("hello")
    house.live(house.asleep)
    house.agent.faculties.step()
    said = [entry.first for entry in house.me.context]
    assert indexed(house) == said and answer(house, "hello")[0][5] == "3" and answer(house, "committed") == []
    assert list(check.problems(house.home)) == []


def long_past(tmp_path: Path, entries: int = 350) -> House:
    """A life from before the faculty, part of it compacted."""
    house = House(tmp_path, Scripted())
    del house.agent.faculties.members[1:]
    for number in range(entries):
        house.me.add("heard", "dev", f"[USER:ada 2026-03-02T12:00:00Z] thing number {number} of a long past")
    house.me.commit()
    for first in (40, 20, 1):
        fade(house, house.me.context.entries[first : first + 30], f"from {first}")
    assert not (house.me.folder / NAME).exists()
    return house


def test_a_long_past_is_indexed_beside_the_loop_and_goes_on_after_a_kill_where_it_was(tmp_path: Path) -> None:
    house, seen = long_past(tmp_path), list[int]()
    for _ in range(3):
        house.wake()
        faculties, told = house.agent.faculties, ""
        while not told.startswith("recall"):
            faculties.step()
            told = next((one for one in faculties.under_way() if one != "notes"), "")
            time.sleep(0.001)
        found = re.fullmatch(r"recall ([\d,]+) of ([\d,]+)", told)
        assert found and int(found[2]) == house.me.state.next_id - 1
        house.say("/status")
        house.agent.inbox.serve()
        assert re.search(r"in the background: .*recall [\d,]+ of [\d,]+", house.lines("NOTICE")[-1])
        before = len(indexed(house))
        while len(indexed(house)) == before:
            faculties.step()
        seen.append(len(indexed(house)))
    assert seen == [100, 200, 300], "each process does one batch and is killed"
    house.wake()
    step(house)
    assert indexed(house) == list(range(1, house.me.state.next_id))
    assert recall(house).chronicle.mark.newest == house.me.state.next_id - 1
    assert list(check.problems(house.home)) == []


def test_what_sqlite_has_logged_is_copied_into_its_file_beside_the_loop(tmp_path: Path) -> None:
    house = long_past(tmp_path, TIDY_AFTER + 200)
    house.wake()
    step(house)
    shutil.copy(house.me.folder / NAME, tmp_path / NAME)
    assert Recollection(tmp_path, house.me.blobs, readonly=True).chronicle.mark.newest >= TIDY_AFTER
    assert recall(house).chronicle.mark.newest == house.me.state.next_id - 1


def test_deleting_the_file_loses_nothing_but_notes(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(summarise=lambda prompt: summary("a summary", 5)))
    hear(house, TRIP, *OTHERS * 4)
    house.compact()
    step(house)
    before = [recall(house).recall(query, house.me.context.entries) for query in ("lisbon", "bread", "summary")]
    for file in house.me.folder.glob(f"{NAME}*"):
        file.unlink()
    house.wake()
    step(house)
    house.me.context.entries.pop()  # the notice of the resume
    after = [recall(house).recall(query, house.me.context.entries) for query in ("lisbon", "bread", "summary")]
    scores = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|score [\d.]+")
    assert [scores.sub("", one) for one in before] == [scores.sub("", one) for one in after]


def test_a_damaged_blob_is_reported_and_the_rest_is_indexed(tmp_path: Path) -> None:
    house = long_past(tmp_path)
    lost = next(entry for entry in house.me.context if entry.hash)
    hash = lost.hash or ""
    house.me.blobs.path(hash).write_text("gone")
    house.wake()
    step(house)
    house.me.commit()
    step(house)
    told = [entry.body for entry in house.me.context if entry.kind == "notice" and hash in entry.body]
    assert any("the faculty recall failed at its background work" in one for one in told)
    assert indexed(house) == [*range(1, lost.first), *range(lost.last + 1, house.me.state.next_id)]


def test_a_damaged_file_is_reported_and_the_agent_lives_on(house: House) -> None:
    (house.me.folder / NAME).write_bytes(b"this is no database, and long enough to be seen as none" * 9)
    house.model.rules["turn"] = lambda prompt: "RECALL lisbon\nSAY dev still here" if "at its background work" in prompt.text else "WAIT"
    house.say("hello")
    house.live(lambda: "still here" in house.lines("AGENT"))
    assert sum("at its background work" in entry.body for entry in house.me.context if entry.kind == "notice") == 2, "notes and recall"
    assert "is damaged" in next(entry.body for entry in house.me.context if entry.kind == "error")


def test_an_index_that_is_ahead_of_the_life_is_told_of_and_left_alone(house: House, tmp_path: Path) -> None:
    shutil.copytree(house.home, tmp_path / "older", symlinks=True)
    hear(house, *OTHERS)
    for file in house.me.folder.glob(f"{NAME}*"):
        shutil.copy(file, tmp_path / "older" / "agents" / house.hash)
    house.home = tmp_path / "older"
    assert f"agents/{house.hash}: {NAME} has indexed entries up to #5, there are 1" in list(check.problems(house.home))
    house.wake()
    step(house)
    assert f"'python -m dory.recall {house.hash[:8]} --rebuild'" in house.me.context.entries[-1].body
    assert len(indexed(house)) == 5


def listen(house: House, *said: str, kind: str = "USER") -> list[str]:
    """What stands in the context of these lines of the room."""
    for text in said:
        house.say(text, kind)
    before = len(house.me.context.entries)
    house.agent.inbox.drain()
    step(house)
    return [entry.body for entry in house.me.context.entries[before:] if entry.kind == "heard"]


def faded(house: House) -> str:
    """A trip is told of, among other things, and compacted; the hash."""
    hear(house, TRIP, *OTHERS)
    return fade(house, house.me.context.entries[1:4], "Ada's trip")


def test_a_message_that_belongs_to_something_past_names_it_in_one_line(house: House) -> None:
    hash = faded(house)
    (body,) = listen(house, "what was the hotel in Lisbon?\n↳ hotel Lisbon")
    assert body.endswith(f"Lisbon?\n    ↳ hotel Lisbon\n↳ may belong to this: ◱hash={hash} gist=Ada's trip◲")
    assert read(body).text == "what was the hotel in Lisbon?\n↳ hotel Lisbon"
    assert hash in [named for named, _ in refs.live(context.render(house.me.context))]
    assert list(check.problems(house.home)) == []


def test_notes_are_named_by_name_and_archives_by_their_stretch(house: House) -> None:
    faded(house)
    act(house, "NOTE_ADD lisbon-hotel Miramar")
    house.wake()
    step(house)
    fade(house, house.me.context.entries[-3:-1], "a note is taken")
    hear(house, *OTHERS)
    (body,) = listen(house, "the Lisbon hotel?")
    assert " · note lisbon-hotel" in body and body.count("◱hash=") == 2


@pytest.mark.parametrize(
    "text", ["zebras play the xylophone at dawn", "hello, how are you?", "thanks!", "", "?", "my sister in Lisbon sells tickets to concerts"]
)
def test_a_message_that_belongs_to_nothing_clearly_has_no_such_line(house: House, text: str) -> None:
    faded(house)
    assert "↳" not in listen(house, text)[0]


def test_what_stands_in_the_context_is_not_named(house: House) -> None:
    hear(house, TRIP, *OTHERS * 3)
    house.model.rules["summarise"] = lambda prompt: summary("the hotel in Lisbon", 5)
    house.compact()
    for entry in [entry for entry in house.me.context if entry.kind == "compacted"]:
        act(house, f"UNCOMPACT {entry.hash}")
    act(house, "NOTE_ADD lisbon-hotel Miramar in Lisbon")
    step(house)
    assert "↳" not in listen(house, "what was the hotel in Lisbon?")[0]


def test_a_cue_names_three_at_most(house: House) -> None:
    for number in range(5):
        hear(house, f"the hotel in Lisbon, part {number}", *OTHERS)
        fade(house, house.me.context.entries[-5:-4], f"part {number}")
    (body,) = listen(house, "what was the hotel in Lisbon?")
    assert body.count("◱hash=") == CUES


def test_only_what_people_say_and_of_a_flood_only_the_newest_lines_have_cues(house: House) -> None:
    faded(house)
    assert "↳" not in listen(house, "what was the hotel in Lisbon?", kind="AGENT")[0]
    bodies = listen(house, *["what was the hotel in Lisbon?"] * 15)
    assert ["↳" in body for body in bodies] == [False] * 5 + [True] * 10


def test_cues_can_be_switched_off(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cues=False)
    faded(house)
    assert "↳" not in listen(house, "what was the hotel in Lisbon?")[0]


def test_what_could_be_named_is_shown_with_its_share(house: House) -> None:
    hash = faded(house)
    found = recall(house).candidates("what was the hotel in Lisbon?", house.me.context.entries)
    assert found[0][0].hash == hash and found[0][1] >= CUE_SHARE
    assert [share for _, share in found] == sorted((share for _, share in found), reverse=True)


def test_a_message_with_a_cue_is_read_as_what_was_said(house: House) -> None:
    faded(house)
    (body,) = listen(house, "what was the hotel in Lisbon?")
    assert "↳" in body
    entry = house.me.context.entries[-1]
    assert [one.text for one in reading.heard(entry)] == ["what was the hotel in Lisbon?"]
    pieces = reach.entered(house.home, house.me.folder, "dev")
    assert reach.depths(pieces, house.me.context.entries, house.me.blobs) == [0]
