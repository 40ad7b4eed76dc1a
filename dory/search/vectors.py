"""Vectors by id, and the nearest of them: the table ``vector`` of the agent's one SQLite file.
Derived: deleting it loses nothing.

All are of one model and one dimension. They are stored with length 1, as numbers of 16 bits, which
changes a cosine by less than 0.0001.

A look-up has two steps. A *signature* says in one bit for each of ``DIRECTIONS`` fixed random
directions on which side of it a vector lies; two vectors differ in as many of the bits as their
angle is of half a turn (Charikar 2002), whatever the model and its dimension. Signatures are 128
bytes each and kept in memory from the first look-up on; numpy counts the bits in which they differ.
The ``CANDIDATES`` that differ least are then read from the file and compared number by number.
docs/RELATED.md says what this costs and what it misses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from dory.storage.database import Store, damaged, marks

if TYPE_CHECKING:
    from numpy import float32, int64, uint64
    from numpy.typing import NDArray

    Matrix = NDArray[float32]

DIRECTIONS = 1024
"""Bits of a signature."""
CANDIDATES = 512
"""Vectors that are compared exactly."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vector (id INTEGER PRIMARY KEY, model TEXT NOT NULL, dimension INTEGER NOT NULL,"
    " signature BLOB NOT NULL, numbers BLOB NOT NULL)"
)


class Vectors:
    """The vectors of one store. Raises what the store raises, and a ``FormatError`` for a vector
    that is damaged.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: tuple[NDArray[int64], NDArray[uint64]] | None = None
        store.tables(_SCHEMA)

    @property
    def newest(self) -> int:
        """The highest id that has a vector; 0 when there is none."""
        return self._store.number("SELECT max(id) FROM vector")

    @property
    def model(self) -> tuple[str, int]:
        """Whose they are, and their dimension; ``("", 0)`` when there is none."""
        rows = self._store.rows("SELECT model, dimension FROM vector ORDER BY id DESC LIMIT 1")
        return rows[0] if rows else ("", 0)

    def add(self, model: str, vectors: Mapping[int, Sequence[float]]) -> None:
        """Keep these, by ids of 1 and more. Raises ``ValueError`` when they are not like those that
        are there: ``clear`` first.
        """
        numbers = _unit(list(vectors.values()))
        if self.model not in (("", 0), (model, numbers.shape[1])):
            raise ValueError(
                f"vectors of {model} with {numbers.shape[1]} numbers do not go with those of {self.model}"
            )
        rows = zip(vectors, _signatures(numbers), numbers.astype("<f2"), strict=True)
        values = [
            (id, model, len(own), signature.tobytes(), own.tobytes()) for id, signature, own in rows
        ]
        with self._store.writing() as connection:
            connection.executemany("INSERT INTO vector VALUES (?, ?, ?, ?, ?)", values)

    def remove(self, ids: Collection[int]) -> None:
        """Take the vectors out that these have."""
        self._known = None
        with self._store.writing() as connection:
            connection.executemany("DELETE FROM vector WHERE id = ?", [(id,) for id in ids])

    def clear(self) -> None:
        """Take all out."""
        self._known = None
        with self._store.writing() as connection:
            connection.execute("DELETE FROM vector")

    def empty(self) -> list[int]:
        """The ids of those that are nothing but zeros, as stands for a text that has no vector."""
        ids, known = self._loaded()
        return [int(id) for id in ids[~known.any(axis=0)]]

    def nearest(self, vector: Sequence[float], count: int) -> list[tuple[int, float]]:
        """Id and cosine of the ``count`` nearest to one of their dimension, best first; only such
        as point its way at all: above 0.
        """
        import numpy

        wanted = _unit([vector])
        near = self._near(_signatures(wanted)[0])
        rows = self._store.rows(
            f"SELECT id, numbers FROM vector WHERE id IN ({marks(near)}) ORDER BY id", near
        )
        cosines = numpy.vecdot(
            self._matrix([numbers for _, numbers in rows], "<f2", wanted.shape[1]).astype(
                numpy.float32
            ),
            wanted[0],
        )
        best = numpy.argsort(-cosines, kind="stable")[:count].tolist()
        return [(rows[at][0], float(cosines[at])) for at in best if cosines[at] > 0]

    def _near(self, signature: NDArray[uint64]) -> list[int]:
        """The ids of the candidates."""
        import numpy

        ids, known = self._loaded()
        differing = numpy.zeros(len(ids), numpy.uint16)
        for bits, own in zip(known, signature, strict=True):
            differing += numpy.bitwise_count(bits ^ own)
        if len(ids) > CANDIDATES:
            ids = ids[numpy.argpartition(differing, CANDIDATES)[:CANDIDATES]]
        return [int(id) for id in ids]

    def _loaded(self) -> tuple[NDArray[int64], NDArray[uint64]]:
        """All ids, rising, and their signatures, a column for each: the first 64 bits of all lie
        side by side. What is new is appended.
        """
        import numpy

        none = numpy.empty(0, numpy.int64), numpy.empty((DIRECTIONS // 64, 0), numpy.uint64)
        ids, known = self._known or none
        if (
            len(ids) and ids[-1] > self.newest
        ):  # the file was exchanged, or what was written taken back
            ids, known = none
        last = int(ids[-1]) if len(ids) else 0
        if rows := self._store.rows(
            "SELECT id, signature FROM vector WHERE id > ? ORDER BY id", (last,)
        ):
            more = self._matrix([signature for _, signature in rows], "=u8", DIRECTIONS // 64)
            ids = numpy.append(ids, [id for id, _ in rows])
            known = numpy.concatenate([known, more.T], axis=1)
        self._known = ids, known
        return self._known

    def _matrix(self, blobs: Sequence[bytes], kind: str, width: int) -> NDArray[Any]:
        """A row for each blob."""
        import numpy

        try:
            return numpy.frombuffer(b"".join(blobs), kind).reshape(len(blobs), width)
        except (TypeError, ValueError) as error:
            raise damaged(self._store.path, error) from error


def _unit(vectors: Sequence[Sequence[float]]) -> Matrix:
    """With length 1; zeros stay zeros."""
    import numpy

    matrix = numpy.array(vectors, numpy.float64)
    lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / numpy.where(lengths > 0, lengths, 1)).astype(numpy.float32)


def _signatures(vectors: Matrix) -> NDArray[uint64]:
    """A row for each. ``vecdot``, because a product of matrices keeps all processors busy for
    longer than it takes.
    """
    import numpy

    sides = numpy.vecdot(vectors[:, None], _directions(vectors.shape[1])) > 0
    return numpy.packbits(sides, axis=1).view(numpy.uint64)


@cache
def _directions(dimension: int) -> Matrix:
    """The same for ever, as signatures are stored: numpy promises it of ``RandomState`` and of
    nothing newer.
    """
    import numpy

    return (
        numpy.random.RandomState(0).standard_normal((DIRECTIONS, dimension)).astype(numpy.float32)
    )
