"""Whom a name means. People write ``@ada``, ``"Ada"``, ``ada:`` or ``otto`` where a room knows
``ada`` and ``otto-feac4e9a``. Pure.
"""

import difflib
import re
from collections.abc import Iterable

_AROUND = "@\"'`“”‘’<>()[]{}*,:;.!?"
_DIGITS = re.compile(r"-[0-9a-f]{8}$")


def meant(name: str, known: Iterable[str]) -> list[str]:
    """Return the ``known`` names that ``name`` may mean: several if it is ambiguous, none if nobody
    is called so.

    The name is compared as it is, then without the signs around it, then without regard to case,
    then without an agent's eight digits. The first of these that fits anybody decides.
    """
    candidates = list(known)
    bare = name.strip(_AROUND)
    for exact in (name, bare):
        if exact in candidates:
            return [exact]
    folded = bare.casefold()
    return [other for other in candidates if other.casefold() == folded] or [
        other for other in candidates if _DIGITS.sub("", other).casefold() == folded
    ]


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return at most five ``known`` names that may have been meant: those that contain the name, as
    a bridge's ``telegram_ada`` does; else those that are similar; else any.
    """
    candidates = list(known)
    bare = name.strip(_AROUND) or name
    containing = [other for other in candidates if bare.casefold() in other.casefold()]
    similar = difflib.get_close_matches(bare, candidates, 5, 0.5)
    return (containing or similar or candidates)[:5]
