"""Files on disk are written whole or not at all, and torn ends are set aside. The tests use real
files, threads and processes.
"""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dory.storage import files
from tests.support.household import Killed, mishap


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
    assert files.append(path, b"next\n") == torn
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
