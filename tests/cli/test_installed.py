"""Dory installed as a package: the wheel in an environment of its own, without the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from dory import __version__
from dory.text.prompt_files import ROOT
from tests.support.processes import environment

LIMIT = 300.0
"""Seconds for one step."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True, timeout=LIMIT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ``dory`` and ``python`` of an environment in which the wheel is installed. It
    takes the dependencies from the environment of the tests, so no network is needed.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=LIMIT)
    python = folder / "bin" / "python"
    options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    install = [str(python), "-m", "pip", "install", *options, str(wheel)]
    subprocess.run(install, check=True, timeout=LIMIT)
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    return python.parent


def dory(
    folder: Path, where: Path, *arguments: str, said: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run ``dory`` in an unrelated folder; the user's data folder is ``where``/data."""
    variables = environment(where) | {"XDG_DATA_HOME": str(where / "data")}
    del variables["DORY_HOME"]
    variables.pop("PYTHONPATH", None)
    work = where / "work"
    work.mkdir(exist_ok=True)
    command = [str(folder / "dory"), *arguments]
    return subprocess.run(
        command, cwd=work, env=variables, input=said, capture_output=True, text=True, timeout=LIMIT
    )


@pytest.mark.slow
def test_the_wheel_holds_the_programs_and_the_prompts_and_nothing_at_the_top_but_dory(
    wheel: Path,
) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "dory",
        f"dory_agent-{__version__}.dist-info",
    }
    programs = {"agent.py", "chat.py", "clean.py", "SOUL.md", "SEGMENT.md", "SUMMARISE.md"}
    prompts = {f"prompts/{path.name}" for path in (ROOT / "prompts").iterdir()}
    assert {f"dory/program/{name}" for name in programs | prompts} <= set(names)


@pytest.mark.slow
def test_dory_boots_and_answers_without_the_checkout_and_keeps_its_state_in_the_data_folder(
    python_folder: Path, tmp_path: Path
) -> None:
    version = dory(python_folder, tmp_path, "--version")
    assert (version.returncode, version.stdout) == (0, f"dory {__version__}\n")
    told = dory(python_folder, tmp_path, "chat", "dev", "--boot", said="my cat is called Tom\n")
    assert told.returncode == 0 and "Tom" in told.stdout, told
    assert "`dory chat dev --boot` brings it back" in told.stderr
    home = tmp_path / "data" / "dory"
    assert {"agents", "blobs", "chats"} <= set(os.listdir(home))
    assert os.listdir(tmp_path / "work") == []
    (hash,) = (path.name for path in (home / "agents").iterdir() if path.is_dir())
    assert hash in dory(python_folder, tmp_path, "agent", "--list").stdout
    assert "Tom" in dory(python_folder, tmp_path, "recall", hash[:4], "cat").stdout
    checked = dory(python_folder, tmp_path, "clean", "--check")
    assert checked.stdout == f"{home}: everything is whole\n"


@pytest.mark.slow
def test_dory_alone_wakes_the_agent_and_chats_and_a_home_wins_over_the_data_folder(
    python_folder: Path, tmp_path: Path
) -> None:
    alone = dory(python_folder, tmp_path, said="hello\n")
    assert alone.returncode == 0 and "Hello" in alone.stdout, alone
    elsewhere = tmp_path / "elsewhere"
    empty = dory(python_folder, tmp_path, "agent", "--list", "--home", str(elsewhere))
    boot = f"dory agent --home {elsewhere}"
    assert empty.stdout == f"nobody lives in {elsewhere} yet: '{boot}' boots an agent\n"
    shutil.rmtree(tmp_path / "data")
