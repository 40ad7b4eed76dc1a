"""A rolling summary: lines are read piece by piece, each piece behind the summary so far.

If a piece exceeds the model's window, the piece is halved until it fits. The cascade and self-care
(``extensions/memories/narrative.py``) both summarise with ``rolling_summary``.

A run of the cascade makes up to two summaries:

    (1) long-term ← the old long-term and short-term summaries
    (2) short-term ← the events that have left the immediate window since

A run works beside the loop on a snapshot and writes nothing. Each request is one plain completion
(``prompts/memories.md``), so that base models can answer it too. If there are very many events, as
in a life that was long before the cascade was switched on, a run reads only some of them. Their
summary is kept as a draft, and the next run continues from it.

The answer of the model is bounded to one line without marks or control characters, so it cannot
forge a reference or a header. If it is too long or was cut off, it ends with its last whole
sentence. The prompt therefore has the same size whatever the model answers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dory.errors import ModelAway, WindowExceeded
from dory.extensions.cascade.life_reader import LifePosition, LifeReader
from dory.extensions.cascade.store import Summary
from dory.identity.life import LINE_LIMIT
from dory.text import formatting, grounding, prompt_files, references
from dory.text.packing import fitting
from dory.types import Message, Model, Prompt

LIMIT = 1500
"""Characters of a summary."""
PIECE = 32_000
"""Characters of events in one request, whatever the windows are."""
BATCH = 32
"""Pieces that one run reads at most."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a run starts from: both summaries, the draft, and the position behind what they cover.

    ``target`` is the last event to read; ``piece`` is the number of events in one request.
    """

    longterm: Summary | None
    recent: Summary | None
    begun: Summary | None
    covered: LifePosition
    target: int
    piece: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The new texts, and the position behind the last event of the short-term summary.

    ``longterm`` is empty if the long-term summary stays as it is.
    """

    longterm: str
    recent: str
    place: LifePosition


def run(model: Model, life: LifeReader, task: Task, redact: Callable[[str], str]) -> Outcome:
    """Make the summaries, or a draft if there are too many events for one run.

    Raises ``ModelError``, and ``FormatError`` if LIFE is not what it was.
    """
    position = task.begun.place if task.begun else task.covered
    if not life.holds(position):
        position = life.find(position.number)
    piece = min(task.piece, PIECE // LINE_LIMIT)
    until = min(task.target, position.number + BATCH * piece)

    def ask(lines: Sequence[str]) -> str:
        return _ask(model, lines, redact)

    longterm = ""
    if task.recent and until == task.target:
        longterm = ask([kept.text for kept in (task.longterm, task.recent) if kept])
    lines, end = life.read(position, max(0, until - position.number))
    recent = rolling_summary(
        [references.gists(line) for line in lines],
        ask,
        piece,
        size=lambda _: 1,
        summary=task.begun.text if task.begun else "",
    )
    return Outcome(longterm, recent, end)


def rolling_summary(
    lines: Sequence[str],
    ask: Callable[[Sequence[str]], str],
    piece: int,
    size: Callable[[str], int] = len,
    summary: str = "",
) -> str:
    """The summary of ``lines``, read in pieces of at most ``piece`` by the measure ``size``.

    ``ask`` makes a summary of the ``summary`` so far, if there is one, and a piece. It raises
    ``WindowExceeded`` if they do not fit into one request; this function raises it only if a single
    line does not fit.
    """
    start = 0
    while start < len(lines):
        count = fitting((size(line) for line in lines[start:]), piece)
        part = lines[start : start + count]
        try:
            summary = ask([summary, *part] if summary else part)
        except WindowExceeded:
            if count == 1:
                raise
            piece = sum(size(line) for line in part) // 2
        else:
            start += count
    return summary


def _ask(model: Model, lines: Sequence[str], redact: Callable[[str], str]) -> str:
    instruction = prompt_files.prompt("memories")
    memories = redact("\n".join(lines))
    question = instruction.format(memories=memories)
    reply = model.complete(Prompt((Message("user", question),)), "cascade")
    text = formatting.bounded(redact(reply.text), LIMIT, reply.cut)
    if not text:
        raise ModelAway(f"{model.name} had no summary to give")
    if grounding.copied(text, instruction, memories):
        raise ModelAway(f"{model.name} gave the instruction back instead of a summary")
    return text
