"""Files on disk are written whole or not at all, and torn ends are set aside. The tests use real
files, threads and processes.
"""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.errors import Held
from dory.storage import files
from tests.support.household import Killed, held, mishap


def each_kill(
    folder: Path, prepare: Callable[[Path], None], action: Callable[[Path], object]
) -> list[Path]:
    """Files as they stand after ``action`` was killed before its first change of the disk, before
    its second, and so on to its end.
    """
    paths: list[Path] = []
    struck = True
    while struck:
        path = folder / str(len(paths)) / "file"
        path.parent.mkdir()
        prepare(path)
        with mishap(len(paths) + 1, Killed()) as seen:
            action(path)
        struck = seen.struck
        paths.append(path)
    return paths


def test_a_replacement_killed_at_any_instant_leaves_the_old_content_or_the_new(
    tmp_path: Path,
) -> None:
    killed = each_kill(
        tmp_path, lambda path: files.replace(path, b"old"), lambda path: files.replace(path, b"new")
    )
    contents = [path.read_bytes() for path in killed]
    assert contents == [b"old"] * (len(killed) - 1) + [b"new"]
    assert len(killed) > 3


def test_a_failed_replacement_leaves_no_file_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(IsADirectoryError):
        files.replace(tmp_path / "taken", b"new")
    assert os.listdir(tmp_path) == ["taken"]


def test_a_full_disk_leaves_the_old_content_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")
    limited = (
        "import resource, sys; from pathlib import Path; from dory.storage import files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: files.replace(Path(sys.argv[1]), b'x' * 5000)\n"
        "except OSError as error: sys.exit(error.errno)"
    )
    assert subprocess.run([sys.executable, "-c", limited, str(path)]).returncode == errno.EFBIG
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_writing_at_an_offset_repeated_after_any_kill_gives_the_same_file(tmp_path: Path) -> None:
    killed = each_kill(
        tmp_path,
        lambda path: files.replace(path, b"keep\nleft behind"),
        lambda path: files.write_at(path, 5, b"new\n"),
    )
    for path in killed:
        files.write_at(path, 5, b"new\n")
        assert path.read_bytes() == b"keep\nnew\n"


def test_appends_of_many_writers_stay_whole_below_one_heading(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def write(writer: int) -> None:
        for number in range(20):
            files.append(path, f"{writer} {number}\n".encode(), b"heading\n")

    threads = [Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    heading, *lines = path.read_text().splitlines()
    assert heading == "heading"
    for writer in range(4):
        assert [line for line in lines if line.startswith(f"{writer} ")] == [
            f"{writer} {number}" for number in range(20)
        ]


@given(
    st.lists(st.binary(max_size=8).map(lambda raw: raw.replace(b"\n", b"") + b"\n"), max_size=5),
    st.binary(max_size=9000),
)
def test_a_torn_end_is_set_aside_and_nothing_else_is_touched(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rest: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "torn" / "log"
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir()
    torn = rest.replace(b"\n", b" ")
    path.write_bytes(b"".join(lines) + torn)
    assert files.append(path, b"next\n") == len(torn)
    assert path.read_bytes() == b"".join(lines) + b"next\n"
    aside = path.with_name("log.torn")
    assert aside.exists() == bool(torn)
    assert not torn or aside.read_bytes() == torn + b"\n"


@given(st.binary(max_size=60_000).map(lambda raw: raw.replace(b"\x00", b"\n")), st.integers(0, 70))
def test_the_tail_is_the_last_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, count: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "tail"
    path.write_bytes(content)
    whole = content.split(b"\n")[:-1]
    assert files.tail(path, count) == (whole[-count:] if count else [])


def test_the_tail_reaches_over_several_blocks(tmp_path: Path) -> None:
    lines = [b"%d " % number * 3000 for number in range(12)]
    (tmp_path / "log").write_bytes(b"\n".join(lines) + b"\ntorn")
    assert files.tail(tmp_path / "log", 10) == lines[-10:]


def test_a_missing_file_reads_as_empty(tmp_path: Path) -> None:
    assert files.read_from(tmp_path / "none", 5) == b""
    assert files.size(tmp_path / "none") == 0


def opened(path: Path) -> int:
    """How often this process has ``path`` open."""
    links = (f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd"))
    return sum(os.path.lexists(link) and os.readlink(link) == str(path) for link in links)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_an_append_that_waited_for_who_replaced_the_file_goes_to_the_new_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    append = Thread(target=files.append, args=(path, b"two\n"))
    with held(path):
        append.start()
        while opened(path) < 2:  # it waits for the lock of the old file
            time.sleep(0.01)
        (tmp_path / "edited").write_bytes(b"ONE\n")
        (tmp_path / "edited").rename(path)
    append.join()
    assert path.read_bytes() == b"ONE\ntwo\n"


def test_a_lock_is_waited_for_no_longer_than_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    with held(path):
        with pytest.raises(Held, match=r"log is held by another program"):
            files.append(path, b"two\n", patience=0.05)
        with pytest.raises(Held):
            files.read_shared(path, 0, 100, patience=0)
        assert files.read_from(path, 0) == b"one\n" and files.whole_end(path) == 4
    files.append(path, b"two\n", patience=0)
    assert files.read_shared(path, 0, 100, patience=0) == b"one\ntwo\n"


def test_a_writer_that_never_ends_its_line_keeps_no_other_from_writing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    ended = Event()

    def drip() -> None:
        with open(path, "ab", buffering=0) as file:
            while not ended.wait(0.01):
                file.write(b"drip ")

    writer = Thread(target=drip)
    writer.start()
    while path.stat().st_size == 4:
        time.sleep(0.01)
    try:
        assert files.append(path, b"two\n") > 0
    finally:
        ended.set()
        writer.join()
    assert path.read_bytes().startswith(b"one\ntwo\n")
    assert path.with_name("log.torn").read_bytes().startswith(b"drip drip")


@pytest.mark.parametrize("line", [b"x", b"line \t\n"])
def test_the_beginning_of_a_torn_end_is_found_by_reading_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    read = list[int]()
    pread = os.pread

    def counted(fd: int, size: int, offset: int) -> bytes:
        read.append(size)
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", counted)
    path = tmp_path / "log"
    for size in (1 << 20, 1 << 22):
        read.clear()
        path.write_bytes(b"one\n" + line * (size // len(line)))
        assert files.whole_end(path, b" \t") == 4
        assert sum(read) < 1.1 * size


@given(st.lists(st.sampled_from([b"a", b" ", b"\t", b"\n", b" \t\n", b"bc" * 1500]), max_size=30))
def test_the_whole_end_is_that_of_the_content_wherever_its_blocks_are_cut(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]
) -> None:
    path = tmp_path_factory.getbasetemp() / "whole"
    content = b"".join(pieces)
    path.write_bytes(content)
    assert files.whole_end(path, b" \t") == files.whole(content, b" \t")
