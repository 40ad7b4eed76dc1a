"""The floors: a room imports only from below. The table in CONTRIBUTING.md is the law, and this reads it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dory.texts import HOUSE

ROW = re.compile(r"\| (\d+) \| (.+) \|")


def floors() -> dict[str, int]:
    """The floor of every room, from the rows ``| 2 | blobs, life, rooms |`` below the heading "Floors"."""
    section = (HOUSE / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Floors\n")[2].partition("\n## ")[0]
    rows = [(int(row[1]), name.strip(" `")) for row in map(ROW.fullmatch, section.splitlines()) if row for name in row[2].split(",")]
    assert len(rows) == len({name for _, name in rows}), "a room stands in two rows"
    return {name: floor for floor, name in rows}


def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name, tests aside."""
    files = [*HOUSE.glob("*.py"), *(HOUSE / "dory").rglob("*.py"), *(HOUSE / "bench").rglob("*.py")]
    return {".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def room_of(module: str) -> str:
    """The room that a module belongs to: the part behind ``dory``, or the program at the top."""
    parts = module.split(".")
    return parts[1] if parts[0] == "dory" and len(parts) > 1 else parts[0]


def imported(module: str, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a module imports anywhere: at its top, inside functions, for type checking only."""
    path = known[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            names = [f"{base}.{alias.name}" for alias in node.names]
        for name in names:
            while name and name not in known:
                name = name.rpartition(".")[0]
            if name not in ("", "dory"):
                yield name


def test_every_room_has_its_floor_and_every_floor_its_rooms() -> None:
    rooms = {room_of(module) for module in modules()} - {"dory"}
    assert set(floors()) == rooms


def test_a_room_imports_only_from_floors_below_its_own() -> None:
    known, floor = modules(), floors()
    wrong = [
        f"{module} (floor {floor[room_of(module)]}) imports {name} (floor {floor[room_of(name)]})"
        for module in known
        for name in imported(module, known)
        if room_of(name) != room_of(module) and floor[room_of(name)] >= floor[room_of(module)]
    ]
    assert wrong == []


def test_the_modules_of_a_package_import_each_other_without_cycles() -> None:
    known = modules()
    graph = {module: {name for name in imported(module, known) if name != module} for module in known}
    while leaves := {module for module, names in graph.items() if not names}:
        graph = {module: names - leaves for module, names in graph.items() if module not in leaves}
    assert graph == {}


def test_the_walk_sees_every_form_of_import(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        "from typing import TYPE_CHECKING\n"
        "from dory import files, refs\n"
        "import dory.life\n"
        "if TYPE_CHECKING:\n    from dory.blobs import Blobs\n"
        "def f():\n    from dory.standin.server import Server\n    from . import clock\n    from .terminal import visit\n"
    )
    known = {**modules(), "dory.source": source}
    assert set(imported("dory.source", known)) == {
        "dory.files",
        "dory.refs",
        "dory.life",
        "dory.blobs",
        "dory.standin.server",
        "dory.clock",
        "dory.terminal.visit",
    }


def test_starting_a_program_loads_no_heavy_library() -> None:
    heavy = {"openai", "httpx2", "rich", "prompt_toolkit", "yaml", "numpy", "dulwich"}
    code = f"import sys, agent, chat, clean; print(*{heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=HOUSE, capture_output=True, text=True, check=True).stdout == "\n"
