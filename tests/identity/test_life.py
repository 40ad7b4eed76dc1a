"""LIFE.md: no text can forge its short lines, the newest are kept in memory, and a damaged file is
reported.
"""

import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.constants import LIFE_SHOWN
from dory.errors import FormatError
from dory.identity import life
from dory.identity.life import HEADING, LINE_LIMIT, Bookkeeping, Life, holds
from dory.text import references
from dory.types import Event
from tests.support.household import NOON, texts

HASH = "5d41402abc4b2a76"
kinds = st.sampled_from(
    [
        "heard",
        "response",
        "notice",
        "compacted",
        "SAY",
        "READ_FILE failed",
        "UNCOMPACT failed",
        "restored",
    ]
)


def log(folder: Path, *lines: str) -> Path:
    path = folder / "LIFE.md"
    path.write_text(HEADING + "".join(f"{line}\n" for line in lines))
    return path


@given(kinds, texts, st.none() | st.sampled_from([HASH, HASH * 2, HASH * 4]))
def test_an_event_is_one_line_of_at_most_120_characters_with_its_whole_reference(
    kind: str, text: str, ref: str | None
) -> None:
    line = life.line(Event(NOON, kind, text, ref))
    assert len(line) <= LINE_LIMIT + 1
    assert line.endswith("\n") and len(line.splitlines()) == 1
    assert line.startswith(f"2026-03-02 12:00 {kind}")
    assert [hash for hash, _ in references.live(line)] == ([ref] if ref else [])


@given(texts)
def test_a_text_cannot_make_a_reference_or_a_heading_in_life(text: str) -> None:
    line = life.line(Event(NOON, "heard", text))
    assert not references.live(line) and not line.startswith("[")


@given(kinds, texts, st.sampled_from([None, HASH, HASH * 4]))
def test_what_was_written_with_a_reference_is_read_again_by_its_kind(
    kind: str, text: str, ref: str | None
) -> None:
    line = life.line(Event(NOON, kind, text, ref)).rstrip("\n")
    gists = [gist for _, gist in references.live(line)]
    around = [
        b"\xff",
        b"",
        line.replace("-03-", "-13-").encode(),
        line.encode(),
        f"{line} more".encode(),
    ]
    assert list(life.references(around, kind)) == ([(NOON, ref, *gists)] if ref else [])
    assert list(life.references(around, "another")) == []


def test_the_newest_lines_are_at_hand_without_the_heading(tmp_path: Path) -> None:
    path = log(tmp_path, *(f"line {number}" for number in range(10)))
    assert Life(path, 64).tail(50) == "".join(f"line {number}\n" for number in range(10))
    assert Life(path, 4).tail(3) == "line 7\nline 8\nline 9\n"
    life_log = Life(path, 4)
    life_log.remember("line 10\nline 11\n")
    assert life_log.tail(50) == "line 8\nline 9\nline 10\nline 11\n"


def test_a_prompt_shows_a_window_of_events_without_the_bookkeeping(tmp_path: Path) -> None:
    def line(number: int) -> str:
        what = f"heard dev ada: {number}" if number % 10 == 0 else "WAIT"
        return f"2026-03-02 12:00 {what}"

    path = log(tmp_path, *map(line, range(1, 101)))
    life = Life(path, 4)
    life.bookkeeping = Bookkeeping(["WAIT"])
    assert life.newest(3) == [line(98), line(99), line(100)] and life.shown == LIFE_SHOWN
    life.window = 7
    assert life.shown == 7 and life.newest(7) == [line(number) for number in range(40, 101, 10)]
    life.remember(f"{line(101)}\n{line(110)}\n")
    assert life.remembered == 1 and life.newest(2) == [line(100), line(110)]
    assert [behind for behind, _ in life.events()][-2:] == [2, 0]
    assert life.check() == zlib.crc32("\n".join(map(line, [99, 100, 101, 110])).encode())


def test_what_a_line_cannot_hold_is_told_apart() -> None:
    room = LINE_LIMIT - len("2026-03-02 12:00 heard ")
    assert holds("heard", "x" * room) and not holds("heard", "x" * (room + 1))
    assert holds("heard", "dev ada: hi ") and not holds("heard", "dev ada: hi\nthere")
    assert not holds("heard", "dev ada: ◱")


def test_writing_lines_again_changes_nothing_and_cuts_a_torn_end(tmp_path: Path) -> None:
    path = log(tmp_path, "first")
    offset = path.stat().st_size
    for torn in ("", "sec", "second\n"):
        with open(path, "a") as file:
            file.write(torn)
        Life(path, 4).write(offset, "second\n")
        assert path.read_text() == f"{HEADING}first\nsecond\n"


def test_a_file_that_lost_its_end_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = log(tmp_path, "first")
    whole = path.stat().st_size
    with pytest.raises(
        FormatError, match=f"is shorter than the {whole + 1} bytes that state.json knows of"
    ):
        Life(path, 4).write(whole + 1, "second\n")
    assert path.read_text() == f"{HEADING}first\n"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[dory-life 2] times in UTC\n",
        "2026-03-02 12:00 heard\n",
        "\n",
        "[dory-life 1] times in UTC",
    ],
)
def test_another_version_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "LIFE.md").write_text(content)
    with pytest.raises(FormatError, match="this Dory reads '\\[dory-life 1\\] times in UTC'"):
        Life(tmp_path / "LIFE.md", 4)
