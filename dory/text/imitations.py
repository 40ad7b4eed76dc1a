"""Takes the marks of the harness out of what a model writes, before people see it. Pure.

A model that has read many room lines may begin its answer with a tag of its own, or go on with a
line that somebody else is to have said.
"""

import re

_OWN = re.compile(r"(?:\[AGENT:\S+ [^\]\s]+\][ \t]*)+")
_FOREIGN = re.compile(r"^\[(?:USER|AGENT|NOTICE):\S+ [^\]\s]+\]|^\[#", re.MULTILINE)


def without_tags(text: str) -> str:
    """Return ``text`` without the tag of an agent at its beginning, and without everything from the
    first line on that begins with another tag or a header.
    """
    begun = _OWN.sub("", text.lstrip(), count=1) if _OWN.match(text.lstrip()) else text
    foreign = _FOREIGN.search(begun)
    return (begun[: foreign.start()] if foreign else begun).strip()
