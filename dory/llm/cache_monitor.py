"""Warns when the provider's cache served less of a turn's prompt than it could.

The beginning that a prompt shares with the one before can come from the cache, in whole blocks, if
that one was sent a short while ago. When the provider reports far less, people are told where the
two prompts begin to differ. They are also told when prompts of one epoch differ earlier than they
should, which is a fault of the harness. Each kind of warning is given a few times an hour at most.
"""

import re
import time
from collections.abc import Callable
from typing import NamedTuple

from dory.types import Prompt, Usage

BLOCK = 64
"""Tokens: the unit of caching."""
LEAST = 1024
"""Tokens that must be shared before every provider caches (OpenAI: 1024; DeepSeek: 64)."""
SLACK = 0.1
"""The share of the expected tokens that may be missing: they are estimated from characters, and
OpenAI counts in steps of 128.
"""
DENSER = 4
"""How many times more tokens per character the new text may have than the shared one, such as
Chinese behind English.
"""
RECENT = 300.0
"""Seconds for which every provider keeps a prefix."""
PAUSE = 1200.0
"""Seconds between two warnings of a kind."""

_TAIL = re.compile(r"\n\[#[a-z]")
"""Where the tail begins: the first header that is not an entry's. Entries have numbers, and no text
in an entry can look like this.
"""
_SECTION = re.compile(r"^\[#[a-z]+\b", re.MULTILINE)
"""The header of a section of the system message."""


class Served(NamedTuple):
    """What the provider's cache could have served to a prompt, and what it did, in tokens."""

    model: str
    could: int
    did: int


class _Sent(NamedTuple):
    """A prompt that was answered."""

    text: str
    epoch: int
    settled: int
    model: str
    at: float


class CacheMonitor:
    """Compares the prompts of one identity's turns. ``tell`` is given the warnings. ``now`` is a
    monotonic clock in seconds.
    """

    def __init__(
        self, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._now = now
        self._last: _Sent | None = None
        self._warned_at: dict[str, float] = {}

    def look(self, prompt: Prompt, epoch: int, usage: Usage, ledger: bool = False) -> Served | None:
        """Compare a prompt that was answered with the one before; ``ledger``: nothing in it is sent
        in another form later. Returns what the cache served; None if the provider does not say, or
        the two cannot be compared.
        """
        text = prompt.text
        sent = self._now() - usage.seconds
        last = self._last
        self._last = _Sent(text, epoch, settled(prompt, ledger), usage.model, sent)
        if last is None or last.model != usage.model:
            return None
        same = shared(last.text, text)
        if last.epoch == epoch and same < last.settled:
            self._warn(
                "broken",
                "the prompt's beginning was changed although no epoch began, which is a fault of"
                f" the harness: {_place(prompt, same)}",
            )
        expected = round(same * usage.prompt / max(len(text), 1)) // BLOCK * BLOCK
        least = same * usage.prompt / max(same + DENSER * (len(text) - same), 1)
        missed = usage.cached is not None and usage.cached < least * (1 - SLACK) - BLOCK
        ago = sent - last.at
        if expected < LEAST or ago >= RECENT:
            return None
        if missed:
            self._warn(
                "missed",
                f"only {usage.cached:,} of some {expected:,} tokens that could be were served from"
                f" the provider's cache; {_place(prompt, same)}, sent {ago:.0f} s earlier",
            )
        return None if usage.cached is None else Served(usage.model, expected, usage.cached)

    def _warn(self, kind: str, text: str) -> None:
        now = self._now()
        if now - self._warned_at.get(kind, -PAUSE) >= PAUSE:
            self._warned_at[kind] = now
            self._tell(text)


def settled(prompt: Prompt, ledger: bool = False) -> int:
    """Return how many characters of ``prompt.text`` every later prompt of the same epoch must begin
    with: in a ``ledger`` all of them, otherwise those before the tail.
    """
    last = prompt.messages[-1].content
    tail = None if ledger else _TAIL.search(f"\n{last}")
    if tail is None:
        return len(prompt.text)
    return len(prompt.text) - len(last) + tail.start()


def shared(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their beginning. Found by bisection:
    texts are long, and comparing slices is fast.
    """
    low = 0
    high = min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _place(prompt: Prompt, same: int) -> str:
    """Where a prompt begins to differ. In the system message only the section is named, because its
    text, above all the soul, must not be shown elsewhere.
    """
    text = prompt.text
    system = prompt.messages[0].content
    if same < len(system):
        headers = _SECTION.findall(system[:same])
        header = headers[-1] if headers else "SOUL"
        place = f"in the system message, at {header}"
    else:
        place = repr(text[same : same + 40])
    byte = len(text[:same].encode("utf-8", "replace"))
    return f"it differs from the one before from byte {byte:,} on: {place}"
