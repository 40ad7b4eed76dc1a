"""Homes in which files are pipes, devices or folders: no program waits for them, and each is named.
A process of its own looks, as one that hangs must end.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.household import Household

NAMES = (
    *("state.json", "LIFE.md", "context.md", "settings.yaml", "history.jsonl", "MEMORY.md"),
    *("soul.json", "lock", ".cursor", "SEGMENT.md", "../../dory.yaml"),
)
LOOKING = """
import os, sys
from pathlib import Path
from dory import check
from dory.config import loader
from dory.identity import listing
from dory.storage import locks

kind, folder, *names = sys.argv[1:]
for name in names:
    path = Path(folder) / name
    aside = path.with_name(f".aside-{path.name}")
    if path.exists():
        path.rename(aside)
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    try:
        problems = list(check.problems(Path(folder).parent.parent))
        if path.name == "dory.yaml":
            loader.home_layer(path)
        if name == "lock":
            with locks.held(Path(folder)):
                pass
    except Exception as error:
        problems = [str(error)]
    print(name, "|".join(problems).replace(chr(10), "<newline>"))
    path.unlink()
    if aside.exists():
        aside.rename(path)
"""


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_files_that_are_none_are_told_and_stop_nobody(tmp_path: Path, kind: str) -> None:
    house = Household(tmp_path)
    house.hear("dev", "ada", "hello")
    house.respond("SAY dev hello")
    house.me.commit()
    told = subprocess.run(
        [sys.executable, "-c", LOOKING, kind, str(house.me.folder), *NAMES],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    for name, line in zip(NAMES, told.splitlines(), strict=True):
        assert line.startswith(f"{name} "), line
        assert Path(name).name in line.removeprefix(name), line
        assert "newline" not in line, line
