"""An agent whose machine has no thread or no memory left outlasts both: real limits, set on the
running process, and taken back.
"""

import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from dory import check
from dory.clock import utc
from dory.storage.rooms import Rooms
from tests.support.processes import PATIENCE, ROOT, environment

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
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
        return [line.text for line in self.rooms.read("dev", 0) if line.kind == kind]

    def ask(self, text: str) -> None:
        self.rooms.say("dev", "USER", "ada", text, utc())

    def end(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        told, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, told
        return told


def test_an_agent_without_a_thread_for_a_turn_tells_it_once_and_goes_on(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    # less than the stack of a thread; none has ended yet, whose stack could be used again
    limit(agent.process, 6 * 2**20)
    agent.ask("are you there?")
    until(lambda: agent.says("NOTICE"))
    agent.ask("hello?")
    time.sleep(2)
    assert agent.says() == []
    resource.prlimit(agent.process.pid, resource.RLIMIT_AS, UNLIMITED)
    agent.ask("and now?")
    until(agent.says)
    assert "Traceback" not in agent.end()
    told = [text for text in agent.says("NOTICE") if "no thread left" in text]
    assert told == ["I cannot think now: this machine has no thread left for turn"]
    assert list(check.problems(tmp_path)) == []


def test_an_agent_without_memory_outlasts_it(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.ask("hello")
    until(agent.says)
    limit(agent.process, 0)
    for number in range(20):
        agent.ask(f"{number} " + "a long story about memory, " * 40_000)
    time.sleep(4)
    assert agent.process.poll() is None, agent.process.communicate()[0]
    resource.prlimit(agent.process.pid, resource.RLIMIT_AS, UNLIMITED)
    agent.ask("are you there?")
    until(lambda: len(agent.says()) > 1)
    assert "Traceback" not in agent.end()
    assert list(check.problems(tmp_path)) == []
