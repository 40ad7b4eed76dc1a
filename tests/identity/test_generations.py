"""State, LIFE and the SQLite file of an identity are of one time, or it is refused with both
generations. A kill between their writes is never refused.
"""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dory import check
from dory.errors import FormatError
from dory.extensions import Stores
from dory.extensions.notes.extension import NoteExtension
from dory.identity import generations, state
from dory.identity.identity import Identity
from dory.storage.locks import held
from dory.turn.extension import Extension
from tests.support.household import Living, killed_everywhere
from tests.support.processes import PATIENCE, ROOT, environment


class Noting(Living):
    """An agent that notes things, and whose state counts the commits of its notes."""

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        past.store.tie = me.tie
        return [NoteExtension(me, past.store, past.notes, 1000)]

    def note(self, number: int) -> None:
        self.respond(f"NOTE_ADD box-{number} box {number} is red")


@pytest.fixture
def house(tmp_path: Path) -> Noting:
    house = Noting(tmp_path)
    house.note(0)
    return house


def kept(house: Noting, *names: str) -> Callable[[], None]:
    """Keep these files of the identity; what is returned puts them back."""
    folder = house.me.folder
    copies = {name: (folder / name).read_bytes() for name in names}

    def put_back() -> None:
        house.past.close()
        for name, content in copies.items():
            (folder / name).write_bytes(content)

    return put_back


def lose_log(house: Noting) -> None:
    """Lose the newest notes, which stand in the log of SQLite only. The file itself is as after its
    last checkpoint.
    """
    folder = house.me.folder
    with sqlite3.connect(folder / "memory.sqlite") as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    before = (folder / "memory.sqlite").read_bytes()
    house.note(1)
    house.note(2)
    house.past.close()
    (folder / "memory.sqlite").write_bytes(before)
    (folder / "memory.sqlite-wal").unlink(missing_ok=True)
    (folder / "memory.sqlite-shm").unlink(missing_ok=True)


def refused(house: Noting) -> str:
    """The one line of a refusal, after which nothing has changed."""
    folder = house.me.folder
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with pytest.raises(FormatError) as error:
        house.restart()
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    assert any(str(error.value) in problem for problem in check.problems(house.home))
    return str(error.value)


def test_an_old_state_is_refused_and_no_line_of_life_is_cut_off(house: Noting) -> None:
    old = house.me.state.generation
    put_back = kept(house, "state.json")
    for number in range(1, 60):
        house.note(number)
    log = (house.me.folder / "LIFE.md").read_bytes()
    put_back()
    line = refused(house)
    assert f"LIFE.md is of generation {len(log)} and state.json of generation {old}" in line
    assert "an old state.json was put back" in line and "clean.py --accept" in line
    assert (house.me.folder / "LIFE.md").read_bytes() == log


def test_an_old_state_is_refused_where_there_is_no_sqlite_file_too(tmp_path: Path) -> None:
    house = Noting(tmp_path)
    put_back = kept(house, "state.json")
    for number in range(20):
        house.respond(f"EDIT_FILE workspace/{number}\n<<<<<<< SEARCH\n=======\na\n>>>>>>> REPLACE")
    put_back()
    assert not (house.me.folder / "memory.sqlite").exists()
    assert "an old state.json was put back" in refused(house)


def test_an_old_state_is_refused_after_a_compaction_too(house: Noting) -> None:
    put_back = kept(house, "state.json")
    house.note(1)
    house.fade(house.me.context.entries[:3], "how it began")
    put_back()
    assert "an old state.json was put back" in refused(house)


def test_old_files_beside_a_newer_memory_are_refused(house: Noting) -> None:
    old = house.me.state.generation
    put_back = kept(house, "state.json", "LIFE.md", "context.md")
    house.note(1)
    house.note(2)
    put_back()
    line = refused(house)
    assert f"and state.json of generation {old}: older files were put back" in line


def test_notes_that_a_lost_log_takes_along_are_missed(house: Noting) -> None:
    lose_log(house)
    line = refused(house)
    assert "memory.sqlite is of generation" in line
    assert f"and state.json of generation {house.me.state.generation}" in line
    assert "memory.sqlite-wal was lost" in line


def test_an_index_made_anew_does_not_hide_that_notes_are_missing(house: Noting) -> None:
    lose_log(house)
    command = [sys.executable, "-m", "dory.recall", house.hash, "--rebuild"]
    result = subprocess.run(
        command, capture_output=True, text=True, env=environment(house.home), timeout=PATIENCE
    )
    assert result.returncode == 2 and "memory.sqlite-wal was lost" in result.stderr
    assert "memory.sqlite-wal was lost" in refused(house)


def test_a_memory_that_is_gone_is_told(house: Noting) -> None:
    house.past.close()
    os.rename(house.me.folder / "memory.sqlite", house.home / "aside")
    (told,) = house.restart().damage
    assert told.startswith("memory.sqlite is gone")
    assert any("memory.sqlite is gone" in problem for problem in check.problems(house.home))
    for number in range(1, 4):
        house.note(number)
    assert house.restart().damage == []
    house.past.close()
    for name in ("memory.sqlite-wal", "memory.sqlite-shm"):
        (house.me.folder / name).unlink(missing_ok=True)
    os.rename(house.home / "aside", house.me.folder / "memory.sqlite")
    assert "an old memory.sqlite was put back" in refused(house)


def test_a_memory_that_vanished_while_the_agent_ran_goes_on_counting(house: Noting) -> None:
    known = house.me.state.memory_changes
    os.rename(house.me.folder / "memory.sqlite", house.home / "aside")
    house.note(1)
    assert house.restart().state.memory_changes > known


def test_a_life_of_an_older_dory_gets_its_generation_at_the_first_commit(house: Noting) -> None:
    house.past.close()
    with sqlite3.connect(house.me.folder / "memory.sqlite") as other:
        other.execute("DROP TABLE IF EXISTS generation")
    other.close()
    record = state.load(house.me.folder / "state.json")
    record.memory_changes = 0
    state.save(house.me.folder / "state.json", record)
    house.restart()
    assert generations.stamp(house.me.folder) == (0, 0)
    house.note(1)
    stamp = generations.stamp(house.me.folder)
    assert stamp and 0 < stamp.generation <= house.me.state.generation
    assert house.me.state.memory_changes == stamp.changes > 0


def test_a_kill_between_the_writes_is_never_refused(tmp_path: Path) -> None:
    house = Noting(tmp_path / "home")
    house.note(0)
    for _ in killed_everywhere(house, lambda: house.note(1)):
        assert {note.name for note in house.past.notes} >= {"box-0"}
        house.note(2)
        assert "box-2" in {note.name for note in house.past.notes}
        house.past.close()


def test_reading_and_looking_counts_no_change(house: Noting) -> None:
    before = generations.stamp(house.me.folder)
    house.respond("RECALL box")
    with house.past.store.writing():
        pass
    assert generations.stamp(house.me.folder) == before


def accepting(house: Noting) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "clean.py"), "--accept", house.hash[:8]]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(house.home), timeout=PATIENCE
    )


def accept(house: Noting) -> str:
    house.past.close()
    result = accepting(house)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_person_may_accept_an_old_state_and_keeps_the_whole_life_and_context(
    house: Noting,
) -> None:
    put_back = kept(house, "state.json")
    for number in range(1, 20):
        house.note(number)
    log = (house.me.folder / "LIFE.md").read_bytes()
    entries = len(house.me.context.entries)
    put_back()
    assert "an old state.json was put back" in accept(house)
    assert (house.me.folder / "LIFE.md").read_bytes().startswith(log)
    house.restart()
    assert len(house.me.context.entries) == entries + 1
    assert "A person took your files as they are" in house.me.context.entries[-1].body
    assert list(check.problems(house.home)) == []
    house.note(20)
    assert len(list(house.past.notes)) == 21
    assert "nothing to do" in accept(house)


def test_a_person_may_accept_a_memory_that_lost_its_newest_notes(house: Noting) -> None:
    lose_log(house)
    accept(house)
    house.restart()
    house.note(3)
    assert {note.name for note in house.past.notes} == {"box-0", "box-3"}
    assert list(check.problems(house.home)) == []


def test_a_person_may_accept_old_files_beside_a_newer_memory(house: Noting) -> None:
    put_back = kept(house, "state.json", "LIFE.md", "context.md")
    house.note(1)
    put_back()
    accept(house)
    house.restart()
    assert len(list(house.past.notes)) == 2


def test_nobody_accepts_the_files_of_an_agent_that_runs(house: Noting) -> None:
    put_back = kept(house, "state.json")
    house.note(1)
    put_back()
    with held(house.me.folder):
        result = accepting(house)
    assert result.returncode == 2 and "runs already" in result.stderr
