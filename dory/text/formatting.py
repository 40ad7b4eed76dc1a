"""Writing figures, tables and single lines of text for people and prompts. Pure."""

import math
import re
import unicodedata
from collections.abc import Sequence

from dory.text.characters import unhidden

CHARACTERS_PER_TOKEN = 4
"""Assumed where an endpoint does not count: OpenAI's rule of thumb for English."""
GIST_LIMIT = 120
"""Characters. A gist is one line in every prompt for as long as its reference is live."""
_CELL_LIMIT = 200
"""Characters of a table's cell."""
_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*(?= |\Z)")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows with aligned columns. Each cell is put on one line, as file names may hold
    anything.
    """
    rows = [[one_line(cell, _CELL_LIMIT) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def one_line(text: str, limit: int = GIST_LIMIT) -> str:
    """Return ``text`` on one line of at most ``limit`` characters, without reference marks, control
    characters and what UTF-8 cannot hold.
    """
    size = max(4 * limit, 400)
    # of a long text only as much is flattened as fills the line
    while len(flat := _flattened(text[:size])) <= limit and size < len(text):
        size *= 4
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def bounded(text: str, limit: int, cut: bool = False) -> str:
    """Return ``text`` on one line of at most ``limit`` characters. A longer text, or one that was
    ``cut`` off, ends with its last whole sentence, or in the middle if it has none.
    """
    flat = one_line(text, 4 * limit)
    if len(flat) <= limit and not cut:
        return flat
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(flat, 0, limit)]
    return flat[: ends[-1]] if ends else one_line(flat, limit)


def _flattened(text: str) -> str:
    plain = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c
        for c in unhidden(text)
        if c not in "◱◲"
    )
    return " ".join(plain.split())


def encodable(text: str) -> str:
    """Return ``text`` with surrogate pairs joined (their halves may have come in two chunks), and
    with lone surrogates replaced.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def tokens(text: str) -> int:
    """Return how many tokens ``text`` has by rule of thumb, rounded up."""
    return tokens_of(len(text), len(text.encode("utf-8", "surrogatepass")))


def tokens_of(characters: int, size: int | None = None) -> int:
    """Return how many tokens so many characters are, which have ``size`` bytes in UTF-8; without
    a size, all are ASCII.

    Four characters of English are a token, but a Chinese character is one by itself. It has three
    bytes, so each byte beyond the first counts as three eighths of a token.
    """
    beyond = 0 if size is None else size - characters
    return math.ceil(characters / CHARACTERS_PER_TOKEN + beyond * 3 / 8)


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return how many there are of something: "1 memory", "2,000 memories"."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def named(names: Sequence[str], most: int = 20) -> str:
    """Return the names with commas between, at most so many: "dev, lab and 1,990 more"."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def all_of(names: Sequence[str], most: int = 10) -> str:
    """Return the names in a sentence: "ada", "ada, bob and cleo", "ada, bob and 98 others"."""
    *first, last = names
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1:,} others"
    return f"{', '.join(first)} and {last}" if first else last


def money(dollars: float) -> str:
    """Return an amount with cents, or with more places if it is small."""
    if dollars >= 0.1:
        return f"${dollars:,.2f}"
    if dollars >= 0.0001 or not dollars:
        return f"${dollars:.4f}"
    return "under $0.0001"
