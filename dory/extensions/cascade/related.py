"""Related past experiences: of all short-term summaries there ever were those most similar to the
present situation.

Two tables of the agent's one SQLite file, derived from the files in ``summaries/``: who deletes it
loses nothing, ``add`` takes them again. A summary is known by the second in which it was made: no
two of a life have the same.

    summary        a text, when it was made, and the range of memories that it covers; ids rise and are never used twice
    summary_words  FTS5 over the same ids: the terms that the search has, BM25 by ``bm25()``

With an embedder each summary has a vector as well (``search/vectors.py``). They are made in the
order of ids, so what lacks one is behind the newest that has one; another model, or one whose
vectors have another dimension, begins with the first. All summaries are chosen from by one measure,
as scores of two do not compare: by vectors when every one has its own, by BM25 until then. What
fails is tried again with the next turn; a summary that the model does not take has zeros for a
vector, so that it holds up no other, and is tried again now and then.

No turn waits for a vector of its situation: the request goes out when the situation changes, and as
long as its answer is not there, that of the situation before chooses, or BM25 if there is none.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from dory.errors import ModelError
from dory.llm.embedder import Row, Situation, vectors
from dory.search.vectors import Vectors
from dory.storage.database import Store, marks
from dory.text import formatting
from dory.text.tokenizer import folded, query_words
from dory.turn.extension import Apply, Work
from dory.types import Embedder

BATCH = 32
"""Texts in one request: with a few thousand numbers each that is some megabytes to read."""
PATIENCE = 0.05
"""Seconds in which an answer counts as there at once: of a server beside the agent."""
SITUATION = 2000
"""Characters of a situation that count: the last."""
WORDS = 48
"""Different words of them that BM25 looks for: the last."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS summary (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL DEFAULT 'memory_summary',"
    " timestamp INTEGER NOT NULL, memory_range_start INTEGER NOT NULL, memory_range_end INTEGER NOT NULL, summary_text TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS summary_range ON summary (memory_range_end)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS summary_words USING fts5(text, content='', tokenize='porter ascii')",
)


@dataclass(frozen=True, slots=True)
class Experience:
    """A summary of the memories ``first`` to ``last``, made at ``at``."""

    first: int
    last: int
    at: datetime
    text: str


class Related:
    """The summaries of one agent, for the thread of its store. Raises what that raises; how the
    embedder fails stands in ``status``.
    """

    def __init__(self, store: Store, embedder: Embedder | None, patience: float = PATIENCE) -> None:
        """Without an ``embedder`` all is by BM25. ``patience`` in seconds."""
        self._store = store
        self._embedder = embedder
        store.tables(*_SCHEMA)
        self._vectors = Vectors(store)
        self._present = Situation(embedder, patience) if embedder else None
        self._due = self._again = True
        self._stuck = self._refusal = ""

    def add(self, text: str, first: int, last: int, at: datetime) -> None:
        """A summary; nothing if it is there already. Any other that covers one of its memories is
        of a past that was not: it goes.
        """
        text = formatting.encodable(text)
        values = (text, first, last)
        if self._store.rows(
            "SELECT 1 FROM summary WHERE summary_text = ? AND memory_range_start = ? AND memory_range_end = ?",
            values,
        ):
            return
        with self._store.writing() as connection:
            sql = "SELECT id FROM summary WHERE memory_range_end >= ? AND memory_range_start <= ?"
            self.remove([id for (id,) in self._store.rows(sql, (first, last))])
            sql = "INSERT INTO summary (summary_text, memory_range_start, memory_range_end, timestamp) VALUES (?, ?, ?, ?)"
            id = connection.execute(sql, (*values, int(at.timestamp()))).lastrowid
            connection.execute(
                "INSERT INTO summary_words(rowid, text) VALUES (?, ?)", (id, folded(text))
            )
        self._due = self._again = True

    def remove(self, ids: Collection[int]) -> None:
        """Take these out, if they are there."""
        with self._store.writing() as connection:
            for id in ids:
                for (text,) in self._store.rows(
                    "SELECT summary_text FROM summary WHERE id = ?", (id,)
                ):
                    connection.execute(
                        "INSERT INTO summary_words(summary_words, rowid, text) VALUES ('delete', ?, ?)",
                        (id, folded(text)),
                    )
                    connection.execute("DELETE FROM summary WHERE id = ?", (id,))
            if ids:
                self._vectors.remove(ids)

    def made(self) -> dict[int, int]:
        """When each was made, in seconds since 1970, by id."""
        return dict(self._store.rows("SELECT id, timestamp FROM summary"))

    def similar(self, situation: str, count: int) -> list[Experience]:
        """The ``count`` most similar to any text, best first; fewer when others have nothing in
        common with it.
        """
        self._due, situation = True, situation[-SITUATION:]
        vector = self._vector(situation)
        ids = (
            [id for id, _ in self._vectors.nearest(vector, count)]
            if vector
            else self._by_words(situation, count)
        )
        sql = "SELECT memory_range_start, memory_range_end, timestamp, summary_text FROM summary WHERE id = ?"
        rows = [row for id in ids for row in self._store.rows(sql, (id,))]
        return [
            Experience(first, last, self._store.moment(at), text) for first, last, at, text in rows
        ]

    def backlog(self) -> Work | None:
        """Make vectors of the next summaries that have none; to be asked for between turns, until
        it is None.
        """
        embedder = self._embedder
        if not embedder or not self._due:
            return None
        self._due = False
        waiting = self._waiting(embedder.name) or self._refused()
        if not waiting:
            return None

        def work() -> Apply:
            try:
                made = vectors(embedder, [text for _, text in waiting])
            except ModelError as error:
                self._stuck = str(error)
                return lambda: None
            return lambda: self._keep(embedder.name, waiting, made)

        return work

    def status(self) -> str:
        """By what they are chosen, on one line."""
        total = self._store.number("SELECT count(*) FROM summary")
        counted = f"{total} {'summary' if total == 1 else 'summaries'}"
        if not self._embedder or not self._present:
            return f"BM25 over {counted}, no embeddings configured"
        model, dimension = self._vectors.model
        behind = self._vectors.newest if model == self._embedder.name else 0
        lacking = self._store.number("SELECT count(*) FROM summary WHERE id > ?", behind)
        left = self._vectors.empty() if behind else []
        size = f", {dimension} numbers" if behind else ""
        why, failure = f" ({self._stuck})" if self._stuck else "", self._present.failure
        until = (
            f"; BM25 until all have a vector{why}"
            if lacking
            else f"; BM25 for now: {failure}"
            if failure
            else ""
        )
        return f"{self._embedder.name}{size}, {total - lacking - len(left)} of {counted}{self._without(left)}{until}"

    def _without(self, ids: Sequence[int]) -> str:
        """Those that the model gave no vector for: the first, and why if that is known."""
        if not ids:
            return ""
        ((first, last),) = self._store.rows(
            "SELECT memory_range_start, memory_range_end FROM summary WHERE id = ?", ids[:1]
        )
        return f", none for memories {first} to {last}{' and others' * (len(ids) > 1)}" + (
            f" ({self._refusal})" if self._refusal else ""
        )

    def _vector(self, situation: str) -> list[float] | None:
        """The newest vector of a situation, if it can be compared with those of all summaries."""
        embedder, present = self._embedder, self._present
        if not (
            embedder and present and situation.strip() and self._vectors.newest
        ) or self._waiting(embedder.name):
            return None
        vector = present.vector(situation)
        if vector and not self._fits(embedder.name, vector):
            self._clear()
            return None
        return vector

    def _by_words(self, situation: str, count: int) -> list[int]:
        """The ids of the best by BM25, of equals the newer one first."""
        words = query_words(situation, SITUATION)[-WORDS:]
        match = " OR ".join(f'"{word.folded}"{" *" * word.open}' for word in words)
        sql = "SELECT rowid FROM summary_words WHERE summary_words MATCH ? ORDER BY rank, rowid DESC LIMIT ?"
        return [id for (id,) in self._store.rows(sql, (match, count))] if words else []

    def _waiting(self, model: str) -> list[tuple[int, str]]:
        """The next batch of those that have no vector by this model."""
        behind = self._vectors.newest if self._vectors.model[0] == model else 0
        return self._store.rows(
            "SELECT id, summary_text FROM summary WHERE id > ? ORDER BY id LIMIT ?", (behind, BATCH)
        )

    def _refused(self) -> list[tuple[int, str]]:
        """A batch of those that the model did not take, to be tried once more: after a start, and
        with each new summary.
        """
        ids = self._vectors.empty()[:BATCH] if self._again else []
        self._again = False
        return self._store.rows(
            f"SELECT id, summary_text FROM summary WHERE id IN ({marks(ids)}) ORDER BY id", ids
        )

    def _keep(self, model: str, waiting: Sequence[tuple[int, str]], made: Sequence[Row]) -> None:
        """Store the vectors that were ``made``, in place of all if those cannot be compared with
        them; none if the summaries have changed.
        """
        self._due, self._stuck = True, ""
        self._refusal = next((why for _, why in made if why), self._refusal)
        with self._store.writing():
            if not self._fits(model, made[0][0]):
                self._clear()
            ids = [id for id, _ in waiting]
            again = set(ids) <= set(self._vectors.empty())
            new = {
                id: vector
                for id, (vector, why) in zip(ids, made, strict=True)
                if not (again and why)
            }
            if again:
                self._vectors.remove(new)
            if new and (again or self._waiting(model)[: len(waiting)] == waiting):
                self._vectors.add(model, new)

    def _clear(self) -> None:
        self._vectors.clear()
        if self._present:
            self._present.forget()

    def _fits(self, model: str, vector: Sequence[float]) -> bool:
        """Whether it can be compared with those that are there."""
        return self._vectors.model in (("", 0), (model, len(vector)))
