"""The setting that says which faculties are in use."""

from pathlib import Path

import pytest

from dory.config import Config
from dory.errors import ConfigError
from dory.faculties import ordered
from dory.faculty import Faculties
from tests.household import Household


def names(house: Household, faculties: str) -> list[str]:
    return [one.name for one in ordered(house.me, Config(faculties=faculties))]


def test_those_that_are_named_are_in_use_in_their_order(tmp_path: Path) -> None:
    house = Household(tmp_path)
    assert names(house, Config().faculties)[1:] == ["notes", "recall"]
    assert names(house, " recall,notes ,")[1:] == ["recall", "notes"]
    assert names(house, "recall")[1:] == ["recall"]


def test_with_none_the_core_tools_are_left_and_nothing_is_written(tmp_path: Path) -> None:
    house = Household(tmp_path)
    left = Faculties(ordered(house.me, Config(faculties="")), print)
    left.step()
    assert {"SAY", "UNCOMPACT", "WAIT"} <= {tool.name for tool in left.tools()}
    assert not {"RECALL", "NOTE_ADD"} & {tool.name for tool in left.tools()}
    assert not (house.me.folder / "memory.sqlite").exists()


@pytest.mark.parametrize("wrong", ["notes, recal", "notes, notes", "notes recall"])
def test_one_that_there_is_not_or_twice_is_refused_with_those_that_there_are(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ConfigError, match="faculties must be some of notes, recall, each once"):
        names(Household(tmp_path), wrong)
