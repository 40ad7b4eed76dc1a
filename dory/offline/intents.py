"""What a message wants. The patterns are tried in the order below. The first that fits gives the
intent, and what it captured is the subject.

introduce   who are you? help
do          please do: WRITE_DIARY We met Bob today
remember    remember that …, note: …, my X is Y, I am called …, call me …, we use …
diary       write in your diary: …
append      add … to the note groceries
note        make a note: …, make a note called groceries: …, note down …
forget      forget (about) …, … is no longer true
read        read notes/plan.md, show me the file todo.txt
join        join the room lab
cannot      please send, order, ring, switch on …: what no tool does
ask         ends with a question mark, begins as a question does, tell me …
greet       hello
state       anything else
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from dory.offline.words import sentences
from dory.text.formatting import one_line

Name = Literal[
    "introduce",
    "do",
    "remember",
    "diary",
    "append",
    "note",
    "forget",
    "read",
    "join",
    "cannot",
    "ask",
    "greet",
    "state",
]

FACT_LIMIT = 200
"""Characters of one line in MEMORY. A longer statement is no fact to remember."""


@dataclass(frozen=True, slots=True)
class Intent:
    """``subject`` holds the tool lines to run (do), the facts (remember), the text (diary, forget),
    the text and the name (note, without a name if none is given; append), the path (read), the room
    (join) or the question (ask). It is empty for the other intents.
    """

    name: Name
    subject: tuple[str, ...] = ()


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_OPENING = _pattern(
    r"(?:(?:hi|hello|hey|okay|ok|and|so|also|well|please|dory[\w-]*|[\w-]+-[0-9a-f]{8}"
    r"|(?:could|can|will|would) you)\b[\s,:!.]*)*"
)
_INTRODUCE = _pattern(
    r"(?:/?help|(?:who|what) are you|what can you do|what do you do|introduce yourself)\W*"
)
_DO = _pattern(r"do:\s*(\S.*)")
_REMEMBER = _pattern(
    r"(?:remember|keep in mind|(?:do not|don['’]?t) forget|(?:take )?note(?: down)?(?= that|:))"
    r"(?P<that>:|,? that\b)?\s*(?!(?:what|when|where|which|who|whose|why|how|if)\b)(?P<fact>\w.*)"
)
_DIARY = _pattern(
    r"(?:write|note|put)(?: it| this)? (?:in|into) your diary(?:,? that\b|:)?\s+(\w.*)"
)
_APPEND = _pattern(r"(?:add|append) (\S.*) to (?:the|my|your) note ([\w-]+)\W*")
_NOTE = _pattern(
    r"(?:(?:make|take|write|add) a note|note down)(?: (?:called|named) (?P<name>[\w-]+))?"
    r"(?: of| about)?(?: that\b|:)?\s+(?P<text>\w.*)"
)
_FORGET = _pattern(
    r"forget(?: about| that)?\b:?\s*(.+)|(?:it is|it['’]s) no longer (?:true|so) that (.+)"
    r"|(?:that )?(.+) (?:is|are) no longer (?:true|so|the case)\W*"
)
_READ = _pattern(
    r"(?:read|open|show|print)(?: me| us)?(?: the)?(?: (?P<file>file))?"
    r" [`\"'“]?(?P<path>[\w./-]*\w)\b.{0,20}"
)
_JOIN = _pattern(r"(?:join|enter|come to) the room ([\w-]+)\W*")
_CANNOT = _pattern(r"(?:send|mail|e-mail|phone|ring|order|buy|pay|(?:turn|switch) (?:on|off))\b.*")
_REQUESTED = _pattern(r".*?\b(?:please|(?:can|could|will|would) you)\b.*")
_FACT = _pattern(
    r"my [\w'’-]+(?: (?!that\b|says?\b|said\b)[\w'’-]+){0,3}? (?:is|are) \S.*"
    r"|(?:i am|i['’]?m) called \S.*|call me (?-i:[A-Z]).*|we (?:always |never )?use \S.*"
)
_ASKING = _pattern(
    r"(?:what|who|where|when|which|why|how|whose)"
    r"(?:['’]s\b| (?!(?:i|we|you|he|she|it|they|the|my|our)\b)).*|tell (?:me|us) .*"
    r"|(?:do|does|did|is|are|was|were|can|could|will|would|should|have|has|had)"
    r" (?:i|you|we|he|she|it|they|there|my|your|our|the|this|that|any)\b.*|do you .*"
)
_GREETING = _pattern(
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))\b.{0,30}"
)


def intent(text: str) -> Intent:
    """What the message ``text`` wants."""
    bare = _OPENING.sub("", text.strip(), count=1).strip()
    questions = tuple(sentence for sentence in sentences(text) if is_question(sentence))
    if _INTRODUCE.fullmatch(bare):
        return Intent("introduce")
    if match := _DO.fullmatch(bare):
        return Intent("do", (match[1],))
    if match := _DIARY.fullmatch(bare):
        return Intent("diary", (one_line(match[1], FACT_LIMIT),))
    if match := _APPEND.fullmatch(bare):
        return Intent("append", (match[1].strip(), match[2]))
    if (match := _NOTE.fullmatch(bare)) and not questions:
        return Intent("note", tuple(filter(None, (match["text"].strip(), match["name"]))))
    if (match := _REMEMBER.fullmatch(bare)) and (match["that"] or not questions):
        return Intent("remember", (as_fact(match["fact"]),))
    if (match := _FORGET.fullmatch(bare)) and not questions:
        return Intent("forget", (match[1] or match[2] or match[3],))
    if (match := _READ.fullmatch(bare)) and (match["file"] or _looks_like_path(match["path"])):
        return Intent("read", (match["path"],))
    if match := _JOIN.fullmatch(bare):
        return Intent("join", (match[1].lower(),))
    if _CANNOT.fullmatch(bare) and _REQUESTED.fullmatch(text):
        return Intent("cannot")
    if questions:
        return Intent("ask", (" ".join(questions),))
    facts = tuple(_stated_facts(text))
    if facts and max(map(len, facts)) <= FACT_LIMIT:
        return Intent("remember", facts)
    if _GREETING.fullmatch(text.strip()):
        return Intent("greet")
    return Intent("state")


def is_question(sentence: str) -> bool:
    """Whether ``sentence`` asks something, with or without a question mark."""
    return sentence.rstrip('"”’»)').endswith("?") or bool(
        _ASKING.fullmatch(_OPENING.sub("", sentence, count=1))
    )


def as_fact(text: str) -> str:
    """The text as one line of MEMORY."""
    return one_line(text, FACT_LIMIT).rstrip(" .!?")


def _stated_facts(text: str) -> Iterator[str]:
    """The sentences that are facts although nobody asks to remember them."""
    for sentence in sentences(text):
        statement = _OPENING.sub("", sentence, count=1)
        if _FACT.fullmatch(statement):
            yield as_fact(statement)


def _looks_like_path(word: str) -> bool:
    return re.search(r"\w[./]\w", word) is not None
