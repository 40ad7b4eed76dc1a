"""A compaction of nine chunks with a model that takes a second for each call: how long it takes,
and whether a turn waits for it.
"""

import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.cache.script import asked_ids
from bench.turn.company import TIMEOUT, agent
from bench.turn.homes import PERSON, ROOM, Home
from dory.clock import utc
from dory.control import Control
from dory.identity import state
from dory.offline.server import Server
from dory.storage.rooms import Rooms
from dory.types import Prompt, Purpose, Reply, Usage

CALL, CHUNKS, TOKENS = 1.0, 9, 32_000
"""Seconds that a call takes; chunks of the compaction, and tokens of the context."""
QUIET = 5
"""Turns before the compaction, and after it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call: when it came in and when it was answered, in seconds."""

    purpose: Purpose
    came: float
    answered: float


class Slow:
    """A ``Model``. While ``talking``, a person's next line is in the room before a turn is
    answered, so turn follows turn.
    """

    name = "slow"

    def __init__(self, rooms: Rooms) -> None:
        self.asked: list[Asked] = []
        self.talking = False
        self._rooms = rooms
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer after a second."""
        came = time.monotonic()
        time.sleep(CALL)
        text = {
            "turn": _wait,
            "segment": parts,
            "summarise": _summary,
            "cascade": _recounted,
            "dream": _nothing,
        }[purpose](prompt)
        if purpose == "turn" and self.talking:
            self.say(f"and what of turn {len(self.asked)}?")
        with self._lock:
            self.asked.append(Asked(purpose, came, time.monotonic()))
        return Reply(text, "", Usage(purpose, self.name, 0, None, 1, 0.0))

    def say(self, text: str) -> None:
        """A line of the person."""
        self._rooms.say(ROOM, "USER", PERSON, text, utc())

    def of(self, *purposes: Purpose) -> list[Asked]:
        """The calls answered so far, in the order in which they came in."""
        with self._lock:
            return sorted(
                (request for request in self.asked if request.purpose in purposes),
                key=lambda request: request.came,
            )


def alone(home: Path, hash: str, compiled: Path) -> float:
    """Seconds from the first call of a compaction until its swap is on disk, in an agent that
    sleeps.
    """
    with (
        Server(model := Slow(Rooms(home / "chats"))) as server,
        agent(home, server, [hash], compiled),
    ):
        model.say("are you there?")
        _await(lambda: bool(model.of("turn")))
        return _compacted(home, hash, model) - model.of("segment")[0].came


def beside_turns(home: Path, hash: str, compiled: Path) -> tuple[list[float], list[float]]:
    """Milliseconds on the wall from the answer of one turn to the request of the next: without a
    compaction, and with one under way or being applied.
    """
    with (
        Server(model := Slow(Rooms(home / "chats"))) as server,
        agent(home, server, [hash], compiled),
    ):
        model.talking = True
        model.say("are you there?")
        _await(lambda: len(model.of("turn")) > QUIET)
        ended = _compacted(home, hash, model)
        known = len(model.of("turn"))
        _await(lambda: len(model.of("turn")) > known + QUIET)
        turns, began = model.of("turn"), model.of("segment")[0].came
    gaps = [
        (began - CALL < before.answered <= ended, (after.came - before.answered) * 1e3)
        for before, after in pairwise(turns[1:])
    ]
    return [gap for meanwhile, gap in gaps if not meanwhile], [
        gap for meanwhile, gap in gaps if meanwhile
    ]


def measure(home: Home, runs: int, compiled: Path) -> dict[str, float]:
    """Of ``runs`` compactions: how long one takes, and by how much the turn that it delayed most
    came later than the median turn. Medians; ``delay_ms_worst`` is by how much the latest turn of
    all came later than the latest without a compaction.
    """
    seconds, usual, longest = [], list[float](), list[float]()
    for _ in range(runs):
        seconds.append(alone(home.folder, home.settle(TOKENS), compiled))
        without, meanwhile = beside_turns(home.folder, home.settle(TOKENS), compiled)
        usual += without
        longest.append(max(meanwhile))
    gap = statistics.median(usual)
    return {
        "seconds": statistics.median(seconds),
        "seconds_worst": max(seconds),
        "turn_gap_ms": gap,
        "turn_gap_ms_worst": max(usual),
        "delay_ms": statistics.median(longest) - gap,
        "delay_ms_worst": max(longest) - max(usual),
    }


def _compacted(home: Path, hash: str, model: Slow) -> float:
    """Ask for a compaction; when it was on disk."""
    path = home / "agents" / hash / "state.json"
    epoch = state.load(path).epoch
    model.say("/compact")
    _await(lambda: state.load(path).epoch > epoch)
    return time.monotonic()


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"the agent did not get so far within {TIMEOUT:g} s")
        time.sleep(0.01)


def parts(prompt: Prompt) -> str:
    """Chunks of about equal length over the longest run."""
    runs = [tuple(map(int, run.split("-"))) for run in asked_ids(prompt).split()]
    first, last = max(runs, key=lambda run: run[1] - run[0])
    cuts = [first + (last + 1 - first) * number // CHUNKS for number in range(CHUNKS + 1)]
    return "\n".join(f"{begin}-{end - 1} what was said then" for begin, end in pairwise(cuts))


def _wait(prompt: Prompt) -> str:
    return "WAIT"


def _nothing(prompt: Prompt) -> str:
    return "NOTHING"


def _recounted(prompt: Prompt) -> str:
    return "This and that was said."


def _summary(prompt: Prompt) -> str:
    return (
        f"GIST: what {PERSON} said at {asked_ids(prompt)}\nRELEVANCE: 5\nSUMMARY:\n"
        f"{PERSON} said this and that."
    )
