"""The model's part of a compaction: name the chunks, then summarise each. It runs beside the loop
on a snapshot and writes nothing.

Every request is the live prompt byte for byte, with one instruction in place of its request for a
response, so the provider has all the rest cached. The segment call goes alone, then one summary,
then the others in batches: by then the instruction is cached, too.

An answer that cannot be used is asked for again with the reason. If that one cannot be used,
either, the work is done without the model: the context is cut at its pauses, a summary is made by
extraction. A model whose first summaries cannot be used is not asked for every other chunk. After a
model error there is no further batch, and the chunks that are left stay as they are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from dory.errors import ModelError
from dory.identity.context import Entry
from dory.process.jobs import in_parallel
from dory.text import grounding
from dory.turn import extract, segments
from dory.turn.segments import Draft
from dory.types import Model, Prompt, Purpose, Reply

T = TypeVar("T")


@dataclass(slots=True)
class Distilled:
    """The result so far; threads add to it. ``failure`` is a model error that left chunks without a
    summary. ``refused`` says what could not be used of the model's second answers, and was done
    without it.
    """

    drafts: list[Draft] = field(default_factory=list)
    failure: ModelError | None = None
    refused: list[str] = field(default_factory=list)


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
    """Do both phases into ``result``. Raises ``ModelError`` if the model is away when chunks are to
    be named.
    """
    first, *rest = _chunks(model, request, result)
    drafts = {first: _summarised(model, request, result, first)}
    for start in range(0, len(rest), request.workers):
        if result.failure or (start and not any(drafts.values())):
            break
        batch = rest[start : start + request.workers]
        calls = [partial(_summarised, model, request, result, entries) for entries in batch]
        drafts |= dict(zip(batch, in_parallel(calls, "summarise"), strict=True))
    if not result.failure:
        made = any(draft and draft.worth_it for draft in drafts.values())
        for entries in (first, *rest):
            if not drafts.get(entries) or not made:
                drafts[entries] = extract.draft(entries, _all(request))
    result.drafts = [draft for draft in drafts.values() if draft]


def _all(request: Request) -> list[Entry]:
    return [entry for run in request.runs for entry in run]


def _chunks(model: Model, request: Request, result: Distilled) -> list[tuple[Entry, ...]]:
    """What the model takes for the chunks of the context; else what lies between its pauses."""
    instruction = f"[#segment {segments.listed(request.runs)}]\n{request.segment}"

    def read(answer: str) -> list[tuple[Entry, ...]]:
        return segments.read_ranges(answer, request.runs)

    try:
        return _ask(model, request.prompt, "segment", instruction, read)
    except ValueError as error:
        result.refused.append(f"its chunks were cut at pauses, as the model's were no use: {error}")
        return segments.at_pauses(request.runs)


def _summarised(
    model: Model, request: Request, result: Distilled, entries: tuple[Entry, ...]
) -> Draft | None:
    """The model's summary of one chunk; None if there is none that can be used."""
    instruction = f"[#summarise {segments.listed([entries])}]\n{request.summarise}"

    def read(answer: str) -> Draft:
        draft = segments.read_summary(answer, entries)
        check(draft, request.summarise)
        return draft

    try:
        return _ask(model, request.prompt, "summarise", instruction, read)
    except ValueError as error:
        listed = segments.listed([entries])
        result.refused.append(
            f"{listed} was summarised by extraction, as the model's summary was no use: {error}"
        )
        return None
    except ModelError as error:
        result.failure = error
        return None


def check(draft: Draft, instruction: str) -> None:
    """Raise ``ValueError`` if gist or summary repeat the instruction, or cannot come from the
    draft's entries: weak models copy examples and placeholders, and the agent would believe them.
    """
    source = extract.source(draft.entries)
    names = extract.speakers(draft.entries)
    told = "\n".join([source, *names])
    for label, text in (("GIST", draft.gist), ("SUMMARY", draft.summary)):
        if grounding.copied(text, instruction, told):
            raise ValueError(
                f"{label} repeats the instruction; write what entries"
                f" {segments.listed([draft.entries])} say, in their words"
            )
        if not grounding.grounded(text, told, names):
            raise ValueError(
                f"{label} has hardly a word in common with entries"
                f" {segments.listed([draft.entries])}; write what they say, with their names,"
                " numbers and words"
            )


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
