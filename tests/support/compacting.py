"""Shared by the tests of compaction and of the loop: a home with one identity, a model that answers
by purpose, and a life to forget.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from agent import Agent
from dory.clock import utc
from dory.config.settings import Config
from dory.control import Control
from dory.identity import context
from dory.identity.context import Entry
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.storage.blobs import Blobs
from dory.text import references
from dory.turn.responses import stash
from dory.types import Compacted, Prompt, Purpose, Reply, Usage

Rule = Callable[[Prompt], str]


class Scripted:
    """A ``Model`` that answers by purpose, keeps what it was asked, and can be held back until it
    is released.
    """

    name = "scripted"

    def __init__(
        self,
        turn: Rule | None = None,
        segment: Rule | None = None,
        summarise: Rule | None = None,
        cascade: Rule | None = None,
    ) -> None:
        self.rules: dict[str, Rule] = {
            "turn": turn or (lambda prompt: "WAIT"),
            "segment": segment or in_parts(3),
            "summarise": summarise or (lambda prompt: summary(f"about {asked_ids(prompt)}", 5)),
            "cascade": cascade or (lambda prompt: OfflineModel().complete(prompt, "cascade").text),
            "dream": lambda prompt: "NOTHING",
            "care": lambda prompt: OfflineModel().complete(prompt, "care").text,
        }
        self.asked: list[tuple[Purpose, Prompt]] = []
        self.most_at_once: dict[str, int] = {}
        self.released = threading.Event()
        self.released.set()
        self._active: dict[str, int] = {}
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        with self._lock:
            self.asked.append((purpose, prompt))
            self._active[purpose] = self._active.get(purpose, 0) + 1
            self.most_at_once[purpose] = max(
                self.most_at_once.get(purpose, 0), self._active[purpose]
            )
        try:
            self.released.wait(10)
            if purpose == "summarise":
                time.sleep(0.01)  # so that calls which go out together are seen together
            return Reply(
                self.rules[purpose](prompt),
                "",
                Usage(purpose, self.name, len(prompt.text) // 4, None, 10, 0.0),
            )
        finally:
            with self._lock:
                self._active[purpose] -= 1


def instruction(prompt: Prompt) -> str:
    """The header that a compaction appends to its request: ``segment 1-9``, ``summarise 4-6``."""
    return prompt.text[prompt.text.rindex("\n[#s") + 3 :].partition("]")[0]


def asked_ids(prompt: Prompt) -> str:
    """The ids in that header."""
    return instruction(prompt).partition(" ")[2]


def in_parts(size: int) -> Rule:
    """Chunks of ``size`` ids over all that is eligible."""

    def segment(prompt: Prompt) -> str:
        runs = [tuple(map(int, run.split("-"))) for run in asked_ids(prompt).split()]
        return "\n".join(
            f"{at}-{min(at + size - 1, last)} part"
            for first, last in runs
            for at in range(first, last + 1, size)
        )

    return segment


def summary(text: str, relevance: int, gist: str = "") -> str:
    """An answer in the form of SUMMARISE.md."""
    return f"GIST: {gist or text}\nRELEVANCE: {relevance}\nSUMMARY:\n{text}"


class House:
    """One identity in a home of its own, with the agent that would live it."""

    def __init__(self, home: Path, model: Scripted, **settings: object) -> None:
        self.home = home
        self.model = model
        self.config = Config(model="scripted", **{"context_limit": 1000, **settings})  # type: ignore[arg-type]
        self.hash = boot(home, "dory", "dev", utc)
        self.records: list[Compacted] = []
        self.wake()

    def wake(self) -> None:
        """As after a restart."""
        self.me = Identity(self.home, self.hash, utc)
        self.me.begin()
        self.agent = Agent(self.me, self.config, self.model, verbose=False, stop=ShutdownSignal())
        self.compaction = self.agent.compaction

    def hear(self, count: int, size: int = 200) -> None:
        """Let ``count`` distinct things of ``size`` characters into the context."""
        for _ in range(count):
            number = self.me.state.next_id
            self.me.add(
                "heard",
                "dev",
                f"[USER:ada 2026-01-01T00:00:00Z] {f'crate {number} ' * (size // 9)}".strip(),
            )
        self.me.commit()

    def compact(self) -> None:
        """One whole compaction, as between turns."""
        self.compaction.start()
        self.finish()

    def finish(self) -> None:
        """Wait for the one under way and apply it."""
        deadline = time.monotonic() + 10
        while self.compaction.under_way and time.monotonic() < deadline:
            self.compaction.step()
            time.sleep(0.005)

    def live(self, until: Callable[[], bool]) -> None:
        """Run the loop in this thread until something holds."""
        deadline = time.monotonic() + 20
        self.agent.stop.asked = False

        def look() -> None:
            try:
                while time.monotonic() < deadline and not until():
                    time.sleep(0.01)
            finally:
                self.agent.stop.asked = True

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        self.agent.run()
        assert until(), "that did not happen in time"

    def say(self, text: str, kind: str = "USER", name: str = "ada") -> None:
        """A line in the room."""
        self.me.rooms.say("dev", kind, name, text, utc())

    def lines(self, kind: str) -> list[str]:
        """What was said in the room by those of a kind."""
        return [line.text for line in self.me.rooms.read("dev", 0) if line.kind == kind]

    def asleep(self) -> bool:
        """Whether the agent has taken everything in and answered."""

        def quiet() -> bool:
            state = self.me.state
            idle = not state.awake and not state.notices
            return idle and state.rooms["dev"].read == self.me.rooms.size("dev")

        # twice, as the agent may write a notice between two of these looks
        return quiet() and quiet()


def originals(entries: list[Entry], blobs: Blobs) -> list[Entry]:
    """The context with every compacted stretch opened, to any depth."""
    opened: list[Entry] = []
    for entry in entries:
        if entry.kind == "compacted" and entry.hash:
            inside = context.parse(blobs.get(entry.hash).body)
            opened += originals(inside, blobs) if inside[0].first == entry.first else [entry]
        else:
            opened.append(entry)
    return opened


def kinds(entries: list[Entry]) -> str:
    """The context at a glance: ``1-3 compacted, 4 heard``."""
    return ", ".join(f"{entry.ids} {entry.kind}" for entry in entries)


def referenced(entries: list[Entry]) -> list[str]:
    """The hashes that stand in the context."""
    return [hash for hash, _ in references.live(context.render(entries))]


def act(house: House, text: str) -> None:
    """One response with tool lines, as in a turn."""
    response = stash(house.me, Reply(text, "", Usage("turn", "scripted", 0, None, 0, 0.0)))
    house.agent.tool_runner.act(response, house.agent.tool_runner.parse(text))
    house.me.commit()
