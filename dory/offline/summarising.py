"""The second phase of a compaction: gist, relevance and summary of a stretch, by extraction.

A word's salience grows with how often it occurs in the stretch and, more, with how rare it is in
the whole context. The gist names the speakers and the most salient words. The summary quotes
sentences, always the one that adds most salience for its length, and ends with the salient words
not named yet, because a later question finds the stretch by what its gist and summary name.

Sums over sets are exact (``fsum``), for the order in a set differs from process to process.

A plain text that asks for a summary of memories, one a line, and gets two or three of their
sentences: the ones that together hold most of the words that come again and again, in their order.
A summary of summaries is made in the same way. Of the lines of LIFE only those count in which
somebody says something.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from dory.identity.context import Entry
from dory.offline.prompt_reader import Reading, said
from dory.offline.words import Weights, sentences, spelled, stem, stems
from dory.text import formatting, references
from dory.types import Prompt, Purpose

GIST_LIMIT, SUMMARY_LIMIT, SENTENCE_LIMIT = 100, 600, 160
"""Characters."""
SHARE, QUOTED = 0.25, 0.3
"""Of the stretch's characters, for the summary; of the summary, for quotations."""
_NEWEST, _TOP = 8, 30
_ALSO = "Also: "
_PROMISE = re.compile(
    r"\b(?:(?:i|we)(?: will|['’]ll)|promise\w*|remind\w*|todo|to do|need to|must|have to|deadline|by (?:mon|tues|wednes|thurs|fri)day)\b",
    re.IGNORECASE,
)


def summarise(reading: Reading) -> str:
    """The answer to SUMMARISE.md for the ids that the request's header names."""
    stretch = Stretch([entry for run in reading.named("summarise") for entry in run], reading)
    gist = _gist(stretch)
    return f"GIST: {gist}\nRELEVANCE: {_relevance(stretch, reading)}\nSUMMARY:\n{_summary(stretch, gist)}"


class Stretch:
    """Some entries, what is told in them as (speaker, text), who speaks, and the salience of every
    stem, the most salient first.
    """

    def __init__(self, entries: list[Entry], reading: Reading) -> None:
        self.entries = entries
        self.told = [one for entry in entries for one in said(entry)]
        self.speakers = list(
            dict.fromkeys(
                [speaker for speaker, _ in self.told if speaker] + list(_named_in_gists(entries))
            )
        )
        self._spelling: dict[str, str] = {}
        count = self._count(set(stems(" ".join(self.speakers))))
        weights = Weights(
            stems(" ".join(text for _, text in said(entry))) for entry in reading.entries
        )
        salience = {
            found: (1 + math.log(times)) * weights[found] ** 2 for found, times in count.items()
        }
        self.salience = dict(sorted(salience.items(), key=lambda one: -one[1]))

    def _count(self, but: set[str]) -> Counter[str]:
        """How often each stem occurs. A word's spelling is told where it does not begin a sentence,
        so that only names have a capital.
        """
        count: Counter[str] = Counter()
        for sentence in (
            sentence for _, text in self.told for sentence in sentences(text.removeprefix(_ALSO))
        ):
            for place, word in enumerate(spelled(sentence)):
                found = stem(word.lower())
                if found and found not in but and not word.isdigit():
                    count[found] += 1
                    if place or found not in self._spelling:
                        self._spelling[found] = word if place else word.lower()
        return count

    def listed(self, found: Iterable[str], room: int) -> str:
        """The stems as words, as many as ``room`` characters hold."""
        kept: list[str] = []
        for word in map(self._spelling.__getitem__, found):
            if len(word) + 2 <= room:
                kept.append(word)
                room -= len(word) + 2
        return ", ".join(kept)


def _named_in_gists(entries: list[Entry]) -> Iterator[str]:
    for entry in entries:
        names, colon, _ = entry.gist.partition(": ")
        if colon and len(names) <= GIST_LIMIT // 3:
            yield from names.split(", ")


def _gist(stretch: Stretch) -> str:
    speakers = formatting.one_line(", ".join(stretch.speakers[:3]), GIST_LIMIT // 2)
    head = f"{speakers}: " if speakers else ""
    kinds = ", ".join(dict.fromkeys(entry.kind for entry in stretch.entries))
    return formatting.one_line(
        head
        + (stretch.listed(stretch.salience, GIST_LIMIT - len(head)) or f"nothing said ({kinds})"),
        GIST_LIMIT,
    )


def _summary(stretch: Stretch, gist: str) -> str:
    room = min(SUMMARY_LIMIT, int(SHARE * sum(entry.size for entry in stretch.entries)))
    lines = _quotations(stretch, int(QUOTED * room))
    named = set(stems("\n".join([gist, *lines])))
    rest = [found for found in stretch.salience if found not in named]
    words = stretch.listed(rest, room - sum(len(line) + 1 for line in lines) - len(_ALSO))
    return "\n".join([*lines, _ALSO + words] if words else lines) or gist


def _quotations(stretch: Stretch, room: int) -> list[str]:
    """The sentences that name most of what is salient, in their order, within ``room`` characters."""
    missing = dict(stretch.salience)
    left = {
        place: (line, frozenset(stems(line)))
        for place, line in enumerate(_sentences(stretch))
        if len(line) < room
    }
    chosen: dict[int, str] = {}
    while left:
        worth, place = max(
            (math.fsum(missing.get(found, 0.0) for found in held) / (20 + len(line)), -at)
            for at, (line, held) in left.items()
        )
        if not worth:
            break
        line, held = left.pop(-place)
        chosen[-place] = line
        room -= len(line) + 1
        missing = {found: salience for found, salience in missing.items() if found not in held}
        left = {at: one for at, one in left.items() if len(one[0]) < room}
    return [chosen[place] for place in sorted(chosen)]


def _sentences(stretch: Stretch) -> Iterator[str]:
    for speaker, text in stretch.told:
        for sentence in sentences(text):
            if not sentence.startswith(_ALSO):
                line = formatting.one_line(sentence, SENTENCE_LIMIT)
                yield f"{speaker}: “{line}”" if speaker else line


def _relevance(stretch: Stretch, reading: Reading) -> int:
    """1 to 10: what it shares with USER, MEMORY and the newest messages counts most, then promises,
    being recent, and having faded already.
    """
    top = dict(list(stretch.salience.items())[:_TOP])
    newest = " ".join(text for entry in reading.entries[-_NEWEST:] for _, text in said(entry))
    shared = math.fsum(
        top[found]
        for text in ("\n".join([*reading.user, *reading.memory]), newest)
        for found in set(stems(text)) & top.keys()
    )
    promises = sum(bool(_PROMISE.search(text)) for _, text in stretch.told)
    recent = stretch.entries[-1].last / max(1, reading.entries[-1].last) if stretch.entries else 0.0
    faded = any(
        entry.kind == "compacted" for entry in stretch.entries
    )  # it loses most when it fades again
    return max(
        1,
        min(
            10,
            round(
                1
                + 6 * shared / (sum(top.values()) or 1.0)
                + min(2, promises)
                + 2 * recent
                + 2 * faded
            ),
        ),
    )


LEAST, MOST, EVENT_SENTENCE_LIMIT = 2, 3, 160
"""Sentences, and characters of one."""
_SHARE = 0.1
"""Of all there is to tell: what a third sentence must add."""
_ASKED = re.compile(r"Summari[sz]e these memories\b([^\n]*)\n(.*)\nSUMMARY:\s*", re.DOTALL)
_EVENT = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d (?:heard \S+ (?P<heard>.+)|response SAY \S+ (?P<said>.+)|.*)"
)
_NOTHING = "Nothing of note happened."


def memories(prompt: Prompt) -> str | None:
    """What a prompt wants to have summed up; None when it wants something else."""
    asked = _ASKED.fullmatch(prompt.text.strip())
    return asked[2] if asked else None


def purpose(prompt: Prompt) -> Purpose:
    """What such a prompt is for."""
    asked = _ASKED.fullmatch(prompt.text.strip())
    return "care" if asked and "narrative" in asked[1] else "cascade"


def recount(text: str) -> str:
    """The summary."""
    told = list(dict.fromkeys(_event_sentences(text)))
    held = [frozenset(stems(sentence)) for sentence in told]
    missing = Counter(one for each in held for one in each)
    least, chosen = _SHARE * missing.total(), set[int]()
    while len(chosen) < min(MOST, len(told)):
        worth = {
            at: sum(missing[one] for one in held[at]) for at in range(len(told)) if at not in chosen
        }
        best = max(worth, key=lambda at: (worth[at] / (20 + len(told[at])), -at))
        if len(chosen) >= LEAST and worth[best] < least:
            break
        chosen.add(best)
        for found in held[best]:
            del missing[found]
    return " ".join(told[at] for at in sorted(chosen)) or _NOTHING


def _event_sentences(text: str) -> Iterator[str]:
    """Each with its end, so that it is found again in a summary of the summary."""
    for line in text.split("\n"):
        for sentence in sentences(_told(references.gists(line.strip())).removeprefix("- ")):
            shown = formatting.one_line(sentence, EVENT_SENTENCE_LIMIT)
            yield shown if shown.endswith((".", "!", "?", "…")) else f"{shown}."


def _told(line: str) -> str:
    """What is said in a memory, or the whole of what is none."""
    event = _EVENT.fullmatch(line)
    return event["heard"] or event["said"] or "" if event else line
