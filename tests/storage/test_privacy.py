"""Nobody but who owns a home reads it, unless its folder is shared with a group."""

import os
import stat
from pathlib import Path

import pytest

from dory.identity import home as homes
from dory.storage import privacy
from tests.support import processes
from tests.support.household import Household


def open_to_others(home: Path, mask: int = 0o077) -> list[str]:
    """What below ``home`` somebody else may read or write."""
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if not path.is_symlink() and path.stat().st_mode & mask
    ]


@pytest.mark.parametrize("shared", [False, True], ids=["one's own", "a group's"])
def test_all_that_the_programs_make_is_for_its_owner_or_for_the_group_of_a_shared_home(
    tmp_path: Path, shared: bool
) -> None:
    home = tmp_path / "home"
    if shared:
        home.mkdir()
        home.chmod(0o2770)
    before = os.umask(0o022)
    try:
        run = processes.chat(home, "--boot", said="hello\n/note-log\n")
        assert run.returncode == 0, run.stderr
        with processes.agent(home, "lab"):
            assert processes.chat(home, "lab", said="hello\n").returncode == 0
            names = {path.name for path in home.rglob("*")}
            assert {"memory.sqlite", "memory.sqlite-wal", "usage.jsonl", ".present"} <= names
            assert open_to_others(home, 0o007 if shared else 0o077) == []
            rooms = stat.S_IMODE((home / "chats" / "dev.md").stat().st_mode)
            assert rooms == (0o660 if shared else 0o600)
    finally:
        os.umask(before)


def test_a_home_of_an_older_dory_is_closed_at_the_first_start_and_that_is_said_once(
    tmp_path: Path,
) -> None:
    house = Household(tmp_path / "home")
    outside = tmp_path / "outside"
    outside.touch()
    outside.chmod(0o644)
    (house.me.folder / "workspace" / "link").symlink_to(outside)
    for path in house.home.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    run = processes.chat(house.home, "lab", said="hello\n")
    assert "others on this machine could read agents, chats, blobs in" in run.stderr
    assert run.stderr.count("on this machine") == 1
    assert open_to_others(house.home) == [".dory"] and outside.stat().st_mode & 0o077
    assert "on this machine" not in processes.chat(house.home, "lab", said="hello\n").stderr


def test_a_home_that_was_not_closed_to_its_end_is_closed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = Household(tmp_path / "home")
    for path in house.home.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    chmod = Path.chmod
    left = 5

    def killed(path: Path, mode: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", killed)
    with pytest.raises(KeyboardInterrupt):
        privacy.tighten(house.home, homes.present(house.home))
    monkeypatch.undo()
    assert "only you can" in privacy.tighten(house.home, homes.present(house.home))
    assert open_to_others(house.home) == [".dory"]
    assert privacy.tighten(house.home, homes.present(house.home)) == ""
