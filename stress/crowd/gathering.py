"""Runs a crowd in one room until everything has been said and heard.

The agents are booted first, because an agent does not hear what was said before it came. Writers
talk at their own pace; every second one is a shell script. Agents say something whenever a person
does. When the writers have ended, the host asks them to go on until nobody has anything left to
say.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from bench.common.household import environment
from dory.clock import utc
from dory.errors import DoryError
from dory.identity import listing, state
from dory.offline.server import Server
from dory.storage import files
from dory.storage.rooms import Rooms
from dory.text.prompt_files import ROOT
from stress.crowd.lines import HOST, ROOM, message
from stress.crowd.talkative import Talkative
from stress.crowd.writer import script

TIMEOUT = 60.0
"""Seconds after which the crowd counts as stuck if nobody said anything or took a turn."""
_POLL = 0.1


def _setting(default: float, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Plan:
    """Who talks and how much."""

    agents: int = _setting(20, "how many agents")
    writers: int = _setting(20, "how many people, every second one a shell script")
    messages: int = _setting(200, "how many messages each of them says")
    pause: float = _setting(0.3, "seconds between two messages of a writer, in the mean")
    context_limit: int = _setting(10_000, "tokens of an agent's context beyond which it compacts")

    @property
    def writer_names(self) -> list[str]:
        """The names of the writers in the room."""
        return [f"{'shell' if number % 2 else 'writer'}{number}" for number in range(self.writers)]


class Process:
    """One process of the crowd; what it prints goes to ``log``. As a context manager it is killed
    at the end.
    """

    def __init__(self, command: list[str], log: Path) -> None:
        self._log = log
        with open(log, "ab") as out:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=environment(),
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def ended(self) -> bool:
        """Whether it has ended with exit code 0. Raises ``DoryError`` for any other exit code."""
        if code := self._process.poll():
            words = " | ".join(line.decode("utf-8", "replace") for line in files.tail(self._log, 3))
            raise DoryError(f"{self._log.stem} ended with exit code {code}: {words}")
        return code == 0

    def stop(self) -> None:
        """Send it SIGTERM."""
        self._process.terminate()


def at_rest(home: Path) -> bool:
    """Whether every agent of ``home`` has heard and answered everything, so that nothing more is
    said unless a person speaks.
    """
    rooms = Rooms(home / "chats")
    size = rooms.size(ROOM)
    states = (state.load(folder / "state.json") for folder in listing.folders(home))
    return all(
        not agent_state.awake and agent_state.rooms[ROOM].read == size for agent_state in states
    ) and size == rooms.size(ROOM)


class Gathering:
    """The crowd of ``plan`` in the empty folder ``home``. Its progress is read from the files that
    its processes commit.
    """

    def __init__(self, home: Path, plan: Plan) -> None:
        self._home = home
        self._plan = plan
        self._rooms = Rooms(home / "chats")
        self._model = Talkative(plan.messages)
        self._server = Server(self._model)
        self._stack = ExitStack()
        self._processes: list[Process] = []
        self.people = dict.fromkeys(plan.writer_names, plan.messages) | {HOST: 0}
        """By name: how many messages each person has said once the agents rest."""

    def __enter__(self) -> Self:
        self._stack.enter_context(self._server)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def meet(self) -> None:
        """Run everybody to the end. Raises ``DoryError`` if a process ends with an error or nobody
        makes progress any more.
        """
        options = ["--home", str(self._home), "--room", ROOM]
        options += ["--context-limit", str(self._plan.context_limit)]
        options += ["--model", self._model.name, "--base-url", self._server.base_url]
        agents = [
            self._start(f"agent{number}", sys.executable, "agent.py", *options)
            for number in range(self._plan.agents)
        ]
        self._until(self._awake, "the agents to wake")
        writers = [self._writer(name) for name in self._plan.writer_names]
        self._until(lambda: all(process.ended() for process in writers), "the writers to end")
        self._until(lambda: at_rest(self._home), "the agents to rest")
        while self._model.left(self._plan.agents) > 0:
            self.people[HOST] += 1
            self._rooms.say(ROOM, "USER", HOST, message(HOST, self.people[HOST]), utc())
            self._until(lambda: at_rest(self._home), "the agents to rest")
        for process in agents:
            process.stop()
        self._until(lambda: all(process.ended() for process in agents), "the agents to end")

    def _start(self, name: str, *command: str) -> Process:
        self._processes.append(
            self._stack.enter_context(Process([*command], self._home / f"{name}.log"))
        )
        return self._processes[-1]

    def _writer(self, name: str) -> Process:
        plan = self._plan
        if name.startswith("shell"):
            lines = self._home / f"{name}.sh"
            lines.write_text(
                "\n".join(script(self._home, name, plan.messages, plan.pause)), encoding="utf-8"
            )
            return self._start(name, "sh", str(lines))
        options = ["--home", str(self._home)]
        options += ["--messages", str(plan.messages), "--pause", str(plan.pause)]
        return self._start(name, sys.executable, "-m", "stress.crowd.writer", name, *options)

    def _awake(self) -> bool:
        folders = listing.folders(self._home)
        return len(folders) == self._plan.agents and all(
            state.load(folder / "state.json").epoch for folder in folders
        )

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        progress = (-1, -1)
        deadline = 0.0
        while not condition():
            now = (self._rooms.size(ROOM), self._model.turns.total())
            if now != progress:
                progress = now
                deadline = time.monotonic() + TIMEOUT
            elif time.monotonic() > deadline:
                raise DoryError(
                    f"waited for {what}, and for {TIMEOUT:g} seconds nobody said anything"
                )
            for process in self._processes:
                process.ended()
            self._server.requests.clear()  # they would take the most memory of all
            time.sleep(_POLL)
