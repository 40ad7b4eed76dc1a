"""An agent whose folder is moved away, or exchanged for a copy, while it runs: it stops with one
line, and neither folder is written to any more.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dory import check
from dory.clock import utc
from dory.errors import Displaced
from dory.identity import listing
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.storage import files, locks
from dory.storage.database import Store
from dory.storage.rooms import Rooms
from tests.process.test_supervisor import Patient, patient
from tests.support.processes import PATIENCE, chat


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(OfflineModel()) as server:
        yield server


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder``, what processes note about themselves aside."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock" and not path.name.startswith("memory.sqlite-")
    }


def ended(one: Patient) -> str:
    assert one.process.wait(PATIENCE) == 2
    time.sleep(0.2)  # its last words pass through a pipe
    return one.told.splitlines()[-1]


def spoken(one: Patient) -> None:
    one.say("remember that the key is under the blue pot")
    one.until(lambda: one.answers())
    one.until(lambda: not listing.agents(one.home)[0].awake)


def exchange_folder(home: Path) -> tuple[Path, Path]:
    (folder,) = listing.folders(home)
    aside = home / "elsewhere"
    shutil.copytree(folder, home / "copy", symlinks=True)
    os.rename(folder, aside)
    os.rename(home / "copy", folder)
    return aside, folder


def move_folder(home: Path) -> tuple[Path, ...]:
    (folder,) = listing.folders(home)
    os.rename(folder, home / "elsewhere")
    return (home / "elsewhere",)


def exchange_home(home: Path) -> tuple[Path, Path]:
    aside = home.with_name("aside")
    shutil.copytree(home, home.with_name("copied"), symlinks=True)
    os.rename(home, aside)
    os.rename(home.with_name("copied"), home)
    return aside, home


def move_home(home: Path) -> tuple[Path, ...]:
    os.rename(home, home.with_name("aside"))
    return (home.with_name("aside"),)


@pytest.mark.parametrize("move", [exchange_folder, move_folder, exchange_home, move_home])
def test_an_agent_that_lost_its_folder_stops_and_writes_nothing_more(
    tmp_path: Path, server: Server, move: Callable[[Path], tuple[Path, ...]]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with patient(home, server) as one:
        spoken(one)
        places = move(home)
        before = [contents(place) for place in places]
        last = ended(one)
        assert "while its agent ran: the agent stops" in last
        assert "Traceback" not in one.told and "I take no turns" not in one.told
        assert [contents(place) for place in places] == before


def test_the_copy_lives_on_whole_while_the_other_one_was_in_the_middle_of_a_turn(
    tmp_path: Path, server: Server
) -> None:
    with patient(tmp_path, server) as one:
        spoken(one)
        for number in range(5):
            one.say(f"remember that box {number} is red")
        one.until(lambda: len(one.answers()) > 1)
        aside, folder = exchange_folder(tmp_path)
        ended(one)
    before = contents(aside)
    talk = chat(tmp_path, "dev", "--boot", said="where is the key?\n")
    assert talk.returncode == 0 and "blue pot" in talk.stdout
    assert list(check.problems(tmp_path)) == []
    assert contents(aside) == before and contents(folder) != before


def test_every_kind_of_write_asks_whether_the_folder_is_still_there(tmp_path: Path) -> None:
    folder = tmp_path / "agent"
    folder.mkdir()
    Rooms(tmp_path / "chats").open("dev", utc())
    store = Store(folder / "memory.sqlite")
    store.tables("CREATE TABLE IF NOT EXISTS t (a)")
    with locks.held(folder):
        with store.writing() as connection:
            connection.execute("INSERT INTO t VALUES (1)")
        shutil.copytree(folder, tmp_path / "copy")
        os.rename(folder, tmp_path / "aside")
        os.rename(tmp_path / "copy", folder)
        for write in (
            lambda: files.replace(folder / "a", b"a"),
            lambda: files.append(folder / "b", b"b\n"),
            lambda: files.write_at(folder / "c", 0, b"c"),
            lambda: Rooms(tmp_path / "chats").say("dev", "AGENT", "dory", "hi", utc()),
            lambda: store.writing().__enter__(),
        ):
            with pytest.raises(Displaced, match="was replaced by another folder"):
                write()
    files.replace(folder / "a", b"a")  # who holds nothing may write again
    store.close()
