"""Summaries of segments of the context, by extraction. Pure.

A segment gets a gist, a relevance and a summary. The salience of a word grows with its frequency in
the segment and, more, with its rarity in the whole context. The gist names the speakers and the
most salient words. The summary quotes sentences, always the one that adds most salience for its
length, and ends with the salient words that are not named yet: a later question finds the segment
by the words of its gist and summary.

Sums over sets are exact (``fsum``), because the order in a set differs from process to process.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dory.identity.context import Entry
from dory.offline.prompt_reader import Reading, said
from dory.offline.words import Weights, sentences, spelled, stem, stems
from dory.text import formatting

GIST_LIMIT, SUMMARY_LIMIT, SENTENCE_LIMIT = 100, 600, 160
"""Characters."""
SHARE = 0.25
"""A summary's share of the segment's characters."""
QUOTED = 0.3
"""The share of a summary that is quotations."""
_NEWEST_ENTRIES = 8
"""Entries at the end of the context that tell what is relevant now."""
_TOP_WORDS = 30
"""Salient words of a segment that decide on its relevance."""
_LENGTH_OFFSET = 20
"""Characters added to a sentence's length, so that very short ones are not preferred."""
ALSO = "Also: "
"""What a summary's list of words begins with."""
PROMISE = re.compile(
    r"\b(?:(?:i|we)(?: will|['’]ll)|promise\w*|remind\w*|todo|to do|need to|must|have to|deadline"
    r"|by (?:mon|tues|wednes|thurs|fri)day)\b",
    re.IGNORECASE,
)


def summarise(reading: Reading) -> str:
    """The answer to SUMMARISE.md for the ids that the request's header names."""
    entries = [entry for run in reading.named("summarise") for entry in run]
    stretch = Stretch(entries, reading)
    gist = _gist(stretch)
    relevance = _relevance(stretch, reading)
    return f"GIST: {gist}\nRELEVANCE: {relevance}\nSUMMARY:\n{_summary(stretch, gist)}"


class Stretch:
    """The entries of a segment. ``told`` is what is said in them as (speaker, text). ``salience``
    is that of every stem, the most salient first.
    """

    def __init__(self, entries: list[Entry], reading: Reading) -> None:
        self.entries = entries
        self.told = [utterance for entry in entries for utterance in said(entry)]
        speakers = [speaker for speaker, _ in self.told if speaker]
        self.speakers = list(dict.fromkeys([*speakers, *_speakers_in_gists(entries)]))
        self._spelling: dict[str, str] = {}
        counts = self._count(set(stems(" ".join(self.speakers))))
        weights = Weights(
            stems(" ".join(text for _, text in said(entry))) for entry in reading.entries
        )
        salience = {
            stem: (1 + math.log(count)) * weights[stem] ** 2 for stem, count in counts.items()
        }
        self.salience = dict(sorted(salience.items(), key=lambda item: -item[1]))

    def _count(self, ignored: set[str]) -> Counter[str]:
        """How often each stem occurs, and as a side effect how it is spelled. The spelling is taken
        from inside a sentence if possible, so that only names have a capital.
        """
        counts: Counter[str] = Counter()
        for _, text in self.told:
            for sentence in sentences(text.removeprefix(ALSO)):
                for place, word in enumerate(spelled(sentence)):
                    key = stem(word.lower())
                    if not key or key in ignored or word.isdigit():
                        continue
                    counts[key] += 1
                    if place:
                        self._spelling[key] = word
                    elif key not in self._spelling:
                        self._spelling[key] = word.lower()
        return counts

    def listed(self, stems: Iterable[str], limit: int) -> str:
        """The words of these stems, as many as fit into ``limit`` characters."""
        words: list[str] = []
        left = limit
        for key in stems:
            word = self._spelling[key]
            if len(word) + 2 <= left:
                words.append(word)
                left -= len(word) + 2
        return ", ".join(words)


def _speakers_in_gists(entries: list[Entry]) -> Iterator[str]:
    for entry in entries:
        names, colon, _ = entry.gist.partition(": ")
        if colon and len(names) <= GIST_LIMIT // 3:
            yield from names.split(", ")


def _gist(stretch: Stretch) -> str:
    speakers = formatting.one_line(", ".join(stretch.speakers[:3]), GIST_LIMIT // 2)
    head = f"{speakers}: " if speakers else ""
    words = stretch.listed(stretch.salience, GIST_LIMIT - len(head))
    if not words:
        kinds = ", ".join(dict.fromkeys(entry.kind for entry in stretch.entries))
        words = f"nothing said ({kinds})"
    return formatting.one_line(head + words, GIST_LIMIT)


def _summary(stretch: Stretch, gist: str) -> str:
    limit = min(SUMMARY_LIMIT, int(SHARE * sum(entry.size for entry in stretch.entries)))
    lines = _quotations(stretch, int(QUOTED * limit))
    named = set(stems("\n".join([gist, *lines])))
    unnamed = [stem for stem in stretch.salience if stem not in named]
    left = limit - sum(len(line) + 1 for line in lines) - len(ALSO)
    words = stretch.listed(unnamed, left)
    if words:
        lines.append(ALSO + words)
    return "\n".join(lines) or gist


def _quotations(stretch: Stretch, limit: int) -> list[str]:
    """The sentences that add most salience for their length, in their order. Together they have
    less than ``limit`` characters.
    """
    missing = dict(stretch.salience)
    left = limit
    candidates = {
        place: (line, frozenset(stems(line)))
        for place, line in enumerate(_quotable_lines(stretch))
        if len(line) < left
    }
    chosen: dict[int, str] = {}
    while candidates:
        gain, negative_place = max(
            (
                math.fsum(missing.get(stem, 0.0) for stem in held) / (_LENGTH_OFFSET + len(line)),
                -place,
            )
            for place, (line, held) in candidates.items()
        )
        if not gain:
            break
        place = -negative_place
        line, held = candidates.pop(place)
        chosen[place] = line
        left -= len(line) + 1
        missing = {stem: salience for stem, salience in missing.items() if stem not in held}
        candidates = {
            place: candidate for place, candidate in candidates.items() if len(candidate[0]) < left
        }
    return [chosen[place] for place in sorted(chosen)]


def _quotable_lines(stretch: Stretch) -> Iterator[str]:
    for speaker, text in stretch.told:
        for sentence in sentences(text):
            if not sentence.startswith(ALSO):
                line = formatting.one_line(sentence, SENTENCE_LIMIT)
                yield f"{speaker}: “{line}”" if speaker else line


def _relevance(stretch: Stretch, reading: Reading) -> int:
    """1 to 10. What the segment shares with USER, MEMORY and the newest messages counts most. Also
    counted are promises, how recent it is, and whether it holds summaries.
    """
    top = dict(list(stretch.salience.items())[:_TOP_WORDS])
    durable = "\n".join([*reading.user, *reading.memory])
    newest_entries = reading.entries[-_NEWEST_ENTRIES:]
    newest = " ".join(text for entry in newest_entries for _, text in said(entry))
    shared = math.fsum(
        top[stem] for text in (durable, newest) for stem in set(stems(text)) & top.keys()
    )
    promises = sum(1 for _, text in stretch.told if PROMISE.search(text))
    score = 1 + 6 * shared / (sum(top.values()) or 1.0) + min(2, promises)
    if stretch.entries:
        score += 2 * (stretch.entries[-1].last / max(1, reading.entries[-1].last))
    if any(entry.kind == "compacted" for entry in stretch.entries):
        score += 2  # a summary loses most when it is summarised again
    return max(1, min(10, round(score)))
