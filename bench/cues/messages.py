"""Messages that arrive in a life made of one LoCoMo conversation: about what was in it, and about
nothing that ever was. Pure.

About nothing are questions and plain turns from the other conversations, and small talk. The
questions come as they are, without the names of those who speak there, and with the names of this
life's speakers in their place. What such a renamed question asks about was often talked of here as
well (who has dogs, who went camping), so these are a kind of their own, and not among ``NOTHING``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common.questions import CATEGORIES, Talk

ADVERSARIAL = CATEGORIES[5]
OWN = tuple(name for name in CATEGORIES.values() if name != ADVERSARIAL)
NOTHING = ("others' questions", "others' questions, no names", "others' turns", "small talk")
RENAMED = "others' questions, renamed"
ASKED_EACH, SAID_EACH = 4, 26
"""Of the other conversations' questions, and of their turns, every so many-th arrives."""
_SMALL_TALK = Path(__file__).parent / "smalltalk.md"


@dataclass(frozen=True, slots=True)
class Message:
    """``numbers`` are the documents that hold what it is about; none if it is about nothing."""

    kind: str
    text: str
    numbers: frozenset[int] = frozenset()


def messages(talk: Talk, others: Sequence[Talk]) -> Iterator[Message]:
    """All that arrive in the life of ``talk``."""
    for question in talk.questions:
        yield Message(question.category, question.text, question.evidence)
    as_they_are, unnamed, turns, small = NOTHING
    for other in others:
        theirs = speakers(other)
        asked = [question.text for question in other.questions if question.category in OWN]
        for text in asked[::ASKED_EACH]:
            yield Message(as_they_are, text)
            yield Message(unnamed, renamed(text, dict.fromkeys(theirs, "")))
            yield Message(RENAMED, renamed(text, dict(zip(theirs, speakers(talk), strict=False))))
        for document in other.documents[::SAID_EACH]:
            yield Message(turns, document.text)
    for text in _SMALL_TALK.read_text(encoding="utf-8").splitlines()[2:]:
        yield Message(small, text)


def speakers(talk: Talk) -> list[str]:
    """Who speaks in it, in order."""
    return list(dict.fromkeys(document.speaker for document in talk.documents))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """``text`` with other ``names``."""
    return re.sub(
        rf"\b(?:{'|'.join(map(re.escape, names))})\b", lambda match: names[match[0]], text
    )
