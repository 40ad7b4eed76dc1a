"""history.jsonl: its form, its cursors through kills at every write, reading by halves, and the
reports of damage.
"""

import json
import os
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import FormatError
from dory.extensions.dream.history import CURSOR, DREAM_CURSOR, HISTORY, History
from tests.support.household import NOON, Killed, mishap


def written(folder: Path, count: int) -> History:
    history = History(folder)
    for number in range(1, count + 1):
        history.add(NOON + timedelta(minutes=number), f"- thing {number}")
        history.note()
    return history


def cursors(folder: Path) -> list[int]:
    return [json.loads(line)["cursor"] for line in (folder / HISTORY).read_text().splitlines()]


def test_an_entry_is_one_object_on_one_line_in_the_form_that_the_specification_gives(
    tmp_path: Path,
) -> None:
    history = History(tmp_path)
    history.add(NOON, "- Zoë said:\n  “hello”")
    history.note()
    assert (
        (tmp_path / HISTORY).read_text()
        == '{"cursor": 1, "timestamp": "2026-03-02 12:00", "content": "- Zoë said:\\n  “hello”"}\n'
    )
    assert ((tmp_path / CURSOR).read_text(), (tmp_path / DREAM_CURSOR).read_text()) == (
        "1\n",
        "0\n",
    )


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_jq_reads_it(tmp_path: Path) -> None:
    written(tmp_path, 3)
    asked = [
        "jq",
        "-r",
        'select(.cursor > 1) | "\\(.timestamp) \\(.content)"',
        str(tmp_path / HISTORY),
    ]
    assert (
        subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        == "2026-03-02 12:02 - thing 2\n2026-03-02 12:03 - thing 3\n"
    )


def test_grep_reads_it_word_for_word(tmp_path: Path) -> None:
    History(tmp_path).add(NOON, "- Zoë's café")
    assert (
        subprocess.run(
            ["grep", "-c", "Zoë's café", str(tmp_path / HISTORY)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        == "1\n"
    )


def test_a_kill_at_any_write_leaves_cursors_that_rise_by_one(tmp_path: Path) -> None:
    struck = True
    at = 0
    while struck:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        history = written(folder, at % 3)
        with mishap(at, Killed()) as kill:
            history.add(NOON, "- the one that is killed")
            history.note()
            history.advance(1)
        struck = kill.struck
        again = History(folder)
        assert [
            complaint for complaint in again.mend() if "middle of a line" not in complaint
        ] == []
        assert again.last - at % 3 in (0, 1) and again.dreamed in (0, 1)
        again.add(NOON, "- another")
        again.note()
        assert (
            cursors(folder) == list(range(1, again.last + 1))
            and int((folder / CURSOR).read_text()) == again.last
        )
    assert at > 10


def test_a_torn_last_line_is_set_aside_and_told(tmp_path: Path) -> None:
    written(tmp_path, 2)
    whole = (tmp_path / HISTORY).read_bytes()
    (tmp_path / HISTORY).write_bytes(whole + b'{"cursor": 3, "time')
    history = History(tmp_path)
    assert history.mend() == [
        "history.jsonl ended in the middle of a line: its last 19 bytes are in history.jsonl.torn"
    ]
    assert (tmp_path / HISTORY).read_bytes() == whole and (
        tmp_path / f"{HISTORY}.torn"
    ).read_bytes() == b'{"cursor": 3, "time\n'
    assert history.last == 2 and [item.cursor for item in history.after(0, 9)] == [1, 2]


def test_a_torn_line_is_no_entry_for_a_reader_either(tmp_path: Path) -> None:
    history = written(tmp_path, 2)
    with open(tmp_path / HISTORY, "ab") as file:
        file.write(b'{"cursor": 3, "timestamp": "2026-03-02 12:00", "content": ""}')
    assert [item.cursor for item in history.after(1, 9)] == [2]


def test_lost_lines_are_told_and_no_cursor_is_given_twice(tmp_path: Path) -> None:
    written(tmp_path, 3)
    lines = (tmp_path / HISTORY).read_text().splitlines(keepends=True)
    (tmp_path / HISTORY).write_text("".join(lines[:1]))
    history = History(tmp_path)
    assert history.mend() == [
        "history.jsonl ends with entry 1, and .cursor says 3: put history.jsonl back from a"
        " backup; it goes on behind 3"
    ]
    assert history.add(NOON, "- later").cursor == 4


def test_how_far_it_was_dreamed_never_goes_back(tmp_path: Path) -> None:
    history = written(tmp_path, 5)
    history.advance(4)
    history.advance(2)
    assert history.dreamed == History(tmp_path).dreamed == 4


@pytest.mark.parametrize("content", [None, "", "seven", "-1", "6", "1e3"])
def test_a_reader_s_cursor_that_is_missing_or_wrong_is_refused_and_not_taken_for_the_beginning(
    tmp_path: Path, content: str | None
) -> None:
    written(tmp_path, 5)
    (tmp_path / DREAM_CURSOR).unlink()
    if content is not None:
        (tmp_path / DREAM_CURSOR).write_text(content)
    with pytest.raises(FormatError, match=r"\.dream_cursor"):
        print(History(tmp_path).dreamed)


def test_a_damaged_line_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    written(tmp_path, 5)
    lines = (tmp_path / HISTORY).read_text().splitlines(keepends=True)
    (tmp_path / HISTORY).write_text("".join([*lines[:2], "garbage\n", *lines[3:]]))
    history = History(tmp_path)
    assert [(item.cursor, "damaged" in item.content) for item in history.after(1, 9)] == [
        (2, False),
        (3, True),
        (4, False),
        (5, False),
    ]
    assert [item.cursor for item in history.after(2, 1)] == [3] and [
        item.content for item in history.after(3, 1)
    ] == ["- thing 4"]


@pytest.mark.parametrize("alien", ["\n", "  \n\n\n", "garbage\n", "[]\ngarbage\n"])
def test_lines_that_somebody_puts_in_between_or_behind_hide_no_entry(
    tmp_path: Path, alien: str
) -> None:
    written(tmp_path, 5)
    lines = (tmp_path / HISTORY).read_text().splitlines(keepends=True)
    (tmp_path / HISTORY).write_text("".join([*lines[:2], alien, *lines[2:], alien]))
    history = History(tmp_path)
    shown = list[str]()
    dreamed = 0
    assert history.mend() == [] and history.last == 5
    while items := history.after(dreamed, 1):
        shown += [item.content for item in items if "damaged" not in item.content]
        dreamed = items[-1].cursor
    assert shown == [f"- thing {number}" for number in range(1, 6)] and dreamed == 5
    assert history.add(NOON, "on").cursor == 6


@given(st.lists(st.text(max_size=300), max_size=30), st.integers(0, 35), st.integers(0, 40))
def test_what_follows_a_cursor_is_found_wherever_it_stands(
    tmp_path_factory: pytest.TempPathFactory, contents: list[str], after: int, count: int
) -> None:
    history = History(tmp_path_factory.mktemp("home"))
    items = [history.add(NOON, content) for content in contents]
    assert [item.cursor for item in history.after(after, count)] == [
        item.cursor for item in items[after:][:count]
    ]
    assert [item.cursor for item in history.newest(count)] == [
        item.cursor for item in items[-count:] if count
    ]


def test_a_history_of_a_million_lines_is_read_in_a_few_places_only(tmp_path: Path) -> None:
    line = '{"cursor": %d, "timestamp": "2026-03-02 12:00", "content": "- thing"}\n'
    (tmp_path / HISTORY).write_text("".join(line % number for number in range(1, 1_000_001)))
    (tmp_path / CURSOR).write_text("1000000\n")
    (tmp_path / DREAM_CURSOR).write_text("999990\n")
    history = History(tmp_path)
    before = _read_so_far()
    assert history.mend() == [] and [item.cursor for item in history.after(history.dreamed, 3)] == [
        999_991,
        999_992,
        999_993,
    ]
    assert _read_so_far() - before < 2**20 < os.path.getsize(tmp_path / HISTORY) / 50


def _read_so_far() -> int:
    """Bytes that this process has read, by the system's own account."""
    return int(Path("/proc/self/io").read_text().split()[1])


def test_how_far_it_was_dreamed_of_moves_on_also_while_the_other_cursor_cannot_be_read(
    tmp_path: Path,
) -> None:
    written(tmp_path, 3)
    (tmp_path / CURSOR).write_text("three")
    History(tmp_path).advance(2)
    History(tmp_path).advance(1)
    assert (tmp_path / DREAM_CURSOR).read_text() == "2\n"
