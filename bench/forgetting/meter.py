"""What every model call costs: tokens, dollars if the price is known, and what of the prompt a
provider's cache would have served.

A prompt is cut into blocks of 64 tokens. Those at its beginning that one of the last requests began
with, too, count as cached, unless the endpoint itself says how many were.
"""

import threading
from collections import Counter, deque
from datetime import UTC, datetime

from dory.config import prices
from dory.config.prices import Price
from dory.control import Control
from dory.llm.cache_monitor import BLOCK, shared
from dory.text.formatting import CHARACTERS_PER_TOKEN
from dory.types import Model, Prompt, Purpose, Reply

KEPT = 4
"""Requests with which one is compared: what an older one has in common with it, these have, too."""
ENDPOINT, MODEL, OFF_PEAK = (
    "https://api.deepseek.com",
    "deepseek-v4-pro",
    datetime(2026, 10, 4, tzinfo=UTC),
)
"""Whose published prices count when the offline model reads, and of when all prices are;
``dory/prices.py`` names the source.
"""


def rates() -> Price | None:
    """Those prices; None when they are not known."""
    return prices.published(ENDPOINT, MODEL, OFF_PEAK)


class Meter:
    """A ``Model``: the one it is given, with calls and dollars counted by purpose, tokens by kind.
    Any number of threads may call it. Without a ``price`` no dollars are counted.
    """

    def __init__(self, model: Model, price: Price | None) -> None:
        self.name = model.name
        self._model = model
        self._price = price
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.dollars: dict[str, float] = {}
        self._sent: deque[str] = deque(maxlen=KEPT)
        self._lock = threading.Lock()

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """As the model's own."""
        reply = self._model.complete(prompt, purpose, control)
        used = reply.usage
        with self._lock:
            served = self._served(prompt.text)
            cached = min(used.prompt, served if used.cached is None else used.cached)
            self.calls[purpose] += 1
            self.tokens.update(prompt=used.prompt, cached=cached, completion=used.completion)
            if self._price:
                self.dollars[purpose] = self.dollars.get(purpose, 0.0) + self._price.cost(
                    used.prompt, cached, used.completion
                )
        return reply

    @property
    def spent(self) -> float | None:
        """Dollars in all; None when the price is not known."""
        return sum(self.dollars.values()) if self._price else None

    def _served(self, text: str) -> int:
        """The tokens at the beginning of ``text`` that one of the last prompts began with, in whole
        blocks.
        """
        same = max((shared(text, before) for before in self._sent), default=0)
        self._sent.append(text)
        return same // (BLOCK * CHARACTERS_PER_TOKEN) * BLOCK
