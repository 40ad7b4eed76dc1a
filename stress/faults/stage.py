"""One agent in a home of its own, and the endpoint of its model, which suffers faults and recovers.
Calls are counted where they arrive.
"""

import contextlib
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from bench.common.household import PATIENCE, ROOM, Household
from dory.chat.session import Session
from dory.errors import DoryError
from dory.identity.state import State
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.types import Line, Purpose
from stress.faults.diligent import Diligent

REFUSED = b"cannot be reached"
"""Stands in a line of the agent's log for each call that nobody could count because nobody
listened.
"""
_POLL = 0.02


class Stage:
    """As a context manager: the agent is awake inside, and no process is left behind."""

    def __init__(
        self, home: Path, context_limit: int, timeout: float, retries: int, workers: int
    ) -> None:
        home.mkdir()
        self.model = Diligent()
        self.retries = retries
        self.workers = workers
        self._server = Server(self.model)
        self._earlier = 0  # calls that arrived at servers which are closed now
        self._closed: contextlib.ExitStack | None = None
        settings = {
            "model": "diligent",
            "base-url": self._server.base_url,
            "timeout": timeout,
            "retries": retries,
            "workers": workers,
        }
        settings["extensions"] = (
            # the calls of a cascade come by the number of events, and would be counted as
            # repetitions
            "notes, recall"
        )
        self.house = Household(
            home, context_limit, [f"--{name}={value}" for name, value in settings.items()]
        )
        self._visit = Session(home, ROOM, "ada")
        self._count = 0

    def __enter__(self) -> Self:
        self._server.__enter__()
        self.house.wake()
        self.say_and_wait(
            "is what I say first"
        )  # with its first call the agent loads its client, which takes seconds
        return self

    def __exit__(self, *_: object) -> None:
        self.house.kill()
        self.recover()
        self._server.__exit__()

    def suffer(self, fault: Fault | None, purposes: Sequence[Purpose]) -> None:
        """From now on every call for one of the purposes meets the fault; without one, nobody
        listens at all.
        """
        if fault:
            self._server.lasting = dict.fromkeys(purposes, fault)
            return
        self._closed = contextlib.ExitStack()
        self._server.__exit__()
        self._earlier += self._server.arrived.total()
        self._server.arrived.clear()
        place = self._closed.enter_context(
            socket.socket()
        )  # holds the port without listening, so that nobody else gets it
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place.bind(self._server.server_address[:2])

    def recover(self) -> None:
        """From now on the endpoint does its work."""
        self._server.lasting = {}
        self.model.answers = {}
        if self._closed:
            self._closed.close()
            self._closed, port = None, self._server.server_port
            self._server = Server(self.model, port)
            self._server.__enter__()

    @property
    def calls(self) -> int:
        """Calls so far, those included that found nobody."""
        return (
            self._earlier
            + self._server.arrived.total()
            + (self.house.home / "agent.log").read_bytes().count(REFUSED)
        )

    @property
    def state(self) -> State:
        """The agent's commit record."""
        return self.house.state

    def say(self, text: str) -> tuple[str, int]:
        """A person says something behind a word that was never used; that word, and the end of the
        line in the room's file.
        """
        self._count += 1
        mark = f"K{self._count}"
        return mark, self._visit.say(f"{mark} {text}")

    def say_and_wait(self, text: str) -> str:
        """The same, and wait until all that it leads to has ended, a compaction included; only the
        word is returned.
        """
        self._count += 1
        mark = f"K{self._count}"
        self.house.say("ada", f"{mark} {text}")
        return mark

    def command(self, text: str) -> None:
        """A person gives a command."""
        self._visit.say(text)

    def heard(self) -> list[Line]:
        """What was said in the room since the last look."""
        return self._visit.heard()

    def at_rest(self, end: int) -> bool:
        """Whether everything up to that place in the room was taken in and dealt with."""
        now = self.state
        return now.rooms[ROOM].read >= end and not now.awake

    @property
    def everything(self) -> bytes:
        """All that is in front of the agent, and all originals."""
        return b"".join(
            path.read_bytes()
            for path in [self.house.folder / "context.md", *self.house.home.glob("blobs/*/*.md")]
        )

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for it. Raises ``DoryError`` when it does not come, or the agent has ended."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if not self.house.lives:
                raise DoryError(f"the agent's process has ended; {self.house.last_lines()}")
            if time.monotonic() > deadline:
                raise DoryError(
                    f"within {PATIENCE:g} s it did not {what}; {self.house.last_lines()}"
                )
            time.sleep(_POLL)
