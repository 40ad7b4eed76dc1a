"""An agent that is started for a chat session and stopped after it.

The agent runs in a process session of its own. Ctrl-C in the chat and the end of the terminal do
not reach it. When the chat ends, the agent is asked to stop after its current step. If the chat is
killed, the agent keeps running and listening.
"""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dory.chat.sanitize import visible
from dory.chat.session import Session
from dory.chat.signals import Signals
from dory.config.command_line import command
from dory.errors import DoryError
from dory.identity import listing
from dory.identity.listing import AgentInfo
from dory.identity.process import launch
from dory.storage import files
from dory.text.prompt_files import ROOT

LOG = Path("agents", "boot.log")
"""The log of such agents, below the home."""

_START_TIMEOUT = 20.0
"""Seconds that an agent may take until it listens."""

_STOP_SIGNALS = ((signal.SIGTERM, 10.0), (signal.SIGINT, 5.0))
"""The signals sent on leaving, each with the seconds that the agent then has.

SIGTERM asks it to end its step, SIGINT to drop the step. After both it is killed, which loses
nothing more. The signals differ because the system may merge two pending signals of one kind.
SIGTERM comes first because a process started by a shell's background job ignores SIGINT.
"""

_WAITING_NOTICE = 1.0
"""Seconds after SIGTERM until the person is told what the chat waits for."""

_POLL = 0.05
"""Seconds between two looks at the agent."""

_LOG_LINES = 8
"""Lines of the log that an error shows."""

Tell = Callable[[str], None]


@contextmanager
def listening_agent(
    session: Session, program: Path, flags: Sequence[str], tell: Tell, signals: Signals
) -> Iterator[None]:
    """Make sure that an agent listens in the room for as long as the block runs.

    If none listens, the agent last active in the room is resumed, or else a new one is booted: by
    running ``program`` with ``flags``. It is stopped at the end of the block. ``tell`` gets the
    lines that a person should see, and must not raise. Raises ``DoryError`` if the agent does not
    come to listen.
    """
    if session.listeners():
        yield
        return
    known = listing.last_active(session.home, session.room)
    if known:
        tell(f"resuming {visible(known.name)} (`{session.boot_command}` boots a fresh one)")
    agent = AgentProcess(session, program, flags, known, signals)
    try:
        agent.await_listening()
        for note in agent.notes():
            tell(note)
        tell(f"{agent.name} is up; what it reports goes to {LOG}")
        yield
    finally:
        agent.stop(tell)


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
        which = [known.hash] if known else ["--room", session.room]
        arguments = [*which, "--home", str(session.home), *flags]
        self._process: subprocess.Popen[bytes] = launch(program, arguments, self._log)

    def await_listening(self) -> None:
        """Return once the agent listens in the room and has introduced itself in its log.

        Raises ``DoryError`` if it ends or takes too long, ``SystemExit`` after a signal.
        """
        deadline = time.monotonic() + _START_TIMEOUT
        while self._process.poll() is None:
            self._signals.obey()
            for agent in self._session.listeners():
                if agent.pid == self._process.pid and self._output():
                    self.name = visible(agent.name)
                    return
            if time.monotonic() > deadline:
                raise DoryError(
                    f"{self.name} does not listen in {self._session.room} after"
                    f" {_START_TIMEOUT:g} seconds; {self._last_lines()}"
                )
            time.sleep(_POLL)
        raise DoryError(f"no agent came up in {self._session.room}")

    def notes(self) -> list[str]:
        """What the agent reported when it woke. Its first two lines are left out: they give its
        name and say how to talk to it.
        """
        return [visible(line) for line in self._output().splitlines()[2:]]

    def stop(self, tell: Tell) -> None:
        """Stop the agent and tell what became of it. Ctrl-C or SIGTERM meanwhile moves on to the
        next, firmer signal.
        """
        if self._process.poll() is not None:
            status = self._process.returncode
            tell(f"{self.name} has ended by itself with status {status}; {self._last_lines()}")
            return
        # The first request may have ended the session. Only later ones are meant for the agent.
        requests = min(self._signals.requests, 1)
        for number, seconds in _STOP_SIGNALS:
            self._process.send_signal(number)
            if number == signal.SIGTERM and not self._ended(_WAITING_NOTICE, requests):
                tell(f"waiting for {self.name} to end its step (Ctrl-C: do not wait)")
            if self._ended(seconds, requests):
                break
            requests = min(self._signals.requests, requests + 1)
        else:
            self._process.kill()
            self._process.wait()
        tell(f"{self.name} stopped; `{self._resume_command()}` brings it back")

    def _resume_command(self) -> str:
        home = self._session.home
        room = self._session.room
        if room == "dev" and home == ROOT:
            return "make run"
        return command(home, "chat.py", room, "--boot")

    def _ended(self, seconds: float, requests: int) -> bool:
        """Wait for the agent's end. False after ``seconds``, or once the person has sent more than
        ``requests`` signals.
        """
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() > deadline or self._signals.requests > requests:
                return False
            time.sleep(_POLL)
        return True

    def _last_lines(self) -> str:
        lines = self._output().splitlines()[-_LOG_LINES:]
        shown = "".join(f"\n    {visible(line)}" for line in lines)
        return f"its last lines in {LOG}:{shown}"

    def _output(self) -> str:
        """What this process has written to the log, which older ones have written to before."""
        return files.read_from(self._log, self._log_begin).decode("utf-8", "replace").rstrip()
