"""Engines that find the nearest of many vectors, each with a file of its own: Dory's table
(``dory/search/vectors.py``), a plain matrix of 32-bit floats, and sqlite-vec.

sqlite-vec is an extension of SQLite. Not every Python can load such extensions, so here it runs in
the SQLite that ``apsw`` brings. It compares all numbers of all vectors; or it compares the signs of
the numbers first, and then all numbers of the best 500. An engine that is not installed is not
measured.
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
"""Vectors that are written in one transaction."""
_SIGNS = 500
"""Vectors with the most similar signs, whose numbers are then compared."""


class Engine(Protocol):
    """One engine. The id of a vector is the number of its row in the built matrix, from 1 on."""

    def __init__(self, path: Path) -> None: ...

    def build(self, vectors: Matrix) -> None:
        """Write the vectors, one in each row, to the file."""
        ...

    def find(self, vector: Matrix, count: int) -> list[int]:
        """Return the ids of the ``count`` nearest vectors, best first."""
        ...


class Own:
    """Dory's table of 16-bit numbers. The first look-up loads it into a matrix of 32-bit floats."""

    def __init__(self, path: Path) -> None:
        self._store = Store(path)
        self._vectors = Vectors(self._store)

    def build(self, vectors: Matrix) -> None:
        """Write the table as an agent does."""
        for start, part in _parts(vectors):
            self._vectors.add(
                "bench", {start + row: vector.tolist() for row, vector in enumerate(part, 1)}
            )
        self._store.tidy()
        self._store.close()

    def find(self, vector: Matrix, count: int) -> list[int]:
        """Look up as an agent does."""
        return [id for id, _ in self._vectors.nearest(vector.tolist(), count)]


class Whole:
    """A matrix of 32-bit floats that numpy loads from a file. Its results are the reference."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._matrix: Matrix | None = None

    def build(self, vectors: Matrix) -> None:
        """Write one array."""
        with open(self._path, "wb") as file:
            numpy.save(file, vectors)

    def find(self, vector: Matrix, count: int) -> list[int]:
        """Look up in one thread, as the other engines do. A product of matrices would use all
        processors, and keep them busy for longer than it takes.
        """
        if self._matrix is None:
            with open(self._path, "rb") as file:
                self._matrix = numpy.load(file)
        cosines: Matrix = numpy.vecdot(self._matrix, vector)
        best = numpy.argpartition(-cosines, count)[:count]
        return [int(row) + 1 for row in best[numpy.argsort(-cosines[best])]]


class Extension:
    """sqlite-vec, which compares all numbers."""

    columns = "numbers float[{}] distance_metric=cosine"
    values = "(id, numbers) VALUES (?1, ?2)"
    query = "SELECT id FROM vector WHERE numbers MATCH ?1 AND k = ?2 ORDER BY distance"

    def __init__(self, path: Path) -> None:
        self._connection: Any = importlib.import_module("apsw").Connection(str(path))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(importlib.import_module("sqlite_vec").loadable_path())

    def build(self, vectors: Matrix) -> None:
        """Write one virtual table."""
        columns = self.columns.format(vectors.shape[1])
        self._connection.execute(
            f"CREATE VIRTUAL TABLE vector USING vec0(id INTEGER PRIMARY KEY, {columns})"
        )
        for start, part in _parts(vectors):
            with self._connection:
                rows = [(start + row, vector.tobytes()) for row, vector in enumerate(part, 1)]
                self._connection.executemany(f"INSERT INTO vector {self.values}", rows)

    def find(self, vector: Matrix, count: int) -> list[int]:
        """Look up with one statement."""
        return [id for (id,) in self._connection.execute(self.query, (vector.tobytes(), count))]


class Signs(Extension):
    """sqlite-vec, which compares the signs first and the numbers of the best."""

    columns = "signs bit[{}], +whole BLOB"
    values = "(id, signs, whole) VALUES (?1, vec_quantize_binary(?2), ?2)"
    query = (
        "SELECT id FROM (SELECT id, whole FROM vector WHERE signs MATCH "
        f"vec_quantize_binary(?1) AND k = {_SIGNS})"
        " ORDER BY vec_distance_cosine(whole, ?1) LIMIT ?2"
    )


ENGINES: dict[str, type[Engine]] = {
    "Dory's table": Own,
    "plain matrix": Whole,
    "sqlite-vec": Extension,
    "sqlite-vec, signs first": Signs,
}


def _parts(vectors: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Parts of the rows, each with the number of rows before it."""
    return (
        (start, vectors[start : start + _AT_ONCE]) for start in range(0, len(vectors), _AT_ONCE)
    )
