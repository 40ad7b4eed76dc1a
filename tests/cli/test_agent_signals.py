"""Signals to agent.py: end after the step, end at once, live on behind a terminal that was closed,
be ended from elsewhere.
"""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dory import check
from dory.clock import utc
from dory.identity import listing
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.storage import locks
from dory.storage.rooms import Rooms
from tests.support.processes import PATIENCE, ROOT, environment


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "agent.py"), *arguments]


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=environment(home), capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.fixture
def slow() -> Iterator[Server]:
    """A model that takes longer than any test: an agent that asks it is in the middle of a step."""
    with Server(OfflineModel(), latency=600) as server:
        yield server


def thinking(home: Path, server: Server) -> subprocess.Popen[str]:
    """An agent in the middle of a turn."""
    Rooms(home / "chats").say("dev", "USER", "ada", "hello", utc())
    flags = ["--base-url", server.base_url, "--model", "any", "--api-key", "none"]
    agent = subprocess.Popen(
        command(*flags),
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until(lambda: server.arrived)
    return agent


def test_sigterm_ends_a_turn_that_waits_for_its_model_in_good_order(
    tmp_path: Path, slow: Server
) -> None:
    agent = thinking(tmp_path, slow)
    agent.send_signal(signal.SIGTERM)
    told, _ = agent.communicate(timeout=PATIENCE)  # the model takes ten minutes
    assert agent.returncode == 0 and "wakes it" in told
    assert list(check.problems(tmp_path)) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_second_signal_ends_at_once_what_the_first_lets_finish(
    tmp_path: Path, slow: Server, number: signal.Signals
) -> None:
    agent = thinking(tmp_path, slow)
    assert agent.stdout
    agent.send_signal(number)
    until(lambda: "stopping after this step" in (agent.stdout.readline() if agent.stdout else ""))
    assert agent.poll() is None
    agent.send_signal(number)
    agent.communicate(timeout=PATIENCE)
    assert agent.returncode == 128 + number
    assert list(check.problems(tmp_path)) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_an_agent_that_sleeps_ends_it_in_good_order(
    tmp_path: Path, number: signal.Signals
) -> None:
    agent = subprocess.Popen(
        command(),
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert agent.stdout and "is awake" in agent.stdout.readline()
    agent.send_signal(number)
    told, _ = agent.communicate(timeout=PATIENCE)
    assert agent.returncode == 0 and "wakes it" in told


def test_a_detached_agent_outlives_its_terminal_and_is_stopped_from_another(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        command("--detach"),
        env=environment(tmp_path),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    ) as starter:
        os.close(slave)
        assert starter.wait(PATIENCE) == 0
    told = os.read(master, 4096).decode()
    os.close(master)  # the terminal is closed
    (folder,) = listing.folders(tmp_path)
    pid = locks.holder(folder)
    assert f"lives in the background as process {pid}" in told and str(folder / "agent.log") in told
    rooms = Rooms(tmp_path / "chats")
    rooms.say("dev", "USER", "ada", "hello", utc())
    until(lambda: [line for line in rooms.read("dev", 0) if line.kind == "AGENT"])
    again = run(tmp_path, folder.name, "--detach")
    assert again.returncode == 2 and f"runs already, as process {pid}" in again.stderr
    stopped = run(tmp_path, "--stop", folder.name[:6])
    assert (stopped.returncode, stopped.stdout) == (
        0,
        f"{folder.name[:8]} (process {pid}) has ended\n",
    )
    assert "wakes it" in (folder / "agent.log").read_text()
    assert run(tmp_path, "--stop", folder.name).stdout == f"{folder.name[:8]} does not run\n"
    assert list(check.problems(tmp_path)) == []


def test_stop_needs_to_know_whom(tmp_path: Path) -> None:
    ended = run(tmp_path, "--stop")
    assert ended.returncode == 2 and "--stop needs the agent's hash" in ended.stderr


def test_verbose_prints_the_lines_of_life_unaltered_on_stdout(tmp_path: Path) -> None:
    agent = subprocess.Popen(
        command("--verbose", "--model", "offline"),
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert agent.stdout and agent.stdout.readline().startswith(b"dory-")
    rooms = Rooms(tmp_path / "chats")
    rooms.say("dev", "USER", "ada", f"remember: {'the key is under the mat, ' * 20}", utc())
    until(lambda: [line for line in rooms.read("dev", 0) if line.kind == "AGENT"])
    agent.send_signal(signal.SIGTERM)
    printed, reported = agent.communicate(timeout=PATIENCE)
    (folder,) = listing.folders(tmp_path)
    lived = (folder / "LIFE.md").read_bytes()
    events = [line for line in printed.splitlines(True) if re.match(rb"\d{4}-\d\d-\d\d ", line)]
    assert len(events) > 3 and b"".join(events) in lived
    assert lived.endswith(b"".join(events)) and b" heard dev ada" not in reported


def test_an_agent_whose_output_nobody_reads_any_more_lives_on(tmp_path: Path) -> None:
    agent = subprocess.Popen(
        command("--verbose"),
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert agent.stdout
    agent.stdout.readline()
    agent.stdout.close()
    rooms = Rooms(tmp_path / "chats")
    rooms.say("dev", "USER", "ada", "hello", utc())
    until(lambda: [line for line in rooms.read("dev", 0) if line.kind == "AGENT"])
    assert agent.poll() is None
    agent.send_signal(signal.SIGTERM)
    agent.wait(PATIENCE)
