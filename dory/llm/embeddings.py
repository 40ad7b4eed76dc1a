"""Vectors of texts, from any endpoint with OpenAI's ``/embeddings``."""

import time
from collections.abc import Iterator, Sequence

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.llm import openai_format
from dory.llm.connection import Connection
from dory.text import formatting
from dory.types import Embedded, Usage


class Embeddings:
    """The embedding model of a profile. Any number of threads may call it."""

    def __init__(self, config: Config, profile: Profile) -> None:
        self.name = profile.model
        self._connection = Connection(config, profile)

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of ``texts``, in one request. Raises ``ModelRefused``,
        ``WindowExceeded`` or, if it may be repeated, ``TransientError``.
        """
        started = time.monotonic()
        sent = [formatting.encodable(text) for text in texts]
        answer = self._connection.ask(
            "/embeddings", {"input": sent}, lambda chunks: self._read(chunks, len(sent))
        )
        counts = openai_format.counts(answer.usage, "".join(sent), "")
        usage = Usage("embedding", self.name, *counts, time.monotonic() - started)
        return Embedded(answer.vectors, usage)

    def _read(self, chunks: Iterator[object], count: int) -> openai_format.Vectors:
        body = next(chunks, None)
        if error := openai_format.reported(body):
            raise self._connection.failures.reported(openai_format.status(error), error)
        return openai_format.Vectors(body, count)
