"""Finds out which agents of a room a message is meant for. Pure.

    otto, what do you think?          at its beginning, before a comma, a colon or its end
    What do you think, otto-5d41?     at its end, behind a comma
    the list is for @otto-5d41402a    with an @, anywhere

An agent is called ``otto-5d41402a``. Its digits may be cut to four or more, or stand alone if all
eight are there. They may be left out (``otto``) if no other agent in the room has the same name;
``@otto`` means all agents of that name.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

_FULL = re.compile(r"(.+)-([0-9a-f]{8})")
_GREETING = re.compile(
    r"(?:(?:hi|hello|hey|hallo|ok|okay|so|and|well|thanks|thank you|danke|please|bitte"
    r"|good (?:morning|afternoon|evening)|guten (?:morgen|tag|abend))\b[\s,!]*)*",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|&|\+|\band\b|\bund\b)\s*", re.IGNORECASE)
_STOP = re.compile(r"[ \t]*(?:[,:;!?.–—]|\n|$)")
_LAST = re.compile(r"[\s?!.…)]*")


@dataclass(frozen=True, slots=True)
class _Mention:
    """``name`` is mentioned between two places. ``short``: without digits. ``called``: with an
    ``@``.
    """

    name: str
    start: int
    end: int
    short: bool
    called: bool


def addressed(text: str, names: Collection[str]) -> list[str]:
    """Return those of the agents' ``names`` to which ``text`` is said; none if it is said to
    everybody. Names at its beginning count more than the others.
    """
    mentions = [mention for mention in _mentions(text, names) if _sure(mention, names)]
    first = _leading(text, mentions)
    if first:
        return first
    meant = (mention for mention in mentions if mention.called or _trailing(text, mention))
    return list(dict.fromkeys(mention.name for mention in meant))


def named(text: str, names: Collection[str]) -> list[str]:
    """Return those of the agents' ``names`` that ``text`` names with their digits or an ``@``
    anywhere, or to which it is said.
    """
    anywhere = [
        mention.name for mention in _mentions(text, names) if mention.called or not mention.short
    ]
    return list(dict.fromkeys([*anywhere, *addressed(text, names)]))


def _mentions(text: str, names: Collection[str]) -> Iterator[_Mention]:
    for name in names:
        for match in _pattern(name).finditer(text):
            full = _FULL.fullmatch(name)
            short = bool(full) and match["name"].casefold() == (full[1] if full else "").casefold()
            yield _Mention(name, match.start(), match.end(), short, bool(match["at"]))


@lru_cache(maxsize=1024)
def _pattern(name: str) -> re.Pattern[str]:
    full = _FULL.fullmatch(name)
    spellings = [re.escape(name)]
    if full:
        base, digits = re.escape(full[1]), full[2]
        shorter = [f"{base}-{digits[:size]}" for size in range(7, 3, -1)]
        spellings += [*shorter, digits, base]
    return re.compile(
        rf"(?<![\w@-])(?P<at>@?)(?P<name>{'|'.join(spellings)})(?![\w-])", re.IGNORECASE
    )


def _sure(mention: _Mention, names: Collection[str]) -> bool:
    """Whether no other agent may be meant, or all of that name are."""
    base = mention.name.rpartition("-")[0].casefold()
    same = [name for name in names if name.rpartition("-")[0].casefold() == base]
    return not mention.short or mention.called or len(same) == 1


def _leading(text: str, mentions: list[_Mention]) -> list[str]:
    """The agents that a message names first: ``Otto and Iris: …``."""
    greeting = _GREETING.match(text.lstrip())
    place = len(text) - len(text.lstrip()) + (greeting.end() if greeting else 0)
    first: list[str] = []
    stop = -1
    by_start: dict[int, list[_Mention]] = {}
    for mention in mentions:
        by_start.setdefault(mention.start, []).append(mention)
    while here := by_start.get(place):
        first += [mention.name for mention in here]
        stop = here[0].end
        separator = _AND.match(text, stop)
        if not separator:
            break
        place = separator.end()
    return first if first and _STOP.match(text, stop) else []


def _trailing(text: str, mention: _Mention) -> bool:
    """Whether a message ends with a comma and this name."""
    before = mention.start
    while before and text[before - 1].isspace():
        before -= 1
    return text[before - 1 : before] == "," and bool(_LAST.fullmatch(text, mention.end))
