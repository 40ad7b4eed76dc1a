"""Rules for the whole repository: sizes, docstrings, which exceptions may be caught, and that every
setting is a documented flag.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from dory.config.settings import Config
from dory.text.prompt_files import ROOT

FOLDERS = ("dory", "bench", "stress", "examples")
PROGRAM = sorted(
    [*ROOT.glob("*.py"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))]
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def caught(path: Path) -> Iterator[tuple[str, ast.ExceptHandler]]:
    """Every name that an ``except`` of this file names; ``""`` for a bare one."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            for kind in kinds:
                yield ast.unparse(kind) if kind else "", node


@pytest.mark.parametrize("path", [*PROGRAM, *TESTS], ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_stay_within_their_limits_and_say_what_they_are(path: Path) -> None:
    limit = 150 if path == ROOT / "agent.py" else 400
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit
    assert (path.name == "__init__.py" and path in TESTS) or ast.get_docstring(tree(path))
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 40, node.name


def test_only_the_extension_boundary_catches_every_exception() -> None:
    catching = {
        path.name for path in PROGRAM for name, _ in caught(path) if name in ("Exception", "")
    }
    # of the agent: where work beside the loop is retried, and where it ends; of other packages
    assert catching <= {"extension_host.py", "boundary.py", "entry_points.py"}


def test_what_ends_the_process_is_caught_only_to_clean_up_or_at_the_top_of_a_thread() -> None:
    for path in PROGRAM:
        for name, handler in caught(path):
            if name == "BaseException" and path.name != "jobs.py":
                assert isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None, (
                    path
                )


def test_no_code_asks_whether_it_is_under_test() -> None:
    for path in PROGRAM:
        assert not re.search(
            r"pytest|unittest|PYTEST|under_test", path.read_text(encoding="utf-8")
        ), path


OPENING = {
    "dory/cli/output.py": "/dev/null",
    "dory/llm/local/serve.py": "the lock of a folder that it has to itself",
    "dory/process/requirements.py": "/dev/null, and streams that are open",
    "dory/regular_files.py": "the one that looks what it opens",
    "dory/storage/archive.py": "a file that a person names, and files that it makes itself",
    "dory/storage/file_locks.py": "/proc",
    "dory/storage/files.py": "drafts that it makes itself",
    "dory/storage/locks.py": "/proc",
    "dory/text/prompt_files.py": "prompts of the program",
    "dory/turn/lessons.py": "lessons of the program",
}
"""The modules that open a path as it is, and what they open."""


def opening(path: Path) -> Iterator[str]:
    """The calls in a module that open a path as it is, be it a pipe or a device: neither a folder,
    nor what ``open_regular`` has opened.
    """
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            shown = ast.unparse(node)
            if re.search(r"\.(read|write)_(text|bytes)$", ast.unparse(node.func)) or (
                ast.unparse(node.func) in ("open", "os.open", "io.open")
                and not re.search(
                    r"O_DIRECTORY|_FOLDER|^open\((open_regular|[\w.]*opened)\(", shown
                )
            ):
                yield shown


def test_no_file_of_a_home_is_opened_without_a_look_at_its_kind() -> None:
    """A pipe in the place of a file would stop the program for good, a device never ends."""
    found = {
        str(path.relative_to(ROOT)): [*opening(path)] for path in (ROOT / "dory").rglob("*.py")
    }
    assert {path for path, calls in found.items() if calls} == set(OPENING), found


@cache
def help_of_the_agent() -> str:
    command = [sys.executable, "agent.py", "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", [setting.name for setting in fields(Config)])
def test_every_setting_is_a_documented_flag(name: str) -> None:
    assert f"--{name.replace('_', '-')} " in help_of_the_agent()


def test_every_setting_is_listed_with_its_meaning(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "agent.py",
        "--home",
        str(tmp_path),
        "--settings",
        "--model",
        "offline",
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for setting in fields(Config):
        meaning = re.escape(setting.metadata["meaning"])
        assert re.search(rf"^{setting.name} += .*{meaning}$", listed, re.MULTILINE), setting.name
