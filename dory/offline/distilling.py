"""Answers a compaction in one call: each segment with its summary. Pure."""

from dataclasses import replace

from dory.offline.prompt_reader import Reading
from dory.offline.segmenting import segment
from dory.offline.summarising import summarise


def distil(reading: Reading) -> str:
    """The answer to prompts/distil.md for the ids that the request's header names."""
    asked = reading.sections["distil"]
    lines = segment(replace(reading, sections={**reading.sections, "segment": asked}))
    spans = [line.partition(" ")[0] for line in lines.splitlines()]
    return "\n\n".join(f"CHUNK: {span}\n{_summary(reading, span)}" for span in spans)


def _summary(reading: Reading, span: str) -> str:
    return summarise(replace(reading, sections={**reading.sections, "summarise": (span, "")}))
