"""agent.py as a process: signals, the lock, a kill."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from dory import check
from dory.text.prompt_files import ROOT
from tests.support.compacting import House, Scripted


def process(home: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        str(ROOT / "agent.py"),
        "--home",
        str(home),
        "--model",
        "offline",
        *arguments,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def line_of(agent: subprocess.Popen[str]) -> str:
    """What it prints first, once it is awake."""
    assert agent.stdout is not None
    return agent.stdout.readline()


def test_ctrl_c_ends_after_the_running_step_and_resume_says_how(tmp_path: Path) -> None:
    agent = process(tmp_path)
    first = line_of(agent)
    identity = first.rsplit(" ", 1)[1].strip()
    agent.send_signal(signal.SIGINT)
    rest, _ = agent.communicate(timeout=20)
    assert agent.returncode == 0
    assert (
        "stopping after this step" in rest
        and f"'python agent.py {identity[:8]} --home {tmp_path}' wakes it" in rest
    )
    again = process(tmp_path, identity[:4])
    assert line_of(again) == first
    refused = process(tmp_path, identity)
    told, _ = refused.communicate(timeout=20)
    assert refused.returncode == 2 and f"runs already, as process {again.pid}" in told
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=20)
    assert again.returncode == 0


def test_a_killed_agent_resumes_and_has_heard_every_line_once(tmp_path: Path) -> None:
    house = House(tmp_path, Scripted())
    for number in range(5):
        agent = process(tmp_path, house.hash)
        line_of(agent)
        house.say(f"line {number}")
        time.sleep(0.02 * number)
        agent.kill()
        agent.communicate()
    house.wake()
    house.live(house.asleep)
    heard = [entry.body.partition("] ")[2] for entry in house.me.context if entry.kind == "heard"]
    assert heard == [f"line {number}" for number in range(5)]
    assert list(check.problems(tmp_path)) == []
