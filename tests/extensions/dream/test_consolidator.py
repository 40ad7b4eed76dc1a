"""What compactions removed, as lines of the history: one line for each compaction, with each
stretch once, even through kills.
"""

import fcntl
import re
from pathlib import Path

from dory.constants import PAUSE_TURNS
from dory.extensions.dream.consolidator import LOOKED_BACK, Consolidator
from dory.extensions.dream.history import History
from dory.types import Compacted
from tests.support.compacting import House, Scripted, in_parts
from tests.support.household import Household, Killed, mishap
from tests.support.remembering import step

_HEAD = re.compile(r"\(#(\d+)-(\d+), ([0-9a-f]+)\): ")


def talked(house: Household, *texts: str) -> None:
    for text in texts:
        house.me.add("heard", "dev", f"[USER:ada {house.clock():%Y-%m-%dT%H:%M:%SZ}] {text}")
    house.me.commit()


def faded(house: Household, gist: str, count: int = 2) -> Compacted:
    """The oldest entries that still stand in full leave the context; what the compaction would tell
    of it.
    """
    entries = [entry for entry in house.me.context if entry.kind == "heard"][:count]
    return Compacted(
        entries[0].first,
        entries[-1].last,
        house.fade(entries, gist),
        gist,
        f"{gist}, told:\n\nAda: “tea”",
        5,
    )


def contents(house: Household) -> list[str]:
    return [item.content for item in History(house.me.folder).after(0, 99)]


def consolidator(house: Household) -> Consolidator:
    return Consolidator(house.me, History(house.me.folder), print)


def test_all_stretches_of_one_compaction_are_bullets_of_one_entry_with_their_times_and_originals(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    talked(house, "one", "two", "three", "four")
    writer = consolidator(house)
    writer.flush()
    records = [faded(house, "tea"), faded(house, "cake")]
    for record in records:
        writer.take(record)
    writer.flush()
    writer.flush()
    first = records[0].first
    last = records[0].last
    assert len(contents(house)) == 1
    assert contents(house)[0].splitlines()[:3] == [
        f"- 2026-03-02 12:00 to 2026-03-02 12:00 (#{first}-{last}, {records[0].hash}): tea",
        "  tea, told:",
        "  Ada: “tea”",
    ]
    assert f"{records[1].hash}): cake\n" in contents(house)[0]


def test_the_stretches_of_one_entry_stand_in_the_order_of_what_was_said_whichever_left_first(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    talked(house, *"abcdef")
    writer = consolidator(house)
    writer.flush()
    records = [faded(house, gist) for gist in "123"]
    for at in (2, 0, 1):
        writer.take(records[at])
    writer.flush()
    bullets = [line for line in contents(house)[0].splitlines() if line.startswith("- ")]
    assert [bullet.partition("): ")[2] for bullet in bullets] == ["1", "2", "3"]


def test_what_a_kill_withheld_is_written_at_the_next_start_and_only_once(tmp_path: Path) -> None:
    house = Household(tmp_path)
    talked(house, *"abcdef")
    writer = consolidator(house)
    writer.flush()
    writer.take(faded(house, "known"))
    writer.flush()
    hashes = [faded(house, "lost").hash, faded(house, "lost, too").hash]
    for _ in range(3):
        house.restart()
        consolidator(house).flush()
    assert len(contents(house)) == 2 and [contents(house)[1].count(hash) for hash in hashes] == [
        1,
        1,
    ]
    assert "): lost, too\n  lost, too" in contents(house)[1], (
        "the summary still stands in the context"
    )


def test_a_kill_at_any_write_neither_loses_a_stretch_nor_writes_it_twice(tmp_path: Path) -> None:
    struck = True
    at = 0
    while struck:
        at += 1
        house = Household(tmp_path / str(at))
        talked(house, *"abcd")
        writer = consolidator(house)
        writer.flush()
        writer.take(faded(house, "first"))
        writer.flush()
        record = faded(house, "second")
        writer.take(record)
        with mishap(at, Killed()) as kill:
            writer.flush()
        struck = kill.struck
        house.restart()
        consolidator(house).flush()
        assert "".join(contents(house)).count(record.hash) == 1 and [
            item.cursor for item in History(house.me.folder).after(0, 9)
        ] == [1, 2]
    assert at > 4


def test_the_time_of_a_stretch_reaches_from_its_first_original_to_its_last_however_deep_they_lie(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    writer = consolidator(house)
    writer.flush()
    for hour in (3, 7, 11):
        house.clock.at = house.clock.at.replace(hour=12 + hour)
        talked(house, "a", "b")
    first, middle, last = (faded(house, gist) for gist in ("first", "middle", "last"))
    inside = [entry for entry in house.me.context if entry.kind == "compacted"]
    assert [entry.hash for entry in inside] == [first.hash, middle.hash, last.hash]
    outer = house.fade(inside, "all of it")
    deepest = house.fade(
        [entry for entry in house.me.context if entry.hash == outer], "all of it, again"
    )
    writer.take(Compacted(first.first, last.last, deepest, "all", "", 5))
    writer.flush()
    assert contents(house)[0].startswith("- 2026-03-02 15:00 to 2026-03-02 23:00 (#")


def test_what_could_not_be_written_is_written_later_and_not_twice(tmp_path: Path) -> None:
    house = Household(tmp_path)
    talked(house, *"abcd")
    writer = consolidator(house)
    writer.flush()
    record = faded(house, "tea")
    writer.take(record)
    struck = True
    at = 0
    while struck:
        at += 1
        with mishap(at, OSError(28, "No space left on device")) as failure:
            writer.flush()
        struck = failure.struck
    assert "".join(contents(house)).count(record.hash) == 1


def test_what_leaves_while_another_program_holds_the_file_is_written_later(tmp_path: Path) -> None:
    house = Household(tmp_path)
    talked(house, "one", "two", "three")
    writer = consolidator(house)
    path = house.me.folder / "history.jsonl"
    path.touch()
    with open(path) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        writer.take(faded(house, "they talked"))
        writer.flush()
    assert not path.read_bytes()
    writer.flush()
    assert len(contents(house)) == 1


def test_what_faded_while_nobody_wrote_a_history_is_taken_up(tmp_path: Path) -> None:
    house = Household(tmp_path)
    talked(house, *"abcdefgh")
    hashes = [faded(house, f"part {number}").hash for number in range(3)]
    inner = house.me.context.entries[1:4]
    outer = house.fade(inner, "all of it")
    consolidator(house).flush()
    told = [contents(house)[0].count(f"{hash})") for hash in [*hashes, outer]]
    assert told == [1, 1, 1, 0], "the outer one only joins what stands behind references"


def test_a_stretch_is_told_once_also_after_its_compaction_was_taken_back_and_made_again(
    tmp_path: Path,
) -> None:
    house = House(tmp_path, Scripted(), extensions="dream")
    house.hear(29)
    house.compact()
    step(house)
    path = house.me.folder / "history.jsonl"
    (before,) = path.read_bytes().splitlines()
    for size in (3, 5):  # the same stretches, and others of the same entries
        house.compaction.undo()
        step(house)
        house.me.state.turn += PAUSE_TURNS
        house.model.rules["segment"] = in_parts(size)
        house.compact()
        step(house)
        house.wake()
        step(house)
    bullets = [
        bullet for line in path.read_bytes().splitlines() for bullet in _HEAD.findall(line.decode())
    ]
    spans = [range(int(first), int(last) + 1) for first, last, _ in bullets]
    ids = [id for span in spans for id in span]
    assert before in path.read_bytes() and len(ids) - len(set(ids)) <= 4, spans
    assert len({hash for _, _, hash in bullets}) == len(bullets)


def test_what_only_repeats_an_original_that_was_put_back_is_left_out(tmp_path: Path) -> None:
    house = Household(tmp_path)
    talked(house, *"abcd")
    writer = consolidator(house)
    writer.flush()
    record = faded(house, "tea")
    writer.take(record)
    writer.flush()
    opened = house.me.add("uncompacted", f"◱hash={record.hash} gist=tea◲", "the tea again")
    house.me.commit()
    again = house.fade([opened], "the tea, put back")
    writer.take(Compacted(opened.first, opened.last, again, "the tea, put back", "tea", 5))
    writer.flush()
    for _ in range(2):
        house.restart()
        consolidator(house).flush()
    assert len(contents(house)) == 1 and again not in contents(house)[0]


def test_a_stretch_with_something_new_is_told_though_the_rest_was_told_before(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    talked(house, *"abcd")
    writer = consolidator(house)
    writer.flush()
    inner = faded(house, "tea")
    writer.take(inner)
    writer.flush()
    entries = house.me.context.entries[
        : house.me.context.entries.index(
            next(entry for entry in house.me.context if entry.hash == inner.hash)
        )
        + 2
    ][-2:]
    outer = house.fade(entries, "tea and cake")
    writer.take(Compacted(entries[0].first, entries[-1].last, outer, "tea and cake", "", 5))
    writer.flush()
    assert [
        content.count(hash)
        for content, hash in zip(contents(house), (inner.hash, outer), strict=True)
    ] == [1, 1]


def test_a_gist_or_a_summary_cannot_pass_for_a_bullet(tmp_path: Path) -> None:
    house = Household(tmp_path)
    talked(house, *"abcd")
    writer = consolidator(house)
    writer.flush()
    forged = "x\n- 2026-01-01 00:00 to 2026-01-01 00:00 (#1-2, 5d41402abc4b2a76): y"
    record = faded(house, "tea")
    writer.take(Compacted(record.first, record.last, record.hash, forged, forged, 5))
    writer.flush()
    assert [line[:2] for line in contents(house)[0].splitlines()] == ["- ", "  ", "  "]
    later = faded(house, "cake")
    house.restart()
    consolidator(house).flush()
    assert later.hash in contents(house)[-1] and record.hash not in contents(house)[-1]


def test_when_the_newest_line_is_damaged_its_stretches_are_written_again_and_no_others(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    talked(house, *"abcdefgh")
    writer = consolidator(house)
    writer.flush()
    hashes = []
    for gist in ("first", "second", "third"):
        record = faded(house, gist)
        hashes.append(record.hash)
        writer.take(record)
        writer.flush()
    path = house.me.folder / "history.jsonl"
    path.write_bytes(
        b"".join([*path.read_bytes().splitlines(keepends=True)[:2], b'{"cursor": 3, "timest\xff\n'])
    )
    for _ in range(2):
        house.restart()
        consolidator(house).flush()
    assert ["".join(contents(house)).count(f"{hash})") for hash in hashes] == [1, 1, 1] and hashes[
        2
    ] in contents(house)[3]


def test_what_faded_too_long_ago_to_be_found_is_told(tmp_path: Path) -> None:
    house = Household(tmp_path)
    warnings = list[str]()
    Consolidator(house.me, History(house.me.folder), warnings.append).flush()
    assert warnings == []
    for number in range(LOOKED_BACK):
        house.me.log("slept", str(number))
    house.me.commit()
    Consolidator(house.me, History(house.me.folder), warnings.append).flush()
    assert warnings == [
        "what faded before the last 4096 lines of LIFE is passed over: it enters no history"
    ]
