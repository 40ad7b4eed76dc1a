"""Vectors of texts, from any endpoint that speaks OpenAI's ``/embeddings``."""

import time
from collections.abc import Iterator, Sequence

from dory import wire
from dory.config import Config
from dory.llm.connection import Connection
from dory.profiles import Profile
from dory.records import Embedded, Usage


class Embeddings:
    """The model of a profile, asked for vectors. Any number of threads may ask."""

    def __init__(self, config: Config, profile: Profile) -> None:
        self.name = profile.model
        self._connection = Connection(config, profile, {})

    def embed(self, texts: Sequence[str]) -> Embedded:
        """The vectors of some texts, in one request. Raises ``ModelRefused``, ``WindowExceeded`` or, when it may be repeated, ``Passing``."""
        started = time.monotonic()
        sent = [wire.encodable(text) for text in texts]
        answer = self._connection.ask("/embeddings", {"input": sent}, lambda chunks: self._read(chunks, len(sent)))
        counted = wire.counts(answer.usage, "".join(sent), "")
        return Embedded(answer.vectors, Usage("embedding", self.name, *counted, time.monotonic() - started))

    def _read(self, chunks: Iterator[object], count: int) -> wire.Vectors:
        whole = next(chunks, None)
        if error := wire.reported(whole):
            raise self._connection.failures.reported(wire.status(error), error)
        return wire.Vectors(whole, count)
