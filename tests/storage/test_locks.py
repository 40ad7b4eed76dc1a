"""A lock has one holder, is known by the pid of its holder, and is free when the holder is dead.
The tests use real processes and threads.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from dory.errors import Busy, DoryError
from dory.identity import process
from dory.storage import locks


def test_a_lock_that_nobody_ever_took_is_free(tmp_path: Path) -> None:
    assert locks.holder(tmp_path / "none") is None


@pytest.mark.parametrize("foreign", [b"", b"1\n", b"no pid", b"\xff\x00", b"9" * 5000])
def test_what_stands_in_a_free_lock_does_not_matter(tmp_path: Path, foreign: bytes) -> None:
    (tmp_path / "lock").write_bytes(foreign)
    assert locks.holder(tmp_path) is None
    with locks.held(tmp_path):
        assert locks.holder(tmp_path) == os.getpid()


def test_a_lock_has_one_holder_who_is_known_by_pid(tmp_path: Path) -> None:
    lock = tmp_path
    with (
        locks.held(lock),
        pytest.raises(Busy, match=f"as process {os.getpid()}:"),
        locks.held(lock),
    ):
        pass
    assert locks.holder(lock) is None


def test_removing_the_file_that_names_the_holder_frees_nothing(tmp_path: Path) -> None:
    with locks.held(tmp_path):
        (tmp_path / "lock").unlink()
        assert locks.holder(tmp_path) == 0
        with pytest.raises(Busy), locks.held(tmp_path):
            pass


def test_looking_at_a_free_lock_does_not_make_it_seem_taken(tmp_path: Path) -> None:
    lock = tmp_path
    done = Event()

    def look() -> None:
        while not done.is_set():
            locks.holder(lock)

    looker = Thread(target=look)
    looker.start()
    try:
        for _ in range(30):
            with locks.held(lock):
                pass
    finally:
        done.set()
        looker.join()


def test_a_lock_is_free_when_its_holder_was_killed(tmp_path: Path) -> None:
    lock = tmp_path
    code = (
        "import sys, time; from pathlib import Path; from dory.storage import locks\n"
        "with locks.held(Path(sys.argv[1])):\n  print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stdout.readline() == b"\n"
        assert locks.holder(lock) == process.pid
        process.send_signal(signal.SIGKILL)
    assert locks.holder(lock) is None
    with locks.held(lock):
        pass


def test_a_pid_that_another_process_has_by_now_is_nobodys(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        with locks.held(tmp_path):
            own = (tmp_path / "lock").read_text()
            (tmp_path / "lock").write_text(own.replace(str(os.getpid()), str(stranger.pid), 1))
            assert not locks.wrote(tmp_path, stranger.pid)
            with pytest.raises(DoryError, match="does not tell as which process"):
                process.stop(tmp_path)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_lock_of_an_older_dory_names_its_holder_all_the_same(tmp_path: Path) -> None:
    with locks.held(tmp_path):
        (tmp_path / "lock").write_text(f"{os.getpid()}\n")
        assert locks.wrote(tmp_path, os.getpid())


def test_a_lock_that_is_a_link_leaves_the_file_behind_it_as_it_is(tmp_path: Path) -> None:
    precious, folder = tmp_path / "precious", tmp_path / "agent"
    precious.write_text("mine")
    folder.mkdir()
    (folder / "lock").symlink_to(precious)
    with pytest.raises(OSError, match="Is a symbolic link"), locks.held(folder):
        pass
    assert precious.read_text() == "mine" and locks.holder(folder) is None


NEVER_WAKES = """
import pathlib, os, sys, time
pathlib.Path(sys.argv[0] + ".pid").write_text(str(os.getpid()))
log = pathlib.Path(sys.argv[1]) / "agent.log"
log.unlink()
log.symlink_to(__file__)
time.sleep(600)
"""


def test_an_agent_that_cannot_be_watched_is_not_left_running(tmp_path: Path) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "agent"
    folder.mkdir()
    program.write_text(NEVER_WAKES.replace("sys.argv[1]", repr(str(folder))))
    with pytest.raises(OSError, match="Is a symbolic link"):
        process.start(program, folder, [])
    pid = int((tmp_path / "program.py.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_agent_whose_log_is_a_link_is_not_started(tmp_path: Path) -> None:
    program, folder = tmp_path / "program.py", tmp_path / "agent"
    folder.mkdir()
    program.write_text(NEVER_WAKES)
    (tmp_path / "precious").write_text("mine")
    (folder / "agent.log").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="Is a symbolic link"):
        process.start(program, folder, [])
    assert not (tmp_path / "program.py.pid").exists()
    assert (tmp_path / "precious").read_text() == "mine"
