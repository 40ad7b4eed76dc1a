"""A question, answered from what stands in the prompt: by lexical match, with a quotation, or by
looking up what may tell more.

Evidence is cut into passages: the sentences that people and agents said, live, in an opened
original or in a hit of RECALL, the lines of USER, MEMORY and of files and notes that were read,
and, as a last resort, summaries. A passage is worth the share of the question's stems that it
holds, each stem weighed by its rarity (``Weights``); what else the same message holds counts a
third. Questions are no evidence.

A passage that holds nearly all of the question is the answer. Otherwise something is looked up
first, up to ``HOPS`` times for one question: what the cue below it names; RECALL, once, unless a
reference promises nearly all; then the reference whose gist and summary, or the hit whose snippet,
hold at least as much as that passage, the best before the next best. Then the best passage is
quoted if it holds enough; if not, nothing is known.

RECALL as the offline model uses it: what it asks for, and what it reads in the answer (see
``extensions/recall/search.py``). Pure.

A hit tells by its line alone who said what, and what opens the rest. What stands in the context
needs no hit; what the agent itself thought and said is no evidence.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from dory.identity.context import Entry
from dory.offline.intents import intent, is_question
from dory.offline.prompt_reader import LAYERS, READINGS, Heard, Reading, heard, original, plain
from dory.offline.words import Weights, coverage, sentences, spelled, stem, stems
from dory.text import tool_calls
from dory.types import Call

_HIT = re.compile(
    r"\d+\. (?:heard|note|archive|result|memory|summary|diary|conversation) (?P<day>\S+) (?P<time>\S+)(?: (?P<speaker>\S+))?(?: in \S+)?,"
    r" score \S+ (?:\(beside a match\) )?(?P<snippet>.*)"
    rf" -> (?P<tool>UNCOMPACT|NOTE_READ|{'|'.join(LAYERS)}) (?P<what>\S+)(?: \((?P<gist>.*)\))?"
)
_MARK = "**"


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of an answer. ``text`` is the snippet without marks; ``speaker`` is empty for what
    nobody said; ``opens`` gets the whole.
    """

    at: str
    speaker: str
    text: str
    gist: str
    opens: Call


def search(wording: str, name: str) -> Call | None:
    """The search for what a question tells, and for ``name``, if that is given; None when it tells
    nothing.
    """
    words = [word for word in spelled(wording) if stem(word.lower())]
    return Call("RECALL", " ".join(dict.fromkeys([*spelled(name), *words]))) if words else None


def hits(answer: str) -> Iterator[Hit]:
    """What was found and is worth opening, the best first."""
    for found in map(_HIT.fullmatch, answer.split("\n")):
        if found:
            text, opens = found["snippet"].replace(_MARK, ""), Call(found["tool"], found["what"])
            yield Hit(
                f"{found['day']}T{found['time']}",
                found["speaker"] or "",
                text,
                found["gist"] or "",
                opens,
            )


HOPS = 4
"""How often something is looked up for one question."""
SURE, ENOUGH = 0.8, 0.4
"""Coverage of the question from which a passage is the answer at once, or a reference is opened
without a search, and from which a passage is worth quoting at all.
"""
_LEAST, _STILL = 0.01, "~"
"""Less coverage than the first is none; the second is later than every time, for what stands in a
file holds still.
"""
_QUOTE_LIMIT = 300
_LIGHT = frozenset(
    stems("call called name named remember tell told say said talk mention know think")
)
_LIGHT_FACTOR, _NEIGHBOUR_FACTOR = 0.3, 0.3
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|our|us)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:when|what (?:day|date))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said or written. ``stems`` are its own and its speaker's; not ``verbatim``
    is what a summary says.
    """

    text: str
    stems: frozenset[str]
    source: str
    speaker: str = ""
    at: str = ""
    verbatim: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """What a question leads to: something to say, or a tool line that looks something up first.
    ``thought`` is for the record.
    """

    text: str = ""
    opens: Call | None = None
    thought: str = ""


class Evidence:
    """Everything in one prompt that may answer a question. Made once for a turn."""

    def __init__(self, reading: Reading) -> None:
        self._tools = reading.tools
        self._references: dict[Call, tuple[frozenset[str], int]] = {}
        self._opened: set[Call] = set()
        own = [
            _from_lines(source, reading.own(name))
            for name, source in (("soul", "My soul says"), ("relationships", "I know"))
        ]
        texts = [
            *_from_lines("USER says", reading.user),
            *_from_lines("MEMORY says", reading.memory),
        ]
        self._statements = [*self._from_entries(reading.entries), *texts, *chain.from_iterable(own)]
        self._weights = Weights(statement.stems for statement in self._statements)

    def answer(self, question: Heard, wording: str, tried: Collection[Call]) -> Finding:
        """The answer to ``question``; ``tried`` is what was looked up for it already."""
        asker = question.name if _FIRST_PERSON.search(wording) else ""
        wanted = {found: _LIGHT_FACTOR if found in _LIGHT else 1.0 for found in stems(wording)}
        shares = self._weights.shares(
            dict.fromkeys(stems(asker), _LIGHT_FACTOR) | wanted if wanted else {}
        )
        best, passage, worth = self._best(shares, question.text)
        reference, promise = self._promising(shares, tried)
        thought = f"best passage {worth:.2f}, best unopened reference {promise:.2f}"
        sure = best is not None and best.verbatim and worth >= SURE
        if not sure and len(tried) < HOPS:
            query = search(wording, asker) if max(worth, promise) < SURE else None
            first = [
                call
                for call in (*question.cued, query)
                if call and call.tool in self._tools and call not in self._opened
            ]
            if opens := next(
                (call for call in first if call not in tried),
                reference if promise >= worth else None,
            ):
                return Finding(opens=opens, thought=f"{thought}; {opens.tool}")
        if best is None or worth < ENOUGH:
            return Finding(
                "I do not know: I find nothing about that in what I have in front of me.",
                thought=thought,
            )
        return Finding(_quoted(best, passage, dated=bool(_WHEN.search(wording))), thought=thought)

    def _best(self, shares: dict[str, float], asked: str) -> tuple[Statement | None, str, float]:
        """The statement with the best passage, that passage and its worth; among equals what was
        said, and of that the newest.

        What else was said in asking the question is no evidence.
        """
        best, passage, worth = None, "", (_LEAST, False, "")
        for statement in self._statements:
            possible = coverage(
                shares, statement.stems
            )  # no passage is worth more than all that holds it
            if possible >= worth[0] and statement.text != asked:
                value, sentence = _rated(statement, shares)
                if (value, statement.verbatim, statement.at or _STILL) >= worth:
                    best, passage, worth = (
                        statement,
                        sentence,
                        (value, statement.verbatim, statement.at or _STILL),
                    )
        return best, passage, worth[0] if best else 0.0

    def _promising(
        self, shares: dict[str, float], tried: Collection[Call]
    ) -> tuple[Call | None, float]:
        closed = [
            call for call in self._references if call not in self._opened and call not in tried
        ]
        promises = [
            (coverage(shares, self._references[call][0]), self._references[call][1], -place)
            for place, call in enumerate(closed)
        ]
        promise, _, place = max(promises, default=(0.0, 0, 0))
        return (closed[-place] if promise else None), promise

    def _from_entries(self, entries: Iterable[Entry]) -> Iterator[Statement]:
        for entry in entries:
            if entry.kind == "heard":
                for message in heard(entry):
                    for text in self._told(message):
                        found = frozenset(stems(f"{message.name} {text}"))
                        yield Statement(
                            text, found, f"{message.speaker} said", message.name, message.at
                        )
            elif entry.kind == "uncompacted" and entry.hash:
                self._opened.add(Call("UNCOMPACT", entry.hash))
                yield from self._from_entries(original(entry))
            elif entry.kind == "compacted" and entry.hash:
                summary = plain(entry.body)
                self._references[Call("UNCOMPACT", entry.hash)] = (
                    frozenset(stems(f"{entry.gist} {summary}")),
                    entry.last - entry.first,
                )
                yield from _from_lines("a summary says", summary.split("\n"), verbatim=False)
            elif entry.kind == "result" and entry.about.startswith(READINGS):
                tool, _, what = entry.about.partition(" ")
                self._opened.add(Call(tool, what))
                lines = plain(entry.body).split("\n")
                yield from _from_lines(
                    "I remember" if tool in LAYERS else f"{what} says",
                    lines if tool in LAYERS else lines[1:],
                )
            elif entry.kind == "result" and entry.about.startswith("RECALL "):
                yield from self._from_hits(hits(plain(entry.body)))

    def _told(self, message: Heard) -> list[str]:
        """What a message tells: of tool lines that it dictates, what each is given."""
        wish = intent(message.text)
        dictated = tool_calls.parse(wish.subject[0], self._tools) if wish.name == "do" else []
        return [call.args if call.body is None else call.body for call in dictated] or [
            message.text
        ]

    def _from_hits(self, found: Iterable[Hit]) -> Iterator[Statement]:
        for hit in found:
            if hit.opens.tool not in self._tools:
                continue
            held, size = self._references.get(hit.opens, (frozenset[str](), 0))
            own = frozenset(stems(f"{hit.speaker} {hit.text}"))
            self._references[hit.opens] = (held | own | frozenset(stems(hit.gist)), size)
            if hit.speaker:
                yield Statement(
                    hit.text,
                    own,
                    f"{hit.speaker[:1].upper()}{hit.speaker[1:]} said",
                    hit.speaker,
                    hit.at,
                )


def _from_lines(source: str, lines: Iterable[str], verbatim: bool = True) -> Iterator[Statement]:
    for line in lines:
        if found := frozenset(stems(line)):
            yield Statement(line.strip(), found, source, verbatim=verbatim)


def _rated(statement: Statement, shares: dict[str, float]) -> tuple[float, str]:
    """The worth of a statement's best sentence that is no question, and that sentence."""
    speaker = stems(statement.speaker)
    held = {
        sentence: frozenset(stems(sentence) + speaker)
        for sentence in sentences(statement.text)
        if not is_question(sentence)
    }
    around = coverage(shares, frozenset().union(*held.values()))
    worth, sentence = max(
        ((coverage(shares, found), sentence) for sentence, found in held.items()), default=(0.0, "")
    )
    return worth + _NEIGHBOUR_FACTOR * (around - worth), sentence


def _quoted(statement: Statement, sentence: str, dated: bool) -> str:
    when = f" on {statement.at[:10]}" if dated and statement.at else ""
    text = statement.text if len(statement.text) <= _QUOTE_LIMIT else sentence
    return f"{statement.source}{when}: “{text if len(text) <= 2 * _QUOTE_LIMIT else text[: 2 * _QUOTE_LIMIT] + '…'}”"
