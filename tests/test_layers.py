"""The layers: a package of ``dory`` imports only from those before it in the one line below, which
CONTRIBUTING.md shows, too.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dory.text.prompt_files import ROOT

LAYERS = (
    "base < text < storage < config < identity < process < chat < llm < search < offline < "
    "turn < extensions < check < cli"
)
ORDER = LAYERS.split(" < ")
COMPOSED = {"recall", "link", "memories"}
"""The extensions that may import from others; so may the registry, ``extensions/__init__.py``."""


def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name, tests aside."""
    files = [
        *ROOT.glob("*.py"),
        *(path for folder in ("dory", "bench", "stress") for path in (ROOT / folder).rglob("*.py")),
    ]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
    }


def layer(module: str, known: dict[str, Path]) -> int:
    """The place of a module in ``LAYERS``; behind them the programs and their short names, then the
    measurements, then the harnesses.
    """
    parts = module.split(".")
    if parts[0] in ("bench", "stress"):
        return len(ORDER) + ("bench", "stress").index(parts[0]) + 1
    if (
        parts[0] == "dory"
        and known[module].parent == ROOT / "dory"
        and module not in ("dory.recall", "dory.backup", "dory.restore", "dory.standin")
    ):
        return 0
    return ORDER.index(parts[1]) if parts[0] == "dory" and parts[1] in ORDER else len(ORDER)


def imported(module: str, known: dict[str, Path]) -> Iterator[str]:
    """The modules of ours that a module imports anywhere: at its top, inside functions, for type
    checking only.
    """
    path = known[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = (
                ".".join(package.split(".")[: len(package.split(".")) - node.level + 1])
                if node.level
                else ""
            )
            base = ".".join(filter(None, (above, node.module)))
            names = [f"{base}.{alias.name}" for alias in node.names]
        for name in names:
            while name and name not in known:
                name = name.rpartition(".")[0]
            if name not in ("", "dory"):
                yield name


def test_the_line_of_layers_stands_in_contributing() -> None:
    assert f"    {LAYERS}\n" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_package_has_its_place_in_the_line() -> None:
    packages = {
        path.name
        for path in (ROOT / "dory").iterdir()
        if path.is_dir() and (path / "__init__.py").exists()
    }
    assert packages == set(ORDER) - {"base"}


def test_a_package_imports_only_from_those_before_it() -> None:
    known = modules()
    wrong = [
        f"{module} imports {name}"
        for module in known
        for name in imported(module, known)
        if layer(name, known) > layer(module, known)
        and not (module.startswith("bench.") and name.startswith("stress."))
    ]
    assert wrong == []


def test_an_extension_imports_from_no_other_but_where_it_is_made_of_others() -> None:
    known = modules()
    wrong = [
        f"{module} imports {name}"
        for module in known
        for name in imported(module, known)
        if module.startswith("dory.extensions.")
        and name.startswith("dory.extensions.")
        and module.split(".")[2] not in {name.split(".")[2], *COMPOSED}
    ]
    assert wrong == []


def test_the_modules_of_a_package_import_each_other_without_cycles() -> None:
    known = modules()
    graph = {
        module: {name for name in imported(module, known) if name != module} for module in known
    }
    while leaves := {module for module, names in graph.items() if not names}:
        graph = {module: names - leaves for module, names in graph.items() if module not in leaves}
    assert graph == {}


def test_the_walk_sees_every_form_of_import(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        "from typing import TYPE_CHECKING\n"
        "from dory.storage import files\nfrom dory.text import references\n"
        "import dory.identity.life\n"
        "if TYPE_CHECKING:\n    from dory.storage.blobs import Blobs\n"
        "def f():\n    from dory.offline.server import Server\n    from . import "
        "clock\n    from .chat import session\n"
    )
    known = {**modules(), "dory.source": source}
    assert set(imported("dory.source", known)) == {
        "dory.storage.files",
        "dory.text.references",
        "dory.identity.life",
        "dory.storage.blobs",
        "dory.offline.server",
        "dory.clock",
        "dory.chat.session",
    }


def test_starting_a_program_loads_no_heavy_library() -> None:
    heavy = {"openai", "httpx2", "rich", "prompt_toolkit", "yaml", "numpy", "dulwich"}
    code = f"import sys, agent, chat, clean; print(*{heavy} & set(sys.modules))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        == "\n"
    )
