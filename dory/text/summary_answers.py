"""What a model answers when it is asked for a summary: without the words around it, and whether it
is one. Pure.

    Here is a summary of the memories:     an announcement goes
    ## Summary                             a heading goes, also one that is bold
    SUMMARY: Ada planned a trip.           a label goes
    SAY dev Ada planned a trip.            a tool line is no summary
"""

import re
from collections.abc import Collection

from dory.text import thoughts
from dory.text.answers import parse

_FENCE = re.compile(r"^[^\S\n]*+```\w*\s*$", re.MULTILINE)
_LABEL = (
    r"(?:(?:short|brief|concise|long|new|updated|final|short-term|long-term)[ -]+)*"
    r"(?:summary|summari[sz]ation|recap|overview)(?: of [^:\n]{1,80})?"
)
_ANNOUNCED = re.compile(
    r"(?:(?:sure|certainly|of course|okay|ok)\b[^\n:]{0,40}?[,.!:]\s*)?"
    r"(?:here(?:['’]s| is| are)|this is|below is)\b[^\n:]{0,80}?"
    r"\b(?:summar|sentence|memor|event|recap|overview|narrative)[^\n:]{0,80}:\s*",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    rf"\W*{_LABEL}\W{{0,4}}?(?:\s*:\W{{0,3}}(?=\s|\w|\Z)|\s*(?:\n|\Z))", re.IGNORECASE
)
_HEADING = re.compile(r"^[^\S\n]*+#{1,6}[ \t]+.*$", re.MULTILINE)
_POINT = re.compile(r"^[^\S\n]*+(?:[-*+•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__")
_WORD = re.compile(r"\w")
_MOST_WORDS_AROUND = 10
"""Announcements and labels that are taken away."""


def cleaned(answer: str) -> str:
    """The summary in an answer."""
    text = _FENCE.sub("", _HEADING.sub("", thoughts.without_thoughts(answer))).strip()
    for _ in range(_MOST_WORDS_AROUND):
        before = text
        text = _ANNOUNCED.sub("", text, count=1) if _ANNOUNCED.match(text) else text
        text = _LABELLED.sub("", text, count=1) if _LABELLED.match(text) else text
        text = text.strip()
        if text == before:
            break
    text = _BOLD.sub(lambda match: match[1] or match[2], _POINT.sub("", text))
    return text.strip()


def wrong(summary: str, tools: Collection[str]) -> str:
    """Why a cleaned answer is no summary, as what the model did; empty if it is one. ``tools`` are
    the usages of all tools.
    """
    if not _WORD.search(summary):
        return "had no summary to give"
    if parse(summary, tools).calls:
        return "gave a tool line instead of a summary"
    return ""
