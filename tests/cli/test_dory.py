"""The command dory in a checkout: it starts the programs, helps, and completes."""

import subprocess
import sys
from pathlib import Path

import pytest

from dory import __version__
from dory.cli.programs import PROGRAMS
from tests.support.household import Household
from tests.support.processes import PATIENCE, ROOT, environment


def dory(home: Path, *arguments: str, said: str = "", **more: str) -> tuple[int, str, str]:
    """Exit code, output and errors of ``dory``."""
    ended = subprocess.run(
        [sys.executable, "-m", "dory.cli.main", *arguments],
        cwd=ROOT,
        env=environment(home) | more,
        input=said,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_it_tells_its_version_and_every_program(tmp_path: Path) -> None:
    assert dory(tmp_path, "--version") == (0, f"dory {__version__}\n", "")
    code, text, _ = dory(tmp_path, "--help")
    assert code == 0 and all(f"\n  {name} " in text for name in (*PROGRAMS, "completion"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_starts_each_program_with_its_own_command_line(tmp_path: Path, name: str) -> None:
    code, text, _ = dory(tmp_path, name, "--help")
    assert code == 0 and text.startswith(f"Usage: dory {name} ")
    code, _, error = dory(tmp_path, name, "--hmoe", "x")
    assert code == 2 and error.startswith(f"dory {name}: No such option '--hmoe'")
    assert error.count("\n") == 1


def test_alone_it_boots_an_agent_and_chats(tmp_path: Path) -> None:
    code, text, error = dory(tmp_path, said="hello\n")
    assert code == 0 and "Hello" in text and "is up" in error


def test_the_programs_work_on_the_home_that_is_named(tmp_path: Path) -> None:
    house = Household(tmp_path)
    assert house.hash in dory(tmp_path / "other", "agent", "--list", "--home", str(tmp_path))[1]
    assert "everything is whole" in dory(tmp_path, "clean", "--check")[1]


def test_a_misspelt_program_is_one_line_that_names_the_nearest(tmp_path: Path) -> None:
    told = "dory: No such command 'agnt'. Did you mean 'agent'?\n"
    assert dory(tmp_path, "agnt", "--list") == (2, "", told)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_prints_the_script_that_completes_in_a_shell(tmp_path: Path, shell: str) -> None:
    code, text, _ = dory(tmp_path, "completion", shell)
    assert code == 0 and "_DORY_COMPLETE" in text


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("dory cl", ["clean"]),
        ("dory agent --context", ["--context-limit"]),
        ("dory chat --bo", ["--boot"]),
        ("dory clean --ye", ["--yes"]),
        ("dory recall 1a2b --du", ["--dump"]),
        ("dory offline --la", ["--latency"]),
    ],
)
def test_it_completes_programs_and_their_flags(
    tmp_path: Path, typed: str, completed: list[str]
) -> None:
    variables = {
        "_DORY_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    _, text, _ = dory(tmp_path, **variables)
    assert [line.partition(",")[2] for line in text.splitlines()] == completed


def test_a_home_from_before_wakes_with_its_former_settings(tmp_path: Path) -> None:
    house = Household(tmp_path)
    (tmp_path / "dory.yaml").write_text("faculties: notes, recall\nmodel: stand-in\n")
    code, text, error = dory(tmp_path, "agent", "--detach", house.hash[:4])
    assert code == 0 and "lives in the background" in text
    assert error.splitlines() == [
        "dory agent: setting 'faculties' is called 'extensions' now",
        "dory agent: model 'stand-in' is called 'offline' now",
    ]
    assert "has ended" in dory(tmp_path, "agent", "--stop", house.hash[:4])[1]
    log = (house.me.folder / "agent.log").read_text().splitlines()
    assert log[:2] == [
        "agent.py: setting 'faculties' is called 'extensions' now",
        "agent.py: model 'stand-in' is called 'offline' now",
    ]
    assert "is awake" in log[2]
