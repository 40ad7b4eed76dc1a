"""The offline model: a deterministic, rule-based model that needs no key, no download and no
network.

It does a small part of what a language model does, in English, from its prompt alone:

    prompt_reader  parses the prompt
    turn           the rules of a turn; ``answering`` finds answers, ``intents`` says what a message
                   wants, ``memory`` changes MEMORY.md and USER.md, ``pending`` says what is open
    segmenting     the first request of a compaction
    summarising    the second one
    recounting     summaries of memories
    dreaming       both phases of a Dream
    embedding      vectors of texts
    words          stems, sentences and weights, which all of them use

The model keeps no state, so any number of threads may call it. It knows nothing of HTTP or of
faults. ``server`` is a separate package: a fake provider that serves this or any other model over
HTTP, for tests and benchmarks. Only ``python -m dory.offline`` joins the two.
"""

import time
from collections.abc import Sequence

from dory.control import Control
from dory.offline import recounting
from dory.offline.distilling import distil
from dory.offline.dreaming import dream
from dory.offline.embedding import vector
from dory.offline.prompt_reader import read
from dory.offline.segmenting import segment
from dory.offline.summarising import summarise
from dory.offline.turn import respond
from dory.text.formatting import tokens_of
from dory.types import Embedded, Prompt, Purpose, Reply, Usage


class OfflineModel:
    """A ``Model``. The prompt's sections say what it is asked to do; ``purpose`` goes only into the
    usage.
    """

    name: str = "offline"

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. A token is counted as four characters, and nothing is cached. Raises
        nothing.
        """
        began = time.monotonic()
        text, reasoning = _answer(prompt)
        seconds = time.monotonic() - began
        asked, answered = tokens_of(len(prompt.text)), tokens_of(len(text))
        usage = Usage(purpose, self.name, asked, None, answered, seconds)
        return Reply(text, reasoning, usage)

    def embed(self, texts: Sequence[str]) -> Embedded:
        """One vector for each text. Its numbers depend on the words, not on their meaning. Raises
        nothing.
        """
        began = time.monotonic()
        vectors = [vector(text) for text in texts]
        seconds = time.monotonic() - began
        asked = sum(tokens_of(len(text)) for text in texts)
        usage = Usage("embedding", self.name, asked, None, 0, seconds)
        return Embedded(vectors, usage)


def _answer(prompt: Prompt) -> tuple[str, str]:
    """Text and reasoning."""
    if recounted := recounting.summary(prompt):
        return recounted, ""
    reading = read(prompt)
    if "distil" in reading.sections:
        return distil(reading), ""
    if "segment" in reading.sections:
        return segment(reading), ""
    if "summarise" in reading.sections:
        return summarise(reading), ""
    if "study" in reading.sections:
        return dream(reading), ""
    return respond(reading)
