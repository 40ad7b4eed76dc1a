"""Answers a question from the prompt: by word match, with a quotation, or by looking something up
first. Pure.

Everything in the prompt that may hold the answer becomes a ``Statement``: messages of people and
agents, read live, in an uncompacted original or in a hit of RECALL; lines of USER, MEMORY, files
and notes that were read; and summaries, as a last resort. What the agent itself thought and said is
no evidence, and neither is a question. What is not for the room of the question is left out.

A statement is cut into sentences. A sentence scores the share of the question's stems that it
holds, each stem weighted by its rarity (``Weights``). Stems that only other sentences of the same
statement hold count 30 %.

A sentence that holds nearly all of the question is the answer. Otherwise something is looked up
first, up to ``HOPS`` times for one question: what the cue below the question names; then RECALL,
once, unless a reference scores nearly all of the question; then the best-scoring reference or hit
that is not opened yet, if its gist, summary or snippet scores at least as much as the best
sentence. After that the best sentence is quoted if it scores enough. If not, the answer is not
known.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from dory.identity.context import Entry
from dory.offline.intents import intent, is_question
from dory.offline.prompt_reader import LAYERS, READINGS, Heard, Reading, heard, original, plain
from dory.offline.summarising import ALSO
from dory.offline.words import Weights, coverage, sentences, spelled, stem, stems
from dory.text import answers
from dory.types import Call

HOPS = 4
"""How often something is looked up for one question."""
SURE = 0.8
"""Score from which a sentence is the answer at once, or a reference is opened without a search."""
ENOUGH = 0.4
"""Score from which a sentence is worth quoting at all."""
_LEAST = 0.01
"""Score below which nothing matches."""
_TIMELESS = "~"
"""Sorts after every time: a line of a file counts as newer than any message."""
_QUOTE_LIMIT = 300
"""Characters from which only the best sentence of a statement is quoted; a sentence may be twice as
long.
"""
_LIGHT_WORDS = frozenset(
    stems("call called name named remember tell told say said talk mention know think")
)
_LIGHT_FACTOR = 0.3
"""Factor of words that tell little about the subject, and of the asker's name."""
_NEIGHBOUR_FACTOR = 0.3
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|our|us)\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:when|what (?:day|date))\b", re.IGNORECASE)
_UNKNOWN = "I do not know: I find nothing about that in what I have in front of me."

_HIT = re.compile(
    r"\d+\. (?:heard|note|archive|result|memory|summary|diary|conversation)"
    r" (?P<day>\S+) (?P<time>\S+)(?: (?P<speaker>\S+))?(?: in \S+)?,"
    r" score \S+ (?:\(beside a match\) )?(?P<snippet>.*?)"
    r"(?: \((?:said in|private room) (?P<room>\S+): not for [^()]*\))?"
    rf" -> (?P<tool>UNCOMPACT|NOTE_READ|{'|'.join(LAYERS)}) (?P<what>\S+)(?: \((?P<gist>.*)\))?"
)
"""A line of a RECALL result, as ``extensions/recall/search.py`` writes it."""
_MATCH_MARK = "**"


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of RECALL. ``text`` is the snippet without marks. ``speaker`` is empty for what
    nobody said. ``opens`` gets the full text. ``room`` is where it was said, if it is not for
    everybody.
    """

    at: str
    speaker: str
    text: str
    gist: str
    opens: Call
    room: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that was said or written. ``stems`` are its own and its speaker's. A summary is not
    ``verbatim``. ``room`` is where it was said, if that is known.
    """

    text: str
    stems: frozenset[str]
    source: str
    speaker: str = ""
    at: str = ""
    verbatim: bool = True
    room: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a question leads to: ``text`` to say, or a call that looks something up first.
    ``thought`` explains the choice.
    """

    text: str = ""
    opens: Call | None = None
    thought: str = ""


class Evidence:
    """Everything in one prompt that may answer a question. Made once for a turn."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._tools = reading.tools
        # Each call that opens something not yet read: the stems known of it, and how many events it
        # covers beyond its first.
        self._references: dict[Call, tuple[frozenset[str], int]] = {}
        self._opened: set[Call] = set()
        self._statements = [
            *self._from_entries(reading.entries),
            *_from_lines("USER says", reading.user),
            *_from_lines("MEMORY says", reading.memory),
            *_from_lines("My soul says", reading.own("soul")),
            *_from_lines("I know", reading.own("relationships")),
        ]
        self._weights = Weights(statement.stems for statement in self._statements)

    def answer(self, question: Heard, wording: str, tried: Collection[Call]) -> Finding:
        """The answer to ``question``, whose question proper is ``wording``. ``tried`` is what was
        looked up for it already.
        """
        asker = question.name if _FIRST_PERSON.search(wording) else ""
        shares = self._shares(wording, asker)
        best, sentence, score = self._best(shares, question)
        reference, promise = self._best_reference(shares, tried)
        thought = f"best passage {score:.2f}, best unopened reference {promise:.2f}"
        sure = best is not None and best.verbatim and score >= SURE
        if not sure and len(tried) < HOPS:
            candidates = list(question.cued)
            if max(score, promise) < SURE and (query := search(wording, asker)):
                candidates.append(query)
            call = self._first_untried(candidates, tried)
            if call is None and promise >= score:
                call = reference
            if call is not None:
                return Finding(opens=call, thought=f"{thought}; {call.tool}")
        if best is None or score < ENOUGH:
            return Finding(_UNKNOWN, thought=thought)
        dated = _WHEN.search(wording) is not None
        return Finding(_quoted(best, sentence, dated), thought=thought)

    def _shares(self, wording: str, asker: str) -> dict[str, float]:
        """The share of each stem of a question, with those of the asker's name."""
        wanted = {
            found: _LIGHT_FACTOR if found in _LIGHT_WORDS else 1.0 for found in stems(wording)
        }
        if not wanted:
            return {}
        return self._weights.shares(dict.fromkeys(stems(asker), _LIGHT_FACTOR) | wanted)

    def _first_untried(self, candidates: Iterable[Call], tried: Collection[Call]) -> Call | None:
        for call in candidates:
            if call.tool in self._tools and call not in self._opened and call not in tried:
                return call
        return None

    def _best(self, shares: dict[str, float], asked: Heard) -> tuple[Statement | None, str, float]:
        """The statement with the best sentence, that sentence and its score. Among equals verbatim
        statements win, and of these the newest.

        The message that asks is no evidence, nor is any other with the same text.
        """
        best: Statement | None = None
        best_sentence = ""
        best_rank = (_LEAST, False, "")
        withheld = self._reading.withheld(asked.room)
        for statement in self._statements:
            # No sentence scores more than the whole statement.
            possible = coverage(shares, statement.stems)
            if possible < best_rank[0] or statement.text == asked.text:
                continue
            if statement.room in withheld:
                continue
            score, sentence = _best_sentence(statement, shares)
            rank = (score, statement.verbatim, statement.at or _TIMELESS)
            if rank >= best_rank:
                best = statement
                best_sentence = sentence
                best_rank = rank
        return best, best_sentence, best_rank[0] if best else 0.0

    def _best_reference(
        self, shares: dict[str, float], tried: Collection[Call]
    ) -> tuple[Call | None, float]:
        """The unopened reference with the best score, and that score. Among equals the one that
        covers most, then the first.
        """
        best: Call | None = None
        best_rank = (0.0, 0)
        for call, (held, size) in self._references.items():
            if call in self._opened or call in tried:
                continue
            rank = (coverage(shares, held), size)
            if rank[0] and (best is None or rank > best_rank):
                best = call
                best_rank = rank
        return best, best_rank[0]

    def _from_entries(self, entries: Iterable[Entry]) -> Iterator[Statement]:
        """The statements of these entries. Notes which references there are, and which are open."""
        for entry in entries:
            if entry.kind == "heard":
                yield from self._from_heard(entry)
            elif entry.kind == "uncompacted" and entry.hash:
                self._opened.add(Call("UNCOMPACT", entry.hash))
                yield from self._from_entries(original(entry))
            elif entry.kind == "compacted" and entry.hash:
                yield from self._from_summary(entry, entry.hash)
            elif entry.kind == "result" and entry.about.startswith(READINGS):
                yield from self._from_file(entry)
            elif entry.kind == "result" and entry.about.startswith("RECALL "):
                yield from self._from_hits(hits(plain(entry.body)))

    def _from_heard(self, entry: Entry) -> Iterator[Statement]:
        for message in heard(entry):
            for text in self._contents(message):
                held = frozenset(stems(f"{message.name} {text}"))
                source = f"{message.speaker} said"
                yield Statement(text, held, source, message.name, message.at, room=message.room)

    def _contents(self, message: Heard) -> list[str]:
        """What a message tells: its text, or the arguments of the tool lines that it dictates."""
        wish = intent(message.text)
        dictated = answers.parse(wish.subject[0], self._tools).calls if wish.name == "do" else ()
        if not dictated:
            return [message.text]
        return [call.args if call.body is None else call.body for call in dictated]

    def _from_summary(self, entry: Entry, digest: str) -> Iterator[Statement]:
        summary = plain(entry.body)
        held = frozenset(stems(f"{entry.gist} {summary}"))
        self._references[Call("UNCOMPACT", digest)] = (held, entry.last - entry.first)
        statements = [line for line in summary.split("\n") if not line.startswith(ALSO)]
        yield from _from_lines("a summary says", statements, verbatim=False)

    def _from_file(self, entry: Entry) -> Iterator[Statement]:
        tool, _, what = entry.about.partition(" ")
        self._opened.add(Call(tool, what))
        lines = plain(entry.body).split("\n")
        if tool in LAYERS:
            yield from _from_lines("I remember", lines)
        else:
            yield from _from_lines(f"{what} says", lines[1:])

    def _from_hits(self, hits: Iterable[Hit]) -> Iterator[Statement]:
        for hit in hits:
            if hit.opens.tool not in self._tools:
                continue
            known, size = self._references.get(hit.opens, (frozenset[str](), 0))
            own = frozenset(stems(f"{hit.speaker} {hit.text}"))
            self._references[hit.opens] = (known | own | frozenset(stems(hit.gist)), size)
            if hit.speaker:
                source = f"{hit.speaker[:1].upper()}{hit.speaker[1:]} said"
                yield Statement(hit.text, own, source, hit.speaker, hit.at, room=hit.room)


def search(wording: str, name: str) -> Call | None:
    """The RECALL for the words of a question, and for ``name`` unless it is empty. None for a
    question of stop words.
    """
    words = [word for word in spelled(wording) if stem(word.lower())]
    if not words:
        return None
    return Call("RECALL", " ".join(dict.fromkeys([*spelled(name), *words])))


def hits(result: str) -> Iterator[Hit]:
    """The hits in a result of RECALL, best first."""
    for match in map(_HIT.fullmatch, result.split("\n")):
        if match:
            yield Hit(
                f"{match['day']}T{match['time']}",
                match["speaker"] or "",
                match["snippet"].replace(_MATCH_MARK, ""),
                match["gist"] or "",
                Call(match["tool"], match["what"]),
                match["room"] or "",
            )


def _from_lines(source: str, lines: Iterable[str], verbatim: bool = True) -> Iterator[Statement]:
    for line in lines:
        if held := frozenset(stems(line)):
            yield Statement(line.strip(), held, source, verbatim=verbatim)


def _best_sentence(statement: Statement, shares: dict[str, float]) -> tuple[float, str]:
    """The score of a statement's best sentence that is no question, and that sentence."""
    speaker = stems(statement.speaker)
    held = {
        sentence: frozenset(stems(sentence) + speaker)
        for sentence in sentences(statement.text)
        if not is_question(sentence)
    }
    whole = coverage(shares, frozenset().union(*held.values()))
    score, sentence = max(
        ((coverage(shares, own), sentence) for sentence, own in held.items()), default=(0.0, "")
    )
    return score + _NEIGHBOUR_FACTOR * (whole - score), sentence


def _quoted(statement: Statement, sentence: str, dated: bool) -> str:
    when = f" on {statement.at[:10]}" if dated and statement.at else ""
    text = statement.text if len(statement.text) <= _QUOTE_LIMIT else sentence
    if len(text) > 2 * _QUOTE_LIMIT:
        text = text[: 2 * _QUOTE_LIMIT] + "…"
    return f"{statement.source}{when}: “{text}”"
