"""A plain text that asks for a summary of memories, one a line, and gets two or three of their sentences: the ones that together hold most of
the words that come again and again, in their order. A summary of summaries is made in the same way. Of the lines of LIFE only those count in
which somebody says something.
"""

import re
from collections import Counter
from collections.abc import Iterator

from dory.offline.words import sentences, stems
from dory.text import references
from dory.types import Prompt, Purpose

LEAST, MOST, SENTENCE_LIMIT = 2, 3, 160
"""Sentences, and characters of one."""
_SHARE = 0.1
"""Of all there is to tell: what a third sentence must add."""
_ASKED = re.compile(r"Summari[sz]e these memories\b([^\n]*)\n(.*)\nSUMMARY:\s*", re.DOTALL)
_EVENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d (?:heard \S+ (?P<heard>.+)|response SAY \S+ (?P<said>.+)|.*)")
_NOTHING = "Nothing of note happened."


def memories(prompt: Prompt) -> str | None:
    """What a prompt wants to have summed up; None when it wants something else."""
    asked = _ASKED.fullmatch(prompt.text.strip())
    return asked[2] if asked else None


def purpose(prompt: Prompt) -> Purpose:
    """What such a prompt is for."""
    asked = _ASKED.fullmatch(prompt.text.strip())
    return "care" if asked and "narrative" in asked[1] else "cascade"


def recount(text: str) -> str:
    """The summary."""
    told = list(dict.fromkeys(_sentences(text)))
    held = [frozenset(stems(sentence)) for sentence in told]
    missing = Counter(stem for each in held for stem in each)
    least, chosen = _SHARE * missing.total(), set[int]()
    while len(chosen) < min(MOST, len(told)):
        worth = {at: sum(missing[stem] for stem in held[at]) for at in range(len(told)) if at not in chosen}
        best = max(worth, key=lambda at: (worth[at] / (20 + len(told[at])), -at))
        if len(chosen) >= LEAST and worth[best] < least:
            break
        chosen.add(best)
        for stem in held[best]:
            del missing[stem]
    return " ".join(told[at] for at in sorted(chosen)) or _NOTHING


def _sentences(text: str) -> Iterator[str]:
    """Each with its end, so that it is found again in a summary of the summary."""
    for line in text.split("\n"):
        for sentence in sentences(_told(references.gists(line.strip())).removeprefix("- ")):
            shown = references.one_line(sentence, SENTENCE_LIMIT)
            yield shown if shown.endswith((".", "!", "?", "…")) else f"{shown}."


def _told(line: str) -> str:
    """What is said in a memory, or the whole of what is none."""
    event = _EVENT.fullmatch(line)
    return event["heard"] or event["said"] or "" if event else line
