"""Related past experiences: the short-term summaries most similar to the present situation.

All short-term summaries that were ever made are searched. They are kept in two tables of the
agent's SQLite file, derived from the files in ``summaries/``: if the tables are deleted, nothing is
lost, and ``add`` fills them again. A summary is identified by the second in which it was made; no
two of one life have the same.

    summary        the text, when it was made, and the range of events that it covers; ids rise and
                   are never used twice
    summary_words  FTS5 over the same ids: the terms of the search, BM25 by ``bm25()``

With an embedder, each summary also has a vector (``search/vectors.py``). Vectors are made in the
order of ids, so the summaries without one are those behind the newest that has one. If the model or
the dimension of its vectors changes, all vectors are made anew.

One measure ranks all summaries, since scores of two measures cannot be compared: vectors if every
summary has one, BM25 until then. A request for vectors that fails is repeated with the next turn.
If the model refuses a single summary, its vector is zeros, so it does not hold up the others; it is
tried again now and then.

No turn waits for the vector of its situation. The request goes out when the situation changes.
Until its answer is there, the vector of the previous situation ranks, or BM25 if there is none.
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
"""Texts in one request: with a few thousand numbers each, the answer has some megabytes."""
VECTOR_TIMEOUT = 0.05
"""Seconds to wait for the vector of a situation: enough for a server on the same machine."""
SITUATION = 2000
"""Characters of a situation that count: the last."""
WORDS = 48
"""Different words of them that BM25 looks for: the last."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS summary (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " type TEXT NOT NULL DEFAULT 'memory_summary', timestamp INTEGER NOT NULL,"
    " memory_range_start INTEGER NOT NULL, memory_range_end INTEGER NOT NULL,"
    " summary_text TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS summary_range ON summary (memory_range_end)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS summary_words"
    " USING fts5(text, content='', tokenize='porter ascii')",
)


@dataclass(frozen=True, slots=True)
class Experience:
    """A summary of the events ``first`` to ``last``, made at ``at``."""

    first: int
    last: int
    at: datetime
    text: str


class Related:
    """The summaries of one agent, for the thread of its store.

    Raises what the store raises. If the embedder fails, ``status`` says how.
    """

    def __init__(
        self, store: Store, embedder: Embedder | None, timeout: float = VECTOR_TIMEOUT
    ) -> None:
        """Without an ``embedder``, BM25 ranks. A turn waits at most ``timeout`` seconds for the
        vector of its situation.
        """
        self._store = store
        self._embedder = embedder
        store.tables(*_SCHEMA)
        self._vectors = Vectors(store)
        self._present = Situation(embedder, timeout) if embedder else None
        self._due = True  # whether ``backlog`` may have something to do
        self._again = True  # whether refused summaries are to be tried once more
        self._failure = ""  # why the last request for vectors failed
        self._refusal = ""  # why the model refused a summary

    def add(self, text: str, first: int, last: int, at: datetime) -> None:
        """Add a summary, unless it is there already.

        Any other summary that covers one of its events belongs to a past that a restored backup has
        undone: it is removed.
        """
        text = formatting.encodable(text)
        values = (text, first, last)
        same = (
            "SELECT 1 FROM summary WHERE summary_text = ?"
            " AND memory_range_start = ? AND memory_range_end = ?"
        )
        if self._store.rows(same, values):
            return
        overlapping = (
            "SELECT id FROM summary WHERE memory_range_end >= ? AND memory_range_start <= ?"
        )
        insert = (
            "INSERT INTO summary (summary_text, memory_range_start, memory_range_end, timestamp)"
            " VALUES (?, ?, ?, ?)"
        )
        with self._store.writing() as connection:
            self.remove([id for (id,) in self._store.rows(overlapping, (first, last))])
            id = connection.execute(insert, (*values, int(at.timestamp()))).lastrowid
            connection.execute(
                "INSERT INTO summary_words(rowid, text) VALUES (?, ?)", (id, folded(text))
            )
        self._due = True
        self._again = True

    def remove(self, ids: Collection[int]) -> None:
        """Remove these summaries, if they are there."""
        if not ids:
            return
        unindex = "INSERT INTO summary_words(summary_words, rowid, text) VALUES ('delete', ?, ?)"
        with self._store.writing() as connection:
            for id in ids:
                rows = self._store.rows("SELECT summary_text FROM summary WHERE id = ?", (id,))
                for (text,) in rows:
                    connection.execute(unindex, (id, folded(text)))
                    connection.execute("DELETE FROM summary WHERE id = ?", (id,))
            self._vectors.remove(ids)

    def made(self) -> dict[int, int]:
        """When each was made, in seconds since 1970, by id."""
        return dict(self._store.rows("SELECT id, timestamp FROM summary"))

    def similar(self, situation: str, count: int) -> list[Experience]:
        """The ``count`` summaries most similar to any text, best first.

        There are fewer if the others have nothing in common with it.
        """
        self._due = True
        situation = situation[-SITUATION:]
        vector = self._vector(situation)
        if vector:
            ids = [id for id, _ in self._vectors.nearest(vector, count)]
        else:
            ids = self._by_words(situation, count)
        sql = (
            "SELECT memory_range_start, memory_range_end, timestamp, summary_text"
            " FROM summary WHERE id = ?"
        )
        rows = [row for id in ids for row in self._store.rows(sql, (id,))]
        return [
            Experience(first, last, self._store.moment(at), text) for first, last, at, text in rows
        ]

    def backlog(self) -> Work | None:
        """Work that makes the vectors of the next summaries without one; None if there are none.

        To be called between turns.
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
                self._failure = str(error)
                return lambda: None
            return lambda: self._keep(embedder.name, waiting, made)

        return work

    def status(self) -> str:
        """What ranks the summaries, on one line."""
        total = self._store.number("SELECT count(*) FROM summary")
        counted = f"{total} {'summary' if total == 1 else 'summaries'}"
        if not self._embedder or not self._present:
            return f"BM25 over {counted}, no embeddings configured"
        model, dimension = self._vectors.model
        behind = self._vectors.newest if model == self._embedder.name else 0
        lacking = self._store.number("SELECT count(*) FROM summary WHERE id > ?", behind)
        refused = self._vectors.empty() if behind else []
        size = f", {dimension} numbers" if behind else ""
        fallback = ""
        if lacking:
            why = f" ({self._failure})" if self._failure else ""
            fallback = f"; BM25 until all have a vector{why}"
        elif self._present.failure:
            fallback = f"; BM25 for now: {self._present.failure}"
        made = f"{total - lacking - len(refused)} of {counted}{self._without(refused)}"
        return f"{self._embedder.name}{size}, {made}{fallback}"

    def _without(self, ids: Sequence[int]) -> str:
        """The summaries that the model refused: the first, and why if that is known."""
        if not ids:
            return ""
        sql = "SELECT memory_range_start, memory_range_end FROM summary WHERE id = ?"
        ((first, last),) = self._store.rows(sql, ids[:1])
        others = " and others" if len(ids) > 1 else ""
        why = f" ({self._refusal})" if self._refusal else ""
        return f", none for events {first}–{last}{others}{why}"

    def _vector(self, situation: str) -> list[float] | None:
        """The newest vector of a situation, if it can be compared with those of all summaries."""
        embedder = self._embedder
        present = self._present
        if not embedder or not present or not situation.strip():
            return None
        if not self._vectors.newest or self._waiting(embedder.name):
            return None
        vector = present.vector(situation)
        if vector and not self._fits(embedder.name, vector):
            self._clear()
            return None
        return vector

    def _by_words(self, situation: str, count: int) -> list[int]:
        """The ids of the best summaries by BM25; of equal ones the newer comes first."""
        words = query_words(situation, SITUATION)[-WORDS:]
        if not words:
            return []
        match = " OR ".join(f'"{word.folded}"{" *" if word.open else ""}' for word in words)
        sql = (
            "SELECT rowid FROM summary_words WHERE summary_words MATCH ?"
            " ORDER BY rank, rowid DESC LIMIT ?"
        )
        return [id for (id,) in self._store.rows(sql, (match, count))]

    def _waiting(self, model: str) -> list[tuple[int, str]]:
        """The next batch of the summaries without a vector by this model."""
        behind = self._vectors.newest if self._vectors.model[0] == model else 0
        return self._store.rows(
            "SELECT id, summary_text FROM summary WHERE id > ? ORDER BY id LIMIT ?", (behind, BATCH)
        )

    def _refused(self) -> list[tuple[int, str]]:
        """A batch of the summaries that the model refused.

        They are tried once more after a start and with each new summary.
        """
        ids = self._vectors.empty()[:BATCH] if self._again else []
        self._again = False
        return self._store.rows(
            f"SELECT id, summary_text FROM summary WHERE id IN ({marks(ids)}) ORDER BY id", ids
        )

    def _keep(self, model: str, waiting: Sequence[tuple[int, str]], made: Sequence[Row]) -> None:
        """Store the vectors that were ``made``; none if the summaries have changed meanwhile.

        If they cannot be compared with those that are there, they replace all of them.
        """
        self._due = True
        self._failure = ""
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
        """Whether a vector can be compared with those that are there."""
        return self._vectors.model in (("", 0), (model, len(vector)))
