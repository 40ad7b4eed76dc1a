"""The model's part of self-care: one coherent narrative of some memories, or of what was said. Beside the loop, on a snapshot; writes nothing.

A batch goes in one plain completion (``prompts/narrative.md``), or piece by piece if it is long, each with the narrative so far before it. When
that is too much for the model's window, pieces are halved until they fit. A batch has its narrative whole or not at all: an answer that is
empty or was cut off is a failure. What a model says is bounded: one line without marks or control characters, and at most half as long as what
it sums up, so there is always less than before.
"""

from collections.abc import Callable, Sequence

from dory.errors import ModelError, WindowExceeded
from dory.extensions.memories.mementos import NARRATIVE_LIMIT
from dory.text import prompt_files, references
from dory.types import Message, Model, Prompt

PIECE = 64_000
"""Characters of lines in one request."""
LONGEST = 10_000
"""Characters of one line: a summary, and whose it is."""
LEAST = 200
"""Characters that a narrative may have, however little it sums up."""


def narrative(model: Model, lines: Sequence[str], redact: Callable[[str], str]) -> str:
    """The narrative of a batch. Raises ``ModelError``."""
    lines = [references.one_line(line, LONGEST) for line in lines]
    limit = max(LEAST, min(NARRATIVE_LIMIT, sum(map(len, lines)) // 2))
    text, at, piece = "", 0, PIECE
    while at < len(lines):
        count = _fitting(lines[at:], piece)
        try:
            text = _ask(model, [*([text] if text else []), *lines[at : at + count]], limit, redact)
        except WindowExceeded:
            if count == 1:
                raise
            piece = sum(map(len, lines[at : at + count])) // 2
        else:
            at += count
    return text


def _fitting(lines: Sequence[str], piece: int) -> int:
    """How many of the first lines have at most so many characters together; one at least."""
    count = size = 0
    while count < len(lines) and (not count or size + len(lines[count]) <= piece):
        size, count = size + len(lines[count]), count + 1
    return count


def _ask(model: Model, lines: Sequence[str], limit: int, redact: Callable[[str], str]) -> str:
    memories = redact("\n".join(f"- {line}" for line in lines))
    reply = model.complete(Prompt((Message("user", prompt_files.prompt("narrative").format(limit=limit, memories=memories)),)), "care")
    text = references.bounded(redact(reply.text), limit)
    if reply.cut or not text:
        why = f"the narrative of {model.name} was cut off at its length limit" if text else f"{model.name} had no narrative to give"
        raise ModelError(why)  # it was there, and it would not be better later
    return text
