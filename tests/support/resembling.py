"""Shared by the tests of related experiences: an embedder that a test can block or let fail, and
summaries.
"""

import zlib
from collections.abc import Sequence
from threading import Event

from dory.errors import ModelAway, ModelRefused, WindowExceeded
from dory.extensions.cascade.related import Experience, Related
from dory.storage.database import Store
from dory.types import Embedder
from tests.support.household import NOON

TRIP = "Ada planned a trip to Lisbon and booked a hotel with a view of the river."
BREAD = "Bert baked bread with rye flour. He let the dough rest overnight."
BIKE = "The bicycle had a flat tyre, which Ada mended in the rain."


class Letters:
    """An embedder for which texts are alike that share pieces of words, which BM25 does not see."""

    def __init__(self, name: str = "letters", dimension: int = 256, window: int = 10_000) -> None:
        self.name = name
        self.dimension = dimension
        self.window = window
        self.asked: list[list[str]] = []
        self.away = False
        self.odd = ""
        self.free = Event()
        self.free.set()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        self.free.wait()
        if self.away:
            raise ModelAway("nobody is at home")
        if self.odd and any(self.odd in text for text in texts):
            raise ModelRefused(f"nothing with {self.odd}")
        if max(map(len, texts)) > self.window:
            raise WindowExceeded("too long")
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for start in range(len(text) - 3):
            vector[
                zlib.crc32(text[start : start + 4].casefold().encode("utf-8", "replace"))
                % self.dimension
            ] += 1
        return vector


def filled(store: Store, embedder: Embedder | None = None, *texts: str) -> Related:
    """A summary for every 64 memories."""
    related = Related(store, embedder, timeout=60)
    for number, text in enumerate(texts or (TRIP, BREAD, BIKE)):
        related.add(text, 64 * number + 1, 64 * number + 64, NOON)
    return related


def embed(related: Related) -> int:
    """Do what is due beside the loop; the number of works."""
    count = 0
    while work := related.backlog():
        work()()
        count += 1
    return count


def texts(experiences: Sequence[Experience]) -> list[str]:
    return [memory.text for memory in experiences]
