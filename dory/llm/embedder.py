"""Vectors from an embedder that may be slow, unreachable, or unable to embed a text. No turn waits
for one.

If a text fails, ``vectors`` asks for the vector of a word that any model can embed. So it knows
whether the text is the cause, or the endpoint. If a text is too long, only its end is embedded.
"""

from collections.abc import Sequence

from dory.errors import ModelError, ModelRefused, WindowExceeded
from dory.process.jobs import Job
from dory.types import Embedder

_PROBE = "memory"
_PENDING = "the endpoint has not answered yet"

Row = tuple[list[float], str]
"""A vector; or zeros, and why there is none."""


def vectors(embedder: Embedder, texts: Sequence[str]) -> list[Row]:
    """Return a row for each text, with vectors of one length. Raises ``ModelError`` if it is not
    the texts that cannot be embedded.
    """
    rows = _rows(embedder, texts)
    if len({len(vector) for vector, _ in rows}) > 1:
        raise ModelRefused(
            f"{embedder.name} makes vectors of different lengths: check the profile of embeddings"
        )
    return rows


class Situation:
    """The vector of what is said now. One request runs at a time, beside the turns. Only one thread
    may call.
    """

    def __init__(self, embedder: Embedder, timeout: float) -> None:
        """A turn waits at most ``timeout`` seconds for the answer to a request that it starts."""
        self._embedder = embedder
        self._timeout = timeout
        self._text = ""
        self.failure = ""
        self._vector: list[float] | None = None
        self._job: Job[list[float]] | None = None

    def vector(self, text: str) -> list[float] | None:
        """Return the vector of ``text`` if the endpoint answers in time, else that of the text
        before.

        Return None, with the reason in ``failure``, if the last request failed, or if a request for
        another text is not answered yet.
        """
        self._collect()
        if self._job is None and (text != self._text or self.failure or self._vector is None):
            self._text = text
            self._job = Job(lambda: _fitting(self._embedder, [text])[0], "embedding")
            self._job.wait(self._timeout)
            self._collect()
        if self._job and (self._vector is None or text != self._text):
            self._vector = None
            self.failure = _PENDING
        return self._vector

    def forget(self) -> None:
        """Drop the vector: it is of no use."""
        self._vector = None

    def _collect(self) -> None:
        if self._job is None or not self._job.done:
            return
        job = self._job
        self._job = None
        self._vector = None
        try:
            self._vector = job.result()
            self.failure = ""
        except ModelError as error:
            self.failure = str(error)


def _rows(embedder: Embedder, texts: Sequence[str]) -> list[Row]:
    try:
        return [(vector, "") for vector in _fitting(embedder, texts)]
    except ModelError as error:
        (probe,) = embedder.embed([_PROBE])
        if len(texts) == 1:
            return [([0.0] * len(probe), str(error))]
        return [row for text in texts for row in _rows(embedder, [text])]


def _fitting(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """A vector for each text, or for as much of its end as fits."""
    try:
        return embedder.embed(texts)
    except WindowExceeded:
        if len(texts) > 1:
            return [vector for text in texts for vector in _fitting(embedder, [text])]
        (text,) = texts
        if len(text) < 2:
            raise
        return _fitting(embedder, [text[len(text) // 2 :]])
