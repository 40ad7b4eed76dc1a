"""From text to terms, which a search compares. Texts and queries take the same way.

A word is a run of letters and digits, folded: without case, accents and width. In scripts without
spaces between words, a run becomes overlapping pairs of characters and its last character. So every
part of it is found, and a single character is found where a pair begins with it. An emoji is a word
of its own, whatever its tone of skin. FTS5's tokenizer ``ascii`` takes each such word for exactly
one token, whatever Unicode SQLite was built with.

Stems are Porter's, computed by SQLite, so that a query and the index cannot disagree.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    # kana and Chinese characters
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    "\uac00-\ud7af"  # Hangul has spaces, but endings stick to its words
)
_PAIRED = re.compile(f"[{_UNSPACED}]")
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}"  # a flag
    "|[\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
)
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:[^\W_{_UNSPACED}][\u0300-\u036f]*)+|{_EMOJI.pattern}")
_MARKS = re.compile("[\u0300-\u036f]+")
_STROKES = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
"""Letters whose accents Unicode does not take for such."""
WORD_LIMIT = 64
"""Characters of a word; the rest of a longer one is dropped."""
QUERY_LIMIT = 10_000
"""Characters of a query; the rest of a longer one is dropped."""

_STOP_WORDS = """
    a about all also am an and any are aren as at be because been before being but by can could
    couldn did didn do does doesn doing don done down each else even ever few for from further get
    go going got had has hasn have haven he hello her here hers hey hi him his how i if in into is
    isn it its itself just let ll lot many may me might mine more most much must my no nor not now
    of off oh ok okay on once one only or other our ours out over own please re really s same
    shall she should shouldn so some such t than thank thanks that the their theirs them then
    there these they thing this those through to too under until up upon us ve very was wasn we
    well were weren what when where which while who whom whose why will with won would wouldn wow
    yeah yep yes yet you your yours
"""
STOP = frozenset(_STOP_WORDS.split())
"""English words that say nothing about the subject of a query, small talk among them."""


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word and where it stands: ``text[start:end]``. An ``open`` one is only the beginning
    of a word. ``others`` are what a query takes for the same: words, and words that stand together,
    with spaces between.
    """

    folded: str
    start: int
    end: int
    open: bool = False
    others: tuple[str, ...] = ()


def words(text: str) -> Iterator[Word]:
    """The words of ``text`` in order."""
    for run in _WORD.finditer(text):
        yield from _of_run(run[0], run.start())


def folded(text: str) -> str:
    """The folded words of ``text`` with a space between any two, as the index is given them."""
    parts: list[str] = []
    for run in _WORD.findall(text):
        if run.isascii():  # the same as below, only faster
            parts.append(run[:WORD_LIMIT].lower())
        else:
            parts += [word.folded for word in _of_run(run, 0)]
    return " ".join(parts)


def plain(text: str) -> str:
    """``text`` with its words folded and all else, its line breaks too, left between them. For a
    search without the index; of a long text it is much faster than ``folded``.
    """
    if text.isascii():
        return text.lower()
    return _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()).translate(_STROKES))


def query_words(query: str, limit: int, stop_words: bool = True) -> list[Word]:
    """The first ``limit`` different words of a query, without halves of pairs.

    With ``stop_words``, these are dropped if other words remain.
    """
    return telling(words(query[:QUERY_LIMIT]), limit, stop_words)


def telling(query: Iterable[Word], limit: int, stop_words: bool = True) -> list[Word]:
    """What ``query_words`` returns, of the words of a query in order."""
    different: dict[str, Word] = {}
    end = 0
    for word in query:
        if not (word.open and word.end == end):
            different.setdefault(word.folded, word)
        end = word.end
    wanted: list[Word] = []
    if stop_words:
        wanted = [word for word in different.values() if word.folded not in STOP]
    return (wanted or list(different.values()))[:limit]


def _of_run(run: str, start: int) -> Iterator[Word]:
    if run.isascii():
        yield Word(run[:WORD_LIMIT].lower(), start, start + len(run))
        return
    if _EMOJI.match(run):
        yield Word(run, start, start + len(run))
        return
    if not _PAIRED.match(run):
        if word := _fold(run, "NFKD"):
            yield Word(word[:WORD_LIMIT], start, start + len(run))
        return
    characters: list[tuple[str, int]] = []
    for place, character in enumerate(run, start):
        if plain := _fold(character, "NFKC"):
            characters.append((plain, place))
    for (first, at), (second, end) in pairwise(characters):
        yield Word(first + second, at, end + 1)
    for last, at in characters[-1:]:
        yield Word(last, at, at + 1, open=True)


def is_paired(text: str) -> bool:
    """Whether a text has characters of a script without spaces between words."""
    return bool(_PAIRED.search(text))


def _fold(text: str, form: Literal["NFKC", "NFKD"]) -> str:
    return "".join(
        character
        for character in unicodedata.normalize(form, text.casefold()).translate(_STROKES)
        if character.isalnum()
    )


class Stemmer:
    """Porter's stems by a full-text table in memory. Belongs to the thread that made it."""

    def __init__(self) -> None:
        self._memory = sqlite3.connect(":memory:", isolation_level=None)
        self._memory.execute(
            "CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='porter ascii')"
        )
        self._memory.execute("CREATE VIRTUAL TABLE stem USING fts5vocab(word, instance)")

    def stems(self, folded: Sequence[str]) -> list[str]:
        """The stem of each folded word, in their order."""
        self._memory.execute("BEGIN")
        self._memory.execute("INSERT INTO word(rowid, text) VALUES (1, ?)", (" ".join(folded),))
        stems = [stem for (stem,) in self._memory.execute("SELECT term FROM stem ORDER BY offset")]
        self._memory.execute("ROLLBACK")
        return stems
