"""A summary of a stretch without a model: its most salient sentences, with who said them. Pure.

It stands where a model's summary was refused twice, so what was said can still be found by its
words. A word is the more salient the oftener it occurs in the stretch and the fewer of the other
entries of the context have it. Sentences are taken by the salience that they add for their length.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dory.identity import heard_entry
from dory.identity.context import Entry
from dory.text import formatting, grounding, references, thoughts
from dory.text.tokenizer import words
from dory.turn.segments import DEFAULT_RELEVANCE, Draft

GIST_LIMIT, SUMMARY_LIMIT, SENTENCE_LIMIT = 100, 600, 200
"""Characters."""
SHARE = 0.35
"""A summary's share of the stretch's characters."""
_LENGTH_OFFSET = 20
"""Characters added to a sentence's length, so that very short ones are not preferred."""
_SUBJECT_WORDS = 6
"""Words of a gist."""
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_SAY = re.compile(
    r"^SAY[ \t]+\S+[ \t]*(?:<<\w+)?(.*(?:\n(?![A-Z][A-Z_]{2,}(?:[ \n]|\Z)).*)*)", re.MULTILINE
)
_TOOL_LINE = re.compile(r"^[A-Z][A-Z_]{2,}(?:[ \t].*)?$", re.MULTILINE)
_SPOKEN = re.compile(r"(\S[^:“”\n]{0,40}): “(.*)”")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence, who said it (empty if nobody did), and its salient words."""

    speaker: str
    text: str
    salient: frozenset[str]

    @property
    def line(self) -> str:
        return f"{self.speaker}: “{self.text}”" if self.speaker else self.text


def draft(entries: tuple[Entry, ...], around: Iterable[Entry] = ()) -> Draft:
    """What would replace the stretch ``entries``; ``around`` are the entries of the context."""
    sentences = [sentence for entry in entries for sentence in _sentences(entry)]
    salience = _salience(sentences, around)
    size = sum(entry.size for entry in entries)
    chosen = _chosen(sentences, salience, min(SUMMARY_LIMIT, int(SHARE * size)))
    gist = _gist(sentences, salience, entries)
    summary = "\n".join(sentence.line for sentence in chosen) or gist
    return Draft(entries, gist, summary, DEFAULT_RELEVANCE)


def spoken(entry: Entry) -> Iterator[tuple[str, str]]:
    """Who says what in an entry, unescaped: people and agents by name, the agent itself as ``I``,
    and nobody (an empty name) in results and summaries. Tool lines say nothing.
    """
    if entry.kind == "heard":
        message = heard_entry.read(entry.body)
        yield message.name, message.text
    elif entry.kind == "response":
        body = thoughts.spoken(references.unescape(entry.body))
        said = _SAY.findall(body) or [_TOOL_LINE.sub("", body)]
        yield from (("I", text) for text in said)
    elif entry.kind == "compacted":
        yield "", entry.gist
        for line in references.unescape(entry.body).split("\n"):
            quoted = _SPOKEN.fullmatch(line)
            yield (quoted[1], quoted[2]) if quoted else ("", line)
    elif entry.kind in ("result", "error", "uncompacted"):
        yield "", references.gists(references.unescape(entry.body))


def source(entries: Iterable[Entry]) -> str:
    """All that a summary of the entries can be made of: what is said, and what tools were used
    on.
    """
    texts: list[str] = []
    for entry in entries:
        texts += [text for _, text in spoken(entry)]
        if entry.kind == "response":
            texts.append(references.unescape(entry.body))
        elif entry.kind in ("result", "error"):
            texts.append(entry.about)
        elif entry.kind == "notice":
            texts.append(references.unescape(entry.body))
    return "\n".join(texts)


def speakers(entries: Iterable[Entry]) -> list[str]:
    """Those who speak in the entries, the first first, without the agent itself."""
    named = (name for entry in entries for name, _ in spoken(entry) if name not in ("", "I"))
    return list(dict.fromkeys(named))


def _sentences(entry: Entry) -> Iterator[_Sentence]:
    for speaker, text in spoken(entry):
        for sentence in _SENTENCE.split(text):
            if line := formatting.one_line(sentence, SENTENCE_LIMIT):
                yield _Sentence(speaker, line, frozenset(grounding.salient(line)))


def _salience(sentences: Sequence[_Sentence], around: Iterable[Entry]) -> dict[str, float]:
    """The salience of each word of the sentences."""
    others = [grounding.salient(source([entry])) for entry in around]
    holders = Counter(word for held in others for word in held)
    counts = Counter(word for sentence in sentences for word in sentence.salient)
    return {
        word: (1 + math.log(count)) * math.log(2 + len(others) / (1 + holders[word]))
        for word, count in counts.items()
    }


def _chosen(
    sentences: Sequence[_Sentence], salience: dict[str, float], limit: int
) -> list[_Sentence]:
    """The sentences that add most salience for their length, in their order; together they have at
    most ``limit`` characters.
    """
    missing = dict(salience)
    left = limit
    candidates = dict(enumerate(sentences))
    chosen: list[int] = []
    while candidates:
        gains = {
            place: math.fsum(missing.get(word, 0.0) for word in sentence.salient)
            / (_LENGTH_OFFSET + len(sentence.line))
            for place, sentence in candidates.items()
            if len(sentence.line) < left
        }
        best = max(gains, key=lambda place: (gains[place], -place), default=-1)
        if best < 0 or not gains[best]:
            break
        chosen.append(best)
        taken = candidates.pop(best)
        left -= len(taken.line) + 1
        missing = {word: worth for word, worth in missing.items() if word not in taken.salient}
    return [sentences[place] for place in sorted(chosen)]


def _gist(
    sentences: Sequence[_Sentence], salience: dict[str, float], entries: Sequence[Entry]
) -> str:
    """Who speaks, and the most salient words, or in a script without spaces the most salient
    sentence.
    """
    people = speakers(entries)
    named = grounding.salient(" ".join(people))
    ranked = sorted(salience, key=lambda word: (-salience[word], word))
    subject = [word for word in ranked if word not in named and not word.isdigit()]
    spelled = _spelled(sentences)
    if any(word not in spelled for word in subject[:_SUBJECT_WORDS]):
        top = max(sentences, key=lambda said: math.fsum(salience[word] for word in said.salient))
        about = top.text
    else:
        about = ", ".join(spelled[word] for word in subject[:_SUBJECT_WORDS])
    if not about:
        kinds = ", ".join(dict.fromkeys(entry.kind for entry in entries))
        about = sentences[0].text if sentences else f"nothing said ({kinds})"
    head = f"{formatting.one_line(', '.join(people[:3]), GIST_LIMIT // 2)}: " if people else ""
    return formatting.one_line(head + about, GIST_LIMIT)


def _spelled(sentences: Sequence[_Sentence]) -> dict[str, str]:
    """How each word is spelled, from inside a sentence if possible, so that only names have a
    capital. Words of scripts without spaces are left out.
    """
    spelled: dict[str, str] = {}
    for sentence in sentences:
        for place, word in enumerate(words(sentence.text)):
            letters = sentence.text[word.start : word.end]
            if word.open or (
                len(word.folded) == 2 and not letters.isascii() and _unspaced(letters)
            ):
                continue
            if place or word.folded not in spelled:
                spelled[word.folded] = letters if place else letters.lower()
    return spelled


def _unspaced(letters: str) -> bool:
    """Whether letters are of a script without cases, such as Chinese: there, words may be parts of
    words.
    """
    return letters.lower() == letters.upper() and not letters.isdigit()
