"""Backups and restores as people make them."""

import subprocess
import sys
from pathlib import Path

from tests.support.household import Household
from tests.support.processes import PATIENCE, environment


def program(name: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"dory.{name}", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(home), timeout=PATIENCE
    )


def backup(home: Path, who: str, to: Path) -> None:
    result = program("backup", home, who, str(to))
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


def restore(home: Path, *arguments: str) -> str:
    result = program("restore", home, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def refused(home: Path, *arguments: str) -> str:
    """The one line of a refusal, which has left nothing behind."""
    before = tree(home)
    result = program("restore", home, *arguments)
    assert result.returncode == 2, result.stdout
    (line,) = result.stderr.splitlines()
    assert tree(home) == before
    return line


def tree(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.name != "lock" and path.is_file()
    }


def lived(home: Path) -> Household:
    """A life of a few turns and a compaction."""
    house = Household(home)
    house.hear("dev", "ada", "hello")
    house.respond("SAY dev hello Ada")
    house.fade(house.me.context.entries[:2], "how it began")
    return house
