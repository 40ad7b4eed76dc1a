"""Hides secrets in a text: known values in the usual spellings, and whatever looks like a token.
Pure.

A known value is found in any case, in hexadecimal, in base32 and base64 (also in the middle of a
longer text that was encoded), with characters escaped as in addresses, JSON and HTML, and with
invisible characters in between. A spelling of at least ``_HALVED`` characters is also found if its
second half was cut off, as the text may have been shortened before; a shorter half may be an
ordinary word. A value is not found if it is split by visible characters, encoded twice or in other
ways, or cut off earlier.

What only looks like a token stays if ``SPARED`` stands before it in the same word: somebody meant
to say it. A known value is never spared. All takes time in proportion to the text.
"""

import base64
import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

from dory.text import token_formats
from dory.text.characters import IGNORABLE

MASK = "[secret]"
"""Stands in the place of a secret."""
SPARED = "unmasked:"
KNOWN = "value of the environment or the settings"
"""The name of a known value, as ``token_formats`` names other secrets."""

_NEAR = 200
"""Characters before a secret in which ``SPARED`` is looked for: an address may stand between."""
_LEAST = 8
"""Characters of a known value by which it is recognised, at least."""
_HALVED = 16
"""Characters from which on half of a spelling is enough."""
_ESCAPE = re.compile(
    r"%([0-9A-Fa-f]{2})|\\x([0-9A-Fa-f]{2})|\\u00([0-9A-Fa-f]{2})|&#[xX]([0-9A-Fa-f]{2});"
    r"|&#([0-9]{2,3});|&((?i:amp|lt|gt|quot|apos));|\\([nrt\"/\\])"
    rf"|[{IGNORABLE}]+"
)
"""A character that is spelt in another way, or characters that nobody sees."""

Span = tuple[int, int, str]
"""Where a secret begins and ends in a text, and what it is."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Return ``text`` with ``MASK`` in the place of every secret. ``secrets`` are the known
    values.
    """
    return masked(text, secrets)[0]


def masked(text: str, secrets: Iterable[str] = ()) -> tuple[str, list[str]]:
    """Return the redacted text, and what each secret in it was."""
    pieces: list[str] = []
    names: list[str] = []
    at = 0
    for start, end, name in _merged(_spans(text, tuple(secrets))):
        pieces += [text[at:start], MASK]
        names.append(name)
        at = end
    return ("".join([*pieces, text[at:]]), names) if names else (text, names)


def _spans(text: str, secrets: tuple[str, ...]) -> Iterator[Span]:
    yield from _secrets(text, secrets)
    if text.isascii() and not ("%" in text or "\\" in text or "&" in text):
        return
    plain, view_ends, text_ends = _plain(text)
    if not text_ends:
        return

    def original(at: int) -> int:
        number = bisect_right(view_ends, at) - 1
        return at if number < 0 else text_ends[number] + at - view_ends[number]

    for start, end, name in _secrets(plain, secrets):
        yield original(start), original(end), name


def _secrets(text: str, secrets: tuple[str, ...]) -> Iterator[Span]:
    """The secrets in a text that has nothing escaped."""
    lowered = text.replace("İ", "i").lower()  # the one letter that becomes longer
    for head, rest in _forms(secrets):
        start = lowered.find(head)
        while start >= 0:
            behind = start + len(head)
            end = behind + _shared(lowered[behind : behind + len(rest)], rest)
            yield start, end, KNOWN
            start = lowered.find(head, end)
    for secret in token_formats.found(text):
        if not (_spared(text, secret.begin) or _spared(text, secret.start)):
            yield secret.start, secret.end, secret.name


def _spared(text: str, at: int) -> bool:
    """Whether ``SPARED`` stands at this place, or before it without white space in between."""
    before = text[max(0, at - _NEAR) : at]
    attached = before.split()[-1:] if not before[-1:].isspace() else []
    return text.startswith(SPARED, at) or SPARED in "".join(attached)


@lru_cache(maxsize=16)
def _forms(secrets: tuple[str, ...]) -> list[tuple[str, str]]:
    """Every spelling of the secrets in small letters, cut in the part that must be there, and the
    rest.
    """
    spellings = dict.fromkeys(
        spelling.replace("İ", "i").lower()
        for secret in secrets
        for spelling in (secret, *_encoded(secret))
        if len(spelling) >= _LEAST or spelling == secret
    )
    needed = {
        spelling: len(spelling) // 2 if len(spelling) >= _HALVED else len(spelling)
        for spelling in spellings
    }
    return [(spelling[:least], spelling[least:]) for spelling, least in needed.items()]


def _encoded(secret: str) -> Iterator[str]:
    """A secret encoded as a whole. ``_plain`` undoes what spells single characters."""
    content = secret.encode("utf-8", "surrogatepass")
    yield json.dumps(secret)[1:-1]
    for separator in ("", " ", ":"):
        yield content.hex(separator) if separator else content.hex()
    yield secret.replace(" ", "+")  # as forms are encoded
    for shift in range(5):
        # without the characters that depend on what stands before and behind
        first, last = -(-shift * 8 // 5), (shift + len(content)) * 8 // 5
        yield base64.b32encode(bytes(shift) + content).decode()[first:last]
    yield content.decode("latin-1")  # what %c3%bc becomes, each byte by itself
    for shift, first in enumerate((0, 2, 3)):
        # without the characters that depend on what stands before and behind
        last = (shift + len(content)) * 8 // 6
        encoded = base64.b64encode(bytes(shift) + content).decode()[first:last]
        yield encoded
        yield encoded.translate({ord("+"): "-", ord("/"): "_"})


def _plain(text: str) -> tuple[str, list[int], list[int]]:
    """The text without invisible characters and with escapes undone; and behind each such place,
    where one is in it, and where in ``text``.
    """
    pieces: list[str] = []
    view_ends: list[int] = []
    text_ends: list[int] = []
    at = size = 0
    for match in _ESCAPE.finditer(text):
        character = _meant(match)
        pieces += [text[at : match.start()], character]
        size += match.start() - at + len(character)
        at = match.end()
        view_ends.append(size)
        text_ends.append(at)
    return "".join([*pieces, text[at:]]), view_ends, text_ends


def _meant(match: re.Match[str]) -> str:
    *hexadecimal, decimal, entity, letter = match.groups()
    if letter:
        return letter if letter in '"/\\' else " "
    if entity:
        return html.unescape(match[0].lower())
    for digits in hexadecimal:
        if digits:
            return chr(int(digits, 16))
    return chr(int(decimal)) if decimal else ""


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order, those that overlap as one."""
    latest: Span | None = None
    for span in sorted(spans):
        if latest and span[0] < latest[1]:
            latest = latest[0], max(latest[1], span[1]), latest[2]
        else:
            if latest:
                yield latest
            latest = span
    if latest:
        yield latest


def _shared(first: str, second: str) -> int:
    """How many characters two texts have in common at their beginning."""
    for at, (a, b) in enumerate(zip(first, second, strict=False)):
        if a != b:
            return at
    return min(len(first), len(second))
