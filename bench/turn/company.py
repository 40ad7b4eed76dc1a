"""An agent as a real process at a model over loopback HTTP: how it comes up, how it sleeps, how
soon it passes on what is said to it.
"""

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.store.noise import Noise
from bench.turn.homes import LIMIT, LINE, PERSON, PRICE, ROOM
from bench.turn.process import Spent, peak_bytes, processor_seconds, surroundings
from dory.clock import utc
from dory.config.prices import Prices
from dory.control import Control
from dory.errors import DoryError
from dory.offline.server import Server
from dory.offline.server.faults import Request
from dory.storage.rooms import Rooms
from dory.text.prompt_files import ROOT
from dory.types import Prompt, Purpose, Reply, Usage

TIMEOUT = 120.0
"""Seconds that an agent may take for a request, or to end."""
_CALM = 0.3
"""Seconds after an answer until the next line: the agent sleeps by then."""


class Brief:
    """A ``Model`` that answers with one word."""

    name = "brief"

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Yes, always."""
        return Reply(f"SAY {ROOM} yes", "", Usage(purpose, self.name, 0, None, 1, 0.0))


SPENDING = [
    "--prices",
    str(Prices(((Brief.name, PRICE),))),
    "--spend-per-hour",
    str(LIMIT),
    "--spend-per-day",
    str(LIMIT),
]
"""Flags of an agent whose calls have a price and a limit."""


class Ear(Server):
    """An endpoint that notes when which request came in, and what the agent's process ``pid`` had
    used by then.
    """

    def __init__(self) -> None:
        super().__init__(Brief())
        self.pid = 0
        self.heard = threading.Condition()
        self.asked: list[tuple[float, float, str]] = []

    def received(self, prompt: Prompt) -> Request:
        """As any endpoint, but noted."""
        now = time.monotonic(), processor_seconds(self.pid), prompt.text
        with self.heard:
            self.asked.append(now)
            self.heard.notify_all()
        return super().received(prompt)

    def after(self, count: int) -> tuple[float, float, str]:
        """The request behind the first ``count``, when it is there. Raises ``TimeoutError``."""
        with self.heard:
            if not self.heard.wait_for(lambda: len(self.asked) > count, TIMEOUT):
                raise TimeoutError(f"the agent made no request within {TIMEOUT:g} s")
            return self.asked[count]


class Company:
    """A running agent, its room, and the ear that it talks to."""

    def __init__(
        self, home: Path, ear: Ear, process: "subprocess.Popen[bytes]", began: float
    ) -> None:
        self._rooms = Rooms(home / "chats")
        self._ear = ear
        self._process = process
        self._began = began

    def first(self) -> Spent:
        """What the agent took to its first request."""
        at, used, _ = self._ear.after(0)
        return Spent(used * 1e3, (at - self._began) * 1e3, peak_bytes(self._process.pid) / 2**20)

    def idle(self, seconds: float) -> float:
        """The share of a core that it uses while nothing happens, in percent."""
        time.sleep(2 * _CALM)
        before, began = processor_seconds(self._process.pid), time.monotonic()
        time.sleep(seconds)
        return 100 * (processor_seconds(self._process.pid) - before) / (time.monotonic() - began)

    def latencies(self, lines: int) -> list[float]:
        """Milliseconds from before a line is written into the room until the request that holds it
        has come in.
        """
        latencies, noise = list[float](), Noise(3)
        for number in range(lines):
            time.sleep(_CALM + number % 10 * 0.005)  # at every phase of the agent's sleep
            known, text = len(self._ear.asked), f"{noise.text(LINE)} {number}"
            said = time.monotonic()
            self._rooms.say(ROOM, "USER", PERSON, text, utc())
            at, _, prompt = self._ear.after(known)
            if text not in prompt:
                raise DoryError(f"a request came without the line {text!r}")
            latencies.append((at - said) * 1e3)
        return latencies

    def peak(self) -> float:
        """Megabytes."""
        return peak_bytes(self._process.pid) / 2**20


@contextmanager
def company(home: Path, arguments: Sequence[str], compiled: Path) -> Iterator[Company]:
    """An agent of ``home``, booted or resumed as ``arguments`` say, as long as the block lasts. A
    line waits for it.
    """
    Rooms(home / "chats").say(ROOM, "USER", PERSON, "are you there?", utc())
    with Ear() as ear:
        began = time.monotonic()
        with agent(home, ear, arguments, compiled) as process:
            ear.pid = process.pid
            yield Company(home, ear, process, began)


@contextmanager
def agent(
    home: Path, server: Server, arguments: Sequence[str], compiled: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """The process alone, as long as the block lasts."""
    flags = [
        "--home",
        str(home),
        "--base-url",
        server.base_url,
        "--model",
        server.model.name,
        "--context-limit",
        "1000000",
    ]
    command = [sys.executable, "agent.py", *arguments, *flags]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=ROOT, env=surroundings(compiled), stdin=quiet, stdout=quiet, stderr=quiet
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(TIMEOUT)


def shares(latencies: Sequence[float]) -> tuple[float, float]:
    """The median, and what 95 of 100 stay below."""
    return statistics.median(latencies), sorted(latencies)[
        max(0, -(-len(latencies) * 95 // 100) - 1)
    ]
