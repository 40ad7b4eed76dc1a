"""The offline stand-in: a deterministic, rule-based model that needs no key, no download and no network.

It does a model's job in small, in English, from nothing but its prompt: ``reading.py`` says what stands there, ``turn.py`` holds the rules of
a turn, ``segmenting.py`` and ``summarising.py`` do the two jobs of a compaction. It keeps no state, so any number of threads may call it.
"""

import math
import time

from dory.records import Prompt, Purpose, Reply, Usage
from dory.standin.reading import read
from dory.standin.segmenting import segment
from dory.standin.summarising import summarise
from dory.standin.turn import respond

_CHARACTERS_PER_TOKEN = 4


class StandIn:
    """A ``Model``. What it is asked to do it tells from the prompt's last section; ``purpose`` is only booked."""

    name: str = "stand-in"

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """Answer at once. Tokens are counted as four characters each; nothing is cached. Raises nothing."""
        began = time.monotonic()
        reading = read(prompt)
        reasoning = ""
        if "segment" in reading.sections:
            text = segment(reading)
        elif "summarise" in reading.sections:
            text = summarise(reading)
        else:
            text, reasoning = respond(reading)
        usage = Usage(purpose, self.name, _tokens(prompt.text), None, _tokens(text), time.monotonic() - began)
        return Reply(text, reasoning, usage)


def _tokens(text: str) -> int:
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)
