"""Whom a name means: one writes ``@ada``, ``"Ada"``, ``ada:`` or ``otto`` where a room knows
``ada`` and ``otto-feac4e9a``. Pure.
"""

import difflib
import re
from collections.abc import Iterable

_AROUND = "@\"'`“”‘’<>()[]{}*,:;.!?"
_DIGITS = re.compile(r"-[0-9a-f]{8}$")


def meant(name: str, known: Iterable[str]) -> list[str]:
    """Those of ``known`` whom ``name`` may mean: word for word, else without the signs around it,
    else in any case, else without an agent's eight digits. Several: it does not say which; none:
    nobody is called so.
    """
    everyone, bare = list(known), name.strip(_AROUND)
    for wanted in (name, bare):
        if wanted in everyone:
            return [wanted]
    alike = [one for one in everyone if one.casefold() == bare.casefold()]
    return alike or [one for one in everyone if _DIGITS.sub("", one).casefold() == bare.casefold()]


def near(name: str, known: Iterable[str]) -> list[str]:
    """Those of ``known`` who may have been meant, at most five: whose name holds it, as a bridge's
    ``telegram_ada``; whose is like it; any.
    """
    everyone, bare = list(known), name.strip(_AROUND) or name
    within = [one for one in everyone if bare.casefold() in one.casefold()]
    return (within or difflib.get_close_matches(bare, everyone, 5, 0.5) or everyone)[:5]
