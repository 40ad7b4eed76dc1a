"""An agent whose machine has no thread or no memory left outlasts both: the running process is
refused them, and then it is not any more.
"""

import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from dory import check
from dory.clock import utc
from dory.storage.rooms import Rooms
from stress.chaos import calls
from tests.support.processes import PATIENCE, ROOT, environment

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def limit(process: subprocess.Popen[str], more: int) -> None:
    """Let the process have ``more`` bytes than it has now."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    size = re.search(r"VmSize:\s*(\d+) kB", status)
    assert size
    most = int(size[1]) * 1024 + more
    resource.prlimit(process.pid, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


class Agent:
    """An agent of the offline model, with a person in its room."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.rooms = Rooms(home / "chats")
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "agent.py"), "--model", "offline"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout and "is awake" in self.process.stdout.readline()
        time.sleep(3)  # until all of it is loaded

    def says(self, kind: str = "AGENT") -> list[str]:
        return [line.text for line in self.rooms.messages("dev") if line.kind == kind]

    def ask(self, text: str) -> None:
        self.rooms.say("dev", "USER", "ada", text, utc())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        told, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, told
        return told


@contextmanager
def without_threads(process: subprocess.Popen[str]) -> Iterator[None]:
    """Within the block the machine refuses the process every thread."""
    attached = ["-f", "-qq", "-p", str(process.pid), "-e", "trace=clone3,clone"]
    refused = ["-e", "inject=clone3,clone:error=EAGAIN", "-o", "/dev/null"]
    with subprocess.Popen(["strace", *attached, *refused]) as strace:
        until(lambda: "TracerPid:\t0" not in Path(f"/proc/{process.pid}/status").read_text())
        yield
        strace.terminate()


@pytest.mark.skipif(not calls.available(), reason="there is no strace")
def test_an_agent_without_a_thread_for_a_turn_tells_it_once_and_goes_on(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        with without_threads(agent.process):
            agent.ask("are you there?")
            until(lambda: agent.says("NOTICE"))
            agent.ask("hello?")
            time.sleep(2)
            assert agent.says() == []
        agent.ask("and now?")
        until(agent.says)
        assert "Traceback" not in agent.end()
        told = [text for text in agent.says("NOTICE") if "no thread left" in text]
        assert told == ["I cannot think now: this machine has no thread left for turn"]
        assert list(check.problems(tmp_path)) == []


def test_an_agent_without_memory_outlasts_it(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        agent.ask("hello")
        until(agent.says)
        limit(agent.process, 0)
        for number in range(20):
            agent.ask(f"{number} " + "a long story about memory, " * 40_000)
        time.sleep(4)
        assert agent.process.poll() is None, agent.process.communicate()[0]
        resource.prlimit(agent.process.pid, resource.RLIMIT_AS, UNLIMITED)
        agent.ask("are you there?")
        until(lambda: len(agent.says()) > 1, 3 * PATIENCE)  # a try is made after 30 s at the latest
        assert "Traceback" not in agent.end()
        assert list(check.problems(tmp_path)) == []
