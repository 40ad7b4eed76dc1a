"""The place of one attack: a home of its own, a model that says whatever the attack wants, and the
real programs as processes. When the ``with`` block ends, no process is left.

People are heard and answered: the model answers every message once, unless it was told to say
something else. So an attack is over when the next message is answered.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from bench.common.household import environment
from dory import check, clock
from dory.control import Control
from dory.errors import DoryError
from dory.identity import listing
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from dory.text.prompt_files import ROOT
from dory.types import Line, Prompt, Purpose, Reply, Usage

ROOM = "dev"
ANSWER = "is heard."
PATIENCE = 40.0
"""Seconds in which something must happen that takes one, on a machine with much else to do."""
PROMPT = 10.0
"""Seconds in which an agent must end when it is told to. Promised is one."""
_POLL = 0.05


class Puppet(OfflineModel):
    """Says what an attack makes it say, one of ``orders`` for each turn. Otherwise it answers the
    message that ``asked`` names, once, and waits. ``always`` is said for as long as it is set.
    """

    name = "puppet"

    def __init__(self) -> None:
        self.orders: deque[str] = deque()
        self.always: Callable[[Prompt], str] | None = None
        self.asked: tuple[str, str] | None = None
        """Room and first word of the message that is to be answered."""
        self.systems: list[int] = []
        """Characters of the system message of each turn."""

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        if purpose != "turn":
            return super().complete(prompt, purpose)
        self.systems.append(len(prompt.messages[0].content))
        usage = Usage(purpose, self.name, 0, None, 0, 0.0)
        if self.always:
            return Reply(self.always(prompt), "", usage)
        if self.orders:
            return Reply(self.orders.popleft(), "", usage)
        asked = self.asked
        if asked and f" {asked[1]} " in prompt.text:
            self.asked = None
            return Reply(f"SAY {asked[0]} {asked[1]} {ANSWER}", "", usage)
        return Reply("WAIT", "", usage)


class Running:
    """A process, with what it prints in ``log``."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        env: Mapping[str, str],
        cwd: Path = ROOT,
        typed: bool = False,
    ) -> None:
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                list(command),
                cwd=cwd,
                stdin=subprocess.PIPE if typed else subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=env,
            )

    @property
    def pid(self) -> int:
        """Its process."""
        return self.process.pid

    @property
    def lives(self) -> bool:
        """Whether it runs."""
        return self.process.poll() is None

    @property
    def words(self) -> str:
        """All that it printed."""
        return self.log.read_text("utf-8", "replace")

    @property
    def peak(self) -> int:
        """The most memory that it ever had, in MB; 0 if it has ended."""
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) // 1024 for line in lines if "VmHWM" in line), 0)

    def type(self, text: str) -> None:
        """Write to its stdin."""
        assert self.process.stdin
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def ended(self, seconds: float = PATIENCE) -> int | None:
        """Its exit code as soon as it has ended; None if it does not."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()


class Ground:
    """``place`` is an empty folder; ``chance`` is what an attack may choose by."""

    def __init__(self, place: Path, chance: random.Random) -> None:
        self.place = place
        self.home = place / "home"
        self.home.mkdir()
        self.chance = chance
        self.model = Puppet()
        self.server = Server(self.model)
        self._logs = place / "logs"
        self._logs.mkdir()
        self._stack = ExitStack()
        self._count = 0

    def __enter__(self) -> Self:
        self._stack.enter_context(self.server)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def enter(self, context: Server) -> None:
        """Keep another server until the end."""
        self._stack.enter_context(context)

    def until_end(self, deed: Callable[[], object]) -> None:
        """Do that when the attack is over."""
        self._stack.callback(deed)

    def start(
        self,
        *command: str,
        env: Mapping[str, str] | None = None,
        cwd: Path = ROOT,
        typed: bool = False,
    ) -> Running:
        """Start a process."""
        self._count += 1
        log = self._logs / f"{self._count}.log"
        process = Running(command, log, self.environment(env or {}), cwd, typed)
        self._stack.callback(process.kill)
        return process

    def program(
        self,
        name: str,
        *arguments: str,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
        typed: bool = False,
        under: Sequence[str] = (),
    ) -> Running:
        """Start one of the programs for a home."""
        where = ("--home", str(home or self.home))
        command = (*under, sys.executable, str(ROOT / name), *arguments, *where)
        return self.start(*command, env=env, typed=typed)

    def run(
        self,
        name: str,
        *arguments: str,
        said: str = "",
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float = PATIENCE,
    ) -> Running:
        """One of the programs, from its start to its end. Raises ``DoryError`` if it does not."""
        process = self.program(name, *arguments, home=home, env=env, typed=True)
        assert process.process.stdin
        try:
            process.type(said)
            process.process.stdin.close()
        except BrokenPipeError:
            pass
        if process.ended(seconds) is None:
            raise DoryError(f"{name} did not end within {seconds:g} s: {process.words[-300:]!r}")
        return process

    def agent(
        self,
        *arguments: str,
        room: str = ROOM,
        home: Path | None = None,
        env: Mapping[str, str] | None = None,
        under: Sequence[str] = (),
    ) -> Running:
        """An agent of the puppet that is awake: a new one, unless ``arguments`` begin with the hash
        of one. Raises ``DoryError`` if it does not wake.
        """
        resumed = bool(arguments) and not arguments[0].startswith("-")
        # what is given comes last, as the last of two flags counts
        options = [*self.endpoint, *(() if resumed else ("--room", room)), *arguments]
        agent = self.program("agent.py", *options, home=home, env=env, under=under)
        if not self.until(lambda: "is awake" in agent.words or not agent.lives) or not agent.lives:
            raise DoryError(f"no agent wakes: {agent.words[-400:]!r}")
        return agent

    @property
    def endpoint(self) -> tuple[str, ...]:
        """The flags that name the puppet."""
        return ("--model", self.model.name, "--base-url", self.server.base_url)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """The machine's own, without keys and settings, and with ``more``."""
        return environment() | dict(more)

    @property
    def folder(self) -> Path:
        """The folder of the first identity. Raises ``DoryError`` if there is none."""
        known = listing.folders(self.home)
        if not known:
            raise DoryError("there is no identity")
        return known[0]

    def room(self, room: str = ROOM) -> Path:
        """The file of a room."""
        return self.home / "chats" / f"{room}.md"

    def lines(self, room: str = ROOM) -> list[Line]:
        """All lines of a room."""
        return Rooms(self.home / "chats").read(room, 0)

    def said(self, kind: str = "AGENT", room: str = ROOM) -> str:
        """All that was said in a room by a kind of speaker."""
        return "\n".join(line.text for line in self.lines(room) if line.kind == kind)

    def say(self, text: str, room: str = ROOM, name: str = "ada") -> None:
        """A person says something."""
        Rooms(self.home / "chats").say(room, "USER", name, text, clock.utc())

    def mark(self) -> str:
        """A word that was never said before."""
        self._count += 1
        return f"K{self._count}"

    def unanswered(
        self, what: str, room: str = ROOM, seconds: float = PATIENCE, name: str = "ada"
    ) -> Iterator[str]:
        """Say something, and yield one line if no answer comes."""
        mark = self.mark()
        rooms = Rooms(self.home / "chats")
        begin = rooms.size(room)
        self.model.asked = (room, mark)
        self.say(f"{mark} are you there?", room, name)
        answer = f"{mark} {ANSWER}"
        if not self.until(
            lambda: any(line.text == answer for line in rooms.read(room, begin)), seconds
        ):
            yield f"{what} nobody was answered within {seconds:g} s"

    def unstopped(self, agent: Running, what: str) -> Iterator[str]:
        """Send SIGTERM, and yield one line if the agent does not end well in time."""
        agent.process.send_signal(signal.SIGTERM)
        code = agent.ended(PROMPT)
        if code is None:
            yield f"{what} SIGTERM did not end it within {PROMPT:g} s"
        elif code not in (0, -signal.SIGTERM, 128 + signal.SIGTERM):
            yield f"{what} it ended with exit code {code}: {agent.words[-300:]!r}"

    def until(self, condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Wait for something; whether it came."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL)
        return True

    def tracebacks(self) -> Iterator[str]:
        """One line for each process that showed a traceback."""
        for log in sorted(self._logs.iterdir()):
            words = log.read_text("utf-8", "replace")
            if "Traceback (most recent call last)" in words:
                yield f"a traceback was shown: {words.strip().splitlines()[-1][:200]}"

    def problems(self) -> Iterator[str]:
        """What the check finds in the home."""
        if (self.home / "agents").exists():
            found = (*check.problems(self.home), *check.warnings(self.home))
            yield from (f"the check finds: {problem}" for problem in found)


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
