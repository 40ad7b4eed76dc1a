"""A short run of the kill harness, as a process: what it breaks is whole again, and what it found is told."""

import json
import subprocess
import sys

from dory.texts import HOUSE


def test_agents_that_are_killed_between_two_writes_lose_and_repeat_nothing() -> None:
    command = [sys.executable, "-m", "bench.chaos", "--kills", "8", "--seed", "1", "--json"]
    ended = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, timeout=200)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    figures = json.loads(ended.stdout.splitlines()[-1])
    assert figures["kills"] == 8 and not figures["violations"]
    assert sum(figures["by_point"].values()) == 8
