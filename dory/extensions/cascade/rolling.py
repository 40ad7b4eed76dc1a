"""A rolling summary: lines are read piece by piece, each piece behind the summary so far.

If a piece exceeds the model's window, the piece is halved until it fits. The cascade and self-care
(``extensions/memories/narrative.py``) both summarise with ``rolling_summary``.

A run of the cascade makes up to two summaries:

    (1) long-term ← the old long-term and short-term summaries
    (2) short-term ← the events that have left the immediate window since

A run works beside the loop on a snapshot and writes nothing. It reads the full text of each event
(``event_texts.py``), of a very long one its beginning and its end. Each request is one plain
completion (``prompts/memories.md``), so that base models can answer it too. If there are very many
events, as in a life that was long before the cascade was switched on, a run reads only some of
them. Their summary is kept as a draft, and the next run continues from it.

The answer of the model is cleaned (``text/summary_answers.py``) and bounded to one line without
marks or control characters, so it cannot forge a reference or a header. If it is too long or was
cut off, it ends with its last whole sentence. The prompt therefore has the same size whatever the
model answers. An answer that is no summary is refused, and the model is asked once more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dory.errors import ModelAway, WindowExceeded
from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.life_reader import LifePosition, LifeReader
from dory.extensions.cascade.store import Summary
from dory.identity.life import LINE_LIMIT
from dory.text import formatting, grounding, prompt_files, summary_answers
from dory.text.packing import fitting
from dory.types import Message, Model, Prompt

LIMIT = 1500
"""Characters of a summary."""
PIECE = 32_000
"""Characters of events in one request, whatever the windows are."""
BATCH = 32
"""Pieces that one run reads at most."""
TRIES = 2
"""How often the model is asked for one summary if it answers with none."""
_NOTHING = "Nothing was said."
"""What is summed up if no event has a text."""


class _TooLong(ModelAway):
    """The model writes more than it is to sum up."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a run starts from: both summaries, the draft, and the position behind what they cover.

    ``events`` is the number of events behind that position that the short-term summary is to cover;
    ``piece`` is the number of events in one request at most, ``event_limit`` the number of
    characters that are read of one.
    """

    longterm: Summary | None
    recent: Summary | None
    begun: Summary | None
    covered: LifePosition
    events: int
    piece: int
    event_limit: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The new texts, and the position behind the last event of the short-term summary.

    ``longterm`` is empty if the long-term summary stays as it is. If not all events were read, the
    short-term summary is a ``draft``.
    """

    longterm: str
    recent: str
    place: LifePosition
    draft: bool


def run(
    model: Model, life: LifeReader, texts: EventTexts, task: Task, redact: Callable[[str], str]
) -> Outcome:
    """Make the summaries, or a draft if there are too many events for one run.

    Raises ``ModelError``, and ``FormatError`` if LIFE is not what it was.
    """
    position, left = _start(life, task)
    piece = min(task.piece, PIECE // LINE_LIMIT)
    count = min(left, BATCH * piece)

    def ask(lines: Sequence[str]) -> str:
        return _ask(model, lines, texts.usages, redact)

    longterm = ""
    if task.recent and count == left:
        longterm = _squashed([kept.text for kept in (task.longterm, task.recent) if kept], ask)
    events, end = life.read(position, count)
    told = (texts.of(event) for event in events)
    recent = rolling_summary(
        [event.line(task.event_limit) for event in told if event.text] or [_NOTHING],
        ask,
        PIECE,
        size=lambda line: max(len(line), PIECE // piece),
        summary=task.begun.text if task.begun else "",
    )
    return Outcome(longterm, recent, end, draft=count < left)


def _squashed(texts: Sequence[str], ask: Callable[[Sequence[str]], str]) -> str:
    """The long-term summary of these. A single one stays as it is if no shorter one comes: it is a
    summary, and the same answer would come each time.
    """
    try:
        return ask(texts)
    except _TooLong:
        if len(texts) > 1:
            raise
        return texts[0]


def _start(life: LifeReader, task: Task) -> tuple[LifePosition, int]:
    """The position from which a run reads, and how many events it is still to cover."""
    covered = task.covered if life.holds(task.covered) else life.find(task.covered.number)
    if not task.begun:
        return covered, task.events
    begun = task.begun.place if life.holds(task.begun.place) else life.find(task.begun.last)
    _, read = life.events(covered.end, begun.end)
    return begun, max(0, task.events - read)


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


def _ask(
    model: Model, lines: Sequence[str], tools: Sequence[str], redact: Callable[[str], str]
) -> str:
    instruction = prompt_files.prompt("memories")
    memories = redact("\n".join(lines))
    prompt = Prompt((Message("user", instruction.format(memories=memories)),))
    wrong, too_long = "", False
    for _ in range(TRIES):
        reply = model.complete(prompt, "cascade")
        answer = summary_answers.cleaned(redact(reply.text))
        text = formatting.bounded(answer, LIMIT, reply.cut)
        wrong = summary_answers.wrong(text, tools)
        if not wrong and grounding.copied(text, instruction, memories):
            wrong = "gave the instruction back instead of a summary"
        too_long = not wrong and len(text) > len(memories)
        if not wrong and not too_long:
            return text
    if too_long:
        raise _TooLong(f"{model.name} gave a summary that is longer than what it sums up")
    raise ModelAway(f"{model.name} {wrong}")
