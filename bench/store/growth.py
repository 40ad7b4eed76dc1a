"""A store that grows as a life would let it grow: talk in one room, 25 entries a day, three
speakers. Plain FTS5 grows beside it.

The first entries are a real conversation, if there is one: the oldest of all, told in the words
that are the most frequent ones of all that follows. Its questions show what a search loses in so
much noise.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.common.questions import Talk
from bench.store.noise import Noise
from bench.store.plain import Plain
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.database import Store
from dory.text.tokenizer import folded

CHARACTERS = 400
AT_ONCE = 100
"""Entries in one transaction while it grows. The writes that are measured are single ones."""
_DAY = 25
_BEGAN = datetime(2016, 1, 1, 9, tzinfo=UTC)
_SPEAKERS = ("ada", "bert", "cleo")


def noise(seed: int, talk: Talk | None) -> Noise:
    """The noise in which ``talk`` is hidden."""
    said = (
        Counter(word for document in talk.documents for word in folded(document.text).split())
        if talk
        else Counter[str]()
    )
    return Noise(seed, [word for word, _ in said.most_common()])


class Growth:
    """The store in ``folder``; ``entries`` are in it, each with its number as origin."""

    def __init__(self, folder: Path, talk: Talk | None) -> None:
        self.entries = 0
        self.store = Store(folder / "memory.sqlite")
        self.index = Index(self.store)
        self.plain = Plain(folder)
        self._noise = noise(1, talk)
        if talk:
            self._add(talk.documents)

    def grow(self, size: int) -> None:
        """Go on until there are ``size`` entries, in batches, and let the log be copied back."""
        while self.entries < size:
            self._add(
                [
                    document
                    for document, _ in zip(
                        self.upcoming(), range(min(AT_ONCE, size - self.entries)), strict=False
                    )
                ]
            )
        self.store.tidy()

    def upcoming(self) -> Iterator[Document]:
        """The entries that come next, without end."""
        number = self.entries
        while True:
            at = _BEGAN + timedelta(days=number // _DAY, minutes=number % _DAY)
            yield Document(
                "heard", number, at, self._noise.text(CHARACTERS), _SPEAKERS[number % 3], "noise"
            )
            number += 1

    def add(self, document: Document) -> None:
        """One durable write."""
        self.index.add(document)
        self.entries += 1

    def _add(self, documents: Sequence[Document]) -> None:
        with self.store.writing():
            for document in documents:
                self.add(document)
        self.plain.add(documents)

    def close(self) -> None:
        """Let go of the files."""
        self.store.close()
        self.plain.close()
