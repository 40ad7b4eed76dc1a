"""The offline model: a deterministic, rule-based model that needs no key, no download and no
network.

It does a model's job in small, in English, from nothing but its prompt: ``reading.py`` says what
stands there and ``entries.py`` what an entry tells, ``turn.py`` holds the rules of a turn,
``segmenting.py`` and ``summarising.py`` do the two jobs of a compaction, ``recounting.py`` sums a
life up, ``extensions/dream/session.py`` does both phases of a Dream, and ``llm/embedder.py`` makes
vectors. It keeps no state, so any number of threads may call it.
"""

import time
from collections.abc import Sequence

from dory.offline.dreaming import dream
from dory.offline.embedding import vector
from dory.offline.prompt_reader import read
from dory.offline.segmenting import segment
from dory.offline.summarising import memories, recount, summarise
from dory.offline.turn import respond
from dory.text.formatting import tokens
from dory.types import Embedded, Prompt, Purpose, Reply, Usage


class OfflineModel:
    """A ``Model``. What it is asked to do it tells from the prompt's last section; ``purpose`` is
    only booked.
    """

    name: str = "offline"

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """Answer at once. Tokens are counted as four characters each; nothing is cached. Raises
        nothing.
        """
        began = time.monotonic()
        text, reasoning = _answer(prompt)
        usage = Usage(
            purpose, self.name, tokens(prompt.text), None, tokens(text), time.monotonic() - began
        )
        return Reply(text, reasoning, usage)

    def embed(self, texts: Sequence[str]) -> Embedded:
        """One vector for each text, of words and not of meaning. Raises nothing."""
        began = time.monotonic()
        vectors = [vector(text) for text in texts]
        return Embedded(
            vectors,
            Usage(
                "embedding", self.name, sum(map(tokens, texts)), None, 0, time.monotonic() - began
            ),
        )


def _answer(prompt: Prompt) -> tuple[str, str]:
    """Text and reasoning."""
    told = memories(prompt)
    if told is not None:
        return recount(told), ""
    reading = read(prompt)
    if "segment" in reading.sections:
        return segment(reading), ""
    if "summarise" in reading.sections:
        return summarise(reading), ""
    if "study" in reading.sections:
        return dream(reading), ""
    return respond(reading)
