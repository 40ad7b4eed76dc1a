"""Vectors from an embedder that may be slow, be away, or not take a text. No turn waits for one.

``vectors`` tells a text that the model does not take from an endpoint that is away: it asks for the
vector of a word that any model takes. Of a text that is too long for the model as much of its end
is embedded as fits.
"""

from collections.abc import Sequence

from dory.errors import ModelError, ModelRefused, WindowExceeded
from dory.process.jobs import Job
from dory.types import Embedder

_PROBE = "memory"
_AWAITED = "the endpoint has not answered yet"

Row = tuple[list[float], str]
"""A vector; or zeros, and why there is none."""


def vectors(embedder: Embedder, texts: Sequence[str]) -> list[Row]:
    """One for each text, all of one length. Raises ``ModelError`` when it is not because of the
    texts that there is none.
    """
    made = _rows(embedder, texts)
    if len({len(vector) for vector, _ in made}) > 1:
        raise ModelRefused(
            f"{embedder.name} makes vectors of different lengths: check the profile of embeddings"
        )
    return made


class Situation:
    """The vector of what is said now. One request is under way at a time, beside the turns; only
    one thread may call.
    """

    def __init__(self, embedder: Embedder, patience: float) -> None:
        """A turn waits ``patience`` seconds for the answer to a request that it starts."""
        self._embedder = embedder
        self._patience = patience
        self._text = ""
        self.failure = ""
        self._vector: list[float] | None = None
        self._job: Job[list[float]] | None = None

    def vector(self, text: str) -> list[float] | None:
        """That of ``text``, if it is there at once; else that of the text before. None, and why in
        ``failure``, when the last request failed or is one for a text before that is not answered
        yet.
        """
        self._collect()
        if self._job is None and (text != self._text or self.failure or self._vector is None):
            self._text = text
            self._job = Job(lambda: _fitting(self._embedder, [text])[0], "embedding")
            self._job.wait(self._patience)
            self._collect()
        if self._job and (self._vector is None or text != self._text):
            self._vector, self.failure = None, _AWAITED
        return self._vector

    def forget(self) -> None:
        """The vector is of no use."""
        self._vector = None

    def _collect(self) -> None:
        if self._job and self._job.done:
            job, self._job, self._vector = self._job, None, None
            try:
                self._vector, self.failure = job.result(), ""
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
    """A vector for each, or for its end."""
    try:
        return embedder.embed(texts)
    except WindowExceeded:
        if len(texts) > 1:
            return [vector for text in texts for vector in _fitting(embedder, [text])]
        if len(texts[0]) < 2:
            raise
        return _fitting(embedder, [texts[0][len(texts[0]) // 2 :]])
