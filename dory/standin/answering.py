"""A question, answered from what stands in the prompt: by lexical match, with a quotation, or by opening the reference that fits.

Evidence is cut into passages: the sentences that people and agents said, live or in an opened original, the lines of MEMORY and of files
that were read, and, as a last resort, summaries. A passage is worth the share of the question's stems that it holds, each stem weighed
by its rarity (``Weights``); what else the same message holds counts a third. Questions are no evidence.

A passage that holds nearly all of the question is the answer. Otherwise the reference whose gist and summary hold at least as much is opened
first, the best before the next best, up to ``HOPS`` for one question. Then the best passage is quoted if it holds enough; if not, nothing is
known.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dory.context import Entry
from dory.standin.intents import is_question
from dory.standin.reading import Heard, Reading, heard, original, plain
from dory.standin.words import Weights, coverage, sentences, stems

HOPS = 4
"""Originals that are opened for one question."""
SURE, ENOUGH = 0.8, 0.4
"""Coverage of the question from which a passage is the answer at once, and from which it is worth quoting at all."""
_LEAST = 0.01
_QUOTE_LIMIT = 300
_LIGHT = frozenset(stems("call called name named remember tell told say said talk mention know think"))
_LIGHT_FACTOR, _NEIGHBOUR_FACTOR = 0.3, 0.3
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|our|us)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:when|what (?:day|date))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said or written. ``stems`` are its own and its speaker's; not ``verbatim`` is what a summary says."""

    text: str
    stems: frozenset[str]
    source: str
    speaker: str = ""
    at: str = ""
    verbatim: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """What a question leads to: something to say, or a reference to open first. ``thought`` is for the record."""

    text: str = ""
    opens: str = ""
    thought: str = ""


class Evidence:
    """Everything in one prompt that may answer a question. Made once for a turn."""

    def __init__(self, reading: Reading) -> None:
        self._references: dict[str, tuple[frozenset[str], int]] = {}
        self._opened: set[str] = set()
        self._statements = [*self._from_entries(reading.entries), *_from_lines("MEMORY says", reading.memory)]
        self._weights = Weights(statement.stems for statement in self._statements)

    def answer(self, question: Heard, wording: str, tried: Collection[str]) -> Finding:
        """The answer to ``question``; ``tried`` are the hashes that were opened for it already."""
        wanted = {found: _LIGHT_FACTOR if found in _LIGHT else 1.0 for found in stems(wording)}
        if wanted and _FIRST_PERSON.search(wording):
            wanted = dict.fromkeys(stems(question.name), _LIGHT_FACTOR) | wanted
        shares = self._weights.shares(wanted)
        best, passage, worth = self._best(shares, question.text)
        hash, promise = self._promising(shares, tried)
        thought = f"looking for: {', '.join(wanted) or 'nothing'}; best passage {worth:.2f}, best unopened reference {promise:.2f}"
        sure = best is not None and best.verbatim and worth >= SURE
        if hash and not sure and promise >= worth and len(tried) < HOPS:
            return Finding(opens=hash, thought=f"{thought}; opening {hash}")
        if best is None or worth < ENOUGH:
            return Finding("I do not know: I find nothing about that in what I have in front of me.", thought=thought)
        return Finding(_quoted(best, passage, dated=bool(_WHEN.search(wording))), thought=thought)

    def _best(self, shares: dict[str, float], asked: str) -> tuple[Statement | None, str, float]:
        """The statement with the best passage, that passage and its worth; among equals what was said, and of that the newest.

        What else was said in asking the question is no evidence.
        """
        best, passage, worth = None, "", 0.0
        for statement in self._statements:
            possible = coverage(shares, statement.stems)  # no passage is worth more than all that holds it
            if possible >= (worth or _LEAST) and statement.text != asked:
                value, sentence = _rated(statement, shares)
                if (value, statement.verbatim) >= (worth or _LEAST, best is not None and best.verbatim):
                    best, passage, worth = statement, sentence, value
        return best, passage, worth

    def _promising(self, shares: dict[str, float], tried: Collection[str]) -> tuple[str, float]:
        closed = [hash for hash in self._references if hash not in self._opened and hash not in tried]
        promises = [(coverage(shares, self._references[hash][0]), self._references[hash][1], -place) for place, hash in enumerate(closed)]
        promise, _, place = max(promises, default=(0.0, 0, 0))
        return (closed[-place] if promise else ""), promise

    def _from_entries(self, entries: Iterable[Entry]) -> Iterator[Statement]:
        for entry in entries:
            if entry.kind == "heard":
                for message in heard(entry):
                    found = frozenset(stems(f"{message.name} {message.text}"))
                    yield Statement(message.text, found, f"{message.speaker} said", message.name, message.at[:10])
            elif entry.kind == "uncompacted" and entry.hash:
                self._opened.add(entry.hash)
                yield from self._from_entries(original(entry))
            elif entry.kind == "compacted" and entry.hash:
                summary = plain(entry.body)
                self._references[entry.hash] = (frozenset(stems(f"{entry.gist} {summary}")), entry.last - entry.first)
                yield from _from_lines("a summary says", summary.split("\n"), verbatim=False)
            elif entry.kind == "result" and entry.about.startswith("READ_FILE "):
                yield from _from_lines(f"{entry.about.removeprefix('READ_FILE ')} says", plain(entry.body).split("\n")[1:])


def _from_lines(source: str, lines: Iterable[str], verbatim: bool = True) -> Iterator[Statement]:
    for line in lines:
        if found := frozenset(stems(line)):
            yield Statement(line.strip(), found, source, verbatim=verbatim)


def _rated(statement: Statement, shares: dict[str, float]) -> tuple[float, str]:
    """The worth of a statement's best sentence that is no question, and that sentence."""
    speaker = stems(statement.speaker)
    held = {sentence: frozenset(stems(sentence) + speaker) for sentence in sentences(statement.text) if not is_question(sentence)}
    around = coverage(shares, frozenset().union(*held.values()))
    worth, sentence = max(((coverage(shares, found), sentence) for sentence, found in held.items()), default=(0.0, ""))
    return worth + _NEIGHBOUR_FACTOR * (around - worth), sentence


def _quoted(statement: Statement, sentence: str, dated: bool) -> str:
    when = f" on {statement.at}" if dated and statement.at else ""
    text = statement.text if len(statement.text) <= _QUOTE_LIMIT else sentence
    return f"{statement.source}{when}: “{text if len(text) <= 2 * _QUOTE_LIMIT else text[: 2 * _QUOTE_LIMIT] + '…'}”"
