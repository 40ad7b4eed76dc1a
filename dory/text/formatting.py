"""How figures, tables and single lines of text are written for people and prompts. Pure."""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of equal width, each cell on one line: names of files may hold anything."""
    rows = [[one_line(cell, 200) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


CHARACTERS_PER_TOKEN = 4
"""Assumed where an endpoint does not count: OpenAI's rule of thumb for English."""
GIST_LIMIT = 120
"""Characters. A gist is one line in every prompt for as long as the reference lives."""
_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*(?= |\Z)")


def one_line(text: str, limit: int = GIST_LIMIT) -> str:
    """``text`` on one line, without reference marks, control characters or what UTF-8 cannot hold,
    at most ``limit`` characters.
    """
    size = max(4 * limit, 400)
    while len(flat := _flattened(text[:size])) <= limit and size < len(text):
        size *= 4  # of megabytes only as much is looked at as fills the line
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def bounded(text: str, limit: int, cut: bool = False) -> str:
    """``text`` on one line, at most ``limit`` characters. A longer one, or one that was ``cut``
    off, ends with its last whole sentence, or in the middle if it has none.
    """
    flat = one_line(text, 4 * limit)
    if len(flat) <= limit and not cut:
        return flat
    ends = [found.end() for found in _SENTENCE_ENDS.finditer(flat, 0, limit)]
    return flat[: ends[-1]] if ends else one_line(flat, limit)


def redact(text: str, secrets: Iterable[str]) -> str:
    """Every secret in ``text`` as ``[secret]``, also one that was cut off in its second half: text
    may have been shortened before it gets here.

    What is split over lines, spelt in another encoding, or cut off earlier is not recognised.
    """
    for secret in secrets:
        half = max(8, len(secret) // 2)
        head, rest = secret[:half], secret[half:]
        first, *others = text.split(head)
        text = "[secret]".join([first, *(other[_shared(other, rest) :] for other in others)])
    return text


def _flattened(text: str) -> str:
    plain = "".join(
        " " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c
        for c in text
        if c not in "◱◲"
    )
    return " ".join(plain.split())


def encodable(text: str) -> str:
    """``text`` with surrogate pairs joined (their halves may have come in two chunks) and lone
    surrogates replaced.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def tokens(text: str) -> int:
    """How many tokens ``text`` has by rule of thumb, rounded up."""
    return tokens_of(len(text))


def tokens_of(characters: int) -> int:
    """How many tokens so many characters are, by the same rule."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def money(dollars: float) -> str:
    """An amount for a person, with cents, or with more places when it is small."""
    return (
        f"${dollars:,.2f}"
        if dollars >= 0.1
        else f"${dollars:.4f}"
        if dollars >= 0.0001 or not dollars
        else "under $0.0001"
    )


def _shared(one: str, other: str) -> int:
    """How many characters the two have in common at their beginning."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
