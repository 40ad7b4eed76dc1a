"""How a note may be called, and which name is meant by what somebody writes. Pure.

A name is one word. Models write ``trip-plan:``, ``**trip-plan**`` or ``Trip-Plan``, and ``café``
has two spellings in Unicode that look the same: all of these mean the same name. Names in files
from before this was so are found as they were written.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress

from dory.errors import ToolError

NAME_LIMIT = 80
"""Characters of a name."""
_LOOKED_AT = 1000
"""Characters of a text that may mean a name, with all the marks around it."""
_SIMILAR = 0.6
"""How similar a name must be to be named instead of another, as difflib counts."""
_NAME = re.compile(r"(?!.*->)[^\s◱◲\[\]\"]+")
_PAIRS = (
    ("**", "**"),
    ("*", "*"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
    ("[[", "]]"),
    ("<", ">"),
)
"""Marks that people and models put around a name."""
_UNFIT = re.compile(r"->|[\s◱◲\[\]\"]+")


def check_name(name: str) -> str:
    """Return the name that ``name`` means if an entry may have it, else raise a ``ToolError``."""
    meant = cleaned(name)
    if not _NAME.fullmatch(meant) or len(meant) > NAME_LIMIT or not meant.isprintable():
        raise ToolError(
            f"{name[:NAME_LIMIT]!r} is no name for a note: "
            f"one word of at most {NAME_LIMIT} characters, such as lisbon-hotel"
        )
    return meant


def cleaned(name: str) -> str:
    """A name without the marks around it and the colon behind it, in the usual form of Unicode."""
    meant = unicodedata.normalize("NFC", name.strip(" ")[:_LOOKED_AT])
    while True:
        bare = meant.rstrip(":：").strip(" ")
        for opening, closing in _PAIRS:
            if bare.startswith(opening) and bare.endswith(closing):
                bare = bare[len(opening) : -len(closing)].strip(" ")
                break
        if bare == meant:
            return meant
        meant = bare


def spellings(name: str) -> Iterator[str]:
    """The names that an entry which is meant by ``name`` may have, the likeliest first."""
    meant = cleaned(name)
    yield from dict.fromkeys((name, meant, unicodedata.normalize("NFD", meant)))


def key(name: str) -> str:
    """What two names have in common that nobody can tell apart by ear: the name without case, in
    one form of Unicode.
    """
    return unicodedata.normalize("NFC", cleaned(name).casefold())


def nearest(name: str, known: Sequence[str], count: int = 3) -> list[str]:
    """The ``known`` names that ``name`` may have meant, the likeliest first: those that begin so,
    then those that contain it, then similar ones.
    """
    meant = key(name)
    keys = {other: key(other) for other in known}
    beginning = [other for other in known if meant and keys[other].startswith(meant)]
    containing = [other for other in known if meant and meant in keys[other]]
    similar = difflib.get_close_matches(meant, keys.values(), count, _SIMILAR)
    close = [other for wanted in similar for other in known if keys[other] == wanted]
    return list(dict.fromkeys([*beginning, *containing, *close]))[:count]


def made_of(text: str) -> str:
    """The name that any text means, such as the name of a file: ``Lisbon trip`` is ``Lisbon-trip``.
    Empty if nothing of the text can be in a name.
    """
    with suppress(ToolError):
        return check_name(text)
    plain = "".join(sign if sign.isprintable() else " " for sign in cleaned(text))
    return cleaned(_UNFIT.sub("-", plain).strip("-"))[:NAME_LIMIT]
