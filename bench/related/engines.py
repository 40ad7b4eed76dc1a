"""Ways to find the nearest of many vectors, each with a file of its own: what ``dory/vectors.py``
does, a matrix in memory, and sqlite-vec.

sqlite-vec is an extension of SQLite. Not every Python lets one be loaded, so it runs in the SQLite
here that ``apsw`` brings. It compares all vectors, or the signs of their numbers first and the best
500 of those exactly. What is not installed is not measured.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy

from dory.search.vectors import Vectors
from dory.storage.database import Store

if TYPE_CHECKING:
    from dory.search.vectors import Matrix

_AT_ONCE = 1000
_SIGNS = 500


class Engine(Protocol):
    """One way; ids are the places in what it was built of, from 1 on."""

    def __init__(self, path: Path) -> None: ...

    def build(self, vectors: Matrix) -> None:
        """Write the file."""
        ...

    def find(self, vector: Matrix, count: int) -> list[int]:
        """The ids of the nearest, best first."""
        ...


class Own:
    """Signatures in memory, and the best of those exactly from the file."""

    def __init__(self, path: Path) -> None:
        self._store = Store(path)
        self._vectors = Vectors(self._store)

    def build(self, vectors: Matrix) -> None:
        """As an agent's."""
        for start, some in _parts(vectors):
            self._vectors.add(
                "bench", {start + at: vector.tolist() for at, vector in enumerate(some, 1)}
            )
        self._store.tidy()
        self._store.close()

    def find(self, vector: Matrix, count: int) -> list[int]:
        """As an agent's."""
        return [id for id, _ in self._vectors.nearest(vector.tolist(), count)]


class Whole:
    """All numbers in memory, 32 bits each; the measure of what is right."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._all: Matrix | None = None

    def build(self, vectors: Matrix) -> None:
        """One array."""
        with open(self._path, "wb") as file:
            numpy.save(file, vectors)

    def find(self, vector: Matrix, count: int) -> list[int]:
        """By one thread, as the others; a product of matrices would keep all processors busy for
        longer than it takes.
        """
        if self._all is None:
            with open(self._path, "rb") as file:
                self._all = numpy.load(file)
        cosines: Matrix = numpy.vecdot(self._all, vector)
        best = numpy.argpartition(-cosines, count)[:count]
        return [int(at) + 1 for at in best[numpy.argsort(-cosines[best])]]


class Extension:
    """sqlite-vec over all numbers."""

    columns, values = "numbers float[{}] distance_metric=cosine", "(id, numbers) VALUES (?1, ?2)"
    query = "SELECT id FROM vector WHERE numbers MATCH ?1 AND k = ?2 ORDER BY distance"

    def __init__(self, path: Path) -> None:
        self._connection: Any = importlib.import_module("apsw").Connection(str(path))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(importlib.import_module("sqlite_vec").loadable_path())

    def build(self, vectors: Matrix) -> None:
        """One virtual table."""
        columns = self.columns.format(vectors.shape[1])
        self._connection.execute(
            f"CREATE VIRTUAL TABLE vector USING vec0(id INTEGER PRIMARY KEY, {columns})"
        )
        for start, some in _parts(vectors):
            with self._connection:
                rows = [(start + at, vector.tobytes()) for at, vector in enumerate(some, 1)]
                self._connection.executemany(f"INSERT INTO vector {self.values}", rows)

    def find(self, vector: Matrix, count: int) -> list[int]:
        """One statement."""
        return [id for (id,) in self._connection.execute(self.query, (vector.tobytes(), count))]


class Signs(Extension):
    """sqlite-vec over the signs, the best of those exactly."""

    columns, values = (
        "signs bit[{}], +whole BLOB",
        "(id, signs, whole) VALUES (?1, vec_quantize_binary(?2), ?2)",
    )
    query = (
        "SELECT id FROM (SELECT id, whole FROM vector WHERE signs MATCH "
        f"vec_quantize_binary(?1) AND k = {_SIGNS})"
        " ORDER BY vec_distance_cosine(whole, ?1) LIMIT ?2"
    )


ENGINES: dict[str, type[Engine]] = {
    "own table": Own,
    "matrix in memory": Whole,
    "sqlite-vec": Extension,
    "sqlite-vec, signs first": Signs,
}


def _parts(vectors: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Some at a time, with how many came before."""
    return (
        (start, vectors[start : start + _AT_ONCE]) for start in range(0, len(vectors), _AT_ONCE)
    )
