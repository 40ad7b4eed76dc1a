"""Answers the first request of a compaction: cuts the context into segments by lexical cohesion
(after Hearst's TextTiling, 1997).

A gap between two entries is a likely change of subject if few words before it occur after it,
compared with the gaps around it. Dynamic programming cuts a run of entries into segments of
``LEAST`` to ``MOST`` entries so that the cuts lie in the deepest gaps. An entry that is large by
itself is a segment of its own. Segments of only one or two references are left out, because they
cannot shrink.
"""

import math
from collections import Counter
from itertools import pairwise

from dory.identity.context import Entry
from dory.offline.prompt_reader import Reading, said
from dory.offline.words import spelled, stem, stems

LEAST, MOST = 3, 15
"""Entries in a segment."""
OVERSIZE = 6000
"""Characters from which an entry is a segment of its own."""
_WINDOW = 4
"""Entries before and after a gap whose words are compared."""
_CUT_COST = 0.3
"""Depth that a gap must have for a cut that no limit demands."""
_SLOPE_COST = 0.5
"""Cost of a cut beside a deeper gap."""
_PARTING_COST = 1.0
"""Cost of a cut between a message and its answer, or a tool line and its result."""
_MIXING_COST = 2.0
"""Cost of each level by which the references in a segment differ. References merge with their like,
so that an old original stays few steps away.
"""
_SMALL_COST = 0.5
"""Cost of each entry that a segment has less than ``LEAST``."""
_FAN_OUT = 9
"""Entries that one reference is assumed to replace."""
_LABEL_WORDS = 4


def segment(reading: Reading) -> str:
    """The answer to SEGMENT.md: a line ``first-last words`` for every segment of the ids that the
    request's header names.
    """
    segments = [entries for run in reading.named("segment") for entries in _cut(run)]
    useful = [
        entries
        for entries in segments
        if len(entries) >= LEAST or any(entry.kind != "compacted" for entry in entries)
    ]
    return "\n".join(
        f"{entries[0].first}-{entries[-1].last} {_label(entries)}" for entries in useful or segments
    )


def _cut(run: list[Entry]) -> list[list[Entry]]:
    """The best segments of a run."""
    gains = _gains(run)
    levels = [_level(entry) for entry in run]
    best = [(0.0, 0)]  # for each end: the value of the best cuts before it, and the last start
    for end in range(1, len(run) + 1):
        best.append(
            max(
                (best[start][0] + gains[start] - _cost(run[start:end], levels[start:end]), start)
                for start in range(max(0, end - MOST), end)
            )
        )
    ends = [len(run)]
    while ends[-1]:
        ends.append(best[ends[-1]][1])
    return [run[start:end] for start, end in pairwise(reversed(ends))]


def _level(entry: Entry) -> int:
    """0 for an entry that is no reference. For a reference, about how often it was compacted,
    estimated from the ids that it covers.
    """
    if entry.kind != "compacted":
        return 0
    return max(1, round(math.log(entry.last - entry.first + 1, _FAN_OUT)))


def _cost(entries: list[Entry], levels: list[int]) -> float:
    """The cost of a segment: that it is small, and that it mixes levels."""
    missing = 0 if len(entries[0].body) > OVERSIZE else max(0, LEAST - len(entries))
    return _SMALL_COST * missing + _MIXING_COST * (max(levels) - min(levels))


def _gains(run: list[Entry]) -> list[float]:
    """For each entry of ``run``, the gain of a cut before it."""
    spoken: list[set[str]] = []
    gaps: list[int] = []  # for each entry: the number of those before it that say something
    for entry in run:
        gaps.append(len(spoken))
        if words := set(stems(" ".join(text for _, text in said(entry)))):
            spoken.append(words)
    likeness = [_likeness(spoken, gap) for gap in range(len(spoken) + 1)]
    gain_at_gap = [_depth(likeness, gap) - _CUT_COST for gap in range(len(likeness))]
    large = [len(entry.body) > OVERSIZE for entry in run]
    gains = []
    for place, gap in enumerate(gaps):
        if large[place] or large[place - 1]:
            gains.append(1.0)
        elif run[place].kind in ("response", "result", "error"):
            gains.append(gain_at_gap[gap] - _PARTING_COST)
        else:
            gains.append(gain_at_gap[gap])
    return gains


def _depth(likeness: list[float], gap: int) -> float:
    """How far the likeness at a gap is below its maxima on both sides. It counts for less beside a
    deeper gap.
    """
    left = likeness[max(0, gap - _WINDOW) : gap + 1]
    right = likeness[gap : gap + _WINDOW + 1]
    depth = max(left) + max(right) - 2 * likeness[gap]
    if min(left[-3:] + right[:3]) < likeness[gap]:
        depth -= _SLOPE_COST
    return depth


def _likeness(spoken: list[set[str]], gap: int) -> float:
    """The share, 0 to 1, of words that occur both shortly before and shortly after a gap."""
    earlier = set[str]().union(*spoken[max(0, gap - _WINDOW) : gap])
    later = set[str]().union(*spoken[gap : gap + _WINDOW])
    return len(earlier & later) / max(1, min(len(earlier), len(later)))


def _label(entries: list[Entry]) -> str:
    """The most frequent words of a segment."""
    counts = Counter(
        word.lower()
        for entry in entries
        for _, text in said(entry)
        for word in spelled(text)
        if stem(word.lower())
    )
    return " ".join(word for word, _ in counts.most_common(_LABEL_WORDS)) or entries[0].kind
