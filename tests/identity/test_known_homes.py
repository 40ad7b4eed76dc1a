"""Which homes a person knows without an answer: their usual one, and those that are made here."""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from dory.identity import known_homes
from dory.text.prompt_files import ROOT
from tests.cli.test_consent import GOOD, UNKEPT, agree
from tests.support.wire import KEY


def test_the_usual_home_of_an_installed_dory_is_known_though_it_has_settings_before_an_agent(
    tmp_path: Path,
) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dory", tmp_path / "site" / "dory", ignore=ignored)
    (tmp_path / "site" / "dory" / "program").mkdir()  # by which Dory knows that it is installed
    usual = tmp_path / "data" / "dory"
    usual.mkdir(parents=True)
    (usual / "dory.yaml").write_text("model: offline\n")
    asked = (
        "import sys; from pathlib import Path; from dory.identity import known_homes\n"
        "print([known_homes.knows(Path(home)) for home in sys.argv[1:]])"
    )
    variables = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", asked, str(usual), str(tmp_path / "site")],
        cwd=tmp_path / "site",
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[True, False]\n"


def test_many_who_settle_at_once_settle_in_one_home(tmp_path: Path) -> None:
    places = [tmp_path / str(number) for number in range(60)]
    settling = (
        "import sys; from pathlib import Path; from dory.identity import known_homes\n"
        "sys.stdin.read()\n"
        "for place in sys.argv[1:]: known_homes.settle(Path(place))"
    )
    command = [sys.executable, "-c", settling, *map(str, places)]
    start, begin = os.pipe()
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(subprocess.Popen(command, cwd=ROOT, stdin=start))
        os.close(start)
        os.close(begin)  # now all of them begin
    assert [place.name for place in places if not known_homes.knows(place)] == []


def test_a_new_home_that_cannot_be_noted_as_known_is_told_at_its_first_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("DORY_API_KEY", KEY)
    (told,) = agree(tmp_path / "new", "--base-url", GOOD, "--model", "m")
    assert told.startswith(UNKEPT)
