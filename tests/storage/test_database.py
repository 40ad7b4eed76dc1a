"""The database: its file is made by the first write, a commit is whole and durable, and errors name
the file.
"""

import errno
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bench.store.syncs import count
from dory.errors import Busy, FormatError
from dory.storage.database import Store
from dory.text.prompt_files import ROOT

TABLE = "CREATE TABLE IF NOT EXISTS pair (number INTEGER PRIMARY KEY, half TEXT)"
WRITER = """
import sys
from pathlib import Path
from dory.storage.database import Store
store = Store(Path(sys.argv[1]))
store.tables("CREATE TABLE IF NOT EXISTS pair (number INTEGER PRIMARY KEY, half TEXT)")
((begun,),) = store.rows("SELECT count(*) FROM pair")
for number in range(begun, begun + int(sys.argv[2]), 2):
    with store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (?, ?)", (number, "first" * 300))
        connection.execute("INSERT INTO pair VALUES (?, ?)", (number + 1, "second" * 300))
    print(number, flush=True)
"""


def opened(path: Path, readonly: bool = False) -> Store:
    store = Store(path, readonly)
    store.tables(TABLE)
    return store


def written(path: Path, rows: int = 1) -> Store:
    """A store with ``rows`` rows, each of them larger than nothing."""
    store = opened(path)
    with store.writing() as connection:
        connection.executemany(
            "INSERT INTO pair VALUES (?, ?)",
            [(number, f"{number} é " * 100) for number in range(rows)],
        )
    return store


def numbers(store: Store) -> list[int]:
    return [number for (number,) in store.rows("SELECT number FROM pair ORDER BY number")]


def writer(path: Path, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(count)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("readonly", [False, True])
def test_a_missing_file_reads_as_empty_and_reading_does_not_make_it(
    tmp_path: Path, readonly: bool
) -> None:
    store = opened(tmp_path / "memory.sqlite", readonly)
    assert numbers(store) == [] == store.problems()
    assert store.number("SELECT max(number) FROM pair") == 0
    store.tidy()
    assert list(tmp_path.iterdir()) == []


def test_the_file_appears_with_the_first_write_and_keeps_it(tmp_path: Path) -> None:
    reader = opened(tmp_path / "memory.sqlite", readonly=True)
    assert numbers(reader) == []
    written(tmp_path / "memory.sqlite", 3).close()
    assert numbers(opened(tmp_path / "memory.sqlite")) == numbers(reader) == [0, 1, 2]
    assert opened(tmp_path / "memory.sqlite").problems() == []


@pytest.mark.parametrize("rows", [0, 2])
def test_a_write_that_fails_changes_nothing_and_the_next_one_succeeds(
    tmp_path: Path, rows: int
) -> None:
    store = (
        written(tmp_path / "memory.sqlite", rows) if rows else opened(tmp_path / "memory.sqlite")
    )
    with pytest.raises(ZeroDivisionError), store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (7, '')")
        print(1 // 0)
    assert (
        numbers(opened(tmp_path / "memory.sqlite", readonly=True))
        == numbers(store)
        == list(range(rows))
    )
    with store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (8, '')")
    assert numbers(store) == [*range(rows), 8]


def test_a_write_within_a_write_is_part_of_it(tmp_path: Path) -> None:
    store = written(tmp_path / "memory.sqlite")
    with pytest.raises(KeyError), store.writing():
        with store.writing() as connection:
            connection.execute("INSERT INTO pair VALUES (5, '')")
        assert numbers(store) == [0, 5]
        raise KeyError
    assert numbers(store) == [0]


def test_a_commit_asks_the_disk_for_one_sync_and_reading_for_none(tmp_path: Path) -> None:
    with count() as counted:
        store = written(tmp_path / "memory.sqlite")
        for number in range(1, 30):
            before = counted.syncs
            with store.writing() as connection:
                connection.execute("INSERT INTO pair VALUES (?, ?)", (number, "x" * 9000))
            assert counted.syncs == before + 1
        before = counted.syncs
        assert len(numbers(store)) == 30
        assert counted.syncs == before
        store.close()


def test_tidying_beside_the_writer_brings_the_log_into_the_file_and_the_log_is_used_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.sqlite"
    log = tmp_path / "memory.sqlite-wal"
    store = written(path, 2000)
    size = path.stat().st_size
    grown = log.stat().st_size
    beside = threading.Thread(target=lambda: Store(path).tidy())
    beside.start()
    beside.join()
    assert path.stat().st_size > size
    with store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (-1, '')")
    assert log.stat().st_size == grown


def test_tables_that_a_later_extension_needs_are_made_in_a_file_that_is_there(
    tmp_path: Path,
) -> None:
    written(tmp_path / "memory.sqlite").close()
    store = opened(tmp_path / "memory.sqlite")
    store.tables("CREATE TABLE IF NOT EXISTS later (number INTEGER)")
    reader = opened(tmp_path / "memory.sqlite", readonly=True)
    reader.tables("CREATE TABLE IF NOT EXISTS later (number INTEGER)")
    with pytest.raises(FormatError, match="older Dory: wake its agent"):
        numbers(reader)
    assert store.rows("SELECT * FROM later") == []
    assert numbers(store) == numbers(reader) == [0]


def test_a_full_disk_is_an_os_error_and_nothing_was_written(tmp_path: Path) -> None:
    store = written(tmp_path / "memory.sqlite")
    store.rows("PRAGMA max_page_count=20")
    with pytest.raises(OSError, match="no room left") as raised, store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (1, ?)", ("x" * 200_000,))
    assert raised.value.errno == errno.ENOSPC
    assert numbers(store) == [0]


def test_who_may_only_read_cannot_write(tmp_path: Path) -> None:
    written(tmp_path / "memory.sqlite").close()
    reader = opened(tmp_path / "memory.sqlite", readonly=True)
    assert numbers(reader) == [0]
    with pytest.raises(PermissionError, match="for reading only"), reader.writing():
        pass


def test_a_lock_that_is_not_given_up_is_told_and_a_reader_is_not_held_up(tmp_path: Path) -> None:
    store = written(tmp_path / "memory.sqlite")
    other = opened(tmp_path / "memory.sqlite")
    other.rows("PRAGMA busy_timeout=1")
    with store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (1, '')")
        with (
            pytest.raises(Busy, match=r"memory\.sqlite is held by another process"),
            other.writing(),
        ):
            pass
        assert numbers(other) == numbers(opened(tmp_path / "memory.sqlite", readonly=True)) == [0]
    assert numbers(other) == [0, 1]


def test_a_killed_writer_loses_nothing_that_it_acknowledged_and_leaves_nothing_half(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.sqlite"
    acknowledged = -2
    for kill in range(4):
        with writer(path, 10_000) as process:
            assert process.stdout is not None
            for _ in range(1 + 7 * kill):
                acknowledged = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            acknowledged = int(([str(acknowledged), *process.stdout.read().split("\n")[:-1]])[-1])
        store = opened(path)
        kept = numbers(store)
        assert kept == list(range(len(kept)))
        assert len(kept) % 2 == 0 and len(kept) >= acknowledged + 2
        assert store.problems() == []
        store.close()


def test_a_reader_beside_a_writing_process_sees_whole_commits_only(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    seen = set[int]()
    with writer(path, 1_000_000) as process:
        assert process.stdout is not None
        reader = opened(path, readonly=True)
        while len(seen) < 10:
            line = process.stdout.readline()
            rows = len(numbers(reader))
            assert rows >= int(line) + 2 and rows % 2 == 0
            seen.add(rows)
        process.kill()
