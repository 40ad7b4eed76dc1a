"""References, and the escaping that keeps text from outside from forging them. Pure.

The harness marks what it writes itself in three ways, and only the harness may:

* a reference, ``◱hash=<hex> gist=<one line>◲``;
* an entry or section header, a line that begins with ``[#``;
* a room tag, a line that begins with ``[USER:``, ``[AGENT:`` or ``[NOTICE:``.

``escape`` puts one backslash before each of these in a text that came from elsewhere, ``unescape`` takes exactly one away, so any text
survives the round trip. A mark behind a backslash is not live. "Line" means whatever any reader might take for one: ``\\r``, form feeds and
the Unicode separators count too, or a model would see a header where the parser saw none.
"""

import re
import unicodedata
from collections.abc import Iterable

_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_MARKS = r"\[(?:#|USER:|AGENT:|NOTICE:)"
_ESCAPABLE = re.compile(rf"(?:(?<=[{_BREAKS}])|\A)\\*(?={_MARKS})|(?<!\\)\\*(?=◱)")
_ESCAPED = re.compile(rf"(?:(?<=[{_BREAKS}])|\A)\\(?=\\*{_MARKS})|(?<!\\)\\(?=\\*◱)")
_HEADER = re.compile(r"^\\*(?=\[#)", re.MULTILINE)
_QUOTED_HEADER = re.compile(r"^\\(?=\\*\[#)", re.MULTILINE)
_LIVE = re.compile(r"(?<!\\)◱hash=([0-9a-f]{16,64}) gist=([^\n◱◲]*)◲")
_NAMED = re.compile(r"(?:◱?hash=)?([0-9a-f]{1,64})(?: gist=.*)?◲?")

GIST_LIMIT = 120
"""Characters. A gist is one line in every prompt for as long as the reference lives."""


def reference(hash: str, gist: str) -> str:
    """The live form. The gist is cut to one line without marks, so a model's gist cannot forge anything either."""
    return f"◱hash={hash} gist={one_line(gist)}◲"


def live(text: str) -> list[tuple[str, str]]:
    """Every live reference in harness-written text, as (hash, gist) in order."""
    return _LIVE.findall(text)


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
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text if c not in "◱◲")
    flat = " ".join(plain.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def redact(text: str, secrets: Iterable[str]) -> str:
    """Every secret in ``text`` as ``[secret]``: keys from the environment must not enter LIFE, blobs or a prompt."""
    for secret in secrets:
        text = text.replace(secret, "[secret]")
    return text
