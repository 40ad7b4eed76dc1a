"""A damaged ``memory.sqlite``: bytes flipped anywhere give one line that says what to do, and what
can be read is saved.
"""

import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from dory import check
from dory.check import salvage
from dory.errors import DoryError, FormatError
from dory.extensions import Stores
from dory.identity import listing, state
from dory.storage.blobs import Blobs
from tests.support.processes import PATIENCE, ROOT, chat, environment

OLD_HOME = next((Path(__file__).parents[1] / "data" / "homes").glob("*.tar.xz"))
ELSEWHERE = 0x15
"""What a damaged byte differs by."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("whole")
    with tarfile.open(OLD_HOME) as packed:
        packed.extractall(home, filter="data")
    yield home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "home", symlinks=True)
    return tmp_path / "home"


def memory(home: Path) -> Path:
    return listing.folders(home)[0] / "memory.sqlite"


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= ELSEWHERE
    path.write_bytes(content)


def flip_definition(path: Path, of: str) -> None:
    """Damage one byte of the schema, where it says how a table is made."""
    content = path.read_bytes()
    flip(path, content.rindex(b"CREATE TABLE " + of.encode() + b" (") + 9)


def run(home: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        env=environment(home),
        timeout=PATIENCE,
        cwd=ROOT,
    )


def names(home: Path) -> tuple[set[str], set[str]]:
    """The notes, and the memories."""
    folder = listing.folders(home)[0]
    with closing(Stores(folder, Blobs(home / "blobs"), readonly=True)) as past:
        return {note.name for note in past.notes}, {
            memory.text for memory in past.bank.everything()
        }


@pytest.mark.parametrize("table", ["note", "memory", "piece", "alias", "dialogue_partner"])
def test_one_bad_byte_in_the_schema_is_mended_when_the_agent_wakes(home: Path, table: str) -> None:
    before = names(home)
    flip_definition(memory(home), table)
    talk = chat(home, "dev", "--boot", said="what is the name of my dog?\n/notes\n")
    assert talk.returncode == 0 and "Traceback" not in talk.stderr
    assert "Rex" in talk.stdout
    told = [line for line in talk.stderr.splitlines() if "memory.sqlite" in line]
    log = (home / "agents" / "boot.log").read_text()
    told += [line for line in log.splitlines() if "memory.sqlite" in line]
    assert told and all("memory.sqlite was damaged: what can be read" in line for line in told)
    assert "not all could be read" not in told[0]
    assert names(home)[0] >= before[0] and names(home)[1] >= before[1]
    assert memory(home).with_name("memory.sqlite.damaged-1").exists()
    assert list(check.problems(home)) == []


@pytest.mark.parametrize("table", ["note", "piece"])
def test_one_bad_byte_in_the_schema_is_told_in_one_line_by_every_program(
    home: Path, table: str
) -> None:
    flip_definition(memory(home), table)
    hash = listing.folders(home)[0].name[:8]
    checked = run(home, "clean.py", "--check")
    assert checked.returncode == 1 and "is damaged" in checked.stdout and checked.stderr == ""
    for arguments in (["dog"], ["--dump", str(home / "out")]):
        searched = run(home, "-m", "dory.recall", hash, *arguments)
        assert searched.returncode == 2
        (line,) = searched.stderr.splitlines()
        told, _, typed = line.partition("or stop its agent, and '")
        typed = typed.partition("' saves what can be read")[0]
        assert "is damaged" in told
        assert typed == f"python -m dory.recall {hash} --rebuild --home {home}"
    rebuilt = run(home, *shlex.split(typed)[1:])
    assert (
        rebuilt.returncode == 0 and "what can be read of it was saved (35 notes" in rebuilt.stderr
    )
    assert list(check.problems(home)) == []


def test_a_bad_page_of_notes_loses_the_notes_of_that_page_and_says_so(home: Path) -> None:
    before = names(home)
    leaves = "SELECT pageno FROM dbstat WHERE name = 'note' AND pagetype = 'leaf'"
    pages: list[tuple[int]] = []
    with closing(sqlite3.connect(memory(home))) as connection, suppress(sqlite3.Error):
        pages = connection.execute(leaves).fetchall()
    if len(pages) < 2:
        pytest.skip("this SQLite does not tell which pages a table has, or it has one")
    content = bytearray(memory(home).read_bytes())
    start = 4096 * (pages[1][0] - 1)
    content[start : start + 4096] = b"\xff" * 4096
    memory(home).write_bytes(content)
    rebuilt = run(home, "-m", "dory.recall", listing.folders(home)[0].name, "--rebuild")
    assert "not all could be read of note" in rebuilt.stderr
    notes, memories = names(home)
    assert notes < before[0] and notes and memories == before[1]


def test_nothing_is_put_in_place_of_a_file_of_which_nothing_can_be_read(home: Path) -> None:
    folder = listing.folders(home)[0]
    content = b"this is no database, and long enough to be seen as none" * 99
    memory(home).write_bytes(content)
    with pytest.raises(FormatError, match="is damaged"):
        salvage.salvage(folder, Blobs(home / "blobs"), state.load(folder / "state.json"))
    assert memory(home).read_bytes() == content
    assert list(folder.glob(".salvage-*")) == list(folder.glob("*.damaged-*")) == []


def test_bytes_flipped_anywhere_give_nothing_but_errors_of_dory(home: Path, tmp_path: Path) -> None:
    folder = listing.folders(home)[0]
    blobs = Blobs(home / "blobs")
    record = state.load(folder / "state.json")
    sound = memory(home).read_bytes()
    chance = random.Random(18)
    for number in range(40):
        content = bytearray(sound)
        for _ in range(chance.choice([1, 1, 1, 8])):
            at = chance.randrange(len(content) if number % 2 else 8192)
            content[at] = chance.randrange(256)
        for file in folder.glob("memory.sqlite*"):
            file.unlink()
        memory(home).write_bytes(content)
        list(check.problems(home))
        with suppress(DoryError), closing(Stores(folder, blobs, readonly=True)) as past:
            past.search.recall("dog", [])
        with suppress(DoryError), closing(Stores(folder, blobs)) as past, past.store.writing():
            past.search.reset()
        with suppress(DoryError):
            if salvage.needed(folder):
                salvage.salvage(folder, blobs, record)
                assert not salvage.needed(folder)
