"""RECALL as the stand-in uses it: what it asks for, and what it reads in the answer (see ``extensions/recall/search.py``). Pure.

A hit tells by its line alone who said what, and what opens the rest. What stands in the context needs no hit; what the agent itself thought
and said is no evidence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dory.offline.entries import LAYERS
from dory.offline.words import spelled, stem
from dory.types import Call

_HIT = re.compile(
    r"\d+\. (?:heard|note|archive|result|memory|summary|diary|conversation) (?P<day>\S+) (?P<time>\S+)(?: (?P<speaker>\S+))?(?: in \S+)?,"
    r" score \S+ (?:\(beside a match\) )?(?P<snippet>.*)"
    rf" -> (?P<tool>UNCOMPACT|NOTE_READ|{'|'.join(LAYERS)}) (?P<what>\S+)(?: \((?P<gist>.*)\))?"
)
_MARK = "**"


@dataclass(frozen=True, slots=True)
class Hit:
    """One line of an answer. ``text`` is the snippet without marks; ``speaker`` is empty for what nobody said; ``opens`` gets the whole."""

    at: str
    speaker: str
    text: str
    gist: str
    opens: Call


def search(wording: str, name: str) -> Call | None:
    """The search for what a question tells, and for ``name``, if that is given; None when it tells nothing."""
    words = [word for word in spelled(wording) if stem(word.lower())]
    return Call("RECALL", " ".join(dict.fromkeys([*spelled(name), *words]))) if words else None


def hits(answer: str) -> Iterator[Hit]:
    """What was found and is worth opening, the best first."""
    for found in map(_HIT.fullmatch, answer.split("\n")):
        if found:
            text, opens = found["snippet"].replace(_MARK, ""), Call(found["tool"], found["what"])
            yield Hit(f"{found['day']}T{found['time']}", found["speaker"] or "", text, found["gist"] or "", opens)
