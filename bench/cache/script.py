"""The model of the lives: it answers at once, from a seed, and a person's next line is in the room
before it has answered.

A turn holds a thought and something said, some 400 tokens with what was heard and with the results;
every tenth adds a line to MEMORY or, once there are enough, changes one. A Dream adds a line to
USER or changes one, every second time to VOICE as well. A turn waits while a compaction, the
cascade or a Dream has requests to make, so that each takes one turn on any machine.
"""

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from dory.control import Control
from dory.text import tool_calls
from dory.text.prompt_files import DURABLE, MEMORY, USER, VOICE
from dory.types import Call, Message, Prompt, Purpose, Reply, Usage

ROOM, PERSON = "dev", "ada"
HEARD, THOUGHT, SAID, SUMMARY = 50, 160, 60, 60
"""Words of a person's line, of a response's two parts, and of a summary: of a chunk, or of memories
in two or three sentences.
"""
CHUNK = 15
"""Entries that a chunk has."""
EDIT_EVERY, FACTS = 10, 15
"""Turns between two changes of MEMORY, and the lines that it, USER and VOICE come to hold."""
_TIMEOUT = 60.0
_ASKED = re.compile(r"^\[#(?:segment|summarise) (.+)\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived, and what it was answered."""

    messages: tuple[Message, ...]
    purpose: Purpose
    answer: str


class Script:
    """A ``Model``. ``say`` puts a person's line into the room, ``working`` tells whether there are
    calls to make beside the loop.
    """

    name = "scripted"

    def __init__(self, say: Callable[[str], None], working: Callable[[], bool]) -> None:
        self._say = say
        self._working = working
        self.asked: list[Asked] = []
        self._facts: dict[str, list[str]] = {name: [] for name in DURABLE}
        self._turns = self._dreams = 0
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        if purpose == "turn":
            self.wait()
        with self._lock:
            answers = {
                "turn": self._turn,
                "segment": self._segment,
                "summarise": self._summarise,
                "cascade": self._sum_up,
                "dream": self._dream,
            }
            text = answers[purpose](prompt)
            self.asked.append(Asked(prompt.messages, purpose, text))
        return Reply(text, "", Usage(purpose, self.name, 0, None, 0, 0.0))

    def person(self) -> None:
        """A line of the person."""
        self._say(self._words(f"heard {self._turns}", HEARD))

    def wait(self) -> None:
        """Until nothing is under way beside the loop; a minute at most."""
        deadline = time.monotonic() + _TIMEOUT
        while self._working() and time.monotonic() < deadline:
            time.sleep(0.002)

    def _turn(self, prompt: Prompt) -> str:
        self._turns += 1
        self.person()
        calls = [Call("SAY", f"{ROOM} {self._words(f'said {self._turns}', SAID)}")]
        if self._turns % EDIT_EVERY == 0:
            calls.insert(0, self._edit(MEMORY, f"fact {self._turns}"))
        return f"{self._words(f'thought {self._turns}', THOUGHT)}\n{tool_calls.render(calls)}"

    def _edit(self, name: str, about: str) -> Call:
        fact, facts = f"{about}: {self._words(about, 8)}", self._facts[name]
        old = facts.pop(0) if len(facts) == FACTS else ""
        facts.append(fact)
        return Call("EDIT_FILE", name, edits=((old, fact),))

    def _segment(self, prompt: Prompt) -> str:
        chunks = []
        for run in asked_ids(prompt).split():
            first, last = map(int, run.split("-"))
            chunks += [
                f"{at}-{min(at + CHUNK - 1, last)} what was said then"
                for at in range(first, last + 1, CHUNK)
            ]
        return "\n".join(chunks)

    def _summarise(self, prompt: Prompt) -> str:
        ids = asked_ids(prompt)
        relevance = random.Random(ids).randint(1, 9)
        return (
            f"GIST: {PERSON} {self._words(ids, 10)}\nRELEVANCE: {relevance}\n"
            f"SUMMARY:\n{PERSON} {self._words(ids, SUMMARY)}"
        )

    def _sum_up(self, prompt: Prompt) -> str:
        return f"{self._words(prompt.text, SUMMARY)}."

    def _dream(self, prompt: Prompt) -> str:
        """The list of changes; then the changes, each below its reason; then that all is done."""
        asked = prompt.messages[-1].content
        if "\n[#study]\n" in asked:
            self._dreams += 1
        elif not asked.startswith("[#revise]\n"):
            return "DONE"
        changed, reason = (
            (USER, VOICE)[: 2 - self._dreams % 2],
            self._words(f"dream {self._dreams}", 12),
        )
        if "\n[#study]\n" in asked:
            return "\n".join(
                f"{at}. {name}: add “{reason}”. Reason: {reason}"
                for at, name in enumerate(changed, 1)
            )
        edits = [self._edit(name, f"dream {self._dreams} of {name}") for name in changed]
        return "\n\n".join(f"{reason}.\n{tool_calls.render([edit])}" for edit in edits)

    def _words(self, seed: str, count: int) -> str:
        """Words that nobody says twice, as long as English ones."""
        drawn = random.Random(seed)
        return " ".join(
            "".join(drawn.choices("etaoinshrdlu", k=drawn.choice((2, 3, 3, 4, 5, 6, 8))))
            for _ in range(count)
        )


def asked_ids(prompt: Prompt) -> str:
    """The ids of the entries that a request of a compaction is about."""
    headers: list[str] = _ASKED.findall(prompt.messages[-1].content)
    return headers[-1]
