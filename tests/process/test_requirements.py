"""With a Python that lacks something, every program says so in one line."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from dory import check
from dory.process.requirements import NAMES
from tests.support.household import Household
from tests.support.processes import ROOT, environment

PROGRAMS = [
    ["agent.py"],
    ["chat.py", "dev"],
    ["clean.py", "--check"],
    ["-m", "dory.recall", "5d41", "tea"],
    ["-m", "dory.offline"],
    ["-m", "dory.cli.main"],
]


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=40,
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[-1])
def test_without_the_requirements_a_program_names_them_and_the_python_that_has_them(
    tmp_path: Path, program: list[str]
) -> None:
    ended = run(tmp_path, "-S", *program)
    assert ended.returncode == 2 and ended.stdout == "" and list(tmp_path.iterdir()) == []
    assert ended.stderr == (
        f"this Python has no {', '.join(NAMES)}: use .venv/bin/python, which `make run` sets up\n"
    )


def test_help_names_them_too_for_it_needs_one_of_them(tmp_path: Path) -> None:
    ended = run(tmp_path, "-S", "agent.py", "--help")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith("this Python has no ")


def test_an_older_python_is_told_so_in_one_line(tmp_path: Path) -> None:
    ended = run(tmp_path, "-c", "import sys; sys.version_info = (3, 10, 14); import dory")
    assert (ended.returncode, ended.stdout) == (2, "") and ended.stderr.startswith(
        "Dory needs Python 3.11 or newer: "
    )
    assert ended.stderr.count("\n") == 1


def test_the_list_is_that_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [re.split("[<>=]", text)[0] for text in project["dependencies"]]
    distributions = packages_distributions()
    assert {distributions[name][0].lower() for name in NAMES} == {name.lower() for name in named}


CLOSING = """
import os, sys
for number in {}:
    os.close(number)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
LEAVING = """
import os, sys
os.chdir({0!r})
os.rmdir({0!r})
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.mark.parametrize("closed", [[0], [1], [2], [0, 1, 2]], ids=str)
@pytest.mark.parametrize(
    "program",
    [["agent.py", "--list"], ["chat.py", "dev"], ["clean.py"], ["-m", "dory.recall", "5d41", "a"]],
    ids=lambda program: program[-1],
)
def test_whoever_starts_a_program_may_have_closed_its_streams(
    tmp_path: Path, program: list[str], closed: list[int]
) -> None:
    home = Household(tmp_path).home
    ended = run(home, "-c", CLOSING.format(closed), *program)
    assert ended.returncode in (0, 1, 2) and "Traceback" not in ended.stderr, ended
    assert list(check.problems(home)) == []


@pytest.mark.parametrize("program", [["agent.py", "--list"], ["chat.py", "dev"], ["clean.py"]])
def test_a_current_folder_that_is_gone_is_told_in_one_line(
    tmp_path: Path, program: list[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    file, *arguments = program
    command = [str(ROOT / file), *arguments, "--home", "elsewhere"]
    ended = run(tmp_path, "-c", LEAVING.format(str(gone)), *command)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr, ended
    assert "the current folder does not exist any more" in ended.stderr
