"""What a provider does beside answering, in small and without any network: it counts, caches, and
fails.

Tokens are counted by rule of thumb. What a prompt has in common with the beginning of any prompt
before it counts as cached, in whole blocks.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dory.offline import summarising
from dory.text import formatting
from dory.types import Message, Prompt, Purpose

BLOCK = 64
"""Tokens; DeepSeek's unit of caching."""

_PURPOSE = re.compile(r"^\[#(segment|summarise)\b", re.MULTILINE)
_STUDY = re.compile(r"^\[#study\]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one request; the fields combine. The middle is half way through the
    pieces of a stream, which only completions have.

    ``close`` drops the connection ``before`` the answer or in its ``middle``, or ends the answer
    ``early`` as if it were whole. An ``endless`` one does not get beyond its middle, or the body of
    its ``status``: that comes again after each ``pause``, until the client leaves.
    """

    delay: float = 0.0  # seconds of silence before the answer
    status: int = 0  # answer with this HTTP status, and with these headers and this body
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    text: str | None = (
        None  # answer this and do not ask the model; where vectors are wanted it is the whole body
    )
    reasoning: str = ""  # and think this before
    finish: str = ""  # end for this reason
    pause: float = 0.0  # seconds of silence in the middle
    raw: str = ""  # bytes sent in the middle, as Latin-1
    close: Literal["", "before", "middle", "early"] = ""
    endless: bool = False
    whole: bool = False  # answer in one piece even though a stream is asked for


@dataclass(frozen=True, slots=True)
class Request:
    """A completion that was asked for and not refused; ``prompt`` and ``cached`` are in tokens."""

    messages: tuple[Message, ...]
    purpose: Purpose
    prompt: int
    cached: int


class Cache:
    """The beginnings of all prompts seen. Not thread-safe."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def request(self, prompt: Prompt) -> Request:
        """Count a prompt against those before it, and remember it."""
        return Request(
            prompt.messages,
            purpose(prompt),
            formatting.tokens(prompt.text),
            self._cached(prompt.text),
        )

    def _cached(self, text: str) -> int:
        size, hits, beginning = BLOCK * formatting.CHARACTERS_PER_TOKEN, 0, hashlib.sha256()
        for end in range(size, len(text) + 1, size):
            beginning.update(text[end - size : end].encode("utf-8", "surrogatepass"))
            hits += beginning.digest() in self._known
            self._known.add(beginning.digest())
        return hits * BLOCK


def purpose(prompt: Prompt) -> Purpose:
    """What a prompt is for, as its last message says, or, of a Dream, which is a conversation, its
    second.
    """
    if any(_STUDY.search(message.content) for message in prompt.messages[1:2]):
        return "dream"
    named: list[Purpose] = _PURPOSE.findall(prompt.messages[-1].content)
    return (
        summarising.purpose(prompt)
        if summarising.memories(prompt) is not None
        else named[-1]
        if named
        else "turn"
    )


def usage(request: Request, answer: str) -> dict[str, Any]:
    """The bill, as OpenAI words it and as DeepSeek does."""
    completion = formatting.tokens(answer)
    return {
        "prompt_tokens": request.prompt,
        "completion_tokens": completion,
        "total_tokens": request.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": request.cached},
        "prompt_cache_hit_tokens": request.cached,
        "prompt_cache_miss_tokens": request.prompt - request.cached,
    }
