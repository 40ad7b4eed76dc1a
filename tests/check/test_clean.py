"""clean.py as people run it: it shows, asks, refuses beside a running agent, and checks."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dory.errors import Busy
from dory.identity.create import boot
from dory.storage import locks
from dory.text.prompt_files import ROOT
from tests.support.household import Household

STATE = [".dory", "agents", "blobs", "chats"]


def clean(home: Path, *options: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    """Run it on ``home``, with ``answer`` typed."""
    command = [sys.executable, str(ROOT / "clean.py"), "--home", str(home), *options]
    return subprocess.run(command, input=answer, capture_output=True, text=True)


@pytest.fixture
def house(tmp_path: Path) -> Household:
    (tmp_path / "dory.yaml").write_text("name: nemo\n")
    return Household(tmp_path)


def test_it_shows_what_goes_and_asks_and_anything_but_yes_removes_nothing(house: Household) -> None:
    for answer in ("", "\n", "n\n", "maybe\n"):
        ended = clean(house.home, answer=answer)
        assert ended.returncode == 1 and ended.stdout.endswith("nothing was removed\n"), ended
        assert "Remove all of it? It cannot be undone. [y/N]" in ended.stdout
        assert [line.split()[:2] for line in ended.stdout.splitlines()[1:4]] == [
            ["agents/", "1"],
            ["chats/", "1"],
            ["blobs/", "1"],
        ]
    assert sorted(os.listdir(house.home)) == [*STATE, "dory.yaml"]
    house.restart()


@pytest.mark.parametrize(("options", "answer"), [(["--yes"], ""), ([], "y\n"), ([], " Yes \n")])
def test_agreed_it_removes_the_state_and_nothing_else(
    house: Household, options: list[str], answer: str
) -> None:
    ended = clean(house.home, *options, answer=answer)
    assert ended.returncode == 0 and ended.stdout.endswith("removed\n")
    assert os.listdir(house.home) == ["dory.yaml"]
    assert (
        clean(house.home, "--yes").stdout
        == f"{house.home} holds no agents, rooms or blobs: nothing to do\n"
    )


def test_it_refuses_while_an_agent_runs_even_if_told_yes(house: Household) -> None:
    with locks.held(house.me.folder):
        ended = clean(house.home, "--yes")
    assert ended.returncode == 2
    way = f"python agent.py --stop {house.hash[:8]} --home {house.home}"
    assert (
        ended.stderr
        == f"clean.py: {house.me.name} (process {os.getpid()}) runs: stop it first: {way}\n"
    )
    assert sorted(os.listdir(house.home)) == [*STATE, "dory.yaml"]


def test_a_link_in_place_of_a_folder_is_named_before_anything_is_removed(house: Household) -> None:
    (house.home / "blobs").rename(house.home / "elsewhere")
    (house.home / "blobs").symlink_to("elsewhere")
    ended = clean(house.home, "--yes")
    assert ended.returncode == 2 and "blobs is no folder but a link" in ended.stderr
    assert sorted(os.listdir(house.home)) == sorted([*STATE, "dory.yaml", "elsewhere"])
    assert os.listdir(house.home / "elsewhere")


@pytest.mark.parametrize(
    "foreign",
    ["agents/planner.py", "chats/readme.md", "chats/export.csv", "blobs/cat.png", "links/a.html"],
)
def test_what_dory_has_not_made_is_named_and_nothing_is_removed(
    house: Household, foreign: str
) -> None:
    (house.home / foreign).parent.mkdir(exist_ok=True)
    (house.home / foreign).write_text("somebody's work\n")
    ended = clean(house.home, "--yes")
    assert ended.returncode == 2 and ended.stderr.startswith(f"clean.py: {foreign} in ")
    assert (house.home / foreign).read_text() == "somebody's work\n"
    house.restart()


def test_another_projects_folders_are_no_home(tmp_path: Path) -> None:
    for name in ("agents", "chats", "links"):
        (tmp_path / name).mkdir()
    ended = clean(tmp_path, "--yes")
    assert ended.returncode == 2 and "is no home of Dory" in ended.stderr
    assert sorted(os.listdir(tmp_path)) == ["agents", "chats", "links"]


def test_a_home_from_before_there_was_a_marker_is_known_by_its_identities(
    house: Household,
) -> None:
    (house.home / ".dory").unlink()
    assert clean(house.home, "--yes").returncode == 0
    assert os.listdir(house.home) == ["dory.yaml"]


def test_an_agent_that_starts_while_the_person_thinks_keeps_its_life(house: Household) -> None:
    command = [sys.executable, str(ROOT / "clean.py"), "--home", str(house.home)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        shown = ""
        while "[y/N]" not in shown:
            shown += process.stdout.read(1)
        with locks.held(house.me.folder):
            _, complaint = process.communicate("y\n")
    assert process.returncode == 2 and "runs already" in complaint
    house.restart()


def test_a_home_that_is_being_wiped_boots_nobody(house: Household) -> None:
    fd = os.open(house.home / "agents", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        with pytest.raises(Busy, match="is being wiped by another process"):
            boot(house.home, "late", "dev", house.clock)
    finally:
        os.close(fd)


def test_a_wipe_that_was_interrupted_is_completed_by_the_next(house: Household) -> None:
    (house.home / ".dory-wiped").mkdir()
    (house.home / "blobs").rename(house.home / ".dory-wiped" / "blobs")
    assert clean(house.home, "--yes").returncode == 0
    assert os.listdir(house.home) == ["dory.yaml"]


def test_the_check_tells_by_its_exit_code_whether_all_is_whole_also_beside_a_running_agent(
    house: Household,
) -> None:
    with locks.held(house.me.folder):
        ended = clean(house.home, "--check")
    assert (ended.returncode, ended.stdout) == (0, f"{house.home}: everything is whole\n")
    house.me.blobs.path(house.hash).unlink()
    (house.me.rooms.path("lab")).write_text("[dory-room 2]\n")
    ended = clean(house.home, "--check", "--yes")
    assert ended.returncode == 1 and len(ended.stdout.splitlines()) == 3
    assert ended.stdout.endswith(f"{house.home}: 2 problems\n")
    assert sorted(os.listdir(house.home)) == [*STATE, "dory.yaml"]


def test_what_a_person_keeps_in_the_workspace_is_told_and_no_failure(house: Household) -> None:
    (house.me.folder / "workspace" / ".env").write_text("COLOUR=red\n")
    ended = clean(house.home, "--check")
    warning, whole = ended.stdout.splitlines()
    assert ended.returncode == 0 and "workspace/.env: git, a shell" in warning
    assert whole == f"{house.home}: everything is whole"


def test_a_pipe_that_nobody_reads_on_changes_nothing_of_what_the_check_found(
    house: Household,
) -> None:
    house.me.blobs.path(house.hash).unlink()
    command = [sys.executable, str(ROOT / "clean.py"), "--home", str(house.home), "--check"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 1)


def test_a_folder_without_any_state_is_not_called_whole(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, str(ROOT / "clean.py"), "--check", "--home", str(tmp_path / "typo")],
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2 and "is it the right folder?" in ended.stderr
