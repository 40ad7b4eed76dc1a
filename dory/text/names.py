"""Finds whom a name means. People write ``@ada``, ``"Ada"``, ``ada:`` or ``otto``, and the room
has ``ada`` and ``otto-feac4e9a``. Pure.
"""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache

from dory.text.characters import without_hidden

_PUNCTUATION = "@\"'`“”‘’<>()[]{}*,:;.!?"
_DIGITS = re.compile(r"-[0-9a-f]{8}$")
_AGENTS = re.compile(r"-(?=[0-9]*[a-f])[0-9a-f]{8}$")
"""With a letter, as nearly all identities have; dates and numbers of accounts have none."""


_LATIN = str.maketrans(
    "авеёзіјкмнорсԁԛѕтуүхһӏԝгбьαβγεηικνορτυχωσօսոհցյզաѵɑɡıɩʏᴏʀᴅɾ",
    "abee3ijkmhopcdqstyyxhlwr6babyenikvoptuxwoounhgjqwvagiiyordr",
)
"""Letters of other scripts that look like Latin ones. Unicode lists thousands of such pairs; these
are the small letters that a name in Latin letters could be written with.
"""
_ALIKE = str.maketrans("01i|", "olll")


def is_agents(name: str) -> bool:
    """Whether a name has the form of an agent's, which ends with eight digits of its identity; also
    if it is written in letters that look like these. Not if all eight are decimal, as in
    ``visitor-20261123``: such an agent is only known by ``is_taken``.
    """
    return bool(_AGENTS.search(_plain(name)))


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


def is_taken(name: str, agents: Collection[str]) -> bool:
    """Whether a person's ``name`` looks like that of one of the ``agents``. Without the digits it
    does not: an agent is always shown with them.
    """
    looks = _looks(name)
    return any(looks == _looks(agent) for agent in agents)


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """The name in small letters of one form, all dashes alike."""
    folded = unicodedata.normalize("NFKC", without_hidden(name)).casefold()
    return "".join("-" if _is_dash(c) else c for c in folded).translate(_LATIN)


def _is_dash(character: str) -> bool:
    return character in "_\u2212\u30fc" or unicodedata.category(character) == "Pd"


@lru_cache(maxsize=4096)
def _looks(name: str) -> str:
    """What the name looks like: two names that look alike are the same here. Accents do not
    count.
    """
    letters = unicodedata.normalize("NFD", _plain(name)).translate(_ALIKE)
    return "".join(c for c in letters if not unicodedata.combining(c)).replace("rn", "m")
