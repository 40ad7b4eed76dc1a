"""Search by meaning: a vector for each passage of the index, and how near they are to a query.
Derived: deleting it loses nothing.

Vectors are made beside the loop in the order of the passages' numbers (``search/numbering.py``), so
the passages without one are those behind the newest that has one. If the model or the dimension of
its vectors changes, all are made anew. A passage that the model refuses has a vector of zeros,
which is near to nothing.

One passage seldom says everything, so the similarity of a passage counts its neighbours as well,
discounted as the terms in them are (``search/ranking.py``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping

from dory.errors import ModelError
from dory.llm.embedder import Row, vectors
from dory.process.jobs import Job
from dory.search import numbering
from dory.search.ranking import PLACES, STRETCHES, Formula
from dory.search.vectors import Vectors
from dory.storage.database import Store
from dory.types import Embedder

BATCH = 32
"""Passages in one request."""
QUERY_TIMEOUT = 1.0
"""Seconds that a search waits for the vector of its query, beside the model's own seconds."""
NEAREST = 100
"""Passages that are found by their similarity alone."""
Similarities = Callable[[Collection[int]], Mapping[int, float]]
"""From the ids of passages to the similarity of each to a query, and of those that are nearest to
it. One that is not near, or has no vector, may be left out.
"""
Work = Callable[[], Callable[[], None]]
"""Runs beside the loop; what it returns runs in the loop."""


class Meaning:
    """The vectors of the passages of one store, whose ``Index`` was made before. For the thread of
    the store. Raises what the store raises. If the embedder fails, ``failure`` says how.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        timeout: float = QUERY_TIMEOUT,
        formula: Formula | None = None,
    ) -> None:
        self.failure = ""
        self._store = store
        self._embedder = embedder
        self._timeout = timeout
        self._vectors = Vectors(store, numbering.VECTORS)
        store.tables(numbering.SCHEMA)
        formula = formula or Formula()
        self._around = {
            -1: formula.before[0],
            -2: formula.before[1],
            1: formula.behind[0],
            2: formula.behind[1],
        }
        self._numbered = False
        self._due = True
        self._asked: Job[list[float]] | None = None

    def wake(self) -> None:
        """There may be something new, or the embedder may answer again."""
        self._due = True

    def backlog(self) -> Work | None:
        """Work that makes the vectors of the next passages without one; None if there are none, or
        if the last request failed and nobody called ``wake`` since.
        """
        if not self._due:
            return None
        self._number_all()
        waiting = self._waiting()
        if not waiting:
            self._due = False
            return None

        def work() -> Callable[[], None]:
            try:
                made = vectors(self._embedder, [text for _, text in waiting])
            except ModelError as error:
                failure = str(error)
                return lambda: self._fail(failure)
            return lambda: self._keep(waiting, made)

        return work

    def progress(self) -> str:
        """How many passages have a vector, while some lack one; else empty."""
        lacking = self._lacking()
        total = self._store.number("SELECT count(*) FROM passage_number") if lacking else 0
        return f"vectors {total - lacking:,} of {total:,}" if lacking else ""

    def similarities(self, query: str) -> Similarities | None:
        """How near passages are to a query; None if its vector is not there in time, or if more
        than a batch of passages have no vector yet: those that have would crowd out the others.
        """
        self._number_all()
        self._due = True
        if not query.strip() or not self._vectors.newest or self._lacking() > BATCH:
            return None
        vector = self._vector(query)
        if vector is None or self._vectors.model != (self._embedder.name, len(vector)):
            return None
        return lambda ids: self._near(vector, ids)

    def _near(self, vector: list[float], ids: Collection[int]) -> dict[int, float]:
        import numpy

        numbers, cosines = self._vectors.cosines(vector)
        best = numpy.argsort(-cosines, kind="stable")[:NEAREST]
        nearest = self._store.rows(
            "SELECT piece FROM passage_number"
            " WHERE number IN (SELECT value FROM json_each(?)) ORDER BY piece",
            (json.dumps(numbers[best].tolist()),),
        )
        wanted = {*ids, *(near + step for (near,) in nearest for step in (0, *self._around))}
        around = {id + step for id in wanted for step in (0, *self._around)}
        rows = self._store.rows(
            "SELECT piece, number FROM passage_number"
            " WHERE piece IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(around)),),
        )
        at = numpy.searchsorted(numbers, [number for _, number in rows])
        alone = {
            piece: max(0.0, float(cosines[row]))
            for (piece, number), row in zip(rows, at.tolist(), strict=True)
            if row < len(numbers) and numbers[row] == number
        }
        return {id: self._in_context(id, alone) for id in wanted if id in alone}

    def _in_context(self, id: int, alone: Mapping[int, float]) -> float:
        """The similarity of a passage and, discounted, of its neighbours in the session."""
        session = PLACES * STRETCHES
        return alone[id] + sum(
            discount * alone.get(id + step, 0.0)
            for step, discount in self._around.items()
            if (id + step) // session == id // session
        )

    def _vector(self, query: str) -> list[float] | None:
        if self._asked and not self._asked.done:
            self.failure = "the endpoint has not answered yet"
            return None
        self._asked = Job(lambda: self._embedder.embed([query])[0], "embedding")
        if not self._asked.wait(self._timeout):
            self.failure = "the endpoint has not answered yet"
            return None
        try:
            vector = self._asked.result()
        except ModelError as error:
            self.failure = str(error)
            return None
        self.failure = ""
        return vector

    def _number_all(self) -> None:
        """Number the passages that were indexed before there were vectors, once."""
        if self._numbered or self._store.readonly:
            return
        self._numbered = True
        count = "SELECT count(*) FROM {}"
        if not self._store.has("piece") or self._store.number(
            count.format("passage_number")
        ) >= self._store.number(count.format("piece")):
            return
        with self._store.writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO passage_number (piece) SELECT id FROM piece ORDER BY id"
            )

    def _behind(self) -> int:
        """The number behind which passages lack a vector of this model."""
        return self._vectors.newest if self._vectors.model[0] == self._embedder.name else 0

    def _lacking(self) -> int:
        return self._store.number(
            "SELECT count(*) FROM passage_number WHERE number > ?", self._behind()
        )

    def _waiting(self) -> list[tuple[int, str]]:
        return self._store.rows(
            "SELECT number, text FROM passage_number JOIN piece ON piece.id = piece"
            " WHERE number > ? ORDER BY number LIMIT ?",
            (self._behind(), BATCH),
        )

    def _fail(self, failure: str) -> None:
        self.failure = failure
        self._due = False

    def _keep(self, waiting: list[tuple[int, str]], made: list[Row]) -> None:
        """Store the vectors that were ``made``; none if the passages have changed meanwhile. If
        they cannot be compared with those that are there, they replace all of them.
        """
        model = self._embedder.name
        with self._store.writing():
            if self._waiting()[: len(waiting)] != waiting:
                return
            fits = self._vectors.model in (("", 0), (model, len(made[0][0])))
            if not fits:
                self._vectors.clear()
                if waiting[0][0] != self._first():
                    return  # those before these are to be made first
            numbers = [number for number, _ in waiting]
            rows = zip(numbers, made, strict=True)
            self._vectors.add(model, {number: vector for number, (vector, _) in rows})

    def _first(self) -> int:
        return self._store.number("SELECT min(number) FROM passage_number")
