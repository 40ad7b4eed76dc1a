"""Hostile text on a terminal: nothing that a program prints steers the terminal of its reader."""

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from dory.text.characters import visible
from tests.support.hostile_text import HOSTILE
from tests.support.household import Household
from tests.support.processes import PATIENCE, ROOT, chat, environment


def printed(text: str) -> str:
    """``text`` itself if nothing in it steers a terminal."""
    steering = [
        c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")
    ]
    assert not steering and not re.search(
        "[\u202a-\u202e\u2066-\u206f\U000e0000-\U000e007f]", text
    ), ascii(text)
    return text


def run(*command: str, home: Path) -> str:
    """What a program of the house prints, on both streams."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment(home),
        capture_output=True,
        timeout=PATIENCE,
    )
    return done.stdout.decode() + done.stderr.decode()


def test_nothing_that_a_chat_and_its_agent_print_steers_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "SOUL.md").write_text(f"{HOSTILE}\nYou are Dory.")
    flat = " ".join(HOSTILE.replace("\r", "\u2028").split("\n"))
    said = [flat, "hello", "/context", f"/{flat}", f"/show {flat}", f"read {flat[:200]}"]
    ended = chat(
        tmp_path,
        "--boot",
        "--name",
        flat.replace("\x00", ""),
        "--",
        "--verbose",
        said="\n".join(said),
    )
    assert ended.returncode == 0, ended.stderr
    assert "no hash" in printed(ended.stdout) or "which one?" in ended.stdout
    printed(ended.stderr)
    assert " heard dev " in printed((tmp_path / "agents" / "boot.log").read_text())
    assert "turns" in printed(run("agent.py", "--list", home=tmp_path))


def test_names_of_files_cannot_steer_the_terminal_of_whoever_lists_or_checks(
    tmp_path: Path,
) -> None:
    house, steering = Household(tmp_path), "\x1b[2J\u202e\udce9\n"
    (tmp_path / "agents" / f"ff{steering}").mkdir()
    (tmp_path / "agents" / f"ee{steering}").mkdir()
    (tmp_path / "agents" / f"ee{steering}" / "state.json").write_text(
        json.dumps({"version": 1, f"x{steering[:5]}": 1})
    )
    (house.me.folder / "subs" / f"{steering}.md").symlink_to("x")
    for folder in (tmp_path / "chats", tmp_path / "blobs" / house.hash[:2]):
        (folder / f"{steering}.md").write_text("x")
    listed = printed(run("agent.py", "--list", home=tmp_path)).splitlines()
    assert sorted(line[:2] for line in listed) == sorted(["id", "ff", "ee", house.hash[:2]])
    checked = printed(run("clean.py", "--check", home=tmp_path)).splitlines()
    assert f"{len(checked) - 1} problems" in checked[-1] and len(checked) > 5


@pytest.mark.parametrize("hidden", ["\U000e0041", "\u206a", "\ufff9", "\U000e007f"])
def test_what_a_person_would_not_see_is_shown_as_a_sign(hidden: str) -> None:
    assert visible(f"a{hidden}b") == "a�b"
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    assert visible(f"{flag} 👩‍👩‍👧") == f"{flag} 👩‍👩‍👧"
