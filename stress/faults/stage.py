"""One agent in a home of its own, and the endpoint of its model, at which faults begin and end.
Calls are counted where they arrive.
"""

import contextlib
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from bench.common.household import ROOM, TIMEOUT, Household
from dory.chat.session import Session
from dory.errors import DoryError
from dory.identity.state import State
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.types import Line, Purpose
from stress.faults.diligent import Diligent

REFUSED = b"cannot be reached"
"""The agent's log has one line with this text for each call that reached no server and could not be
counted there.
"""
_POLL = 0.02


class Stage:
    """As a context manager it wakes the agent and at the end leaves no process behind."""

    def __init__(
        self,
        home: Path,
        context_limit: int,
        timeout: float,
        retries: int,
        workers: int,
        owner: str = "dory",
    ) -> None:
        """``owner``: what the server says that it is."""
        home.mkdir()
        self.model = Diligent()
        self.retries = retries
        self.workers = workers
        self._owner = owner
        self._server = Server(self.model, owner=owner)
        self._earlier = 0  # calls that arrived at servers which are closed now
        self._closed: contextlib.ExitStack | None = None
        settings = {
            "model": "diligent",
            "base-url": self._server.base_url,
            "timeout": timeout,
            "retries": retries,
            "workers": workers,
        }
        # The cascade makes calls by the number of events, which would be counted as retries.
        settings["extensions"] = "notes, recall"
        self.house = Household(
            home, context_limit, [f"--{name}={value}" for name, value in settings.items()]
        )
        self._visit = Session(home, ROOM, "ada")
        self._count = 0

    def __enter__(self) -> Self:
        self._server.__enter__()
        self.house.wake()
        # With its first call the agent imports the client library, which takes seconds.
        self.say_and_wait("is what I say first")
        return self

    def __exit__(self, *_: object) -> None:
        self.house.kill()
        self.recover()
        self._server.__exit__()

    def suffer(self, fault: Fault | None, purposes: Sequence[Purpose]) -> None:
        """From now on every call for one of the purposes gets the fault. Without a fault, the
        server is closed.
        """
        if fault:
            self._server.lasting = dict.fromkeys(purposes, fault)
            return
        self._closed = contextlib.ExitStack()
        self._server.__exit__()
        self._earlier += self._server.arrived.total()
        self._server.arrived.clear()
        # A socket that is bound but does not listen keeps the port for the next server.
        holder = self._closed.enter_context(socket.socket())
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(self._server.server_address[:2])

    def recover(self) -> None:
        """From now on the endpoint works again."""
        self._server.lasting = {}
        self.model.answers = {}
        if self._closed:
            self._closed.close()
            self._closed = None
            self._server = Server(self.model, self._server.server_port, owner=self._owner)
            self._server.__enter__()

    @property
    def calls(self) -> int:
        """Calls so far, including those that reached no server."""
        return (
            self._earlier
            + self._server.arrived.total()
            + (self.house.home / "agent.log").read_bytes().count(REFUSED)
        )

    @property
    def state(self) -> State:
        """The agent's ``state.json``."""
        return self.house.state

    def say(self, text: str) -> tuple[str, int]:
        """A person says a new word, then ``text``. Returns the word, and the end of the line in the
        room's file.
        """
        self._count += 1
        mark = f"K{self._count}"
        return mark, self._visit.say(f"{mark} {text}")

    def say_and_wait(self, text: str) -> str:
        """The same, then wait until everything that follows has ended, including a compaction.
        Returns the word.
        """
        self._count += 1
        mark = f"K{self._count}"
        self.house.say("ada", f"{mark} {text}")
        return mark

    def command(self, text: str) -> None:
        """A person gives a command."""
        self._visit.say(text)

    def heard(self) -> list[Line]:
        """What was said in the room since the last call."""
        return self._visit.heard()

    def at_rest(self, end: int) -> bool:
        """Whether the agent has read the room up to byte ``end`` and sleeps again."""
        now = self.state
        return now.rooms[ROOM].read >= end and not now.awake

    @property
    def everything(self) -> bytes:
        """The live context and all originals."""
        return b"".join(
            path.read_bytes()
            for path in [self.house.folder / "context.md", *self.house.home.glob("blobs/*/*.md")]
        )

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for ``condition``. Raises ``DoryError`` after ``TIMEOUT`` seconds, or when the agent
        has ended.
        """
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            if not self.house.lives:
                raise DoryError(f"the agent's process has ended; {self.house.last_lines()}")
            if time.monotonic() > deadline:
                raise DoryError(
                    f"within {TIMEOUT:g} s it did not {what}; {self.house.last_lines()}"
                )
            time.sleep(_POLL)
