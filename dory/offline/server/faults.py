"""What a provider does beside answering, without any network: it counts tokens, caches, and fails.

Tokens are estimated from characters. The beginning that a prompt shares with any earlier prompt
counts as cached, in whole blocks.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dory.offline import recounting
from dory.text import formatting
from dory.types import Message, Prompt, Purpose

BLOCK = 64
"""Tokens in a block of the cache, as with DeepSeek."""

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

    # seconds of silence before the answer
    delay: float = 0.0
    # instead of an answer these bytes, as Latin-1, again and again after each ``pause``
    heads: str = ""
    # answer with this HTTP status, and with these headers and this body
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    # refuse a request that has this option
    refuses: str = ""
    # answer this and do not ask the model; for a request for vectors it is the whole body
    text: str | None = None
    # the reasoning before ``text``
    reasoning: str = ""
    # the reason for which the answer ends
    finish: str = ""
    # seconds of silence in the middle
    pause: float = 0.0
    # bytes sent in the middle, as Latin-1
    raw: str = ""
    close: Literal["", "before", "middle", "early"] = ""
    endless: bool = False
    # answer in one piece although a stream is asked for
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a completion that was not refused. ``prompt`` and ``cached`` are in tokens."""

    messages: tuple[Message, ...]
    purpose: Purpose
    prompt: int
    cached: int


class Cache:
    """The beginnings of all prompts seen. Not thread-safe."""

    def __init__(self) -> None:
        self._known: set[bytes] = set()

    def request(self, prompt: Prompt) -> Request:
        """Compare a prompt with those before it, and remember it."""
        return Request(
            prompt.messages,
            purpose(prompt),
            formatting.tokens_of(len(prompt.text)),  # as the blocks of the cache are counted
            self._cached(prompt.text),
        )

    def _cached(self, text: str) -> int:
        size = BLOCK * formatting.CHARACTERS_PER_TOKEN
        known_blocks = 0
        beginning = hashlib.sha256()
        for end in range(size, len(text) + 1, size):
            beginning.update(text[end - size : end].encode("utf-8", "surrogatepass"))
            if beginning.digest() in self._known:
                known_blocks += 1
            self._known.add(beginning.digest())
        return known_blocks * BLOCK


def purpose(prompt: Prompt) -> Purpose:
    """What a prompt is for. Its last message says so, or for a Dream, which is a conversation, the
    second message.
    """
    if any(_STUDY.search(message.content) for message in prompt.messages[1:2]):
        return "dream"
    if recounted := recounting.purpose(prompt):
        return recounted
    named: list[Purpose] = _PURPOSE.findall(prompt.messages[-1].content)
    return named[-1] if named else "turn"


def usage(request: Request, answer: str) -> dict[str, Any]:
    """The usage figures, with the keys of OpenAI and of DeepSeek."""
    completion = formatting.tokens_of(len(answer))
    return {
        "prompt_tokens": request.prompt,
        "completion_tokens": completion,
        "total_tokens": request.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": request.cached},
        "prompt_cache_hit_tokens": request.cached,
        "prompt_cache_miss_tokens": request.prompt - request.cached,
    }
