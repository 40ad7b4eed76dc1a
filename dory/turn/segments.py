"""The model's two answers in a compaction, read and checked, and the choice of what to swap. Pure.
A ``ValueError`` tells the model what is wrong with its answer.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from dory.identity import context, heard_entry
from dory.identity.context import Entry
from dory.text import formatting, references, thoughts

_TO = r"[>\])*`]*\s*(?:-|–|—|to|through|until|\.\.+|…)\s*[#<\[(*`]*"
_RANGE = re.compile(
    r"[^\w\n]*"
    rf"(?:\d{{1,3}}[.)]\s+(?=[^\w\n]*(?:[a-z]+\s+)*[^\w\n]*\d+{_TO}\d))?"  # the number of an item
    r"(?:(?:chunk|part|segment|stretch|section|topic)\s*(?:\d{1,3}\s*[:.)]|:)?[^\w\n]*)?"
    r"(?:(?:entries|entry|ids?|messages|from)[^\w\n]*)*"
    rf"(\d{{1,15}})(?:{_TO}(\d{{1,15}}))?\b.*",
    re.IGNORECASE,
)
_IN_PROSE = re.compile(
    rf"\b(?:entries|ids|messages)\s+[^\w\n]*(\d{{1,15}}){_TO}(\d{{1,15}})\b", re.IGNORECASE
)
_CHUNK = re.compile(
    r"^([^\w\n]*chunk\W*(?:\d{1,3}\s*[:.)]\W*)?\d{1,15}\b[^\n]*)$", re.IGNORECASE | re.MULTILINE
)
_LABEL = re.compile(
    r"[^\w\n]*(?:\d[.)]\s*[*_]*)?(GIST|RELEVANCE|SUMMARY)\b[^\w\n:]*(?::|$)(.*)", re.IGNORECASE
)
_RELEVANCE = re.compile(r"[^\d\n-]*(-?\d*)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s|(?<=[。！？])|\n")
_FENCED = re.compile(r"^[ \t]*+(?:```|~~~).*$", re.MULTILINE)
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")

_MECHANICAL = ", not summarised: "
LEAST_SAVING = 0.2
"""The share of a stretch's characters that a swap must save."""
CHUNK_LIMIT = 100
"""Chunks of one compaction, each of which is a model call. If there are more, the largest are taken
and the others are left to the next compaction.
"""


DEFAULT_RELEVANCE = 5
"""Of a summary that does not say it."""
PAUSE = timedelta(hours=1)
"""Silence after which what follows is taken for another chunk when no model names the chunks."""
_LEAST_ENTRIES, _ENOUGH_ENTRIES, _MOST_ENTRIES = 3, 8, 12
"""Entries of such a chunk: fewer only at the end of a run; with enough, the next message of a
person ends it; more never.
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
    spans = sorted(_spans(thoughts.without_thoughts(answer)))
    if not spans:
        raise ValueError(
            "no line names a chunk; each line begins with the first id of a chunk, a hyphen, and"
            " its last id"
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
    return _largest(whole)


def read_chunks(answer: str, runs: Sequence[Sequence[Entry]]) -> dict[tuple[Entry, ...], str]:
    """The chunks that an answer to prompts/distil.md names, each with what is said of it; empty if
    that is said of more than this chunk.
    """
    _, *parts = _CHUNK.split(thoughts.without_thoughts(answer))
    named = list(zip(parts[::2], parts[1::2], strict=True))
    chunks = read_ranges("\n".join(span for span, _ in named), runs)
    said = dict.fromkeys(chunks, "")
    for span, text in named:
        ((first, last),) = _spans(span)
        within = [chunk for chunk in chunks if first <= chunk[-1].last and chunk[0].first <= last]
        if len(within) == 1:
            said[within[0]] = text
    return said


def without_last(answer: str) -> str:
    """An answer to prompts/distil.md that was cut off, without its last chunk; that one stays in
    the context until the next compaction.
    """
    begins = [match.start() for match in _CHUNK.finditer(answer)]
    return answer[: begins[-1]] if begins else ""


def at_pauses(runs: Sequence[Sequence[Entry]]) -> list[tuple[Entry, ...]]:
    """Chunks without a model: the runs cut where nobody said anything for long, else where a person
    begins anew. Pairs of references are left out, as they cannot shrink.
    """
    pieces = [piece for run in runs for piece in _cut(run)]
    useful = [
        piece
        for piece in pieces
        if len(piece) >= _LEAST_ENTRIES or any(entry.kind != "compacted" for entry in piece)
    ]
    return _largest(useful or pieces)


def _cut(run: Sequence[Entry]) -> Iterator[tuple[Entry, ...]]:
    piece: list[Entry] = []
    before: datetime | None = None
    for entry in run:
        at = _time(entry) or before
        paused = at and before and at - before >= PAUSE
        asked = entry.kind == "heard" and entry.body.startswith("[USER:")
        if (
            (len(piece) >= _LEAST_ENTRIES and paused)
            or (len(piece) >= _ENOUGH_ENTRIES and asked)
            or len(piece) >= _MOST_ENTRIES
        ):
            yield tuple(piece)
            piece = []
        piece.append(entry)
        before = at
    if piece:
        yield tuple(piece)


def _time(entry: Entry) -> datetime | None:
    """When an entry came into the context, to the minute; None if it does not say."""
    text = heard_entry.read(entry.body).at if entry.kind == "heard" else entry.about
    found = _MINUTE.match(text)
    try:
        return datetime.fromisoformat(found[0]) if found else None
    except ValueError:  # the month 13
        return None


def _largest(chunks: Sequence[tuple[Entry, ...]]) -> list[tuple[Entry, ...]]:
    """As many of the chunks as one compaction takes, in their order; see ``_balanced``."""
    parts = [part for piece in chunks for part in _balanced(piece)] or chunks
    largest = sorted(parts, key=lambda part: len(context.render(part)), reverse=True)[:CHUNK_LIMIT]
    return sorted(largest, key=lambda part: part[0].first)


def _spans(answer: str) -> list[tuple[int, int]]:
    """The first and the last id of each chunk that an answer names: in lines, in JSON, or else in
    sentences.
    """
    try:
        named = list(_spans_in_json(json.loads(_FENCED.sub("", answer))))
    except (ValueError, RecursionError):
        named = []
    if not named:
        lines = [match for line in answer.splitlines() if (match := _RANGE.fullmatch(line))]
        matches = lines or list(_IN_PROSE.finditer(answer))
        named = [(int(match[1]), int(match[2] or match[1])) for match in matches]
    return named


def _spans_in_json(value: object) -> Iterator[tuple[int, int]]:
    """The spans in objects with two numbers, in lists that begin with two, and in texts."""
    if isinstance(value, str):
        if match := _RANGE.fullmatch(value):
            yield int(match[1]), int(match[2] or match[1])
        return
    if not isinstance(value, (dict, list)):
        return
    inner = list(value.values()) if isinstance(value, dict) else value
    ids = [each for each in inner if type(each) is int and 0 <= each < 10**15]
    if len(ids) == 2:
        yield ids[0], ids[1]
        return
    for each in [*value, *inner] if isinstance(value, dict) else inner:
        yield from _spans_in_json(each)


def read_summary(answer: str, entries: tuple[Entry, ...]) -> Draft:
    """The draft that an answer to SUMMARISE.md makes: of its own form, or of a JSON object. A gist
    that is missing is the first sentence of the summary.
    """
    parts = _labelled(thoughts.without_thoughts(answer))
    if not parts.get("SUMMARY"):
        raise ValueError("no line begins with SUMMARY:, or nothing stands behind it")
    relevance = str(DEFAULT_RELEVANCE)
    if "RELEVANCE" in parts:
        match = _RELEVANCE.match(parts["RELEVANCE"])
        relevance = match[1] if match else ""
    if not re.fullmatch("[1-9]|10", relevance):
        raise ValueError(f"RELEVANCE is {relevance[:20] or 'no number'}; it must be 1 to 10")
    given = parts.get("GIST", _SENTENCE_END.split(parts["SUMMARY"], maxsplit=1)[0])
    one_line = formatting.one_line(given.strip(' \t*_"`'))
    if not one_line:
        raise ValueError("GIST is empty")
    return Draft(entries, one_line, parts["SUMMARY"], int(relevance))


def _labelled(answer: str) -> dict[str, str]:
    """What stands behind GIST, RELEVANCE and SUMMARY, each up to the next of them. Where one comes
    twice, the first counts.
    """
    try:
        given = json.loads(_FENCED.sub("", answer))
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict):
        return {str(name).strip().upper(): _flat(value) for name, value in given.items()}
    parts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in answer.splitlines():
        if label := _LABEL.fullmatch(line):
            current = []
            parts.setdefault(label[1].upper(), current)
            line = label[2].lstrip(" \t*_")
        current.append(line)
    return {name: "\n".join(lines).strip() for name, lines in parts.items()}


def _flat(value: object) -> str:
    """A value of JSON as text: a list as lines."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value).strip()


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
    count = formatting.plural(entries[-1].last - entries[0].first + 1, "entry", "entries")
    gist = f"{count}{_MECHANICAL}{heads[0]}"
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
