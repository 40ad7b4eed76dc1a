"""The model's part of a compaction: name the chunks, summarise each. Runs beside the loop on a
snapshot and writes nothing.

Every request is the live prompt byte for byte with one instruction appended, so the provider has
all of it cached. The segment call goes alone, then one summary, then the rest, a batch at a time:
by then the instruction is cached too. A batch that meets a model error is the last one, and so is
the first if nothing came of it: a model that is away or cannot do it is not asked again for every
chunk.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from dory.errors import ModelError
from dory.identity.context import Entry
from dory.process.jobs import in_parallel
from dory.text.hidden_arguments import hushed
from dory.turn import segments
from dory.turn.segments import Draft
from dory.types import Model, Prompt, Purpose, Reply

T = TypeVar("T")


@dataclass(slots=True)
class Distilled:
    """What came of it so far; threads add to it. ``failure`` is a model error because of which
    chunks stay as they are.
    """

    drafts: list[Draft] = field(default_factory=list)
    failure: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A snapshot: the prompt as it was sent, the runs of entries that may be compacted, and the two
    instructions. ``private`` are texts of the prompt that no summary may repeat, though a model
    may.
    """

    prompt: Prompt
    runs: Sequence[Sequence[Entry]]
    segment: str
    summarise: str
    workers: int
    private: frozenset[str] = frozenset()


def distil(model: Model, request: Request, result: Distilled) -> None:
    """Do both phases into ``result``, which keeps what was used even if it raises a ``ModelError``,
    or a ``ValueError`` when the model cannot name chunks.
    """

    def summarised(entries: tuple[Entry, ...]) -> Draft | None:
        def read(answer: str) -> Draft:
            return segments.read_summary(hushed(answer, request.private), entries)

        instruction = f"[#summarise {segments.listed([entries])}]\n{request.summarise}"
        try:
            return _ask(model, request.prompt, "summarise", instruction, read)
        except ValueError:  # that chunk stays as it is; the others may still come
            return None
        except ModelError as error:
            result.failure = error
            return None

    instruction = f"[#segment {segments.listed(request.runs)}]\n{request.segment}"
    found = _ask(
        model,
        request.prompt,
        "segment",
        instruction,
        lambda answer: segments.read_ranges(answer, request.runs),
    )
    drafts = [summarised(found[0])]
    rest = found[1:]
    for start in range(0, len(rest), request.workers):
        if result.failure or (start and not any(drafts)):
            break
        batch = rest[start : start + request.workers]
        drafts += in_parallel([partial(summarised, entries) for entries in batch], "summarise")
    result.drafts = [draft for draft in drafts if draft]


def _ask(
    model: Model, prompt: Prompt, purpose: Purpose, instruction: str, read: Callable[[str], T]
) -> T:
    """One request, and one more that names the error if the answer cannot be read."""
    reply = model.complete(prompt.fork(instruction), purpose)
    try:
        return _read(reply, read)
    except ValueError as error:
        again = f"{instruction}\n\n[#retry]\nYour last answer could not be used: {error}. Answer again in the form asked for."
        reply = model.complete(prompt.fork(again), purpose)
        return _read(reply, read)


def _read(reply: Reply, read: Callable[[str], T]) -> T:
    if reply.cut:
        raise ValueError("it was cut off at its length limit, write less")
    return read(reply.text)
