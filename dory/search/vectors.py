"""Vectors by id, and the nearest of them: a table of the agent's SQLite file, ``vector`` for
summaries. Derived: deleting it loses nothing.

All vectors are of one model and one dimension. They are stored with length 1, as numbers of 16
bits, which changes a cosine by less than 0.0001.

From the first look-up on, all of them are kept in memory as one matrix of 32-bit floats, a row for
each vector. A look-up multiplies the whole matrix with the vector that it is given, so its result
is exact. docs/related.md says what this costs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from dory.storage.database import Store, damaged

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

    Ids = NDArray[int64]
    Matrix = NDArray[float32]
    Cosines = NDArray[float32]

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS {} (id INTEGER PRIMARY KEY, model TEXT NOT NULL,"
    " dimension INTEGER NOT NULL, numbers BLOB NOT NULL)"
)


def load() -> None:
    """Load what computes with vectors, if it is installed. Half loaded for lack of memory, it could
    not be used any more in this process.
    """
    with suppress(ImportError):
        import numpy

        del numpy


class Vectors:
    """The vectors of one store. Raises what the store raises, and a ``FormatError`` for a damaged
    vector.
    """

    def __init__(self, store: Store, table: str = "vector") -> None:
        self._store = store
        self._table = table
        self._loaded: tuple[Ids, Matrix] | None = None
        store.tables(_SCHEMA.format(table))

    @property
    def newest(self) -> int:
        """The highest id that has a vector; 0 if there is none."""
        return self._store.number(f"SELECT max(id) FROM {self._table}")

    @property
    def model(self) -> tuple[str, int]:
        """The model that made the vectors, and their dimension; ``("", 0)`` if there are none."""
        rows = self._store.rows(
            f"SELECT model, dimension FROM {self._table} ORDER BY id DESC LIMIT 1"
        )
        return rows[0] if rows else ("", 0)

    def add(self, model: str, vectors: Mapping[int, Sequence[float]]) -> None:
        """Store vectors by their ids, which are 1 or more.

        Raises ``ValueError`` if those that are there are of another model or dimension: ``clear``
        first.
        """
        matrix = _unit(list(vectors.values()))
        dimension = matrix.shape[1]
        if self.model not in (("", 0), (model, dimension)):
            raise ValueError(
                f"vectors of {model} with {dimension} numbers do not go with those of {self.model}"
            )
        numbers = [row.tobytes() for row in matrix.astype("<f2")]
        values = [(id, model, dimension, row) for id, row in zip(vectors, numbers, strict=True)]
        with self._store.writing() as connection:
            connection.executemany(
                f"INSERT INTO {self._table} (id, model, dimension, numbers) VALUES (?, ?, ?, ?)",
                values,
            )

    def remove(self, ids: Collection[int]) -> None:
        """Remove the vectors with these ids."""
        self._loaded = None
        with self._store.writing() as connection:
            connection.executemany(f"DELETE FROM {self._table} WHERE id = ?", [(id,) for id in ids])

    def clear(self) -> None:
        """Remove all vectors."""
        self._loaded = None
        with self._store.writing() as connection:
            connection.execute(f"DELETE FROM {self._table}")

    def empty(self) -> list[int]:
        """The ids of the vectors of zeros only. They stand for texts that have no vector."""
        ids, matrix = self._load()
        return [int(id) for id in ids[~matrix.any(axis=1)]]

    def nearest(self, vector: Sequence[float], count: int) -> list[tuple[int, float]]:
        """Return id and cosine of the ``count`` nearest vectors, best first, of equals the older.

        ``vector`` has their dimension. Only cosines above 0 are returned.
        """
        import numpy

        ids, cosines = self.cosines(vector)
        if not len(ids):
            return []
        least = numpy.partition(cosines, -count)[-count] if count < len(ids) else -1.0
        rows = numpy.flatnonzero(cosines >= least)
        best = rows[numpy.argsort(-cosines[rows], kind="stable")][:count]
        return [(int(ids[row]), float(cosines[row])) for row in best if cosines[row] > 0]

    def cosines(self, vector: Sequence[float]) -> tuple[Ids, Cosines]:
        """All ids, rising, and for each the cosine between its vector and ``vector``, which has
        their dimension. Vectors that somebody else removed may still be among them.
        """
        import numpy

        ids, matrix = self._load()
        if not len(ids):
            return ids, numpy.empty(0, numpy.float32)
        # not ``matrix @ vector``: that keeps all processors busy for longer than it takes
        return ids, numpy.vecdot(matrix, _unit([vector])[0])

    def _load(self) -> tuple[Ids, Matrix]:
        """All ids, rising, and their matrix. Only what is new since the last call is read."""
        import numpy

        _, dimension = self.model
        if self._loaded:
            ids, matrix = self._loaded
            # otherwise the file was replaced, or what was written was rolled back
            current = len(ids) and ids[-1] <= self.newest and matrix.shape[1] == dimension
        if not self._loaded or not current:
            ids = numpy.empty(0, numpy.int64)
            matrix = numpy.empty((0, dimension), numpy.float32)
        last = int(ids[-1]) if len(ids) else 0
        rows = self._store.rows(
            f"SELECT id, numbers FROM {self._table} WHERE id > ? ORDER BY id", (last,)
        )
        if rows:
            ids = numpy.append(ids, [id for id, _ in rows])
            added = self._matrix([numbers for _, numbers in rows], dimension)
            matrix = numpy.concatenate([matrix, added]) if len(matrix) else added
        self._loaded = ids, matrix
        return self._loaded

    def _matrix(self, blobs: Sequence[bytes], dimension: int) -> Matrix:
        import numpy

        try:
            numbers = numpy.frombuffer(b"".join(blobs), "<f2").reshape(len(blobs), dimension)
        except (TypeError, ValueError) as error:
            raise damaged(self._store.path, error) from error
        return numbers.astype(numpy.float32)


def _unit(vectors: Sequence[Sequence[float]]) -> Matrix:
    """The vectors with length 1, a row for each. Zeros stay zeros."""
    import numpy

    matrix = numpy.array(vectors, numpy.float64)
    lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)
