"""The process of an agent that chats start and stop.

It runs in a process session of its own. Ctrl-C in the chat and the end of the terminal do not reach
it, and it may outlive the chat that started it.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.errors import DoryError
from dory.identity.listing import AgentInfo
from dory.identity.process import AWAKE, launch
from dory.storage import files, locks
from dory.text.characters import visible

LOG = Path("agents", "boot.log")
"""The log of such agents, below the home."""

_START_TIMEOUT = 20.0
"""Seconds that an agent may take until it listens."""

_STOP_SIGNALS = ((signal.SIGHUP, 10.0), (signal.SIGTERM, 5.0))
"""The signals that stop an agent, each with the seconds that the agent then has.

SIGHUP asks it to end its step, SIGTERM to drop the step. After both it is killed, which loses
nothing more. The first is not SIGINT, which a process started by a shell's background job ignores.
"""

_WAITING_NOTICE = 1.0
"""Seconds after the first signal until the person is told what the chat waits for."""

_POLL = 0.05
"""Seconds between two looks at the agent."""

_LOG_LINES = 8
"""Lines of the log that an error shows."""

Tell = Callable[[str], None]
"""Gets the lines that a person should see, and must not raise."""


class Running(Protocol):
    """An agent's process, whoever started it."""

    name: str

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    def ended(self) -> bool:
        """Whether it has ended."""
        ...

    def send(self, number: int) -> None:
        """Send it a signal. It may have ended by now."""
        ...


class OtherProcess:
    """The process of an agent that another chat has started."""

    def __init__(self, agent: AgentInfo, pid: int) -> None:
        self.name = visible(agent.name)
        self._folder = agent.folder
        self.pid = pid

    def ended(self) -> bool:
        """Whether the process holds the agent no more."""
        return locks.holder(self._folder) != self.pid

    def send(self, number: int) -> None:
        """Send it a signal."""
        if not self.ended():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def stop(agent: Running, signals: Signals, tell: Tell) -> None:
    """Stop an agent. Ctrl-C or SIGTERM meanwhile moves on to the next, firmer signal."""
    # The first request may have ended the session. Only later ones are meant for the agent.
    requests = min(signals.requests, 1)

    def ended(seconds: float) -> bool:
        """Wait for its end. False after ``seconds``, or once the person asks again."""
        deadline = time.monotonic() + seconds
        while not agent.ended():
            if time.monotonic() > deadline or signals.requests > requests:
                return False
            time.sleep(_POLL)
        return True

    for number, seconds in _STOP_SIGNALS:
        agent.send(number)
        if number == signal.SIGHUP and not ended(_WAITING_NOTICE):
            tell(f"waiting for {agent.name} to end its step (Ctrl-C: do not wait)")
        if ended(seconds):
            return
        requests = min(signals.requests, requests + 1)
    while not agent.ended():
        agent.send(signal.SIGKILL)
        time.sleep(_POLL)


class AgentProcess:
    """An agent's process, from its start to its end. ``known`` is the agent to resume, if any."""

    def __init__(
        self,
        session: Session,
        program: Path,
        flags: Sequence[str],
        known: AgentInfo | None,
        signals: Signals,
    ) -> None:
        self.name = visible(known.name) if known else "the agent"
        self._session = session
        self._signals = signals
        self._log = session.home / LOG
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log_begin = files.size(self._log)
        which = [known.hash] if known else ["--room", session.room, "--booted-by", session.name]
        arguments = [*which, "--home", str(session.home), *flags]
        self._process: subprocess.Popen[bytes] = launch(program, arguments, self._log)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def log(self) -> Path:
        """Where its output goes, as a path that leads there from the current folder."""
        with suppress(FileNotFoundError):  # somebody has removed the current folder
            if self._session.home.resolve() == Path.cwd():
                return LOG
        return self._log

    def await_listening(self) -> AgentInfo:
        """Return the agent once it listens in the room and has greeted in its log: whatever it had
        to report stands there by then.

        Raises ``DoryError`` if it ends or takes too long, ``SystemExit`` after a signal.
        """
        deadline = time.monotonic() + _START_TIMEOUT
        while self._process.poll() is None:
            self._signals.obey()
            for agent in self._session.listeners():
                if agent.pid == self._process.pid and self._greeted(agent.hash):
                    self.name = visible(agent.name)
                    return agent
            if time.monotonic() > deadline:
                raise DoryError(
                    f"{self.name} does not listen in {self._session.room} after"
                    f" {_START_TIMEOUT:g} seconds; {self._last_lines()}"
                )
            time.sleep(_POLL)
        raise DoryError(f"no agent came up in {self._session.room}")

    def notes(self, hash: str) -> list[str]:
        """What the agent ``hash`` reported when it woke. The first two lines of its greeting are
        left out: they give its name and say how to talk to it.
        """
        lines = self._output().splitlines()
        greeting = next(number for number, line in enumerate(lines) if _greets(line, hash))
        return [visible(line) for line in lines[:greeting] + lines[greeting + 2 :]]

    def _greeted(self, hash: str) -> bool:
        return any(_greets(line, hash) for line in self._output().splitlines())

    def ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def send(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def post_mortem(self) -> str:
        """How it has ended, in words."""
        status = self._process.returncode
        return f"{self.name} has ended by itself with status {status}; {self._last_lines()}"

    def _last_lines(self) -> str:
        lines = self._output().splitlines()[-_LOG_LINES:]
        shown = "".join(f"\n    {visible(line)}" for line in lines)
        return f"its last lines in {self.log}:{shown}"

    def _output(self) -> str:
        """What this process has written to the log, which older ones have written to before."""
        return files.read_from(self._log, self._log_begin).decode("utf-8", "replace").rstrip()


def _greets(line: str, hash: str) -> bool:
    return line.endswith(f" {AWAKE} {hash}")
