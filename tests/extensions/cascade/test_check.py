"""The check of the summaries: a sound life has no problem at any moment, and every gap, overlap and
damage is named.
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.extensions.cascade import check as cascade_check
from dory.extensions.cascade.life_reader import LifePosition
from dory.extensions.cascade.rolling import LIMIT
from dory.extensions.cascade.store import FOLDER, copies, read
from dory.storage import locks
from tests.support.cascading import SMALL, happen
from tests.support.compacting import House, Scripted


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an identity after five runs: the lines 1-18 are long-term, 19-22 short-term."""
    house = House(tmp_path_factory.mktemp("lived"), Scripted(), cascade=SMALL, extensions="cascade")
    happen(house, 31)
    return house.me.folder


@pytest.fixture
def folder(lived: Path, tmp_path: Path) -> Path:
    """Its LIFE and its summaries, to be damaged."""
    (tmp_path / FOLDER).mkdir()
    for file in [lived / "LIFE.md", *(lived / FOLDER).iterdir()]:
        (tmp_path / file.relative_to(lived)).write_bytes(file.read_bytes())
    return tmp_path


def problems(folder: Path) -> list[str]:
    return list(cascade_check.problems(folder))


def test_a_life_is_covered_without_gap_or_overlap_at_every_instant(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    for until in range(1, 31):
        happen(house, until)
        assert problems(house.me.folder) == []
    assert list(check.problems(house.home)) == []


def test_a_life_without_summaries_is_no_problem(folder: Path) -> None:
    assert problems(folder) == []
    for file in (folder / FOLDER).iterdir():
        file.unlink()
    assert problems(folder) == []
    (folder / FOLDER).rmdir()
    assert problems(folder) == []


def edit(name: str, before: str, after: str) -> Callable[[Path], object]:
    """One file with other bytes; ``name`` may be the number of a copy."""

    def change(folder: Path) -> object:
        path = copies(folder)[int(name)] if name.lstrip("-").isdigit() else folder / name
        text = path.read_text()
        assert before in text
        return path.write_text(text.replace(before, after, 1))

    return change


def remove(number: int) -> Callable[[Path], object]:
    return lambda folder: copies(folder)[number].unlink()


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a gap between both": (
        edit("summaries/longterm.md", "memories: 1-18", "memories: 1-17"),
        "has a gap behind event 17",
    ),
    "an overlap of both": (
        edit("summaries/recent.md", "memories: 19-22", "memories: 18-22"),
        "has a gap behind event 18",
    ),
    "a life that begins later": (
        edit("summaries/longterm.md", "memories: 1-18", "memories: 3-18"),
        "has a gap",
    ),
    "a copy that is gone": (remove(2), "begins with event 15, the one before it ends with 10"),
    "a first copy that is gone": (remove(0), "begins with event 7, the one before it ends with 0"),
    "a newest copy that is gone": (remove(-1), "cover events up to 22, their copies up to 18"),
    "a copy that overlaps": (
        edit("1", "memories: 7-10", "memories: 6-10"),
        "begins with event 6, the one before it ends with 6",
    ),
    "a copy that ends elsewhere": (
        edit("1", "bytes: ", "bytes: 1"),
        "does not end where event 10 does in LIFE.md",
    ),
    "a wrong count": (
        edit("LIFE.md", "thing 3 of", "thing\n3 of"),
        "recent.md does not end where event 22 does in LIFE.md",
    ),
    "another past": (
        edit("LIFE.md", "thing 3 of", "thing 8 of"),
        "does not end where event 6 does in LIFE.md",
    ),
    "a copy that is damaged": (edit("0", "---", "--"), "is damaged"),
    "a draft that is damaged": (
        lambda folder: (folder / FOLDER / "draft.md").write_text("---\n"),
        "draft.md is damaged",
    ),
    "a version not known": (edit("summaries/recent.md", "summary 1", "summary 9"), "update Dory"),
    "a text without end": (
        edit("summaries/longterm.md", "thing", "thing" * LIMIT),
        "it may have 1 to 1500",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_kind_of_damage_is_found_and_named(folder: Path, damage: str) -> None:
    change, complaint = DAMAGE[damage]
    change(folder)
    lines = problems(folder)
    assert any(complaint in line for line in lines), lines


def test_a_summary_that_ends_within_a_line_is_found(folder: Path) -> None:
    path = copies(folder)[0]
    summary = read(path)
    assert summary
    before = (folder / "LIFE.md").read_bytes()[: summary.place.end + 9]
    path.write_bytes(
        replace(
            summary, place=LifePosition(summary.last, len(before), zlib.crc32(before[-1024:]))
        ).content
    )
    assert problems(folder) == [f"{FOLDER}/{path.name} does not end where event 6 does in LIFE.md"]


def test_each_damaged_file_is_named_and_the_others_are_looked_at(folder: Path) -> None:
    edit("0", "---", "--")(folder)
    edit("2", "bytes: ", "bytes: 1")(folder)
    edit("summaries/recent.md", "---", "--")(folder)
    lines = problems(folder)
    complaints = [
        f"{copies(folder)[0].name} is damaged",
        "recent.md is damaged",
        "does not end where event 14 does",
    ]
    assert all(sum(part in line for line in lines) == 1 for part in complaints), lines


def test_a_life_that_was_shortened_does_not_hold_what_its_summaries_cover(folder: Path) -> None:
    lines = (folder / "LIFE.md").read_bytes().splitlines(keepends=True)
    (folder / "LIFE.md").write_bytes(b"".join(lines[:16]))
    assert any("does not end where event 18 does" in line for line in problems(folder))


def test_what_a_kill_left_between_two_files_is_no_problem(folder: Path) -> None:
    newest = copies(folder)[-1]
    (folder / FOLDER / "recent.md").write_bytes(
        copies(folder)[-2].read_bytes()
    )  # killed behind the copy
    assert problems(folder) == []
    newest.unlink()  # killed behind the long-term summary
    assert problems(folder) == []


def test_a_copy_that_a_running_agent_made_meanwhile_is_no_problem(folder: Path) -> None:
    for name, number in (("longterm.md", "memories: 1-18"), ("recent.md", "")):
        path = folder / FOLDER / name
        older = copies(folder)[-2].read_text()
        path.write_text(
            older.replace("memories: 15-18", "memories: 1-14" if number else "memories: 15-18")
        )
    (folder / "lock").touch()
    assert any("cover events up to 18, their copies up to 22" in line for line in problems(folder))
    with locks.held(folder):
        assert not any("their copies" in line for line in problems(folder))


def test_the_check_of_a_home_names_the_agent(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    happen(house, 13, at_once=13)
    remove(0)(house.me.folder)
    assert list(check.problems(house.home)) == [
        f"agents/{house.hash}: summaries: the summaries cover events up to 6, their copies up to 0"
    ]
