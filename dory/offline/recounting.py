"""Summaries of memories by extraction, for the cascade and for self-care. Pure.

The memories are lines: events of LIFE in full, or what was summed up before. They are cut into
clauses, and those are chosen that say most for their length about what somebody may ask for later:
numbers, dates, names, promises, what is to be remembered. Talk that has none of these comes last.
Of equal clauses the older one stays. What is chosen is told in its order, in three sentences of
bounded length. A summary of summaries is made in the same way, clause by clause.
"""

import re
from collections.abc import Iterator

from dory.offline.summarising import PROMISE
from dory.offline.words import sentences, stems
from dory.text import formatting, references
from dory.types import Prompt, Purpose

SENTENCES, SENTENCE = 3, 210
"""Sentences of a summary, and the most characters of one."""
_CLAUSE = 130
"""The most characters of a clause."""
_OVERHEAD = 25
"""Characters added to a clause's length, so that very short ones are not preferred."""
_REQUEST = re.compile(r"Summari[sz]e these memories\b([^\n]*)\n(.*)\nSUMMARY:\s*", re.DOTALL)
_AT_MOST = re.compile(r"at most (\d+) characters")
_EVENT = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d (?:heard \S+ (?P<heard>.+)|response SAY \S+ (?P<said>.+)"
    r"|response (?P<given>.+)|\S+ failed .*|\S+ (?P<answered>.+))"
)
_TOOL = re.compile(r"^[A-Z][A-Z0-9_]+ (?:[A-Za-z0-9_.-]+\.md )?")
_FURTHER = re.compile(r"^(?:SAY \S+|[A-Z]{2,}(?:_[A-Z]+)+) ")
"""A tool line behind the first of a response: an event is one line."""
_JOINT = "; "
_NUMBER = re.compile(r"\d[\d.,:]*")
_NAME = re.compile(r"(?<=[^.!?:“\"] )[A-Z][a-z]{2,}")
_DATE = re.compile(
    r"\b(?:january|february|march|april|may \d|\d+ may|june|july|august|september|october|november"
    r"|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day|birthday|tomorrow|deadline)\b",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"\b(?:remember|don['’]t forget|never forget|important|my name|is called|code|password|address"
    r"|number|allergic|favou?rite|decided|agreed|moved|married|born|died)\b",
    re.IGNORECASE,
)
_NOTHING = "Nothing of note happened."


def purpose(prompt: Prompt) -> Purpose | None:
    """The purpose of a prompt that asks to summarise memories; None if it asks for something
    else.
    """
    request = _REQUEST.fullmatch(prompt.text.strip())
    if not request:
        return None
    return "care" if "narrative" in request[1] else "cascade"


def summary(prompt: Prompt) -> str:
    """The summary that a prompt asks for; empty when it asks for something else."""
    request = _REQUEST.fullmatch(prompt.text.strip())
    if not request:
        return ""
    most = _AT_MOST.search(request[1])
    return recount(request[2], int(most[1]) if most else len(request[2]))


def recount(text: str, limit: int) -> str:
    """The summary of memories, of at most ``limit`` characters."""
    clauses = list(dict.fromkeys(_clauses(text)))
    worth = {place: _worth(clause) for place, clause in enumerate(clauses)}
    chosen: list[int] = []
    told: set[str] = set()
    summed = ""
    for place in sorted(worth, key=lambda place: (-worth[place], place)):
        held = set(stems(clauses[place]))
        if chosen and held <= told:
            continue
        longer = _told([clauses[at] for at in sorted([*chosen, place])])
        if longer is not None and len(longer) <= limit:
            chosen.append(place)
            told |= held
            summed = longer
    return summed or _NOTHING


def _told(clauses: list[str]) -> str | None:
    """The clauses in sentences; None if these are too many."""
    told: list[str] = []
    for clause in clauses:
        if told and len(told[-1]) + len(_JOINT) + len(clause) < SENTENCE:
            told[-1] += f"{_JOINT}{clause}"
        else:
            told.append(clause)
    if len(told) > SENTENCES:
        return None
    return " ".join(text if text.endswith(("?", "…", "”")) else f"{text}." for text in told)


def _worth(clause: str) -> float:
    """How much a clause says for its length."""
    score = 0.2 + bool(_NAME.search(clause)) + bool(_DATE.search(clause))
    score += 3.0 * bool(_NUMBER.search(clause)) + 2.0 * bool(_KEEP.search(clause))
    score += 2.0 * bool(PROMISE.search(clause))
    if clause.endswith("?"):
        score /= 4
    return score / (_OVERHEAD + len(clause))


def _clauses(text: str) -> Iterator[str]:
    """What the memories say, without the marks at the end, so that a summary of the summary is cut
    into the same clauses.
    """
    for line in text.split("\n"):
        said = _said(references.gists(line.strip())).removeprefix("- ")
        for sentence in sentences(said):
            for part in _FURTHER.sub("", sentence).split(_JOINT):
                clause = formatting.one_line(part, _CLAUSE).rstrip(".! ")
                if clause:
                    yield clause


def _said(line: str) -> str:
    """What somebody says or does in an event. Any other line is returned whole."""
    event = _EVENT.fullmatch(line)
    if event is None:
        return line
    given = _TOOL.sub("", event["given"] or "")
    return event["heard"] or event["said"] or given or event["answered"] or ""
