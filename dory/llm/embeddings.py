"""Vectors of texts, from any endpoint that speaks OpenAI's ``/embeddings``."""

import time
from collections.abc import Iterator, Sequence

from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.llm import openai_format
from dory.llm.connection import Connection
from dory.text import formatting
from dory.types import Embedded, Usage


class Embeddings:
    """The model of a profile, asked for vectors. Any number of threads may ask."""

    def __init__(self, config: Config, profile: Profile) -> None:
        self.name = profile.model
        self._connection = Connection(config, profile, {})

    def embed(self, texts: Sequence[str]) -> Embedded:
        """The vectors of some texts, in one request. Raises ``ModelRefused``, ``WindowExceeded``
        or, when it may be repeated, ``Passing``.
        """
        started = time.monotonic()
        sent = [formatting.encodable(text) for text in texts]
        answer = self._connection.ask(
            "/embeddings", {"input": sent}, lambda chunks: self._read(chunks, len(sent))
        )
        counted = openai_format.counts(answer.usage, "".join(sent), "")
        return Embedded(
            answer.vectors, Usage("embedding", self.name, *counted, time.monotonic() - started)
        )

    def _read(self, chunks: Iterator[object], count: int) -> openai_format.Vectors:
        whole = next(chunks, None)
        if error := openai_format.reported(whole):
            raise self._connection.failures.reported(openai_format.status(error), error)
        return openai_format.Vectors(whole, count)
