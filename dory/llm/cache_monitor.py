"""Whether the provider's cache served what it could: a watch on the prompts of turns.

What a prompt has in common with the beginning of the one before, in whole blocks, can come from the
cache, if that one was sent a short while ago. When the provider reports far less, the person is
told where the two prompts part; and when they part earlier than they should within an epoch, which
is the harness's own fault. Each kind of warning is given some times an hour at most.
"""

import re
import time
from collections.abc import Callable

from dory.types import Prompt, Usage

BLOCK, LEAST = 64, 1024
"""Tokens: the unit of caching, and what must be in common before a provider caches at all (OpenAI:
1024; DeepSeek: 64).
"""
SLACK = 0.1
"""Of what is expected: tokens are estimated from characters, and OpenAI counts what it served in
steps of 128.
"""
DENSER = 4
"""How many times as many tokens a character may have in what is new as in what was sent before,
such as Chinese behind English.
"""
RECENT, PAUSE = 300.0, 1200.0
"""Seconds for which providers keep a prefix at least; seconds between two warnings of a kind."""

_REQUEST = "\n[#turn]\n"
"""What the last message ends with in the layout that has a tail; in the other one nothing that was
sent is ever sent in another form.
"""
_TAIL = re.compile(r"\n\[#[a-z]")
"""Where the tail begins: the first header that is not an entry's. Entries have numbers, and no text
within one can look so.
"""
_SECTION = re.compile(r"^\[#[a-z]+\b", re.MULTILINE)
"""The header of a section of the system message."""


class CacheMonitor:
    """The prompts of one identity's turns. ``tell`` gets the warnings; ``now`` is a clock in
    seconds that only rises.
    """

    def __init__(
        self, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._now = now
        self._last: tuple[str, int, int, str, float] | None = None
        self._told: dict[str, float] = {}

    def look(self, prompt: Prompt, epoch: int, usage: Usage) -> None:
        """Compare a prompt that was answered with the one before."""
        text, last, now = prompt.text, self._last, self._now()
        self._last = text, epoch, settled(prompt), usage.model, now - usage.seconds
        if last is None or last[3] != usage.model:
            return
        before, its_epoch, stable, _, sent = last
        same = shared(before, text)
        if its_epoch == epoch and same < stable:
            told = "the prompt's beginning was changed although no epoch began, which is a fault of the harness"
            self._warn("broken", f"{told}: {_place(prompt, same)}")
        expected = round(same * usage.prompt / max(len(text), 1)) // BLOCK * BLOCK
        least = same * usage.prompt / max(same + DENSER * (len(text) - same), 1)
        missed = usage.cached is not None and usage.cached < least * (1 - SLACK) - BLOCK
        ago = now - usage.seconds - sent
        if missed and expected >= LEAST and ago < RECENT:
            served = f"only {usage.cached:,} of some {expected:,} tokens that could be were served from the provider's cache"
            self._warn("missed", f"{served}; {_place(prompt, same)}, sent {ago:.0f} s earlier")

    def _warn(self, kind: str, text: str) -> None:
        now = self._now()
        if now - self._told.get(kind, -PAUSE) >= PAUSE:
            self._told[kind] = now
            self._tell(text)


def settled(prompt: Prompt) -> int:
    """How many characters at the beginning of ``prompt.text`` every later prompt of the same epoch
    must begin with.
    """
    last = prompt.messages[-1].content
    tail = _TAIL.search(f"\n{last}") if _REQUEST in last else None
    return len(prompt.text) - len(last) + (tail.start() if tail else len(last))


def shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning, found by halves: texts are
    long, comparing slices is fast.
    """
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _place(prompt: Prompt, same: int) -> str:
    """Where two prompts part. What the system message holds may stand nowhere else, the soul above
    all, so only its section is named.
    """
    text, system = prompt.text, prompt.messages[0].content
    header = "".join(_SECTION.findall(system[:same])[-1:]) or "SOUL"
    quoted = (
        f"in the system message, at {header}"
        if same < len(system)
        else repr(text[same : same + 40])
    )
    return f"it differs from the one before from byte {len(text[:same].encode('utf-8', 'replace')):,} on: {quoted}"
