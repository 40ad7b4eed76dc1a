"""The index of related experiences after a start: it is held against the copies of the summaries,
beside the loop.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from dory.config.profiles import CascadeSettings
from dory.extensions.cascade.store import FOLDER, copies
from dory.storage.database import NAME
from tests.support.cascading import SMALL, happen, lined, related
from tests.support.compacting import House, Scripted
from tests.support.remembering import step


def house(tmp_path: Path, memories: int) -> House:
    """A life with summaries."""
    made = House(tmp_path, Scripted(), cascade=SMALL, extensions="cascade")
    happen(made, memories)
    return made


def wake(house: House) -> None:
    house.wake()
    step(house)


def found(house: House) -> list[tuple[int, int]]:
    """What the index covers."""
    return sorted((one.first, one.last) for one in related(house, "a thing of this life"))


def told(house: House) -> list[str]:
    """The notices of damage."""
    return [entry.body for entry in house.me.context if "is damaged" in entry.body]


def test_what_no_copy_backs_goes_when_an_older_life_was_put_back(tmp_path: Path) -> None:
    one = house(tmp_path, 22)
    backup = shutil.copytree(one.me.folder / FOLDER, tmp_path / "backup")
    before = lined(one)
    happen(one, 34)
    assert len(found(one)) == len(lined(one)) > len(before)
    shutil.rmtree(one.me.folder / FOLDER)
    shutil.copytree(backup, one.me.folder / FOLDER)
    one.config = replace(one.config, cascade=CascadeSettings())  # no run is due
    wake(one)
    assert found(one) == lined(one) == before


def test_without_any_copy_nothing_is_left(tmp_path: Path) -> None:
    one = house(tmp_path, 13)
    shutil.rmtree(one.me.folder / FOLDER)
    one.config = replace(one.config, cascade=CascadeSettings())  # no run is due
    wake(one)
    assert found(one) == []


def test_a_copy_that_is_in_the_index_is_not_read_and_one_that_is_not_is_told_when_it_is_damaged(
    tmp_path: Path,
) -> None:
    one = house(tmp_path, 34)
    copies(one.me.folder)[1].write_bytes(b"damage")
    wake(one)
    assert told(one) == [] and len(found(one)) == len(copies(one.me.folder))
    for file in one.me.folder.glob(f"{NAME}*"):
        file.unlink()
    wake(one)
    assert len(told(one)) == 1 and len(found(one)) == len(copies(one.me.folder)) - 1


def test_what_only_looks_like_a_copy_is_passed_over(tmp_path: Path) -> None:
    one = house(tmp_path, 22)
    (one.me.folder / FOLDER / "recent-20250101-000000 (old).md").write_bytes(b"of somebody else")
    wake(one)
    assert told(one) == [] and len(found(one)) == len(copies(one.me.folder)) - 1
