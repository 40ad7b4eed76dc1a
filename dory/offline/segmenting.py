"""The first phase of a compaction: name the chunks, by lexical cohesion (after Hearst's TextTiling,
1997).

Where the words of the entries before a gap and of those behind it overlap least, compared with the
gaps around it, the subject changes. Of all ways to cut a run of entries into chunks of ``LEAST`` to
``MOST``, the one is taken whose cuts lie in the deepest gaps; an entry that is large by itself
stands alone. One or two references by themselves are left out: they cannot shrink.
"""

import math
from collections import Counter
from itertools import pairwise

from dory.identity.context import Entry
from dory.offline.prompt_reader import Reading, said
from dory.offline.words import spelled, stem, stems

LEAST, MOST = 3, 15
"""Entries in a chunk."""
OVERSIZE = 6000
"""Characters from which an entry is a chunk of its own."""
_WINDOW = 4
_COST = 0.3
"""Depth that a cut must have to be worth making where none is needed."""
_SLOPE = 0.5
_MISPLACED = 1.0
"""What a cut costs that parts a message from its answer, or a tool line from its result."""
_MIXED = 2.0
"""What each level costs by which references in one chunk differ: they merge with their like, so an
old original stays few steps away.
"""
_FAN_OUT = 9


def segment(reading: Reading) -> str:
    """The answer to SEGMENT.md: ``first-last words`` for every chunk of the ids that the request's
    header names.
    """
    chunks = [chunk for run in reading.named("segment") for chunk in _chunks(run)]
    worth = [
        chunk
        for chunk in chunks
        if len(chunk) >= LEAST or any(entry.kind != "compacted" for entry in chunk)
    ]
    return "\n".join(
        f"{chunk[0].first}-{chunk[-1].last} {_label(chunk)}" for chunk in worth or chunks
    )


def _chunks(run: list[Entry]) -> list[list[Entry]]:
    """Cut by dynamic programming over the ends of chunks."""
    gains, levels = _gains(run), [_level(entry) for entry in run]
    best = [(0.0, 0)]
    for end in range(1, len(run) + 1):
        starts = range(max(0, end - MOST), end)
        best.append(
            max(
                (best[start][0] + gains[start] - _strain(run[start:end], levels[start:end]), start)
                for start in starts
            )
        )
    ends = [len(run)]
    while ends[-1]:
        ends.append(best[ends[-1]][1])
    return [run[start:end] for start, end in pairwise(reversed(ends))]


def _level(entry: Entry) -> int:
    """0 for what stands verbatim; for a reference about the number of times that it was compacted,
    told from the ids that it covers.
    """
    return (
        max(1, round(math.log(entry.last - entry.first + 1, _FAN_OUT)))
        if entry.kind == "compacted"
        else 0
    )


def _strain(chunk: list[Entry], levels: list[int]) -> float:
    """What speaks against a chunk: that it is small, and that it mixes levels."""
    small = 0 if len(chunk[0].body) > OVERSIZE else max(0, LEAST - len(chunk))
    return 0.5 * small + _MIXED * (max(levels) - min(levels))


def _gains(run: list[Entry]) -> list[float]:
    """For each place in ``run`` what a cut before it is worth."""
    spoken: list[set[str]] = []
    before = []
    for entry in run:
        before.append(len(spoken))
        if words := set(stems(" ".join(text for _, text in said(entry)))):
            spoken.append(words)
    likeness = [_likeness(spoken, gap) for gap in range(len(spoken) + 1)]
    worth = [_depth(likeness, gap) - _COST for gap in range(len(likeness))]
    large = [len(entry.body) > OVERSIZE for entry in run]
    parts = [entry.kind in ("response", "result", "error") for entry in run]
    return [
        1.0 if large[at] or large[at - 1] else worth[gap] - _MISPLACED * parts[at]
        for at, gap in enumerate(before)
    ]


def _depth(likeness: list[float], gap: int) -> float:
    """How far the likeness sinks at a gap below its peaks on both sides; on the slope of a deeper
    one it counts for less.
    """
    left, right = likeness[max(0, gap - _WINDOW) : gap + 1], likeness[gap : gap + _WINDOW + 1]
    deeper = min(left[-3:] + right[:3]) < likeness[gap]
    return max(left) + max(right) - 2 * likeness[gap] - _SLOPE * deeper


def _likeness(spoken: list[set[str]], gap: int) -> float:
    """How many words are shared by what was said shortly before and shortly after a gap, 0 to 1."""
    earlier, later = (
        set().union(*spoken[max(0, at) : at + _WINDOW]) for at in (gap - _WINDOW, gap)
    )
    return len(earlier & later) / max(1, min(len(earlier), len(later)))


def _label(chunk: list[Entry]) -> str:
    found = Counter(
        word.lower()
        for entry in chunk
        for _, text in said(entry)
        for word in spelled(text)
        if stem(word.lower())
    )
    return " ".join(word for word, _ in found.most_common(4)) or chunk[0].kind
