"""The file of the database: foreign, of another version, damaged, missing, exchanged, or in a place
where nothing may be written.
"""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from dory.errors import FormatError
from dory.extensions.notes.store import Notes
from dory.extensions.recall.life_index import Cursor, LifeBatch, LifeIndexer
from dory.search.index import Index
from dory.storage.database import NAME, VERSION, Store
from dory.text.prompt_files import ROOT
from tests.process.test_supervisor import bound_by_permissions
from tests.storage.test_database import numbers, opened, written
from tests.support.household import NOON

READER = """
import sys
from pathlib import Path
from dory.storage.database import Store
print(Store(Path(sys.argv[1]), readonly=True).rows("SELECT number FROM pair"))
"""


def held(path: Path) -> bool:
    """Whether this process has the file open."""
    return any(os.path.realpath(link) == str(path) for link in Path("/proc/self/fd").iterdir())


def test_foreign_files_are_refused_by_name_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    path.write_text("This is no database.\n" * 300)
    before = path.read_bytes()
    for readonly in (False, True):
        with pytest.raises(FormatError, match=r"memory\.sqlite is damaged .* move it away"):
            numbers(opened(path, readonly))
    assert path.read_bytes() == before
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    for use in (numbers, lambda store: store.writing().__enter__(), Store.problems):
        if use is Store.problems:
            assert "another program" in opened(path).problems()[0]
        else:
            with pytest.raises(FormatError, match="another program: move it away"):
                use(opened(path))
    assert path.read_bytes() == before


def test_another_version_is_refused(tmp_path: Path) -> None:
    written(tmp_path / "memory.sqlite").close()
    other = sqlite3.connect(tmp_path / "memory.sqlite")
    other.execute(f"PRAGMA user_version={VERSION + 1}")
    other.close()
    with pytest.raises(FormatError, match=f"version '{VERSION + 1}'.*update Dory"):
        numbers(opened(tmp_path / "memory.sqlite"))


def test_a_file_of_version_1_is_read_as_it_is_and_brought_up_to_date_by_its_writer(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.sqlite"
    written(path, 3).close()
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version=1")
    other.close()
    for readonly, version in ((True, 1), (False, VERSION), (True, VERSION)):
        store = opened(path, readonly)
        assert numbers(store) == [0, 1, 2]
        assert store.number("PRAGMA user_version") == version
        store.close()


def test_a_file_cut_short_anywhere_is_told_or_read(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    written(path, 400).close()
    whole = path.read_bytes()
    reported = 0
    for length in range(1, len(whole), 1500):
        path.write_bytes(whole[:length])
        store = opened(path, readonly=True)
        try:
            reported += bool(store.problems()) or numbers(store) != list(range(400))
        except FormatError as error:
            reported += "memory.sqlite" in str(error)
        store.close()
    assert reported == len(range(1, len(whole), 1500))


def test_flipped_bits_are_told_or_do_not_matter_but_raise_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    written(path, 400).close()
    whole = path.read_bytes()
    reported = 0
    for at, bits in [
        *product(range(110), (0x55,)),
        *product(range(4096, len(whole), 2041), (0x55, 0x80)),
    ]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])
        store = opened(path, readonly=True)
        try:
            store.rows("SELECT * FROM pair")
            reported += bool(store.problems())
        except FormatError as error:
            reported += "memory.sqlite" in str(error)
        store.close()
    assert reported >= 20


@pytest.mark.parametrize("damage", ["x'80'", "CAST('é' AS BLOB) || x'c3'"])
def test_a_text_that_is_none_any_more_is_damage_and_the_file_is_let_go_of(
    tmp_path: Path, damage: str
) -> None:
    store = written(tmp_path / "memory.sqlite", 3)
    with store.writing() as connection:
        connection.execute(f"UPDATE pair SET half = CAST({damage} AS TEXT) WHERE number = 1")
    assert held(store.path)
    with pytest.raises(FormatError, match=r"memory\.sqlite is damaged .*UTF-8"):
        store.rows("SELECT * FROM pair")
    assert not held(store.path)
    with pytest.raises(FormatError), store.writing():
        store.rows("SELECT * FROM pair")
    assert not held(store.path)


@pytest.mark.parametrize("gone", [Path.unlink, lambda path: path.rename(path.with_name("aside"))])
def test_a_file_that_goes_away_is_begun_anew_and_nothing_is_lost_that_is_acknowledged_later(
    tmp_path: Path, gone: Callable[[Path], None]
) -> None:
    path = tmp_path / "memory.sqlite"
    store = written(path, 3)
    reader = opened(path, readonly=True)
    assert numbers(reader) == [0, 1, 2]
    gone(path)
    assert numbers(reader) == []
    for number in (7, 8):
        with store.writing() as connection:
            connection.execute("INSERT INTO pair VALUES (?, '')", (number,))
    assert numbers(store) == numbers(reader) == numbers(opened(path)) == [7, 8]
    gone(path)
    assert numbers(store) == [] == store.problems()


def test_a_file_that_is_put_in_the_place_of_another_is_used_from_then_on(tmp_path: Path) -> None:
    store = written(tmp_path / "memory.sqlite", 3)
    written(tmp_path / "backup", 5).close()
    for log in tmp_path.glob("memory.sqlite-*"):
        log.unlink()
    (tmp_path / "backup").replace(tmp_path / "memory.sqlite")
    with store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (9, '')")
    assert numbers(store) == numbers(opened(tmp_path / "memory.sqlite")) == [0, 1, 2, 3, 4, 9]


def test_reading_a_file_that_nobody_uses_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    written(path, 3).close()
    before = path.read_bytes(), path.stat().st_mtime_ns
    reader = opened(path, readonly=True)
    assert numbers(reader) == [0, 1, 2] and reader.problems() == []
    with pytest.raises(OSError, match="may not be written"):
        reader.rows("DELETE FROM pair")
    reader.close()
    assert [*tmp_path.iterdir()] == [path] and before == (
        path.read_bytes(),
        path.stat().st_mtime_ns,
    )


def test_where_nothing_may_be_written_a_file_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    written(path, 3).close()
    tmp_path.chmod(0o555)
    command = [sys.executable, "-c", READER, str(path)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, preexec_fn=bound_by_permissions
        )
    finally:
        tmp_path.chmod(0o755)
    assert (done.stdout, done.stderr) == ("[(0,), (1,), (2,)]\n", "")


def test_a_time_that_there_is_not_is_damage(tmp_path: Path) -> None:
    store = Store(tmp_path / NAME)
    notes = Notes(store, Index(store))
    chronicle = LifeIndexer(store, Index(store), [])
    notes.add("hotel", "Miramar", "Note", NOON)
    chronicle.add(LifeBatch([], Cursor(1, "dev", NOON), []))
    for table in ("note", "mark"):
        with store.writing() as connection:
            connection.execute(f"UPDATE {table} SET at = ?", (1 << 60,))
    with pytest.raises(FormatError, match="is damaged"):
        notes.find("hotel")
    with pytest.raises(FormatError, match="is damaged"):
        _ = chronicle.cursor


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x FROM n"
RUNNING = {
    "a view": f"ALTER TABLE pair RENAME TO real; CREATE VIEW pair AS {ENDLESS}",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON pair BEGIN DELETE FROM pair; END",
    "a computed column": "CREATE TABLE more (a, b AS (hex(zeroblob(100000000))))",
    "a view that is called a table": f"CREATE VIEW v AS {ENDLESS};"
    "PRAGMA writable_schema=ON;"
    "UPDATE sqlite_master SET type = 'table', tbl_name = 'v' WHERE name = 'v'",
}


@pytest.mark.parametrize("what", RUNNING)
def test_a_file_that_runs_something_when_it_is_read_is_refused(tmp_path: Path, what: str) -> None:
    path = tmp_path / "memory.sqlite"
    store = Store(path)
    store.tables("CREATE TABLE IF NOT EXISTS pair (a, b)")
    with store.writing() as connection:
        connection.execute("INSERT INTO pair VALUES (1, 2)")
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(RUNNING[what])
    for readonly in (True, False):
        with closing(Store(path, readonly)) as foreign, pytest.raises(FormatError) as raised:
            foreign.tables("CREATE TABLE IF NOT EXISTS pair (a, b)")
            foreign.rows("SELECT a FROM pair LIMIT 1")
        assert "memory.sqlite is damaged (" in str(raised.value)


@pytest.mark.parametrize("end", ["", "-wal"])
def test_a_file_that_is_a_link_is_neither_read_nor_written(tmp_path: Path, end: str) -> None:
    others = tmp_path / "others"
    path = tmp_path / "memory.sqlite"
    for where in (others, path):
        with closing(Store(where)) as store:
            store.tables("CREATE TABLE IF NOT EXISTS pair (a, b)")
            with store.writing() as connection:
                connection.execute("INSERT INTO pair VALUES (1, 2)")
    before = others.read_bytes()
    Path(f"{path}{end}").unlink(missing_ok=True)
    Path(f"{path}{end}").symlink_to(others)
    for readonly in (True, False):
        with closing(Store(path, readonly)) as store, pytest.raises(OSError, match="symbolic link"):
            store.rows("SELECT a FROM pair")
    assert others.read_bytes() == before
