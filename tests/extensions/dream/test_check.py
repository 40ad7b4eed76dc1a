"""The check of the files of Dreams: a sound life has no problem, even right after a kill, and every
damage is named.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dory import check
from dory.clock import utc
from dory.extensions.dream import apply
from dory.extensions.dream import check as dream_check
from dory.extensions.dream.history import CURSOR, DREAM_CURSOR, HISTORY
from dory.extensions.dream.versions import Versions
from dory.storage import locks
from dory.storage.blobs import Blobs
from tests.support.household import copy_of
from tests.support.sleeping import Answering, Sleeper, edit


@pytest.fixture(scope="module")
def dreamt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an identity with two Dreams and an entry that waits."""
    home = tmp_path_factory.mktemp("dreamt")
    dreamer = Sleeper(
        home,
        Answering(
            "1. USER.md",
            edit("USER.md", "", "a"),
            "DONE",
            "1. USER.md",
            edit("USER.md", "", "b"),
            "DONE",
        ),
    )
    dreamer.step()
    for _ in range(2):
        dreamer.fade(2)
        dreamer.sleep()
    dreamer.fade()
    assert (
        dreamer.history.dreamed == 4
        and len(dreamer.log()) == 2
        and list(check.problems(dreamer.me.home)) == []
    )
    return dreamer.me.folder


@pytest.fixture
def folder(dreamt: Path, tmp_path: Path) -> Path:
    """A copy of it, in a home that is a copy, to be damaged."""
    return copy_of(dreamt.parent.parent, tmp_path / "home") / "agents" / dreamt.name


def problems(folder: Path) -> list[str]:
    return list(dream_check.problems(folder, Blobs(folder.parent.parent / "blobs")))


def lines(*changes: tuple[int, bytes]) -> Callable[[Path], object]:
    """The history with other lines in place of those that are numbered, from 0."""

    def change(folder: Path) -> object:
        kept = (folder / HISTORY).read_bytes().splitlines(keepends=True)
        for number, line in changes:
            kept[number] = line
        return (folder / HISTORY).write_bytes(b"".join(kept))

    return change


def written(name: str, text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(text)


def without_objects(folder: Path) -> None:
    for path in (folder / ".git" / "objects").glob("??/*"):
        path.unlink()


BEGUN = {
    "version": 1,
    "record": "f" * 16,
    "gist": "",
    "base": "",
    "life": 0,
    "cursor": 5,
    "changes": [],
}
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a line that is no entry": (lines((1, b"{}\n")), "history.jsonl line 2 is no entry: {}"),
    "a line that is missing": (
        lines((1, b"")),
        "history.jsonl line 2 has the cursor 3, 2 is wanted there",
    ),
    "the last lines missing": (
        lines((3, b""), (4, b"")),
        ".cursor says 5, and history.jsonl ends with entry 3",
    ),
    "a cursor behind": (
        written(CURSOR, "3\n"),
        ".cursor says 3, and history.jsonl ends with entry 5",
    ),
    "a cursor that is none": (written(CURSOR, "five\n"), "holds no number"),
    "a reader ahead": (
        written(DREAM_CURSOR, "6\n"),
        ".dream_cursor says 6, and history.jsonl ends with entry 5",
    ),
    "a reader that is gone": (
        lambda folder: (folder / DREAM_CURSOR).unlink(),
        ".dream_cursor is missing",
    ),
    "a revision of another version": (
        written(apply.NAME, '{"version": 9}'),
        "dream.json is of version '9'",
    ),
    "a revision that is empty": (written(apply.NAME, ""), "dream.json is damaged"),
    "a revision without end": (written(apply.NAME, "[" * 200_000), "dream.json is damaged"),
    "a revision without its record": (
        written(apply.NAME, json.dumps(BEGUN)),
        "dream.json: no blob begins with ffffffffffffffff",
    ),
    "versions without objects": (without_objects, ".git is damaged"),
    "a branch that leads nowhere": (
        written(".git/refs/heads/main", "f" * 40 + "\n"),
        ".git is damaged",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_damage_is_found_and_named(folder: Path, damage: str) -> None:
    change, complaint = DAMAGE[damage]
    change(folder)
    complaints = problems(folder)
    assert any(complaint in line for line in complaints), complaints


def test_a_dream_whose_record_is_missing_is_named(folder: Path) -> None:
    (version,) = (
        commit for commit in Versions(folder, utc, str).log() if commit.subject.endswith("+ a")
    )
    record = version.reason.rpartition("Dream: ")[2]
    Blobs(folder.parent.parent / "blobs").path(record).unlink()
    assert problems(folder) == [f"the Dream {version.sha[:8]} names {record}, which is missing"]


def test_what_a_kill_leaves_is_no_problem(folder: Path) -> None:
    with open(folder / HISTORY, "ab") as file:
        file.write(b'{"cursor": 6, "timest')
    (folder / CURSOR).write_text("4\n")
    (folder / ".git" / "index").unlink()
    assert problems(folder) == []


def test_what_a_running_agent_writes_meanwhile_is_no_problem(folder: Path) -> None:
    (folder / CURSOR).write_text("2\n")
    (folder / "lock").touch()
    assert problems(folder) != []
    with locks.held(folder):
        assert problems(folder) == []


def test_an_identity_that_never_dreamed_is_no_problem(tmp_path: Path) -> None:
    dreamer = Sleeper(tmp_path, Answering("NOTHING"))
    assert problems(dreamer.me.folder) == []


def test_the_check_of_a_home_names_the_agent_and_a_record_that_is_missing(folder: Path) -> None:
    home = folder.parent.parent
    hash = folder.name
    (folder / DREAM_CURSOR).unlink()
    (record,) = [
        path for path in (home / "blobs").glob("??/*.md") if b"history 3 to 4" in path.read_bytes()
    ]
    record.unlink()
    complaints = list(check.problems(home))
    assert f"agents/{hash}: .dream_cursor is missing" in complaints and any(
        f"refers to {record.stem}, which is missing" in line for line in complaints
    )
