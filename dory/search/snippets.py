"""The part of a text that shows why it was found: on one line, what was asked for marked. Pure."""

from collections.abc import Mapping, Sequence

from dory.text.formatting import one_line
from dory.text.tokenizer import Stemmer, Word, words

WIDTH = 240
"""Characters, marks not counted."""
MARK = "**"
_BEFORE = 60


def snippet(text: str, weights: Mapping[str, float], stemmer: Stemmer | None) -> str:
    """The stretch of ``text`` in which the heaviest of the wanted terms stand; its beginning when
    none does. No control characters.
    """
    line = " ".join(text.split())
    if not line.isprintable() or "◱" in line or "◲" in line:
        line = one_line(text, len(text))
    found = list(words(line))
    stems = (
        stemmer.stems([word.folded for word in found])
        if stemmer
        else [word.folded for word in found]
    )
    wanted = [
        (word, key)
        for word, stem in zip(found, stems, strict=True)
        if (key := _wanted(word, stem, weights))
    ]
    start = _start(line, wanted, weights)
    end = start + WIDTH
    if end < len(line):
        end = max(line.rfind(" ", start, end), start + WIDTH - _BEFORE)
    shown = _marked(
        line[:end], start, [word for word, _ in wanted if start <= word.start and word.end <= end]
    )
    return f"{'… ' * (start > 0)}{shown}{' …' * (end < len(line))}"


def _wanted(word: Word, stem: str, weights: Mapping[str, float]) -> str | None:
    """The term that a word stands for; one character of a script without spaces is wanted wherever
    a pair begins with it.
    """
    if stem in weights:
        return stem
    return (
        word.folded[0]
        if len(word.folded) == 2 and not word.folded.isascii() and word.folded[0] in weights
        else None
    )


def _start(line: str, wanted: Sequence[tuple[Word, str]], weights: Mapping[str, float]) -> int:
    """Where to begin: at the match behind which most is told within the width, with some words
    before it.
    """
    best, start = 0.0, 0
    for first, _ in wanted:
        within = {
            key
            for word, key in wanted
            if first.start <= word.start and word.end <= first.start + WIDTH - _BEFORE
        }
        told = sum(weights[key] for key in within)
        if told > best:
            best, start = told, first.start
    if start <= _BEFORE or len(line) <= WIDTH:
        return 0
    space = line.find(" ", start - _BEFORE, start)
    return space + 1 if space >= 0 else start


def _marked(line: str, start: int, found: Sequence[Word]) -> str:
    """``line`` from ``start``, with marks around what was found; overlapping pairs become one."""
    parts: list[str] = []
    at = start
    for word in found:
        if word.start < at and parts:
            parts[-1] = f"{parts[-1].removesuffix(MARK)}{line[at : word.end]}{MARK}"
        else:
            parts.append(f"{line[at : word.start]}{MARK}{line[word.start : word.end]}{MARK}")
        at = max(at, word.end)
    return "".join(parts) + line[at:]
