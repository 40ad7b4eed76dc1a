"""An agent's past from the shell: searching beside a running agent and on a stopped one, dump,
load, rebuild, and errors of one line.
"""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from dory import check
from dory.extensions import Stores
from dory.identity import listing
from dory.storage import locks
from dory.storage.database import NAME
from dory.text.prompt_files import ROOT
from tests.support.compacting import House, Scripted, act
from tests.support.processes import PATIENCE, agent, chat, environment
from tests.support.remembering import OTHERS, TRIP, fade, hear, indexed, long_past, step


def recall(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dory.recall", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=environment(home), timeout=PATIENCE
    )


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path / "home", Scripted())
    hear(house, TRIP, *OTHERS)
    act(house, "NOTE_ADD lisbon-hotel Miramar")
    act(house, "NOTE_ALIAS lisbon-hotel bed")
    step(house)
    return house


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_stopped_agent_is_searched_and_only_read(house: House) -> None:
    hash = fade(house, house.me.context.entries[1:3], "Ada's trip")
    before = files(house.home)
    done = recall(house.home, house.hash[:6], "hotel", "in", "Lisbon")
    assert (
        done.returncode == 0
        and done.stderr == ""
        and f"-> UNCOMPACT {hash} (Ada's trip)" in done.stdout
    )
    assert (
        done.stdout.splitlines()[0].endswith('hits for "hotel in Lisbon"')
        and ". note 2" in done.stdout
    )
    kept = {
        name: content
        for name, content in files(house.home).items()
        if not name.endswith(("-shm", "-wal"))
    }
    assert kept == {
        name: content for name, content in before.items() if not name.endswith(("-shm", "-wal"))
    }
    nothing = recall(house.home, house.hash, "xylophone")
    assert nothing.returncode == 1 and nothing.stdout.startswith('no hits for "xylophone"; try')


def test_a_running_agent_is_searched_beside_it(tmp_path: Path) -> None:
    with agent(tmp_path):
        chat(tmp_path, "dev", said="remember that the hotel in Lisbon is the Miramar\n")
        (one,) = listing.folders(tmp_path)
        found, deadline = "", time.monotonic() + PATIENCE
        while "ada in dev" not in found and time.monotonic() < deadline:
            found = recall(tmp_path, one.name, "Miramar").stdout
        assert "the **Miramar** -> in your context at #" in found
        for refused in (["--rebuild"], ["--load", str(tmp_path)]):
            done = recall(tmp_path, one.name, *refused)
            assert (
                done.returncode == 2
                and "runs already, as process" in done.stderr
                and done.stdout == ""
            )
        assert (
            recall(tmp_path, one.name, "--dump", str(tmp_path / "out")).stdout
            == f"0 notes and archives are in {tmp_path / 'out'}\n"
        )


def test_what_is_not_indexed_yet_is_told_of(tmp_path: Path) -> None:
    house = long_past(tmp_path)
    done = recall(tmp_path, house.hash, "thing")
    assert done.returncode == 1 and done.stderr == (
        f"dory.recall: 0 of {house.me.state.next_id - 1} entries are indexed: "
        f"{house.me.name} does the rest while it runs, or --rebuild now\n"
    )


def hits(house: House) -> list[str]:
    """What is found, whatever order equals come in."""
    return sorted(
        line.partition(". ")[2]
        for line in recall(house.home, house.hash, "Lisbon").stdout.splitlines()
    )


def test_a_rebuild_makes_the_same_index_again(house: House) -> None:
    fade(house, house.me.context.entries[1:3], "Ada's trip")
    before, known = hits(house), indexed(house)
    with Stores(house.me.folder, house.me.blobs).store.writing() as connection:
        connection.execute("DELETE FROM piece WHERE id % 2")
        connection.execute("INSERT INTO words(words) VALUES ('delete-all')")
    assert len(list(check.problems(house.home))) > 1
    done = recall(house.home, house.hash, "--rebuild")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"indexed: {house.me.state.next_id - 1} entries and 1 note or archive\n",
        "",
    )
    assert hits(house) == before and indexed(house) == known
    assert list(check.problems(house.home)) == []


def test_a_rebuild_of_a_long_past_with_a_damaged_blob_tells_what_is_missing(tmp_path: Path) -> None:
    house = long_past(tmp_path)
    lost = next(entry for entry in house.me.context if entry.hash)
    house.me.blobs.path(lost.hash or "").unlink()
    done = recall(tmp_path, house.hash, "--rebuild")
    assert done.returncode == 1 and done.stderr.startswith(
        f"dory.recall: no blob begins with {lost.hash}"
    )
    assert indexed(house) == [*range(1, lost.first), *range(lost.last + 1, house.me.state.next_id)]


def test_notes_are_dumped_edited_and_loaded(house: House, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        recall(house.home, house.hash, "--dump", str(out)).stdout
        == f"1 note or archive is in {out}\n"
    )
    (file,) = out.iterdir()
    file.write_text(file.read_text().replace("Miramar", "Belvedere"))
    done = recall(house.home, house.hash, "--load", str(out))
    assert (done.returncode, done.stdout) == (0, f"1 note or archive was loaded from {out}\n")
    assert "Belvedere" in recall(house.home, house.hash, "Belvedere").stdout
    assert list(check.problems(house.home)) == [] and locks.holder(house.me.folder) is None
    file.write_bytes(b"\xff")
    bad = recall(house.home, house.hash, "--load", str(out))
    assert (
        bad.returncode == 2
        and bad.stderr.startswith(f"dory.recall: {file.name}: ")
        and len(bad.stderr.splitlines()) == 1
    )
    assert "Belvedere" in recall(house.home, house.hash, "Belvedere").stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "HASH"),
        (["{hash}"], "give one thing to do"),
        (["{hash}", "words", "--rebuild"], "give one thing to do"),
        (["{hash}", "--dump", "x", "--load", "y"], "give one thing to do"),
        (["ffff", "words"], "no identity begins with 'ffff'"),
        (["1", "words"], "too short"),
        (["{hash}", "--lode", "x"], "--load"),
        (["{hash}", "--load", "{home}/nowhere"], "holds no markdown files"),
        (["{hash}", "--dump", "{home}/chats"], "holds markdown files already"),
        (["{hash}", "--dump", "/proc/nowhere"], "/proc/nowhere"),
        (["{hash}", "--dump", ""], "'--dump': name a folder"),
        (["{hash}", "--load", ""], "'--load': name a folder"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    house: House, arguments: list[str], told: str
) -> None:
    done = recall(
        house.home, *[argument.format(hash=house.hash, home=house.home) for argument in arguments]
    )
    assert done.returncode == 2 and done.stdout == ""
    assert (
        done.stderr.startswith("dory.recall: ")
        and told in done.stderr
        and len(done.stderr.splitlines()) == 1
    )
    assert "QUERY" not in done.stderr


def test_a_damaged_file_is_told_of_in_one_line(house: House) -> None:
    for file in house.me.folder.glob(f"{NAME}-*"):
        file.unlink()
    (house.me.folder / NAME).write_bytes(
        b"this is no database, and long enough to be seen as none" * 9
    )
    for arguments in (["words"], ["--rebuild"], ["--dump", str(house.home / "out")]):
        done = recall(house.home, house.hash, *arguments)
        assert (
            done.returncode == 2
            and "is damaged" in done.stderr
            and len(done.stderr.splitlines()) == 1
        )


def test_a_rebuild_saves_the_notes_of_a_file_whose_index_is_damaged(house: House) -> None:
    with closing(sqlite3.connect(house.me.folder / NAME)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'piece'"
        ).fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(house.me.folder / NAME, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    done = recall(house.home, house.hash, "--rebuild")
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1
    assert "what can be read of it was saved (1 note, " in done.stderr
    assert "not all could be read" not in done.stderr
    assert "Miramar" in recall(house.home, house.hash, "Miramar").stdout
    assert list(check.problems(house.home)) == []
