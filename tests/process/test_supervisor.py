"""A disk that fails under a living agent: it takes no turns, says why in one line, keeps what it
had, goes on when the cause is gone.
"""

import ctypes
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from dory import check
from dory.clock import utc
from dory.identity import listing
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from tests.support.processes import PATIENCE, ROOT, environment

_DROP_CAPABILITY, _OVERRIDE_PERMISSIONS = 24, 1  # prctl's PR_CAPBSET_DROP and CAP_DAC_OVERRIDE


def bound_by_permissions() -> None:
    """In the child: root may write anywhere by a capability that ordinary people do not have."""
    ctypes.CDLL(None).prctl(_DROP_CAPABILITY, _OVERRIDE_PERMISSIONS, 0, 0, 0)


class Patient:
    """An agent whose disk is going to fail, and what it says on its terminal. The terminal is a
    pipe, so it does not fail with the disk.
    """

    def __init__(self, home: Path, server: Server, *who: str) -> None:
        self.home = home
        self.server = server
        self.told = ""
        command = [
            sys.executable,
            str(ROOT / "agent.py"),
            *who,
            "--base-url",
            server.base_url,
            "--model",
            "any",
            "--api-key",
            "none",
        ]
        self.process = subprocess.Popen(
            command,
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=bound_by_permissions,
        )
        Thread(target=self._listen, daemon=True).start()
        self.until(lambda: "is awake" in self.told)

    @property
    def folder(self) -> Path:
        return listing.folders(self.home)[0]

    def say(self, text: str) -> None:
        Rooms(self.home / "chats").say("dev", "USER", "ada", text, utc())

    def answers(self) -> list[str]:
        return [
            line.text for line in Rooms(self.home / "chats").read("dev", 0) if line.kind == "AGENT"
        ]

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline and self.process.poll() is None, self.told
            time.sleep(0.05)

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.told += line


@contextmanager
def patient(home: Path, server: Server, *who: str) -> Iterator[Patient]:
    one = Patient(home, server, *who)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.wait()
        assert one.process.stdout
        one.process.stdout.close()


def fill(one: Patient) -> None:
    resource.prlimit(one.process.pid, resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))


def make_room(one: Patient) -> None:
    resource.prlimit(
        one.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    )


def forbid(one: Patient) -> None:
    one.folder.chmod(0o555)


def allow(one: Patient) -> None:
    one.folder.chmod(0o755)


def take_blobs_away(one: Patient) -> None:
    os.rename(one.home / "blobs", one.home / "blobs.elsewhere")


def put_blobs_back(one: Patient) -> None:
    os.rename(one.home / "blobs.elsewhere", one.home / "blobs")


TROUBLES = {
    "full": (fill, make_room, "File too large"),
    "forbidden": (forbid, allow, "Permission denied"),
    "no blobs": (take_blobs_away, put_blobs_back, "No such file or directory"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_agent_outlasts_a_disk_that_fails_and_goes_on_by_itself(
    tmp_path: Path, trouble: str
) -> None:
    fail, mend, words = TROUBLES[trouble]
    with Server(OfflineModel()) as server, patient(tmp_path, server) as one:
        one.say("hello")
        one.until(lambda: len(one.answers()) == 1)
        fail(one)
        before = (one.folder / "LIFE.md").read_bytes()
        one.say("remember that the key is under the blue pot")
        one.until(lambda: "I take no turns until that is mended" in one.told)
        asked = len(server.requests)
        time.sleep(5)  # several attempts to go on
        assert (one.folder / "LIFE.md").read_bytes().startswith(before)
        assert words in one.told and one.told.count("I take no turns") == 1
        assert len(server.requests) == asked
        mend(one)
        one.until(lambda: "I go on" in one.told and len(one.answers()) == 2)
        assert "blue pot" in (one.folder / "MEMORY.md").read_text()
        one.until(lambda: not listing.agents(tmp_path)[0].awake)
    assert list(check.problems(tmp_path)) == []
    assert list(one.folder.glob(".*.tmp")) == []


def test_what_was_heard_while_the_disk_was_full_is_answered_after_a_kill_and_a_resume(
    tmp_path: Path,
) -> None:
    with Server(OfflineModel()) as server:
        with patient(tmp_path, server) as one:
            fill(one)
            one.say("hello")
            one.until(lambda: "I take no turns" in one.told)
        with patient(tmp_path, server, one.folder.name) as one:
            one.until(lambda: len(one.answers()) == 1 and not listing.agents(tmp_path)[0].awake)
    assert list(check.problems(tmp_path)) == []


def test_an_agent_that_cannot_even_begin_says_why_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir(mode=0o555)
    command = [sys.executable, str(ROOT / "agent.py")]
    ended = subprocess.run(
        command,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        preexec_fn=bound_by_permissions,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1 and "Permission denied" in ended.stderr
    assert listing.folders(tmp_path) == []
