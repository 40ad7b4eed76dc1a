"""The model's part of a compaction: name the chunks, then summarise each. It runs beside the loop
on a snapshot and writes nothing.

Every request is the live prompt byte for byte, with one instruction in place of its request for a
response, so the provider has all the rest cached. The segment call goes alone, then one summary,
then the others in batches: by then the instruction is cached, too.

With ``at_once`` one call does all of it: cheaper where an endpoint is slow, or has no cache. Both
ways end with the same checks.

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
from dory.types import Model, Prompt, Purpose

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
    instructions, and how many calls go out at once. ``at_once`` is the instruction for a single
    call in place of the two; empty for the two.
    """

    prompt: Prompt
    runs: Sequence[Sequence[Entry]]
    segment: str
    summarise: str
    workers: int
    at_once: str = ""


Drafts = dict[tuple[Entry, ...], Draft | None]
"""The chunks in their order, each with the model's summary if that can be used."""


def distil(model: Model, request: Request, result: Distilled) -> None:
    """Do all of it into ``result``. Raises ``ModelError`` if the model is away when chunks are to
    be named.
    """
    drafts = (
        _at_once(model, request, result)
        if request.at_once
        else _step_by_step(model, request, result)
    )
    if not result.failure:
        made = any(draft and draft.worth_it for draft in drafts.values())
        for entries in drafts:
            if not drafts[entries] or not made:
                drafts[entries] = extract.draft(entries, _all(request))
    result.drafts = [draft for draft in drafts.values() if draft]


def _step_by_step(model: Model, request: Request, result: Distilled) -> Drafts:
    """One call names the chunks, then each is summarised by a call of its own."""
    first, *rest = _chunks(model, request, result)
    drafts: Drafts = dict.fromkeys((first, *rest))
    drafts[first] = _summarised(model, request, result, first)
    for start in range(0, len(rest), request.workers):
        if result.failure or (start and not any(drafts.values())):
            break
        batch = rest[start : start + request.workers]
        calls = [partial(_summarised, model, request, result, entries) for entries in batch]
        drafts |= zip(batch, in_parallel(calls, "summarise"), strict=True)
    return drafts


def _at_once(model: Model, request: Request, result: Distilled) -> Drafts:
    """One call names the chunks and summarises them."""
    instruction = f"[#distil {segments.listed(request.runs)}]\n{request.at_once}"

    def read(answer: str) -> Drafts:
        drafts: Drafts = {}
        for entries, text in segments.read_chunks(answer, request.runs).items():
            try:
                drafts[entries] = _checked(text, entries, request.at_once)
            except ValueError as error:
                problem = error
                drafts[entries] = None
        if not any(drafts.values()):
            raise problem
        return drafts

    try:
        return _ask(model, request.prompt, "segment", instruction, read, segments.without_last)
    except ValueError as error:
        result.refused.append(f"done by extraction, as the model's answer was no use: {error}")
        return dict.fromkeys(segments.at_pauses(request.runs))


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
        return _checked(answer, entries, request.summarise)

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


def _checked(answer: str, entries: tuple[Entry, ...], instruction: str) -> Draft:
    draft = segments.read_summary(answer, entries)
    check(draft, instruction)
    return draft


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


def _refused(answer: str) -> str:
    raise ValueError("it was cut off at its length limit, write less")


def _ask(
    model: Model,
    prompt: Prompt,
    purpose: Purpose,
    instruction: str,
    read: Callable[[str], T],
    whole: Callable[[str], str] = _refused,
) -> T:
    """One request, and a second one that names the error if the answer cannot be read. ``whole`` is
    what can be used of an answer that was cut off.
    """
    reply = model.complete(prompt.fork(instruction), purpose)
    try:
        return read(whole(reply.text) if reply.cut else reply.text)
    except ValueError as error:
        again = (
            f"{instruction}\n\n[#retry]\nYour last answer could not be used: {error}. Answer again"
            " in the form asked for."
        )
        reply = model.complete(prompt.fork(again), purpose)
        return read(whole(reply.text) if reply.cut else reply.text)
