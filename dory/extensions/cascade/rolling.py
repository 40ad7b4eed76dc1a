"""One run of the cascade: what the model makes of older memories. Beside the loop, on a snapshot; writes nothing.

    (1) long-term ← the old long-term and short-term summaries
    (2) short-term ← the memories that have left the immediate window since

Each is one plain completion (``prompts/memories.md``), so that base models can do it, too. When a run has more memories to read than a summary
usually has, as with a life that was long before the cascade was switched on, it reads them piece by piece, each with the summary so far before
it; a piece that is too much for the model's window is halved until it fits. Of very many memories a run reads only some: what that comes to is
kept as a draft, and the next run goes on from it.

What a model says is bounded: one line without marks or control characters, so it can forge neither reference nor header, and cut at the end of
a sentence when it is too long or broke off. The prompt has the same size whatever the model does.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dory.errors import ModelAway, WindowExceeded
from dory.extensions.cascade.life_reader import Moments, Place
from dory.extensions.cascade.store import Summary
from dory.identity.life import LINE_LIMIT
from dory.text import prompt_files, references
from dory.types import Message, Model, Prompt

LIMIT = 1500
"""Characters of a summary."""
PIECE = 32_000
"""Characters of memories in one request, whatever the windows are."""
BATCH = 32
"""Pieces that are read before what they come to is kept."""


@dataclass(frozen=True, slots=True)
class Task:
    """What there was when the run began: both summaries, the begun one, the place behind what is read so far; and the last memory to read, in
    pieces of so many.
    """

    longterm: Summary | None
    recent: Summary | None
    begun: Summary | None
    covered: Place
    target: int
    piece: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The new texts, and the place behind the last memory in the short-term one; ``longterm`` is empty when there was nothing for it."""

    longterm: str
    recent: str
    place: Place


def run(model: Model, moments: Moments, task: Task, redact: Callable[[str], str]) -> Outcome:
    """Do all of it, or a batch of it if there is more. Raises ``ModelError``, and ``FormatError`` when LIFE is not what it was."""
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
            text, place = _ask(model, [*([text] if text else []), *map(references.gists, lines)], redact), behind
        except WindowExceeded:
            if len(lines) == 1:
                raise
            piece = len(lines) // 2
    return Outcome(longterm, text, place)


def _ask(model: Model, memories: Iterable[str], redact: Callable[[str], str]) -> str:
    asked = prompt_files.prompt("memories").format(memories=redact("\n".join(memories)))
    reply = model.complete(Prompt((Message("user", asked),)), "cascade")
    text = references.bounded(redact(reply.text), LIMIT, reply.cut)
    if not text:
        raise ModelAway(f"{model.name} had no summary to give")
    return text
