"""One run of the cascade: what the model makes of older memories. Beside the loop, on a snapshot;
writes nothing.

    (1) long-term ← the old long-term and short-term summaries
    (2) short-term ← the memories that have left the immediate window since

Each is one plain completion (``prompts/memories.md``), so that base models can do it, too. When a
run has more memories to read than a summary usually has, as with a life that was long before the
cascade was switched on, it reads them piece by piece, each with the summary so far before it; a
piece that is too much for the model's window is halved until it fits. Of very many memories a run
reads only some: what that comes to is kept as a draft, and the next run goes on from it.

What a model says is bounded: one line without marks or control characters, so it can forge neither
reference nor header, and cut at the end of a sentence when it is too long or broke off. The prompt
has the same size whatever the model does.

The model's part of self-care: one coherent narrative of some memories, or of what was said. Beside
the loop, on a snapshot; writes nothing.

A batch goes in one plain completion (``prompts/narrative.md``), or piece by piece if it is long,
each with the narrative so far before it. When that is too much for the model's window, pieces are
halved until they fit. A batch has its narrative whole or not at all: an answer that is empty or was
cut off is a failure. What a model says is bounded: one line without marks or control characters,
and at most half as long as what it sums up, so there is always less than before.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dory.errors import ModelAway, ModelError, WindowExceeded
from dory.extensions.cascade.life_reader import LifePosition, LifeReader
from dory.extensions.cascade.store import Summary
from dory.extensions.memories.store import NARRATIVE_LIMIT
from dory.identity.life import LINE_LIMIT
from dory.text import formatting, prompt_files, references
from dory.types import Message, Model, Prompt

LIMIT = 1500
"""Characters of a summary."""
PIECE = 32_000
"""Characters of memories in one request, whatever the windows are."""
BATCH = 32
"""Pieces that are read before what they come to is kept."""


@dataclass(frozen=True, slots=True)
class Task:
    """What there was when the run began: both summaries, the begun one, the place behind what is
    read so far; and the last memory to read, in pieces of so many.
    """

    longterm: Summary | None
    recent: Summary | None
    begun: Summary | None
    covered: LifePosition
    target: int
    piece: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The new texts, and the place behind the last memory in the short-term one; ``longterm`` is
    empty when there was nothing for it.
    """

    longterm: str
    recent: str
    place: LifePosition


def run(model: Model, moments: LifeReader, task: Task, redact: Callable[[str], str]) -> Outcome:
    """Do all of it, or a batch of it if there is more. Raises ``ModelError``, and ``FormatError``
    when LIFE is not what it was.
    """
    place, text, longterm = task.covered, "", ""
    if task.begun:
        place, text = task.begun.place, task.begun.text
    if not moments.holds(place):
        place = moments.find(place.number)
    piece = min(task.piece, PIECE // LINE_LIMIT)
    until = min(task.target, place.number + BATCH * piece)
    if task.recent and until == task.target:
        longterm = _ask(model, [one.text for one in (task.longterm, task.recent) if one], redact)
    while place.number < until:
        lines, behind = moments.read(place, min(piece, until - place.number))
        try:
            text, place = (
                _ask(model, [*([text] if text else []), *map(references.gists, lines)], redact),
                behind,
            )
        except WindowExceeded:
            if len(lines) == 1:
                raise
            piece = len(lines) // 2
    return Outcome(longterm, text, place)


def _ask(model: Model, memories: Iterable[str], redact: Callable[[str], str]) -> str:
    asked = prompt_files.prompt("memories").format(memories=redact("\n".join(memories)))
    reply = model.complete(Prompt((Message("user", asked),)), "cascade")
    text = formatting.bounded(redact(reply.text), LIMIT, reply.cut)
    if not text:
        raise ModelAway(f"{model.name} had no summary to give")
    return text


NARRATIVE_PIECE = 64_000
"""Characters of lines in one request."""
LONGEST = 10_000
"""Characters of one line: a summary, and whose it is."""
LEAST = 200
"""Characters that a narrative may have, however little it sums up."""


def narrative(model: Model, lines: Sequence[str], redact: Callable[[str], str]) -> str:
    """The narrative of a batch. Raises ``ModelError``."""
    lines = [formatting.one_line(line, LONGEST) for line in lines]
    limit = max(LEAST, min(NARRATIVE_LIMIT, sum(map(len, lines)) // 2))
    text, at, piece = "", 0, NARRATIVE_PIECE
    while at < len(lines):
        count = _fitting(lines[at:], piece)
        try:
            text = _ask_narrative(
                model, [*([text] if text else []), *lines[at : at + count]], limit, redact
            )
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


def _ask_narrative(
    model: Model, lines: Sequence[str], limit: int, redact: Callable[[str], str]
) -> str:
    memories = redact("\n".join(f"- {line}" for line in lines))
    reply = model.complete(
        Prompt(
            (
                Message(
                    "user", prompt_files.prompt("narrative").format(limit=limit, memories=memories)
                ),
            )
        ),
        "care",
    )
    text = formatting.bounded(redact(reply.text), limit)
    if reply.cut or not text:
        why = (
            f"the narrative of {model.name} was cut off at its length limit"
            if text
            else f"{model.name} had no narrative to give"
        )
        raise ModelError(why)  # it was there, and it would not be better later
    return text
