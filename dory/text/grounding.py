"""Whether a model's text comes from what it was to be made of, or from the instruction. Pure.

Small models copy the example of an instruction word for word, and would believe it ever after. So a
text is compared with the instruction that asked for it (``copied``) and with its source
(``grounded``). Both compare folded words (``text/tokenizer.py``), so they hold for every language;
in scripts without spaces, pairs of characters are compared.

A *salient* word is one that could tell two sources apart: a name, a number or a content word. Words
of one letter, English function words and the names of tools are none.
"""

import re
from collections.abc import Collection, Iterator

from dory.text.tokenizer import STOP, Stemmer, words

_LABEL = re.compile(r"^[^\w<]*(?:GIST|RELEVANCE|SUMMARY)\W*?:", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"\n]+)"')
_TOOL = re.compile(r"^[A-Z][A-Z_]{2,}(?= |$)", re.MULTILINE)
_ALIKE = 0.8
"""The share of words that two texts must have in common for one to be a copy of the other."""
_FEWEST = 3
"""Words that a copy has at least: nobody can say "yes" in words of their own."""
_PREFIX = 5
"""Two longer words that begin with so many same characters are taken for forms of one word."""
_LONG, _LEAST = 8, 0.2
"""A text of at least so many content words shares at least this part of them with its source.
Summaries that people made of sessions in LoCoMo share 0.45 and more with theirs, and with another
session of the same two people 0.17 in the median.
"""
_ENGLISH = 0.2
"""The share of function words from which a text is taken for English."""


def salient(text: str) -> set[str]:
    """The salient words of ``text``, folded."""
    return {
        word.folded
        for word in words(_TOOL.sub("", text))
        if word.folded not in STOP
        and (len(word.folded) > 1 or word.folded.isdigit() or not word.folded.isascii())
    }


def shared(first: Collection[str], second: Collection[str]) -> set[str]:
    """The words of ``first`` that stand in ``second``, maybe in another form (``planning``,
    ``plans``).
    """
    if not first or not second:
        return set()
    given, sought = list(first), list(second)
    stems = Stemmer().stems([*given, *sought])
    known = {*sought, *stems[len(given) :]}
    beginnings = {word[:_PREFIX] for word in sought if len(word) >= _PREFIX}
    return {
        word
        for word, stem in zip(given, stems[: len(given)], strict=True)
        if word in known or stem in known or word[:_PREFIX] in beginnings
    }


def grounded(text: str, source: str, names: Collection[str] = ()) -> bool:
    """Whether ``text`` can have been made from ``source``: it shares salient words with it.

    One is enough, for a summary may be in another language than its source, and then shares only
    names and numbers. Where both are English, a longer text shares ``_LEAST``. ``names`` are
    those of the people who speak in the source. They speak everywhere in a life, so they count only
    where the text or the source says little else, or the languages may differ. A source without any
    salient word grounds a text that says as little.
    """
    held = salient(source)
    if not held:
        return True
    speakers = {name for name in salient(" ".join(names)) if not name.isdigit()}
    said = salient(text)
    content = [word for word in said - speakers if not word.isdigit()]
    common = shared(said - speakers, held - speakers)
    little = len(content) <= _FEWEST
    same_language = _english(text) and _english(source)
    if not held - speakers:
        return little or not same_language
    if common and same_language and len(content) >= _LONG:
        return len(common) >= _LEAST * len(content)
    if common or not said & speakers:
        return bool(common)
    return not same_language or little or len(held - speakers) <= _FEWEST


def copied(text: str, instruction: str, source: str = "") -> str | None:
    """The part of ``instruction`` that ``text`` repeats, or nearly repeats; None if there is none,
    or if every salient word of the text stands in ``source``.
    """
    given = _folded(text)
    if len(given) < _FEWEST:
        return None
    for part in _parts(instruction):
        if _alike(given, _folded(part)):
            said = salient(text)
            return None if said and len(shared(said, salient(source))) == len(said) else part
    return None


def _parts(instruction: str) -> Iterator[str]:
    """What of an instruction can be copied by itself: its paragraphs, its lines without labels,
    what it quotes, and neighbouring lines of an example.
    """
    for paragraph in re.split(r"\n\s*\n", instruction):
        lines = [_LABEL.sub("", line).strip() for line in paragraph.split("\n")]
        yield " ".join(lines)
        yield from filter(None, lines)
        yield from _QUOTED.findall(paragraph)


def _alike(given: list[str], part: list[str]) -> bool:
    """Whether the words are the same but for a few."""
    if len(part) < _FEWEST:
        return False
    first, second = set(given), set(part)
    return len(first & second) >= _ALIKE * len(first | second)


def _folded(text: str) -> list[str]:
    return [word.folded for word in words(text)]


def _english(text: str) -> bool:
    folded = _folded(text)
    return sum(word in STOP for word in folded) >= _ENGLISH * len(folded)
