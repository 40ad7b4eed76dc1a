"""The part of a text that shows why it was found: one line with the wanted words marked. Pure."""

from collections.abc import Mapping, Sequence

from dory.search.spellings import is_hash, terms
from dory.text.formatting import one_line
from dory.text.tokenizer import Stemmer, Word

WIDTH = 240
"""Characters, marks not counted."""
MARK = "**"
_BEFORE = 60
"""Characters that are shown before the first wanted word."""


def snippet(text: str, weights: Mapping[str, float], stemmer: Stemmer | None) -> str:
    """The stretch of ``text`` with the heaviest of the wanted terms; its beginning if it has none.
    Holds no control characters.
    """
    line = " ".join(text.split())
    if not line.isprintable() or "◱" in line or "◲" in line:
        line = one_line(text, len(text))
    all_words = terms(line)
    stems = [word.folded for word in all_words]
    if stemmer:
        stems = stemmer.stems(stems)
    wanted: list[tuple[Word, str]] = []
    for word, stem in zip(all_words, stems, strict=True):
        if key := _wanted(word, stem, weights):
            wanted.append((word, key))
    start = _start(line, wanted, weights)
    end = start + WIDTH
    if end < len(line):
        end = max(line.rfind(" ", start, end), start + WIDTH - _BEFORE)
    inside = [word for word, _ in wanted if start <= word.start and word.end <= end]
    shown = _marked(line[:end], start, inside)
    if start > 0:
        shown = f"… {shown}"
    if end < len(line):
        shown = f"{shown} …"
    return shown


def _wanted(word: Word, stem: str, weights: Mapping[str, float]) -> str | None:
    """The wanted term that a word stands for. In a script without spaces a single character is
    wanted wherever a pair begins with it.
    """
    if stem in weights:
        return stem
    is_pair = len(word.folded) == 2 and not word.folded.isascii()
    if is_pair and word.folded[0] in weights:
        return word.folded[0]
    if is_hash(word.folded):
        starts = (f"{word.folded[:size]}*" for size in range(1, len(word.folded) + 1))
        return next((start for start in starts if start in weights), None)
    return None


def _start(line: str, wanted: Sequence[tuple[Word, str]], weights: Mapping[str, float]) -> int:
    """Where to begin: some words before the wanted word that is followed, within the width, by the
    terms of the greatest weight.
    """
    best = 0.0
    start = 0
    for number, (first, _) in enumerate(wanted):
        end = first.start + WIDTH - _BEFORE
        near = wanted[number : number + WIDTH]
        keys = {key for word, key in near if word.end <= end}
        total = sum(weights[key] for key in keys)
        if total > best:
            best = total
            start = first.start
    if start <= _BEFORE or len(line) <= WIDTH:
        return 0
    space = line.find(" ", start - _BEFORE, start)
    return space + 1 if space >= 0 else start


def _marked(line: str, start: int, wanted: Sequence[Word]) -> str:
    """``line`` from ``start``, with marks around the wanted words. Overlapping pairs become one."""
    parts: list[str] = []
    at = start
    for word in wanted:
        if word.start < at and parts:
            parts[-1] = f"{parts[-1].removesuffix(MARK)}{line[at : word.end]}{MARK}"
        else:
            parts.append(f"{line[at : word.start]}{MARK}{line[word.start : word.end]}{MARK}")
        at = max(at, word.end)
    return "".join(parts) + line[at:]
