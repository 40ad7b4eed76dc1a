"""A search index that a test fills."""

from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

from dory.search.index import Index
from dory.search.passages import Document
from dory.search.postings import SearchBudget
from dory.search.ranking import Formula
from dory.storage.database import Store
from tests.support.household import NOON


class Shelf:
    """An index and a clock: whatever is said comes a minute after what was said before."""

    def __init__(
        self, folder: Path, budget: SearchBudget | None = None, formula: Formula | None = None
    ) -> None:
        self.store = Store(folder / "memory.sqlite")
        self.index = Index(self.store, formula, budget)
        self.at = NOON
        self.numbers = count(1)

    def say(
        self,
        text: str,
        speaker: str = "ada",
        room: str = "dev",
        kind: str = "heard",
        pause: int = 60,
        at: datetime | None = None,
    ) -> int:
        """Its origin."""
        self.at = at or self.at + timedelta(seconds=pause)
        origin = next(self.numbers)
        self.index.add(Document(kind, origin, self.at, text, speaker, room, f"{origin:016x}"))
        return origin

    def origins(self, query: str, **options: object) -> list[int]:
        return [hit.document.origin for hit in self.index.search(query, **options)]  # type: ignore[arg-type]
