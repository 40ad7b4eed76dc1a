"""The narrative of a self-care batch: one coherent text about memories, or about what was said.

A batch is one plain completion (``prompts/narrative.md``), or several if it is long
(``extensions/cascade/rolling.py``). This runs beside the loop on a snapshot and writes nothing.

A batch has its whole narrative or none: an answer that is empty or was cut off is a failure. The
narrative is one line without marks or control characters. It has at most half as many characters
as what it sums up, so every batch makes the store smaller.
"""

from collections.abc import Callable, Sequence

from dory.errors import ModelError
from dory.extensions.cascade.rolling import rolling_summary
from dory.extensions.memories.record import NARRATIVE_LIMIT
from dory.text import formatting, grounding, prompt_files
from dory.types import Message, Model, Prompt

PIECE = 64_000
"""Characters of lines in one request."""
LINE_LIMIT = 10_000
"""Characters of one line: a summary, and whose it is."""
LEAST = 200
"""Characters that a narrative may have, however short the lines are."""


def narrate(model: Model, lines: Sequence[str], redact: Callable[[str], str]) -> str:
    """The narrative of a batch. Raises ``ModelError``."""
    lines = [formatting.one_line(line, LINE_LIMIT) for line in lines]
    half = sum(map(len, lines)) // 2
    limit = max(LEAST, min(NARRATIVE_LIMIT, half))
    return rolling_summary(lines, lambda part: _ask(model, part, limit, redact), PIECE)


def _ask(model: Model, lines: Sequence[str], limit: int, redact: Callable[[str], str]) -> str:
    memories = redact("\n".join(f"- {line}" for line in lines))
    instruction = prompt_files.prompt("narrative")
    question = instruction.format(limit=limit, memories=memories)
    reply = model.complete(Prompt((Message("user", question),)), "care")
    text = formatting.bounded(redact(reply.text), limit)
    # A ``ModelError``, not a ``ModelAway``: the model has answered and would answer so again.
    if not text:
        raise ModelError(f"{model.name} had no narrative to give")
    if grounding.copied(text, instruction, memories):
        raise ModelError(f"{model.name} gave the instruction back instead of a narrative")
    if reply.cut:
        raise ModelError(f"the narrative of {model.name} was cut off at its length limit")
    return text
