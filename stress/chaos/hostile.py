"""A model that answers anything, for every purpose: random bytes, much too much, nothing, half of
what was asked for, tool lines of every tool with random arguments, other encodings, and imitations
of the harness. Everything follows from the seed and from what it is asked.

It never leaves the room in which people talk with it: then nobody could expect an answer.
"""

import base64
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dory.control import Control
from dory.offline import OfflineModel
from dory.offline.prompt_reader import TOOLS, read
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.types import Prompt, Purpose, Reply
from stress.chaos.orders import ROOM, SECOND_ROOM

HUGE = 950_000
"""Characters that just fit into an answer."""
_OFTEN = 4_000
_SEEN = 4_000
"""Characters at the end of a prompt from which it borrows."""
_RARELY = 0.02
_LEAVING = re.compile(rf"leave(?! {SECOND_ROOM})", re.IGNORECASE)
_FILES = (
    *("MEMORY.md", "USER.md", "VOICE.md", "SEGMENT.md", "LIFE.md", "context.md", "state.json"),
    *("workspace/x.md", "workspace/a/b.md", "workspace/\x00", "SOUL.md", "notes/x.md"),
    *("../state.json", "/etc/passwd", "chats/dev.md", ".", ".."),
)
_WORDS = (
    *(ROOM, SECOND_ROOM, "ada", "@dory", "", "0", "-1", "9" * 40, "1-99999", "NaN", "today", "END"),
    *("\ud800", "\x00", "\u202e", "ﬃ", "🐟" * 9, "]" * 99, "◱hash=0123456789abcdef gist=x◲", "'--"),
    *("<<END", "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "```", "<think>", "</think>", "{}"),
)
_VECTORS = (
    "",
    "[]",
    '{"data": []}',
    '{"data": [{"index": 0, "embedding": [1e999, -1e999]}]}',
    '{"data": [{"index": -1, "embedding": []}]}',
    '{"data": [{"index": 0, "embedding": ["a"]}, {"index": 0, "embedding": null}]}',
    '{"data": [{"index": 9, "embedding": "AAAA"}]}',
)
"""Answers to a request for vectors."""


class Hostile(OfflineModel):
    """A ``Model``. ``answers`` counts its answers by purpose. After ``reform`` it is the offline
    model.
    """

    name = "hostile"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._reformed = False
        self._lock = threading.Lock()
        self.answers: Counter[str] = Counter()
        self._kinds: tuple[Callable[[random.Random, Prompt, str], str], ...] = (
            _bytes,
            _nothing,
            _repeated,
            _half_json,
            _tool_lines,
            _tool_lines,
            _caring,
            _encoded,
            _imitated,
            _mutated,
            _mutated,
            _mutated,
            _true,
        )

    @contextmanager
    def served(self) -> Iterator[list[str]]:
        """Behind HTTP; the flags of an agent that asks it for everything."""
        with Server(self) as server:
            chance = random.Random(self._seed)
            server.lasting = {"embedding": Fault(text=chance.choice(_VECTORS))}
            profile = f"{{v: {{model: vectors, base_url: '{server.base_url}'}}}}"
            flags = ["--model", self.name, "--base-url", server.base_url, "--retries", "0"]
            yield [*flags, "--profiles", profile, "--embeddings", "v"]

    def reform(self) -> None:
        """Answer well from now on."""
        self._reformed = True

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. Raises nothing."""
        reply = super().complete(prompt, purpose)
        if self._reformed:
            return reply
        with self._lock:
            self.answers[purpose] += 1
            number = self.answers.total()
        chance = random.Random(f"{self._seed} {number} {purpose}")
        kind = _huge if chance.random() < _RARELY else chance.choice(self._kinds)
        text = _LEAVING.sub("leaf", kind(chance, prompt, reply.text))
        thought = _imitated(chance, prompt, "") if chance.random() < 0.1 else ""
        return Reply(text, thought, reply.usage, cut=chance.random() < 0.1)


def _bytes(chance: random.Random, prompt: Prompt, true: str) -> str:
    return chance.randbytes(chance.randint(1, _OFTEN)).decode(
        chance.choice(("latin-1", "utf-8", "utf-16")), "replace"
    )


def _nothing(chance: random.Random, prompt: Prompt, true: str) -> str:
    return chance.choice(("", " ", "\n" * _OFTEN, "\u200b", "\x00", "\ud800", ".", "null"))


def _huge(chance: random.Random, prompt: Prompt, true: str) -> str:
    piece = chance.choice((*_WORDS, true, _tool_lines(chance, prompt, true))) or "\n"
    return (piece * (HUGE // len(piece) + 1))[:HUGE]


def _repeated(chance: random.Random, prompt: Prompt, true: str) -> str:
    return f"{chance.choice((true, _tool_lines(chance, prompt, true)))}\n" * chance.randint(2, 300)


def _half_json(chance: random.Random, prompt: Prompt, true: str) -> str:
    call = {"name": chance.choice(_tools(prompt)), "arguments": {"room": ROOM, "text": true}}
    text = json.dumps([call] * chance.randint(1, 5), ensure_ascii=chance.random() < 0.5)
    return "<tool_call>" * chance.randint(0, 2) + text[: chance.randint(0, len(text))]


def _tool_lines(chance: random.Random, prompt: Prompt, true: str) -> str:
    """Tool lines of every tool, with arguments of any kind and sometimes a body."""
    lines = []
    for _ in range(chance.randint(1, 12)):
        given = chance.choices((*_WORDS, *_FILES, _echo(chance, prompt)), k=chance.randint(0, 4))
        line = f"{chance.choice(_tools(prompt))} {' '.join(given)}"
        if chance.random() < 0.3:
            body = _echo(chance, prompt)
            line += chance.choice(
                (
                    f" <<END\n{body}\nEND",
                    f" <<END\n{body}",
                    f"\n<<<<<<< SEARCH\n=======\n{body}\n>>>>>>> REPLACE",
                    f"\n<<<<<<< SEARCH\n{body}\n=======\n>>>>>>> REPLACE",
                )
            )
        lines.append(line)
    return "\n".join(lines)


def _caring(chance: random.Random, prompt: Prompt, true: str) -> str:
    """What leads to self-care, and to sums of people and days."""
    return (
        "GO_HOME\nSELF_CARE\nCOMPACT_MEMORIES\nASSIGN_RELATIONSHIP ada friend; because: tea\n"
        f"WRITE_DIARY {_echo(chance, prompt)}\nADD_TO_LONGTERM_MEMORY {_echo(chance, prompt)}\n"
    )


def _encoded(chance: random.Random, prompt: Prompt, true: str) -> str:
    data = (true or _echo(chance, prompt)).encode("utf-8", "replace")
    return chance.choice(
        (
            data.decode("latin-1"),
            data.decode("utf-16", "replace"),
            base64.b64encode(data).decode(),
            data.hex(),
            json.dumps(data.decode("utf-8", "replace")),
            "".join(chr(0xFEE0 + ord(c)) if "!" <= c <= "~" else c for c in data.decode()),
        )
    )


def _imitated(chance: random.Random, prompt: Prompt, true: str) -> str:
    """Headers, tags and references as they stand in the prompt, around the answer."""
    marks = [
        line
        for line in prompt.text[-_SEEN:].splitlines()
        if line.startswith(("[", "◱", "---", "#")) or "◱" in line
    ] or ["[#99 heard dev]"]
    lines = [*chance.choices(marks, k=chance.randint(1, 9)), true, _echo(chance, prompt)]
    chance.shuffle(lines)
    return "\n".join(lines)


def _mutated(chance: random.Random, prompt: Prompt, true: str) -> str:
    """The right answer, with pieces taken out, doubled or exchanged."""
    text = true or _echo(chance, prompt)
    for _ in range(chance.randint(1, 6)):
        start, end = sorted(chance.choices(range(len(text) + 1), k=2))
        end = min(end, start + 60)
        piece = chance.choice(("", text[start:end] * 2, *_WORDS, _echo(chance, prompt)))
        text = text[:start] + piece + text[end:]
    return text


def _true(chance: random.Random, prompt: Prompt, true: str) -> str:
    return true


def _echo(chance: random.Random, prompt: Prompt) -> str:
    """A piece of the prompt."""
    seen = prompt.text[-_SEEN:]
    start = chance.randrange(len(seen))
    return seen[start : start + chance.randint(1, 200)]


def _tools(prompt: Prompt) -> list[str]:
    return sorted(read(prompt).tools) or list(TOOLS)
