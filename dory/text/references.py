"""References, and the escaping that keeps text from outside from forging them. Pure.

The harness marks what it writes itself in three ways, and only the harness may:

* a reference, ``◱hash=<hex> gist=<one line>◲``;
* an entry or section header, a line that begins with ``[#``;
* a room tag, a line that begins with ``[USER:``, ``[AGENT:`` or ``[NOTICE:``.

``escape`` puts one backslash before each of these in a text that came from elsewhere, ``unescape``
takes exactly one away, so any text survives the round trip. A mark behind a backslash is not live.
The parsers know one spelling and one line break; a model reads more, or it would see a header where
the parser saw none. So "line" means whatever any reader might take for one (``\\r``, form feeds and
the Unicode separators count too), and a mark is escaped in any case, in fullwidth letters, and with
characters in it or before it that nobody sees.
"""

import re

from dory.text.formatting import one_line

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_UNSEEN = (  # the control characters that break no line, and what Unicode calls default ignorable
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)


def _spelt(mark: str) -> str:
    """A pattern for ``mark`` as a reader may be shown it: each character plain or fullwidth, with
    unseen ones before it.
    """
    return "".join(f"{_UNSEEN}[{re.escape(c)}{chr(ord(c) + 0xFEE0)}]" for c in mark)


_MARKS = f"{_spelt('[')}(?:{'|'.join(map(_spelt, ('#', 'USER:', 'AGENT:', 'NOTICE:')))})"
_ESCAPABLE = re.compile(rf"(?:(?<=[{_BREAKS}])|\A)\\*(?={_MARKS})|(?<!\\)\\*(?=◱)", re.IGNORECASE)
_ESCAPED = re.compile(rf"(?:(?<=[{_BREAKS}])|\A)\\(?=\\*{_MARKS})|(?<!\\)\\(?=\\*◱)", re.IGNORECASE)
_HEADER = re.compile(r"^\\*(?=\[#)", re.MULTILINE)
_QUOTED_HEADER = re.compile(r"^\\(?=\\*\[#)", re.MULTILINE)
_LIVE = re.compile(r"(?<!\\)◱hash=([0-9a-f]{16,64}) gist=([^\n◱◲]*)◲")
_NAMED = re.compile(r"(?:◱?hash=)?([0-9a-f]{1,64})(?: gist=.*)?◲?")


def reference(hash: str, gist: str) -> str:
    """Return a live reference. The gist is cut to one line without marks, so that a model's gist
    cannot forge anything.
    """
    return f"◱hash={hash} gist={one_line(gist)}◲"


def live(text: str) -> list[tuple[str, str]]:
    """Return every live reference in text of the harness, as (hash, gist), in order."""
    return _LIVE.findall(text)


def gists(text: str) -> str:
    """Return ``text`` with each live reference replaced by its gist."""
    return _LIVE.sub(lambda match: match[2], text)


def named_hash(argument: str) -> str | None:
    """The hash in a tool argument: bare, as ``hash=…`` or as a whole pasted reference; None when it
    is none of these.
    """
    found = _NAMED.fullmatch(argument.strip())
    return found[1] if found else None


def escape(text: str) -> str:
    """Make every mark in text from outside inert. ``unescape(escape(text)) == text`` for every
    text.
    """
    return _ESCAPABLE.sub(lambda match: match[0] + "\\", text)


def unescape(text: str) -> str:
    """Undo one ``escape``."""
    return _ESCAPED.sub("", text)


def quote(text: str) -> str:
    """Make only the headers of a stretch of context inert: what it quotes was escaped already, and
    its references stay live.
    """
    return _HEADER.sub(lambda match: match[0] + "\\", text)


def unquote(text: str) -> str:
    """Undo one ``quote``."""
    return _QUOTED_HEADER.sub("", text)
