"""chat.py and agent.py as processes, used as people and scripts use them."""

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyte

from bench.common import household
from dory.identity import known_homes, listing

ROOT = Path(__file__).parents[2]
PATIENCE = 40.0
"""Seconds after which a test gives up; nothing here depends on how fast anything is."""

signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # a shell's background jobs ignore it, and so would what they start


def environment(home: Path) -> dict[str, str]:
    """The machine's own, without keys and settings that would lead to another model; output is
    buffered, as people have it. The person knows the home.
    """
    if not known_homes.is_new(home):
        known_homes.remember(home)
    return household.environment() | {
        "DORY_HOME": str(home),
        "TERM": "xterm-256color",
        "PYTHONUNBUFFERED": "",
    }


def chat(
    home: Path, *arguments: str, said: str = "", under: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """One run of chat.py with ``said`` piped into it. It gives up before the test does, so that it
    can stop the agent that it started.
    """
    command = [
        *under,
        sys.executable,
        str(ROOT / "chat.py"),
        "--name",
        "ada",
        "--wait",
        str(PATIENCE / 2),
        *arguments,
    ]
    return subprocess.run(
        command, input=said, capture_output=True, text=True, env=environment(home), timeout=PATIENCE
    )


@contextmanager
def agent(home: Path, room: str = "dev") -> Iterator[subprocess.Popen[bytes]]:
    """An agent that somebody else started, listening in ``room``."""
    command = [sys.executable, str(ROOT / "agent.py"), "--room", room]
    with subprocess.Popen(
        command, env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            while not listing.listening(home, room) and time.monotonic() < deadline:
                time.sleep(0.05)
            yield process
        finally:
            process.send_signal(signal.SIGINT)


@contextmanager
def terminal(home: Path, *arguments: str, under: Sequence[str] = ()) -> Iterator["Terminal"]:
    """chat.py in a terminal of its own; ``under`` is a command that makes something ready and then
    becomes the one behind it.
    """
    master, slave = pty.openpty()
    command = [*under, sys.executable, str(ROOT / "chat.py"), "--name", "ada", *arguments]
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(home),
        start_new_session=True,
    )
    os.close(slave)
    opened = Terminal(process, master)
    try:
        yield opened
    finally:
        process.terminate()
        process.wait(PATIENCE)
        opened.close()


def with_python(before: str) -> list[str]:
    """Such a command, which runs ``before``."""
    return [sys.executable, "-c", f"import os, sys\n{before}\nos.execv(sys.argv[1], sys.argv[1:])"]


CONTROLLED = with_python("import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)")
"""Such a command, for a terminal whose Ctrl-C and whose end are signals."""


class Terminal:
    """Types, and sees everything that was written since the beginning. 200 columns, so that nothing
    awaited is broken by a line's end.
    """

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.seen = ""
        self._master = master
        self._awaited = 0
        self._screen = pyte.Screen(200, 40)
        self._drawn = pyte.Stream(self._screen)
        termios.tcsetwinsize(master, (40, 200))

    @property
    def settings(self) -> list[Any]:
        """Echo, line mode and so on, as a program sets them and should leave them."""
        return termios.tcgetattr(self._master)

    def close(self) -> None:
        """Close the window."""
        if self._master >= 0:
            os.close(self._master)
        self._master = -1

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def await_text(self, pattern: str) -> None:
        """Read until ``pattern`` is found behind what was awaited before."""
        deadline = time.monotonic() + PATIENCE
        while not (match := re.compile(pattern).search(self.seen, self._awaited)):
            assert time.monotonic() < deadline, (
                f"{pattern!r} did not appear in {self.seen[self._awaited :]!r}"
            )
            self._read()
        self._awaited = match.end()

    def await_screen(self, pattern: str) -> None:
        """Read until ``pattern`` stands on the screen: of a line that changes in place, such as the
        bar at the bottom, only the letters that differ are written.
        """
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, "\n".join(self._screen.display)):
            assert time.monotonic() < deadline, (
                f"{pattern!r} does not stand on the screen: {self._screen.display}"
            )
            self._read()

    def await_prompt(self) -> None:
        """Read until chat.py listens to keys: while it prints, the terminal itself would swallow a
        Ctrl-D.
        """
        self.await_text("Ctrl-D leaves")

    def leave(self) -> int:
        """Press Ctrl-D, and again if it was pressed while chat.py printed; its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self.type("\x04")
            again = time.monotonic() + 1
            while self.process.poll() is None and time.monotonic() < again:
                self._read()
        return self.await_end()

    def await_end(self) -> int:
        """Read until chat.py has ended; its exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"chat.py did not end: {self.seen[-500:]!r}"
            self._read()
        self._read()
        return self.process.returncode

    def _read(self) -> None:
        if select.select([self._master], [], [], 0.05)[0]:
            try:
                written = os.read(self._master, 65536).decode("utf-8", "replace")
            except OSError:  # how Linux reports that the other side has closed the terminal
                self.process.wait(PATIENCE)
                return
            self.type(
                "\x1b[40;1R" * written.count("\x1b[6n")
            )  # a terminal answers when it is asked where its cursor stands
            self.seen += written
            self._drawn.feed(written)


def asked(model: socket.socket) -> socket.socket:
    """The connection of a turn; before it the server is asked for its properties."""
    while True:
        connection = model.accept()[0]
        if connection.recv(4) == b"POST":
            return connection
        connection.close()


def running(home: Path) -> list[str]:
    return [agent.name for agent in listing.agents(home) if agent.pid is not None]


def processes(home: Path) -> list[str]:
    """The command lines of all agents that run for ``home``, including those not yet awake."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "args"], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if "agent.py" in line and str(home) in line]


def still_running(home: Path) -> list[str]:
    """Those that do not end although they were told to: one that has let go of its lock may take
    a moment until it is gone.
    """
    deadline = time.monotonic() + PATIENCE
    while (left := processes(home)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def processes_left(group: int) -> bool:
    """Whether any process of that group still runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
