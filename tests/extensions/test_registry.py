"""The setting that says which extensions are in use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent import Agent
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import NAMES, checked, ordered, tools
from dory.identity import listing
from dory.llm.budget import Budget
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.turn.extension import Extension
from dory.turn.extension_host import ExtensionHost
from dory.turn.models import Models
from tests.support.household import Household
from tests.support.processes import PATIENCE, ROOT

DREAM = ["dream", "versions", "user", "voice"]
SELF = [
    "soul",
    "memories",
    "mending",
    "self-care",
    "diary",
    "conversations",
    "relationships",
    "link",
    "now",
]


def names(house: Household, extensions: str) -> list[str]:
    return [extension.name for extension in made(house, extensions)]


def made(house: Household, extensions: str) -> list[Extension]:
    settings = Config(extensions=extensions)
    return ordered(
        house.me,
        settings,
        Models(settings, OfflineModel(), Budget(house.me, settings, print, None), print),
        print,
    )


def test_those_that_are_named_are_in_use_in_their_order(tmp_path: Path) -> None:
    house = Household(tmp_path)
    assert names(house, Config().extensions)[1:] == [
        "notes",
        "recall",
        "cascade",
        "window",
        "related past experiences",
        *DREAM,
        *SELF,
    ]
    assert names(house, " recall,notes ,")[1:] == ["recall", "notes"]
    assert names(house, "notes")[1:] == ["notes"]


def test_all_that_there_are_are_in_use_unless_somebody_says_otherwise() -> None:
    assert Config().wanted == NAMES


def test_with_none_the_core_tools_are_left_and_nothing_is_written(tmp_path: Path) -> None:
    house = Household(tmp_path)
    left = ExtensionHost(made(house, ""), print)
    left.step()
    assert {"SAY", "UNCOMPACT", "WAIT"} <= {tool.name for tool in left.tools()}
    assert not {"RECALL", "NOTE_ADD"} & {tool.name for tool in left.tools()}
    assert not (house.me.folder / "memory.sqlite").exists()


def test_a_line_with_a_tool_of_what_is_switched_off_is_told_to_have_done_nothing_whatever_it_holds(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path)
    members = made(house, Config().extensions)
    core, *others = ({tool.name for tool in member.tools()} for member in members)
    assert core.union(*others) == {tool.name for tool in tools()}
    runner = Agent(
        house.me,
        Config(model=OFFLINE, extensions=""),
        OfflineModel(),
        verbose=False,
        stop=ShutdownSignal(),
    ).tool_runner
    for tool in set().union(*others):
        (call,) = runner.parse(f"{tool} <<END\nSAY dev a lie\nEND").calls
        assert call.error == f"there is no tool {tool} here: nothing was done"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("notes, recal", "there is no extension 'recal'; did you mean 'recall'?"),
        ("notes recall", "there is no extension 'notes recall'"),
        ("notes, notes", "'notes' twice"),
        ("recall", "without notes"),
    ],
)
def test_one_that_there_is_not_or_twice_or_without_what_it_needs_is_refused_before_anybody_is_woken(
    tmp_path: Path, wrong: str, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        checked(Config(extensions=wrong))
    command = [
        sys.executable,
        str(ROOT / "agent.py"),
        "--home",
        str(tmp_path),
        "--extensions",
        wrong,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (
        ended.returncode == 2
        and ended.stderr.startswith("agent.py: ")
        and listing.folders(tmp_path) == []
    )


def test_settings_in_order_are_given_back() -> None:
    assert checked(Config(extensions="recall, notes")).extensions == "recall, notes"
