"""Finds whom a name means. People write ``@ada``, ``"Ada"``, ``ada:`` or ``otto``, and the room
has ``ada`` and ``otto-feac4e9a``. Pure.
"""

import difflib
import re
from collections.abc import Iterable

_PUNCTUATION = "@\"'`“”‘’<>()[]{}*,:;.!?"
_DIGITS = re.compile(r"-[0-9a-f]{8}$")


def is_agents(name: str) -> bool:
    """Whether a name has the form of an agent's, which ends with eight digits of its identity."""
    return bool(_DIGITS.search(name))


def meant(name: str, known: Iterable[str]) -> list[str]:
    """Return the ``known`` names that ``name`` may mean: several if it is ambiguous, none if nobody
    has such a name.

    The name is compared as it is, then without the punctuation around it, then without regard to
    case, then without the eight digits of an agent's name. The first comparison with a match
    decides.
    """
    candidates = list(known)
    bare = name.strip(_PUNCTUATION)
    for exact in (name, bare):
        if exact in candidates:
            return [exact]
    folded = bare.casefold()
    same = [candidate for candidate in candidates if candidate.casefold() == folded]
    if same:
        return same
    return [
        candidate for candidate in candidates if _DIGITS.sub("", candidate).casefold() == folded
    ]


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return at most five ``known`` names that may have been meant: those that contain the name, as
    ``telegram_ada`` from a bridge contains ``ada``. If there are none, similar names. If there are
    none of these either, any names.
    """
    candidates = list(known)
    bare = name.strip(_PUNCTUATION) or name
    folded = bare.casefold()
    containing = [candidate for candidate in candidates if folded in candidate.casefold()]
    similar = difflib.get_close_matches(bare, candidates, 5, 0.5)
    return (containing or similar or candidates)[:5]
