"""References, and the escaping that keeps text from outside from forging them. Pure.

The harness marks what it writes itself in three ways, and only the harness may:

* a reference, ``◱hash=<hex> gist=<one line>◲``;
* an entry or section header, a line that begins with ``[#``;
* a room tag, a line that begins with ``[USER:``, ``[AGENT:`` or ``[NOTICE:``.

``escape`` puts one backslash before each of these in a text that came from elsewhere, ``unescape`` takes exactly one away, so any text
survives the round trip. A mark behind a backslash is not live. The parsers know one spelling and one line break; a model reads more, or it
would see a header where the parser saw none. So "line" means whatever any reader might take for one (``\\r``, form feeds and the Unicode
separators count too), and a mark is escaped in any case, in fullwidth letters, and with characters in it or before it that nobody sees.
"""

import re
import unicodedata
from collections.abc import Iterable

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_UNSEEN = (  # the control characters that break no line, and what Unicode calls default ignorable
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)


def _spelt(mark: str) -> str:
    """A pattern for ``mark`` as a reader may be shown it: each character plain or fullwidth, with unseen ones before it."""
    return "".join(f"{_UNSEEN}[{re.escape(c)}{chr(ord(c) + 0xFEE0)}]" for c in mark)


_MARKS = f"{_spelt('[')}(?:{'|'.join(map(_spelt, ('#', 'USER:', 'AGENT:', 'NOTICE:')))})"
_ESCAPABLE = re.compile(rf"(?:(?<=[{_BREAKS}])|\A)\\*(?={_MARKS})|(?<!\\)\\*(?=◱)", re.IGNORECASE)
_ESCAPED = re.compile(rf"(?:(?<=[{_BREAKS}])|\A)\\(?=\\*{_MARKS})|(?<!\\)\\(?=\\*◱)", re.IGNORECASE)
_HEADER = re.compile(r"^\\*(?=\[#)", re.MULTILINE)
_QUOTED_HEADER = re.compile(r"^\\(?=\\*\[#)", re.MULTILINE)
_LIVE = re.compile(r"(?<!\\)◱hash=([0-9a-f]{16,64}) gist=([^\n◱◲]*)◲")
_SENTENCE_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*(?= |\Z)")
_NAMED = re.compile(r"(?:◱?hash=)?([0-9a-f]{1,64})(?: gist=.*)?◲?")

GIST_LIMIT = 120
"""Characters. A gist is one line in every prompt for as long as the reference lives."""


def reference(hash: str, gist: str) -> str:
    """The live form. The gist is cut to one line without marks, so a model's gist cannot forge anything either."""
    return f"◱hash={hash} gist={one_line(gist)}◲"


def live(text: str) -> list[tuple[str, str]]:
    """Every live reference in harness-written text, as (hash, gist) in order."""
    return _LIVE.findall(text)


def gists(text: str) -> str:
    """``text`` with the gist alone in the place of each live reference."""
    return _LIVE.sub(lambda found: found[2], text)


def named_hash(argument: str) -> str | None:
    """The hash in a tool argument: bare, as ``hash=…`` or as a whole pasted reference; None when it is none of these."""
    found = _NAMED.fullmatch(argument.strip())
    return found[1] if found else None


def escape(text: str) -> str:
    """Make every mark in text from outside inert. ``unescape(escape(text)) == text`` for every text."""
    return _ESCAPABLE.sub(lambda found: found[0] + "\\", text)


def unescape(text: str) -> str:
    """Undo one ``escape``."""
    return _ESCAPED.sub("", text)


def quote(text: str) -> str:
    """Make only the headers of a stretch of context inert: what it quotes was escaped already, and its references stay live."""
    return _HEADER.sub(lambda found: found[0] + "\\", text)


def unquote(text: str) -> str:
    """Undo one ``quote``."""
    return _QUOTED_HEADER.sub("", text)


def one_line(text: str, limit: int = GIST_LIMIT) -> str:
    """``text`` on one line, without reference marks, control characters or what UTF-8 cannot hold, at most ``limit`` characters."""
    size = max(4 * limit, 400)
    while len(flat := _flattened(text[:size])) <= limit and size < len(text):
        size *= 4  # of megabytes only as much is looked at as fills the line
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def bounded(text: str, limit: int, cut: bool = False) -> str:
    """``text`` on one line, at most ``limit`` characters. A longer one, or one that was ``cut`` off, ends with its last whole sentence, or in
    the middle if it has none.
    """
    flat = one_line(text, 4 * limit)
    if len(flat) <= limit and not cut:
        return flat
    ends = [found.end() for found in _SENTENCE_ENDS.finditer(flat, 0, limit)]
    return flat[: ends[-1]] if ends else one_line(flat, limit)


def redact(text: str, secrets: Iterable[str]) -> str:
    """Every secret in ``text`` as ``[secret]``, also one that was cut off in its second half: text may have been shortened before it gets here.

    What is split over lines, spelt in another encoding, or cut off earlier is not recognised.
    """
    for secret in secrets:
        half = max(8, len(secret) // 2)
        head, rest = secret[:half], secret[half:]
        first, *others = text.split(head)
        text = "[secret]".join([first, *(other[_shared(other, rest) :] for other in others)])
    return text


def _shared(one: str, other: str) -> int:
    """How many characters the two have in common at their beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _flattened(text: str) -> str:
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text if c not in "◱◲")
    return " ".join(plain.split())
