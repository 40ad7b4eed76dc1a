"""The demonstration as its user meets it: what it shows, what it leaves behind, and Ctrl-C in the
middle of it.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.demo import draw
from dory.text.prompt_files import ROOT
from tests.support.processes import processes_left

PATIENCE = 60.0


def begin(folder: Path) -> subprocess.Popen[str]:
    """The demo, with its temporary files below ``folder`` and in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench.demo"],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def asked_and_answered(part: str) -> str:
    """The detail that a part of the transcript says is out of sight, and that is answered with
    behind an UNCOMPACT.
    """
    match = re.search(
        "“(.+)” stands nowhere .*UNCOMPACT ◱hash=.*Dory: (.*)", " ".join(part.split())
    )
    assert match, part
    assert match[1] in match[2]
    return match[1]


def test_the_demonstration_comes_true_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with begin(tmp_path) as process:
        shown, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, complaints
    facts, before, after = re.split("^4. |^5. kill -9", shown, flags=re.MULTILINE)
    assert facts.count("~ ~ ~ compaction") >= 3
    assert "compacted ◱hash=" in facts
    details = [asked_and_answered(part) for part in (before, after)]
    assert details[0] != details[1]
    assert len(shown.splitlines()) <= 80
    assert "\x1b" not in shown
    assert not processes_left(process.pid)
    assert list(tmp_path.iterdir()) == []


def test_the_picture_shows_the_transcript_without_most_of_the_talk(tmp_path: Path) -> None:
    talk = "\n".join(f"  Ada: about {subject}…" for subject in ("soup", "choir", "chains"))
    draw(f"\n1. The first day\n{talk}\n  Dory: I see, Ada.\n", tmp_path / "demo.svg")
    picture = (tmp_path / "demo.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    for shown in ("1. The first day", "about soup", "and 2 more messages", "Dory: I see, Ada."):
        assert shown in picture
    assert "choir" not in picture


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demonstration_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    with begin(tmp_path) as process:
        assert process.stdout is not None
        while "Ada:" not in process.stdout.readline():  # the agent is awake
            pass
        process.send_signal(number)
        _, complaints = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "nothing is left behind" in complaints
    assert not processes_left(process.pid)
    assert list(tmp_path.iterdir()) == []
