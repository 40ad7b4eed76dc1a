"""With a Python that lacks something, every program says so in one line."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from dory.process.requirements import NAMES
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
