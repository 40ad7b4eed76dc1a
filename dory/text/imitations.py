"""What only the harness writes, and models imitate: headers, tags of a room, references. Pure.

A model that goes on after its answer invents the next part of the transcript. So an answer ends
before the first line that is a header or somebody's line of a room, unless it begins with the
header that its own answers have in the context. Inside a thought that ends,
such lines are quoted, and end nothing.
"""

import re
from collections import deque
from collections.abc import Iterator
from functools import cached_property

from dory.text import references
from dory.text.thoughts import OPENING, Thoughts

STOP = ("\n[#",)
"""Texts at which an endpoint may stop: an answer never needs them."""
_KINDS = "heard|notice|response|result|error|compacted|uncompacted"
_TAG = r"\[{}:[^\s\[\]]{{1,64}}(?: [^\[\]\n]{{0,64}})?\]"
_BEGUN = re.compile(
    rf"^\[#(?:\d{{1,15}}(?:-\d{{1,15}})?(?: (?:{_KINDS})\b|(?: [a-z][^\n\]]*+)?\]?[ \t\r]*+$)"
    rf"|[a-z]+(?: [^\n\]]*+)?\][ \t\r]*+$)"
    rf"|^{_TAG.format('(?:USER|NOTICE)')}|^(?P<agent>{_TAG.format('AGENT')})"
    r"|<\|im_start\|>(?:user|system|tool)\b|<start_of_turn>user\b|^\[INST\]"
    r"|(?P<observed>^\**Observation(?: ?\d+)? ?:)"
    r"|<\|start_header_id\|>(?:user|system|ipython)\b|<\|start\|>user\b",
    re.MULTILINE,
)
_INK = re.compile(r"\S")
_QUOTED = re.compile(r"^\[(?=#|USER:|AGENT:|NOTICE:)", re.MULTILINE)
_ACTION = re.compile(r"^[ \t]*\**Action(?: ?\d+)? ?:", re.MULTILINE | re.IGNORECASE)
_HEAD = re.compile(r"\W*+[A-Za-z]+\W*+[\w-]*+\W*+(?:<<\W*\w+\W*)?")
_OWN_HEADER = re.compile(r"\s*\[#\d{1,15}(?:-\d{1,15})? response\b[^\n]*(?:\n|\Z)")
_MARK = re.compile(
    r"\s*\[#\d{1,15}(?:-\d{1,15})? [a-z][^\[\]\n]{0,80}\][ \t]*(?=[^\s(])", re.IGNORECASE
)
"""The likeness of a header before what is said, in its line; not the text of a link."""
_OWN_TAGS = re.compile(rf"\s*(?:{_TAG.format('(?:AGENT|USER|NOTICE)')}\s*)+")
_CUE = re.compile(r"^↳ .*(?:\n|\Z)", re.MULTILINE)
_TOKENS = re.compile(
    r"<[|｜](?:im|eot|eom|end|start|return|begin|message|channel|constrain|call)[\w▁ ]{0,40}[|｜]>"
    r"(?:assistant\b)?|</s>|<end_of_turn>|<start_of_turn>(?:model\b)?"
)


def begun(text: str) -> int:
    """The place at which an answer begins to invent what follows it; the end if it does not."""
    return next(places(text), len(text))


def places(text: str) -> Iterator[int]:
    """What ``begun`` says of a text, and of what stands below that line, and so on. The time is
    linear in all of it.
    """
    thinking = _Thinking(text)
    actions = deque(match.span() for match in _ACTION.finditer(text))
    first, read, head = _first(text, 0), 0, ""
    below = 0
    for match in _BEGUN.finditer(text):
        start = match.start()
        if start < below:
            continue
        if match["agent"]:
            above = text[read:start].rstrip()
            head = above[above.rfind("\n") + 1 :][:200] or head  # the last line with a word
            read = start
            if not head or _HEAD.fullmatch(head):
                continue  # its own tag, before what it says
        if start == first and _OWN_HEADER.match(text, start):
            continue  # as its answers stand in the context
        while actions and actions[0][0] < below:
            actions.popleft()
        if match["observed"] and not (actions and actions[0][1] <= start):
            continue
        if not thinking.at(start, below):
            yield start
            below = read = text.find("\n", start) + 1 or len(text)
            first, head = _first(text, below), ""


def quoted(text: str) -> str:
    """``text`` as an answer may quote it: a backslash stands before each line at which the answer
    would end.
    """
    return _QUOTED.sub(r"\\\g<0>", text)


def cleaned(text: str) -> str:
    """``text`` as it may enter a room: without the header of an answer or the tag of a room at its
    beginning, cues and the tokens of chat templates, and with the gist in the place of a reference.
    """
    for header in (_OWN_HEADER, _MARK):
        if found := header.match(text):
            text = text[found.end() :]
    text = _OWN_TAGS.sub("", text, count=1) if _OWN_TAGS.match(text) else text
    if "<" in text:
        text = _TOKENS.sub("", text)
    if "↳" in text:
        text = _CUE.sub("", text)
    return references.gists(text) if "◱" in text else text


class _Thinking:
    """Which places of a text stand within a thought that ends."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0

    def at(self, place: int, begin: int) -> bool:
        """Whether ``place`` does; only thoughts that begin at ``begin`` or later count. To be asked
        from the first place to the last.
        """
        while self._openings and self._openings[0].start() <= place:
            opening = self._openings.popleft()
            if opening.start() >= max(begin, self._end):
                self._end = self._thoughts.end(opening) or self._end
        return place < self._end

    @cached_property
    def _openings(self) -> deque[re.Match[str]]:
        return deque(OPENING.finditer(self._text))

    @cached_property
    def _thoughts(self) -> Thoughts:
        return Thoughts(self._text)


def _first(text: str, at: int) -> int:
    """The place of the first character from ``at`` on that is not blank."""
    found = _INK.search(text, at)
    return found.start() if found else len(text)
