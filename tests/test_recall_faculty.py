"""The index of a life: every entry once, from the first on, whatever happens to the process or the file."""

import re
import shutil
import time
from pathlib import Path

import pytest

from dory import check
from dory.faculties.recall import TIDY_AFTER
from dory.recollection import Recollection
from dory.store import NAME
from tests.compacting import House, Scripted, summary
from tests.remembering import OTHERS, TRIP, answer, hear, indexed, long_past, recall, step


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, Scripted())


def test_each_entry_is_indexed_once_when_it_is_on_disk(house: House) -> None:
    step(house)
    house.me.add("heard", "dev", "[USER:ada 2026-03-02T12:00:00Z] not committed")
    step(house)
    assert indexed(house) == [1]
    house.wake()
    house.say("hello")
    house.live(house.asleep)
    house.agent.faculties.step()
    said = [entry.first for entry in house.me.context if entry.body != "WAIT"]
    assert indexed(house) == said and answer(house, "hello")[0][5] == "3" and answer(house, "committed") == []
    assert list(check.problems(house.home)) == []


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
    house.model.rules["turn"] = lambda prompt: "RECALL lisbon\nSAY dev still here" if "failed at its cue" in prompt.text else "WAIT"
    house.say("hello")
    house.live(lambda: "still here" in house.lines("AGENT"))
    assert sum("at its background work" in entry.body for entry in house.me.context if entry.kind == "notice") == 2, "notes and recall"
    assert "is damaged" in next(entry.body for entry in house.me.context if entry.kind == "error")


def test_an_index_that_is_ahead_of_the_life_is_told_of_once_and_made_anew(house: House, tmp_path: Path) -> None:
    shutil.copytree(house.home, tmp_path / "older", symlinks=True)
    hear(house, *OTHERS)
    for file in house.me.folder.glob(f"{NAME}*"):
        shutil.copy(file, tmp_path / "older" / "agents" / house.hash)
    house.home = tmp_path / "older"
    assert f"agents/{house.hash}: {NAME} has indexed entries up to #5, there are 1" in list(check.problems(house.home))
    house.wake()
    step(house)
    hear(house, "and on it goes")
    told = [entry for entry in house.me.context if "it is made anew" in entry.body]
    assert len(told) == 1 and indexed(house) == [entry.first for entry in house.me.context]
    assert answer(house, "bread") == [] and list(check.problems(house.home)) == []
