"""Extensions of other packages: the example is installed and used, and a broken one is reported."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import checked, entry_points
from tests.support.processes import PATIENCE, ROOT, chat

EXAMPLE = ROOT / "examples" / "dory-dice"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example installed in it."""
    folder = tmp_path_factory.mktemp("packages")
    source = folder / "source"
    source.mkdir()
    for file in EXAMPLE.iterdir():
        if file.is_file():
            (source / file.name).write_bytes(file.read_bytes())
    target = folder / "site"
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target)]
    subprocess.run([*command, str(source)], check=True, capture_output=True, timeout=4 * PATIENCE)
    return target


@pytest.fixture
def installed(packages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", str(packages))
    yield packages


def test_an_agent_uses_an_extension_of_another_package(tmp_path: Path, installed: Path) -> None:
    (tmp_path / "dory.yaml").write_text("extensions: notes, dice\n")
    rolled = chat(
        tmp_path, "--boot", said="please do: ROLL_DICE 2d6\n/dice 3d4\n/dice 2x6\n/help\n"
    )
    assert rolled.returncode == 0, rolled
    assert re.search(r"3d4: [1-4] \+ [1-4] \+ [1-4] = \d+", rolled.stdout)
    assert "'2x6' is no dice: write 2d6 for two dice of six sides" in rolled.stdout
    assert "/dice 2d6  roll dice" in rolled.stdout
    blobs = [path.read_text() for path in (tmp_path / "blobs").rglob("*.md")]
    assert any(re.search(r"2d6: [1-6] \+ [1-6] = \d+", text) for text in blobs)


def test_it_is_used_only_if_the_setting_names_it(installed: Path) -> None:
    assert "dice" in entry_points.names()
    assert "dice" not in Config().wanted
    assert checked(Config(extensions="notes, dice")).wanted == ("notes", "dice")
    with pytest.raises(ConfigError, match=r"there is no extension 'dise'; did you mean 'dice'\?"):
        checked(Config(extensions="dise"))


BROKEN = {
    "missing": ("import nowhere_at_all", r"'missing' of broken cannot be imported \(ModuleNot"),
    "raising": ("1 / 0", r"'raising' of broken cannot be imported \(ZeroDivisionError"),
    "lacking": ("", r"'lacking' of broken cannot be imported \(AttributeError"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_that_cannot_be_imported_is_one_line_that_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    code, complaint = BROKEN[name]
    (tmp_path / f"broken_{name}.py").write_text(code)
    info = tmp_path / "broken-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[dory.extensions]\n{name} = broken_{name}:make\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=complaint):
        checked(Config(extensions=name))


def test_one_that_makes_something_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "strange_extension.py").write_text("def make(shared): return [shared]\n")
    info = tmp_path / "strange-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[dory.extensions]\nstrange = strange_extension:make\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"'strange' of strange is no list of"):
        entry_points.factory("strange")("anything")
