"""chat.py and the signals that end it: whenever they come, the visit ends in good order and the
agent that was started for it is stopped.
"""

import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dory.identity import listing
from dory.process.signals import SIGNALS
from dory.storage import live
from dory.storage.live import Live
from dory.storage.rooms import Rooms
from tests.support.household import Household
from tests.support.processes import (
    CONTROLLED,
    PATIENCE,
    ROOT,
    agent,
    asked,
    environment,
    running,
    still_running,
    terminal,
    with_python,
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

CLEARED = r"\x1b\[[JK]"
"""What the terminal is told to clear the line, or all below it."""

STRUCK = """
import os, runpy, signal, sys
left = int(sys.argv[1])
def watch(frame, event, argument):
    global left
    code = frame.f_code
    begun = code.co_name == "__init__" and code.co_filename.endswith("jobs.py")
    if event == "return" and begun and "asyncio" in sys.modules:
        left -= 1
        if not left:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGTERM)
sys.argv = sys.argv[3:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
sys.setprofile(watch)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs the program behind it, and sends it SIGTERM just behind the n-th beginning of a thread since
its loop was imported.
"""


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def piped(home: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """chat.py between two pipes that stay open."""
    command = [sys.executable, str(ROOT / "chat.py"), "--name", "ada", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment(home)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def say(process: subprocess.Popen[bytes], text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{text}\n".encode())
    process.stdin.flush()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_screen_and_leaves_the_terminal_as_it_was(
    tmp_path: Path, number: signal.Signals
) -> None:
    with terminal(tmp_path, "--boot") as screen:
        before = screen.settings
        screen.await_text("dory-[0-9a-f]{8} listens")
        screen.process.send_signal(number)
        assert screen.await_end() == 128 + number
        assert screen.settings == before
    assert screen.seen.rindex("\x1b[?2004l") > screen.seen.rindex(
        "\x1b[?2004h"
    )  # pasted text is not marked any more
    assert "brings it back" in screen.seen
    assert still_running(tmp_path) == []


@pytest.mark.parametrize("count", [2, 3, 4, 10])
def test_a_signal_just_behind_the_beginning_of_a_thread_does_no_harm(
    tmp_path: Path, count: int
) -> None:
    for number in range(3):
        Rooms(tmp_path / "chats").say("dev", "USER", "bob", f"message {number}", NOON)
    live.show(tmp_path / "chats", "dev", Live("bob", "thinks"))  # threads begin all the time
    with terminal(tmp_path, under=[sys.executable, "-c", STRUCK, str(count)]) as screen:
        assert screen.await_end() == 128 + signal.SIGTERM
    assert "Traceback" not in screen.seen and "ignored" not in screen.seen


def test_a_signal_while_messages_are_being_printed_ends_the_screen(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path / "chats")
    with terminal(tmp_path) as screen:
        screen.await_prompt()
        for number in range(30):
            rooms.say("dev", "AGENT", "bob", f"message {number}", NOON)
        screen.await_text("message 0")
        screen.process.terminate()
        assert screen.await_end() == 128 + signal.SIGTERM


def test_a_room_that_somebody_has_locked_keeps_nobody_in(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path / "chats")
    rooms.say("dev", "USER", "bob", "hello", NOON)
    with open(rooms.path("dev")) as room, terminal(tmp_path) as screen:
        screen.await_prompt()
        fcntl.flock(room, fcntl.LOCK_EX)
        screen.type("is anybody there?\r")
        screen.await_text(CLEARED)
        screen.process.terminate()
        assert screen.await_end() == 128 + signal.SIGTERM


def test_a_signal_before_the_agent_listens_stops_it_all_the_same(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path / "chats")
    rooms.say("dev", "USER", "bob", "hello", NOON)
    with open(rooms.path("dev")) as room, piped(tmp_path, "--boot") as process:
        eventually(lambda: (tmp_path / "agents" / "boot.log").exists())
        fcntl.flock(room, fcntl.LOCK_EX)  # an agent that is being booted waits for the room
        process.terminate()
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        assert process.stderr is not None and b"stopped" in process.stderr.read()
    assert still_running(tmp_path) == []


def test_a_signal_ends_a_script_that_waits_for_its_next_line(tmp_path: Path) -> None:
    with piped(tmp_path, "--boot") as process:
        say(process, "hello")
        assert process.stdout is not None and b"Hello Ada!" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 128 + signal.SIGINT
    assert still_running(tmp_path) == []


def test_a_signal_ends_a_script_whose_reader_has_fallen_asleep(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path / "chats")
    with agent(tmp_path), piped(tmp_path) as process:
        pipe = process.stdout
        assert pipe is not None
        say(process, "hello")
        eventually(lambda: "hello" in rooms.path("dev").read_text())
        with open(rooms.path("dev"), "a") as room:
            room.write("[AGENT:bob 2026-03-02T12:00:00Z] a short line\n" * 20_000)
        say(process, "hello again")
        eventually(
            lambda: struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0] > 50_000
        )  # as many as a pipe holds
        process.terminate()
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM


def test_a_reader_that_is_gone_ends_a_script_without_a_word(tmp_path: Path) -> None:
    with agent(tmp_path), piped(tmp_path) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        say(process, "hello")
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 1


def test_a_second_signal_does_not_wait_for_the_agent_to_end_its_step(tmp_path: Path) -> None:
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as silent:  # a model that takes every question and answers none
        silent.settimeout(PATIENCE)
        model = ["--base-url", f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "--model", "none"]
        with terminal(tmp_path, "--boot", "--", *model) as screen:
            screen.await_prompt()
            screen.type("hello\r")
            with asked(silent):
                screen.process.terminate()
                screen.await_text("Ctrl-C: do not wait")
                screen.process.terminate()
                assert screen.await_end() == 128 + signal.SIGTERM
    assert "brings it back" in screen.seen
    assert still_running(tmp_path) == []


def test_an_agent_that_does_not_react_is_killed_when_it_was_asked_often_enough(
    tmp_path: Path,
) -> None:
    with terminal(tmp_path, "--boot") as screen:
        screen.await_text("dory-[0-9a-f]{8} listens")
        (resident,) = listing.listening(tmp_path, "dev")
        assert resident.pid
        os.kill(resident.pid, signal.SIGSTOP)
        screen.process.terminate()
        screen.await_text("Ctrl-C: do not wait")
        screen.process.send_signal(signal.SIGINT)
        screen.process.terminate()
        assert screen.await_end() == 128 + signal.SIGTERM
    assert still_running(tmp_path) == []


@pytest.mark.parametrize(
    ("under", "to_print"),
    [([], 0), ([], 9), (CONTROLLED, 0)],
    ids=["unsaid", "by failing prints", "by a signal"],
)
def test_a_closed_window_ends_the_visit_and_stops_its_agent(
    tmp_path: Path, under: list[str], to_print: int
) -> None:
    with terminal(tmp_path, "--boot", under=under) as screen:
        screen.await_text("dory-[0-9a-f]{8} listens")
        for number in range(to_print):
            Rooms(tmp_path / "chats").say("dev", "USER", "bob", f"message {number}", NOON)
        screen.close()
        assert screen.process.wait(PATIENCE) == 128 + signal.SIGHUP
    assert still_running(tmp_path) == []


def test_whoever_starts_it_decides_what_it_ignores(tmp_path: Path) -> None:
    with terminal(
        tmp_path, under=with_python("import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)")
    ) as screen:
        screen.await_prompt()
        screen.process.send_signal(signal.SIGHUP)
        screen.process.terminate()
        assert screen.await_end() == 128 + signal.SIGTERM


def test_control_c_as_a_signal_clears_the_line_before_it_leaves(tmp_path: Path) -> None:
    with terminal(tmp_path) as screen:
        screen.await_prompt()
        screen.type("half a thought")
        screen.await_text("half a thought")
        screen.process.send_signal(signal.SIGINT)
        screen.await_text(CLEARED)
        screen.type("a whole one\r")
        screen.await_text("ada.*\\s+a whole one")
        screen.await_prompt()
        screen.process.send_signal(signal.SIGINT)
        assert screen.await_end() == 128 + signal.SIGINT


@pytest.mark.parametrize("program", [["chat.py", "--boot"], ["clean.py"]])
def test_control_c_while_it_is_being_imported_ends_it_without_a_word(
    tmp_path: Path, program: list[str]
) -> None:
    Household(tmp_path)  # so that clean.py has a question
    command = [sys.executable, "-X", "importtime", str(ROOT / program[0]), *program[1:]]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(tmp_path)
    ) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if re.search(r"\| +dory", line))
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.stderr.read()
        assert process.wait(PATIENCE) in (-signal.SIGINT, 128 + signal.SIGINT)
    assert running(tmp_path) == []
