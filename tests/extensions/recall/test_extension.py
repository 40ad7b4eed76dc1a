"""The index of a life: every entry once, from the first on, whatever happens to the process or the
file.
"""

import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.extensions.recall.extension import TIDY_AFTER
from dory.storage.database import NAME
from dory.types import Line
from tests.support.compacting import House, Scripted, act, summary
from tests.support.household import NOON, copy_of
from tests.support.remembering import (
    OTHERS,
    TRIP,
    answer,
    fade,
    hear,
    indexed,
    long_past,
    recall,
    step,
)


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
    house.agent.extensions.step()
    said = [entry.first for entry in house.me.context if entry.body != "WAIT"]
    assert (
        indexed(house) == said
        and answer(house, "hello")[0][5] == "3"
        and answer(house, "committed") == []
    )
    assert list(check.problems(house.home)) == []


def test_a_long_past_is_indexed_beside_the_loop_and_goes_on_after_a_kill_where_it_was(
    tmp_path: Path,
) -> None:
    house, seen = long_past(tmp_path), list[int]()
    for _ in range(3):
        house.wake()
        extensions, told = house.agent.extensions, ""
        while not told.startswith("recall"):
            extensions.step()
            told = next((one for one in extensions.under_way() if one != "notes"), "")
            time.sleep(0.001)
        found = re.fullmatch(r"recall ([\d,]+) of ([\d,]+)", told)
        assert found and int(found[2]) == house.me.state.next_id - 1
        house.say("/status")
        house.agent.inbox.serve()
        assert re.search(r"in the background: .*recall [\d,]+ of [\d,]+", house.lines("NOTICE")[-1])
        before = len(indexed(house))
        while len(indexed(house)) == before:
            extensions.step()
        seen.append(len(indexed(house)))
    assert seen == [100, 200, 300], "each process does one batch and is killed"
    house.wake()
    step(house)
    assert indexed(house) == list(range(1, house.me.state.next_id))
    assert recall(house).chronicle.cursor.newest == house.me.state.next_id - 1
    assert list(check.problems(house.home)) == []


def test_what_sqlite_has_logged_is_copied_into_its_file_beside_the_loop(tmp_path: Path) -> None:
    house = long_past(tmp_path, TIDY_AFTER + 200)
    house.wake()
    step(house)
    shutil.copy(house.me.folder / NAME, tmp_path / NAME)
    assert Stores(tmp_path, house.me.blobs, readonly=True).chronicle.cursor.newest >= TIDY_AFTER
    assert recall(house).chronicle.cursor.newest == house.me.state.next_id - 1


def test_deleting_the_file_loses_nothing_but_notes(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(summarise=lambda prompt: summary("a summary", 5)))
    hear(house, TRIP, *OTHERS * 4)
    house.compact()
    step(house)
    before = [
        recall(house).search.recall(query, house.me.context.entries)
        for query in ("lisbon", "bread", "summary")
    ]
    for file in house.me.folder.glob(f"{NAME}*"):
        file.unlink()
    house.wake()
    step(house)
    house.me.context.entries.pop()  # the notice of the resume
    after = [
        recall(house).search.recall(query, house.me.context.entries)
        for query in ("lisbon", "bread", "summary")
    ]
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
    told = [
        entry.body for entry in house.me.context if entry.kind == "notice" and hash in entry.body
    ]
    assert any("the extension recall failed at its background work" in one for one in told)
    assert indexed(house) == [*range(1, lost.first), *range(lost.last + 1, house.me.state.next_id)]


def test_a_damaged_file_is_reported_and_the_agent_lives_on(house: House) -> None:
    (house.me.folder / NAME).write_bytes(
        b"this is no database, and long enough to be seen as none" * 9
    )
    house.model.rules["turn"] = lambda prompt: (
        "RECALL lisbon\nSAY dev still here" if "failed at its cue" in prompt.text else "WAIT"
    )
    house.say("hello")
    house.live(lambda: "still here" in house.lines("AGENT"))
    told = [
        re.match(r"the extension (.+) failed at its background work", entry.body)
        for entry in house.me.context
        if entry.kind == "notice"
    ]
    failed = [one[1] for one in told if one]
    assert {"notes", "recall", "memories"} <= set(failed) and len(failed) == len(set(failed)), (
        "each is told of once"
    )
    assert "is damaged" in next(entry.body for entry in house.me.context if entry.kind == "error")


def test_an_index_that_is_ahead_of_the_life_is_told_of_once_and_made_anew(
    house: House, tmp_path: Path
) -> None:
    copy_of(house.home, tmp_path / "older")
    hear(house, *OTHERS)
    for file in house.me.folder.glob(f"{NAME}*"):
        shutil.copy(file, tmp_path / "older" / "agents" / house.hash)
    house.home = tmp_path / "older"
    assert f"agents/{house.hash}: {NAME} has indexed entries up to #5, there are 1" in list(
        check.problems(house.home)
    )
    house.wake()
    step(house)
    hear(house, "and on it goes")
    told = [entry for entry in house.me.context if "it is made anew" in entry.body]
    assert len(told) == 1 and indexed(house) == [entry.first for entry in house.me.context]
    assert answer(house, "bread") == [] and list(check.problems(house.home)) == []


def spoken(house: House, past: Stores, summary: str) -> None:
    """Enough is said to be summed up like this."""
    said = Line("dev", "USER", "ada", "2026-03-02T12:00:00Z", "look there", 1)
    with past.store.writing():
        past.dialogues.add(
            "dev", [replace(said, end=end) for end in range(1, 1002)], house.me.name, 0, 1001, NOON
        )
    batch = past.dialogues.batch(500)
    assert batch
    batch.keep(summary, NOON)
    past.store.close()


def test_one_search_finds_the_life_and_every_layer_each_under_its_name(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), extensions="notes, recall, memories, diary, conversations")
    hear(house, *OTHERS)
    fade(house, house.me.context.entries[1:], "what the garden has to do with a quokka")
    hear(house, *OTHERS, "a quokka came by", *OTHERS)
    act(house, "NOTE_ADD zoo the quokka is called Max\nWRITE_DIARY I dreamt of the quokka")
    past = Stores(house.me.folder, house.me.blobs)
    past.bank.add("the quokka eats leaves", NOON)
    past.bank.narrate(
        [past.bank.add("leaves are green", NOON).id], "Of a quokka in the leaves.", NOON
    )
    spoken(house, past, "Ada spoke of her quokka.")
    house.wake()  # the archive of what was faded by hand is made up for after a start
    step(house)
    kinds = [one[1] for one in answer(house, "quokka")]
    assert {"heard", "note", "archive", "memory", "summary", "diary", "conversation"} <= set(kinds)


def test_layers_whose_extension_is_off_are_not_found_as_their_tools_are_not_there(
    tmp_path: Path,
) -> None:
    house = layered(tmp_path)
    past = Stores(house.me.folder, house.me.blobs)
    with past.store.writing():
        for number in range(120):
            past.bank.add(f"otter otter {number}", NOON)
    question = "how does the otter live with Ada?"
    assert "RETRIEVE_SPECIFIC_MEMORIES" in recall(house).search.cue(question, []) and "memory" in {
        one[1] for one in answer(house, "otter")
    }
    house.config = replace(house.config, extensions="notes, recall")
    house.wake()
    act(house, "RECALL otter")
    found = house.me.context.entries[-1].body
    assert (
        "note " in found
        and "NOTE_READ zoo" in found
        and not re.search("RETRIEVE|SHOW_DIARY|of your conversations", found)
    )
    shown = next(one for one in house.agent.extensions.members if one.name == "recall").cue(
        Line("dev", "USER", "ada", "", question, 1)
    )
    assert "RETRIEVE" not in shown and "SHOW_DIARY" not in shown


def layered(tmp_path: Path) -> House:
    """An agent with something in every layer, all of it out of the context."""
    house = House(tmp_path, Scripted(), extensions="notes, recall, memories, diary, conversations")
    hear(house, *OTHERS)
    act(
        house,
        "ADD_TO_LONGTERM_MEMORY Ada keeps an otter\n"
        "ADD_TO_LONGTERM_MEMORY the otter eats fish\n"
        "ADD_TO_LONGTERM_MEMORY otters swim",
    )
    act(house, "NOTE_ADD zoo the otter is called Max\nWRITE_DIARY I dreamt of the otter")
    past = Stores(house.me.folder, house.me.blobs)
    past.bank.narrate([1, 2], "An otter lives with Ada.", NOON)
    spoken(house, past, "Ada spoke of her otter.")
    step(house)
    fade(house, house.me.context.entries[:], "the otter")
    return house


def test_one_search_finds_every_layer_and_says_which_it_is_and_how_to_have_it(
    tmp_path: Path,
) -> None:
    house = layered(tmp_path)
    found = [(one[1], one[8] or one[9]) for one in answer(house, "otter") if not one[6]]
    day = house.me.now().date()
    assert dict(found).keys() == {"memory", "summary", "note", "diary", "conversation"}
    assert sorted(way for kind, way in found if kind in ("memory", "summary", "note", "diary")) == [
        "RETRIEVE_SPECIFIC_MEMORIES 1",
        "RETRIEVE_SPECIFIC_MEMORIES 2",
        "RETRIEVE_SPECIFIC_MEMORIES 3",
        "RETRIEVE_SPECIFIC_MEMORIES 4",
        f"SHOW_DIARY_ENTRIES_FROM_DAY {day}",
        "zoo",
    ]
    for kind, way in found:
        if kind in ("memory", "summary", "diary"):
            act(house, way)
            assert "otter" in house.me.context.entries[-1].body
    assert "RETRIEVE_SPECIFIC_MEMORIES 4" in recall(house).search.cue(
        "how does the otter live with Ada?", []
    )


def test_a_memory_that_stands_in_the_context_is_shown_there_and_is_no_cue(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), extensions="notes, recall, memories")
    hear(house, *OTHERS)
    act(house, "ADD_TO_LONGTERM_MEMORY Ada keeps an otter")
    step(house)
    (where,) = {one[5] for one in answer(house, "otter")}
    assert where == str(house.me.context.entries[-2].first)
    assert recall(house).search.cue("Ada keeps an otter", house.me.context.entries) == ""


def test_what_is_gone_is_not_found(tmp_path: Path) -> None:
    house = layered(tmp_path)
    act(house, "REMOVE_FROM_MEMORY 3")
    step(house)
    assert not any(
        "otters swim" in one[4] for one in answer(house, "otters swim") if one[1] == "memory"
    )


def test_making_the_index_anew_keeps_all_layers_and_finds_them_as_before(tmp_path: Path) -> None:
    house = layered(tmp_path)
    before = sorted((one[1], one[9] or "") for one in answer(house, "otter"))
    past = Stores(house.me.folder, house.me.blobs)
    memories, spoken = list(past.bank.everything()), past.dialogues.recent(2000)
    past.search.reset()
    house.wake()
    step(house)
    assert (list(past.bank.everything()), past.dialogues.recent(2000)) == (
        memories,
        spoken,
    ) and len(spoken) > 1000
    assert sorted((one[1], one[9] or "") for one in answer(house, "otter")) == before
    assert past.bank.restore(4) == 2 and not [
        one for one in check.problems(house.home) if "memory" in one
    ]


def test_a_memory_that_cannot_be_read_is_told_by_the_check_and_hides_no_other_damage(
    tmp_path: Path,
) -> None:
    house = layered(tmp_path)
    past = Stores(house.me.folder, house.me.blobs)
    with past.store.writing() as connection:
        connection.execute("UPDATE memory SET at = 1 << 60 WHERE id = 3")
        past.index.remove("Conversation", 1)
    told = [one.partition(": ")[2] for one in check.problems(house.home)]
    assert "the memory 3 cannot be read: put the file back from a backup" in told
    assert f"{NAME}: the Conversation #1 is not in the index" in told


def test_a_memory_that_the_index_lacks_or_has_besides_is_told_by_the_check(tmp_path: Path) -> None:
    house = layered(tmp_path)
    past = Stores(house.me.folder, house.me.blobs)
    with past.store.writing() as connection:
        past.index.remove("Memory", 2)
        connection.execute("DELETE FROM memory WHERE id IN (1, 3)")
    told = [one.partition(": ")[2] for one in check.problems(house.home)]
    assert f"{NAME}: the Memory #2 is not in the index" in told
    assert {f"{NAME}: the Memory #{id} of the index is nowhere else" for id in (1, 3)} <= set(told)
