"""What a message wants. An ordered table of patterns: the first that fits names the intent, and
what it captured is its subject.

introduce   who are you? help
do          please do: WRITE_DIARY We met Bob today
remember    remember that …, note: …, my X is Y, I am called …, call me …, we use …
note        make a note: …, note down …
forget      forget (about) …, … is no longer true
read        read notes/plan.md, show me the file todo.txt
ask         ends with a question mark, begins as a question does, tell me …
greet       hello
state       anything else
"""

import re
from dataclasses import dataclass
from typing import Literal

from dory.offline.words import sentences
from dory.text.formatting import one_line

Name = Literal["introduce", "do", "remember", "note", "forget", "read", "ask", "greet", "state"]

FACT_LIMIT = 200
"""Characters of one line in MEMORY: a longer statement is talk, not a fact."""


@dataclass(frozen=True, slots=True)
class Intent:
    """``subject`` holds the tool lines to run, the facts to remember, what to note or to forget,
    the path to read or the question; empty for the others.
    """

    name: Name
    subject: tuple[str, ...] = ()


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_OPENING = _pattern(
    r"(?:(?:hi|hello|hey|okay|ok|and|so|also|well|please|dory[\w-]*|[\w-]+-[0-9a-f]{8}|(?:could|can|will|would) you)\b[\s,:!.]*)*"
)
_INTRODUCE = _pattern(
    r"(?:/?help|(?:who|what) are you|what can you do|what do you do|introduce yourself)\W*"
)
_DO = _pattern(r"do:\s*(\S.*)")
_REMEMBER = _pattern(
    r"(?:remember|keep in mind|(?:do not|don['’]?t) forget|(?:take )?note(?: down)?(?= that|:))"
    r"(?P<that>:|,? that\b)?\s*(?!(?:what|when|where|which|who|whose|why|how|if)\b)(?P<fact>\w.*)"
)
_NOTE = _pattern(
    r"(?:(?:make|take|write|add) a note|note down)(?: of| about)?(?: that\b|:)?\s+(\w.*)"
)
_FORGET = _pattern(
    r"forget(?: about| that)?\b:?\s*(.+)|(?:it is|it['’]s) no longer (?:true|so) that (.+)"
    r"|(?:that )?(.+) (?:is|are) no longer (?:true|so|the case)\W*"
)
_READ = _pattern(
    r"(?:read|open|show|print)(?: me| us)?(?: the)?(?: (?P<file>file))? [`\"'“]?(?P<path>[\w./-]*\w)\b.{0,20}"
)
_FACT = _pattern(
    r"my [\w'’-]+(?: (?!that\b|says?\b|said\b)[\w'’-]+){0,3}? (?:is|are) \S.*"
    r"|(?:i am|i['’]?m) called \S.*|call me (?-i:[A-Z]).*|we (?:always |never )?use \S.*"
)
_ASKING = _pattern(
    r"(?:what|who|where|when|which|why|how|whose)(?:['’]s\b| (?!(?:i|we|you|he|she|it|they|the|my|our)\b)).*|tell (?:me|us) .*"
    r"|(?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|had)"
    r" (?:i|you|we|he|she|it|they|there|my|your|our|the|this|that|any)\b.*|do you .*"
)
_GREETING = _pattern(
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))\b.{0,30}"
)


def intent(text: str) -> Intent:
    """What the message ``text`` wants."""
    bare = _OPENING.sub("", text.strip(), count=1).strip()
    if _INTRODUCE.fullmatch(bare):
        return Intent("introduce")
    if wish := _DO.fullmatch(bare):
        return Intent("do", (wish[1],))
    asked = tuple(sentence for sentence in sentences(text) if is_question(sentence))
    if (wish := _NOTE.fullmatch(bare)) and not asked:
        return Intent("note", (wish[1].strip(),))
    if (wish := _REMEMBER.fullmatch(bare)) and (wish["that"] or not asked):
        return Intent("remember", (as_fact(wish["fact"]),))
    if (wish := _FORGET.fullmatch(bare)) and not asked:
        return Intent("forget", (wish[1] or wish[2] or wish[3],))
    if (wish := _READ.fullmatch(bare)) and (wish["file"] or re.search(r"\w[./]\w", wish["path"])):
        return Intent("read", (wish["path"],))
    if asked:
        return Intent("ask", (" ".join(asked),))
    facts = [
        as_fact(part)
        for sentence in sentences(text)
        if _FACT.fullmatch(part := _OPENING.sub("", sentence, count=1))
    ]
    if facts and max(map(len, facts)) <= FACT_LIMIT:
        return Intent("remember", tuple(facts))
    return Intent("greet" if _GREETING.fullmatch(text.strip()) else "state")


def is_question(sentence: str) -> bool:
    """Whether ``sentence`` asks something, with or without a question mark."""
    return sentence.endswith("?") or bool(_ASKING.fullmatch(_OPENING.sub("", sentence, count=1)))


def as_fact(text: str) -> str:
    """The text as one line of MEMORY."""
    return one_line(text, FACT_LIMIT).rstrip(" .!?")
