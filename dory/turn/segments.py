"""The model's two answers in a compaction, read and checked, and the choice of what to swap. Pure.
A ``ValueError`` tells the model what is wrong with its answer.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from dory.identity import context
from dory.identity.context import Entry
from dory.text import formatting, references

_RANGE = re.compile(r"[\s*\-#]*(\d{1,15})(?:\s*(?:-|–|—|to)\s*#?(\d{1,15}))?\b.*")
_GIST = re.compile(r"^[^\w\n]*GIST[^\w\n]*:(.*)", re.MULTILINE | re.IGNORECASE)
_RELEVANCE = re.compile(
    r"^[^\w\n]*RELEVANCE[^\w\n]*:[^\d\n-]*(-?\d*)", re.MULTILINE | re.IGNORECASE
)
_SUMMARY = re.compile(
    r"^[^\w\n]*SUMMARY[^\w\n]*:[*_]*\s*(.+)", re.MULTILINE | re.IGNORECASE | re.DOTALL
)

_MECHANICAL = ", not summarised: "
LEAST_SAVING = 0.2
"""The share of a stretch's characters that a swap must save."""
CHUNK_LIMIT = 100
"""Chunks of one compaction, each of which is a model call. If there are more, the largest are taken
and the others are left to the next compaction.
"""


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk and what would replace it; ``relevance`` is 1 to 10."""

    entries: tuple[Entry, ...]
    gist: str
    summary: str
    relevance: int

    @property
    def original(self) -> str:
        """The stretch as it stands in the context."""
        return context.render(self.entries)

    @property
    def saved(self) -> int:
        """Characters that the swap would save."""
        first, last = self.entries[0].first, self.entries[-1].last
        replacement = context.compacted(first, last, "0" * 16, self.gist, self.summary)
        return len(self.original) - len(replacement.text)

    @property
    def worth_it(self) -> bool:
        """Whether the summary is enough shorter: each swap puts the original one level deeper,
        whatever it saves.
        """
        return self.saved >= len(self.original) * LEAST_SAVING


def listed(runs: Sequence[Sequence[Entry]]) -> str:
    """The ids of runs of entries as they stand in a request: ``3-17 19-40``."""
    return " ".join(f"{run[0].first}-{run[-1].last}" for run in runs)


def read_ranges(answer: str, runs: Sequence[Sequence[Entry]]) -> list[tuple[Entry, ...]]:
    """The chunks that an answer to SEGMENT.md names. They are cut at entries, and in two where a
    pinned entry lies between.
    """
    matches = [_RANGE.fullmatch(line) for line in answer.splitlines()]
    spans = sorted((int(match[1]), int(match[2] or match[1])) for match in matches if match)
    if not spans:
        raise ValueError(
            "no line names a chunk; answer with lines such as '12-19 planning the trip'"
        )
    low, high = runs[0][0].first, runs[-1][-1].last
    for (first, last), (after, _) in zip(spans, [*spans[1:], (high + 1, 0)], strict=True):
        if last < first or first < low or last > high:
            raise ValueError(f"the chunk {first}-{last} is not within {listed(runs)}")
        if after <= last:
            raise ValueError(f"the chunks {first}-{last} and {after}-… overlap")
    pieces = [
        tuple(entry for entry in run if entry.last >= first and entry.first <= last)
        for first, last in spans
        for run in runs
    ]
    whole = _disjoint([piece for piece in pieces if piece])
    if not whole:  # only pinned entries were named
        raise ValueError(f"no chunk holds any of {listed(runs)}")
    parts = [part for piece in whole for part in _balanced(piece)] or whole
    largest = sorted(parts, key=lambda part: len(context.render(part)), reverse=True)[:CHUNK_LIMIT]
    return sorted(largest, key=lambda part: part[0].first)


def read_summary(answer: str, entries: tuple[Entry, ...]) -> Draft:
    """The draft that an answer to SUMMARISE.md makes."""
    gist = _GIST.search(answer)
    relevance = _RELEVANCE.search(answer)
    summary = _SUMMARY.search(answer)
    if not gist or not relevance or not summary:
        parts = {"GIST:": gist, "RELEVANCE:": relevance, "SUMMARY:": summary}
        missing = [name for name, match in parts.items() if not match]
        raise ValueError(f"no line begins with {' or '.join(missing)}")
    if not re.fullmatch("[1-9]|10", relevance[1]):
        raise ValueError(f"RELEVANCE is {relevance[1][:20] or 'no number'}; it must be 1 to 10")
    one_line = formatting.one_line(gist[1].strip(" \t*_"))
    if not one_line:
        raise ValueError("GIST is empty")
    return Draft(entries, one_line, summary[1].strip(), int(relevance[1]))


def choose(drafts: Sequence[Draft], eligible: int) -> list[Draft]:
    """The least relevant drafts, of equals the older first, until the ``eligible`` characters are
    halved.
    """
    chosen: list[Draft] = []
    left = eligible
    for draft in sorted(drafts, key=lambda draft: (draft.relevance, draft.entries[0].first)):
        if left <= eligible / 2:
            break
        if draft.worth_it:
            chosen.append(draft)
            left -= draft.saved
    return chosen


def oldest(entries: Sequence[Entry], pinned: Collection[int], least: int) -> Draft | None:
    """What to fold when no model helps: the oldest entries up to half of the context; None if that
    saves less than ``least`` characters. Pinned entries and then the recent third are taken only if
    nothing else saves enough; the newest entry never.
    """
    target = sum(entry.size for entry in entries) // 2
    for run in [*context.eligible(entries, pinned), *context.eligible(entries, ()), entries[:-1]]:
        sizes = accumulate(entry.size for entry in run)
        taken = tuple(run[: 1 + sum(size < target for size in sizes)])
        # to fold one reference alone would only put its original one level deeper
        lone = len(taken) == 1 and taken[0].kind == "compacted"
        if taken and not lone and (draft := mechanical(taken)).saved >= least:
            return draft
    return None


def mechanical(entries: tuple[Entry, ...]) -> Draft:
    """The replacement of entries without a model: their number, and the beginnings of the first and
    the last of them.
    """
    heads = [
        formatting.one_line(
            references.unescape(entry.gist.rpartition(_MECHANICAL)[2] or entry.body), 60
        )
        for entry in entries
    ]
    shown = heads if len(heads) <= 8 else [*heads[:4], "…", *heads[-4:]]
    gist = f"{entries[-1].last - entries[0].first + 1} entries{_MECHANICAL}{heads[0]}"
    return Draft(entries, formatting.one_line(gist), "\n".join(head for head in shown if head), 1)


def _balanced(piece: tuple[Entry, ...]) -> list[tuple[Entry, ...]]:
    """The piece without a reference that covers more ids than all the rest together, cut in two
    where that reference stood.

    If an old reference were merged with a little each time, it would gain a level each time, and
    its originals would sink out of reach. So what a reference covers at least doubles with each
    level.
    """
    spans = [entry.last - entry.first + 1 for entry in piece]
    heavy = spans.index(max(spans))
    if piece[heavy].kind != "compacted" or 2 * spans[heavy] <= sum(spans):
        return [piece]
    return [
        part for side in (piece[:heavy], piece[heavy + 1 :]) if side for part in _balanced(side)
    ]


def _disjoint(pieces: list[tuple[Entry, ...]]) -> list[tuple[Entry, ...]]:
    """The pieces without common entries: an entry that covers several ids may be named by two
    chunks, and belongs to the first.
    """
    taken: set[int] = set()
    kept: list[tuple[Entry, ...]] = []
    for piece in pieces:
        own = tuple(entry for entry in piece if entry.first not in taken)
        taken |= {entry.first for entry in own}
        if own:
            kept.append(own)
    return kept
