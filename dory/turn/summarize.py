"""The model's part of a compaction: name the chunks, then summarise each. It runs beside the loop
on a snapshot and writes nothing.

Every request is the live prompt byte for byte with one instruction appended, so the provider has
all the rest cached. The segment call goes alone, then one summary, then the others in batches: by
then the instruction is cached, too. After a batch with a model error there is no further one, nor
after a first summary that could not be read: a model that is away, or cannot do it, is not asked
again for every chunk.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from dory.errors import ModelError
from dory.identity.context import Entry
from dory.process.jobs import in_parallel
from dory.turn import segments
from dory.turn.segments import Draft
from dory.types import Model, Prompt, Purpose, Reply

T = TypeVar("T")


@dataclass(slots=True)
class Distilled:
    """The result so far; threads add to it. ``failure`` is a model error that left chunks without a
    summary.
    """

    drafts: list[Draft] = field(default_factory=list)
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A snapshot: the prompt as it was sent, the runs of entries that may be compacted, the two
    instructions, and how many calls go out at once.
    """

    prompt: Prompt
    runs: Sequence[Sequence[Entry]]
    segment: str
    summarise: str
    workers: int


def distil(model: Model, request: Request, result: Distilled) -> None:
    """Do both phases into ``result``. Raises ``ModelError``, or ``ValueError`` if the model cannot
    name chunks; ``result`` then keeps what there was.
    """
    first, *rest = _chunks(model, request)
    drafts = [_summarised(model, request, result, first)]
    for start in range(0, len(rest), request.workers):
        if result.failure or (start and not any(drafts)):
            break
        batch = rest[start : start + request.workers]
        calls = [partial(_summarised, model, request, result, entries) for entries in batch]
        drafts += in_parallel(calls, "summarise")
    result.drafts = [draft for draft in drafts if draft]


def _chunks(model: Model, request: Request) -> list[tuple[Entry, ...]]:
    """What the model takes for the chunks of the context."""
    instruction = f"[#segment {segments.listed(request.runs)}]\n{request.segment}"

    def read(answer: str) -> list[tuple[Entry, ...]]:
        return segments.read_ranges(answer, request.runs)

    return _ask(model, request.prompt, "segment", instruction, read)


def _summarised(
    model: Model, request: Request, result: Distilled, entries: tuple[Entry, ...]
) -> Draft | None:
    """The summary of one chunk; None if the chunk has to stay as it is."""
    instruction = f"[#summarise {segments.listed([entries])}]\n{request.summarise}"

    def read(answer: str) -> Draft:
        return segments.read_summary(answer, entries)

    try:
        return _ask(model, request.prompt, "summarise", instruction, read)
    except ValueError:
        return None
    except ModelError as error:
        result.failure = error
        return None


def _ask(
    model: Model, prompt: Prompt, purpose: Purpose, instruction: str, read: Callable[[str], T]
) -> T:
    """One request, and a second one that names the error if the answer cannot be read."""
    reply = model.complete(prompt.fork(instruction), purpose)
    try:
        return _read(reply, read)
    except ValueError as error:
        again = (
            f"{instruction}\n\n[#retry]\nYour last answer could not be used: {error}. Answer again"
            " in the form asked for."
        )
        reply = model.complete(prompt.fork(again), purpose)
        return _read(reply, read)


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    if reply.cut:
        raise ValueError("it was cut off at its length limit, write less")
    return read(reply.text)
