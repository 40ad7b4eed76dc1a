"""The house rules, and the README held to its word: sizes, docstrings, what may be caught, and
every command and option that it names.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from dory.config.settings import Config
from dory.identity import listing
from dory.text.prompt_files import ROOT
from tests.support.processes import agent

FOLDERS = ("dory", "bench", "stress", "examples")
PROGRAM = sorted(
    [*ROOT.glob("*.py"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))]
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))
COMMAND = re.compile(r"python ((?:agent|chat|clean)\.py|-m [a-z.]+)([^`#|\n]*)")


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
    assert catching <= {"extension.py"}


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


def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@cache
def help_of(program: str) -> str:
    """What a program says of its options: ``agent.py``, or ``-m dory.standin``."""
    command = [sys.executable, *program.split(), "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_readme_names_every_command() -> None:
    assert {"agent.py", "chat.py", "clean.py"} <= {
        program for program, _ in COMMAND.findall(readme())
    }


@pytest.mark.parametrize("program", ["agent.py", "chat.py", "clean.py", "others"])
def test_the_options_that_the_readme_names_exist(program: str) -> None:
    for named, arguments in COMMAND.findall(readme()):
        if named == program or (program == "others" and named.startswith("-m ")):
            for option in re.findall(r"--[a-z][a-z-]*", arguments):
                assert re.search(rf"{option}\b(?!-)", help_of(named)), f"{named} {option}"
            assert help_of(named)


def test_the_options_that_the_readme_names_outside_of_commands_belong_to_some_program() -> None:
    everything = "".join(
        help_of(program) for program in sorted({named for named, _ in COMMAND.findall(readme())})
    )
    for option in set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", readme())):
        assert re.search(rf"{option}\b(?!-)", everything), option


def test_the_make_targets_that_the_readme_names_exist() -> None:
    targets = re.findall(
        r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    named = set(re.findall(r"(?:^    |`)make ([a-z]+)", readme(), re.MULTILINE))
    assert named >= {"run", "test"} and named <= set(targets)


def settings() -> str:
    """The dory.yaml that the README shows."""
    file = re.search(r"^    # dory\.yaml\n((?:    .*\n)+)", readme(), re.MULTILINE)
    return dedent(file[0]) if file else ""


def test_an_agent_boots_with_the_settings_in_the_readme(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text(settings(), encoding="utf-8")
    with agent(tmp_path) as process:
        assert process.poll() is None and listing.listening(tmp_path, "dev")


def test_the_settings_in_the_readme_exist() -> None:
    known = {one.name for one in fields(Config)}
    assert set(yaml.safe_load(settings())) <= known
    variables = {name.lower() for name in re.findall(r"DORY_([A-Z_]+)", readme())}
    assert variables - {"home"} <= known


def test_the_files_and_slash_commands_that_the_readme_names_exist() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", readme()):
        assert (ROOT / link).exists(), link
    rooms = [*(ROOT / "dory").rglob("*.py")]
    commands = "".join(path.read_text(encoding="utf-8") for path in rooms)
    for row in re.findall(r"^\| `/.*", readme(), re.MULTILINE):
        for name in re.findall(r"`/([a-z-]+)", row):
            assert f'Command("{name}"' in commands


@pytest.mark.parametrize("one", fields(Config), ids=lambda one: one.name)
def test_every_setting_is_a_documented_flag(one: object) -> None:
    name = getattr(one, "name", "")
    assert f"--{name.replace('_', '-')} " in help_of("agent.py")


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
    for one in fields(Config):
        assert re.search(
            rf"^{one.name} += .*{re.escape(one.metadata['meaning'])}$", listed, re.MULTILINE
        ), one.name
