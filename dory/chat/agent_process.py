"""An agent that is started for a visit and stopped after it.

It runs in a session of its own, so that Ctrl-C in the chat and the end of the terminal do not reach
it: it ends when the visit does, after the step that it is at. Should the chat be killed, the agent
lives on and listens.
"""

import signal
import subprocess
import sys
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
from dory.storage import files
from dory.text.prompt_files import ROOT

LOG = Path("agents", "boot.log")
"""Where, below the home, such agents write what they would have shown."""

_START = 20.0
"""Seconds that an agent may take until it listens."""

_STOP = ((signal.SIGTERM, 10.0), (signal.SIGINT, 5.0))
"""What is sent on leaving, and the seconds that the agent then has: to end its step, to drop it.
Then it is killed, which loses nothing more.

Two of a kind could reach it as one. SIGTERM comes first, because what a shell's background job has
started ignores the other.
"""

_PAUSE = 0.05
"""Seconds between two looks at the agent."""

Tell = Callable[[str], None]


@contextmanager
def company(
    visit: Session, program: Path, flags: Sequence[str], tell: Tell, signals: Signals
) -> Iterator[None]:
    """Have somebody listen: whoever does, else the one active last in the room, else a new one, run
    as ``program`` with ``flags``.

    Raises ``DoryError`` if it does not come to listen. ``tell`` gets the lines that a person should
    see, and must not raise.
    """
    if visit.listeners():
        yield
        return
    known = listing.last_active(visit.home, visit.room)
    if known:
        tell(f"resuming {visible(known.name)} (`{visit.fresh}` boots a fresh one)")
    guest = AgentProcess(visit, program, flags, known, signals)
    try:
        guest.await_listening()
        for note in guest.notes():
            tell(note)
        tell(f"{guest.name} is up; what it reports goes to {LOG}")
        yield
    finally:
        guest.stop(tell)


class AgentProcess:
    """An agent's process, from its start to its end."""

    def __init__(
        self,
        visit: Session,
        program: Path,
        flags: Sequence[str],
        known: AgentInfo | None,
        signals: Signals,
    ) -> None:
        self.name = visible(known.name) if known else "the agent"
        self._visit = visit
        self._signals = signals
        self._log = visit.home / LOG
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log_begin = files.size(self._log)
        which = [known.hash] if known else ["--room", visit.room]
        command = [sys.executable, str(program), *which, "--home", str(visit.home), *flags]
        with open(self._log, "ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def await_listening(self) -> None:
        """Return once it listens in the visit's room; a ``DoryError`` if it ends or takes too long.
        Obeys signals.
        """
        deadline = time.monotonic() + _START
        while self._process.poll() is None:
            self._signals.obey()
            for one in self._visit.listeners():
                if (
                    one.pid == self._process.pid and self._written()
                ):  # it listens, and has introduced itself
                    self.name = visible(one.name)
                    return
            if time.monotonic() > deadline:
                raise DoryError(
                    f"{self.name} does not listen in {self._visit.room} after {_START:g} seconds; {self._last_lines()}"
                )
            time.sleep(_PAUSE)
        raise DoryError(f"no agent came up in {self._visit.room}")

    def notes(self) -> list[str]:
        """What it said about itself on waking, below the two lines that name it and tell how to
        talk to it.
        """
        return [visible(line) for line in self._written().splitlines()[2:]]

    def stop(self, tell: Tell) -> None:
        """Ask ever more firmly until it has ended, and tell what became of it; Ctrl-C or SIGTERM
        meanwhile asks more firmly at once.
        """
        if self._process.poll() is not None:
            tell(
                f"{self.name} has ended by itself with status {self._process.returncode}; {self._last_lines()}"
            )
            return
        requests = min(
            self._signals.requests, 1
        )  # one may have ended the visit, the others are for the agent
        for number, seconds in _STOP:
            self._process.send_signal(number)
            if number == signal.SIGTERM and not self._ended(1.0, requests):
                tell(f"waiting for {self.name} to end its step (Ctrl-C: do not wait)")
            if self._ended(seconds, requests):
                break
            requests = min(self._signals.requests, requests + 1)
        else:
            self._process.kill()
            self._process.wait()
        room, home = self._visit.room, self._visit.home
        way_back = (
            "make run"
            if room == "dev" and home == ROOT
            else command(home, "chat.py", room, "--boot")
        )
        tell(f"{self.name} stopped; `{way_back}` brings it back")

    def _ended(self, seconds: float, requests: int) -> bool:
        """Whether it ends within ``seconds`` and before it was requested more than ``requests``
        times.
        """
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            if time.monotonic() > deadline or self._signals.requests > requests:
                return False
            time.sleep(_PAUSE)
        return True

    def _last_lines(self) -> str:
        return f"its last lines in {LOG}:" + "".join(
            f"\n    {visible(line)}" for line in self._written().splitlines()[-8:]
        )

    def _written(self) -> str:
        return files.read_from(self._log, self._log_begin).decode("utf-8", "replace").rstrip()
