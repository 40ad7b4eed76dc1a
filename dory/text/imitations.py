"""What only the harness writes, and models imitate: headers, tags of a room, references. Pure.

A model that goes on after its answer invents the next part of the transcript. So an answer ends
before the first line that is a header or somebody's line of a room, unless it begins with the
header that its own answers have in the context. Inside a thought that ends,
such lines are quoted, and end nothing.
"""

import re

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
    thoughts: list[tuple[int, int]] | None = None
    for match in _BEGUN.finditer(text):
        if match["agent"]:
            before = text[: match.start()].rstrip()
            head = before[before.rfind("\n") + 1 :][:200]
            if not before or _HEAD.fullmatch(head):
                continue  # its own tag, before what it says
        if _OWN_HEADER.match(text, match.start()) and not text[: match.start()].strip():
            continue  # as its answers stand in the context
        if match["observed"] and not _ACTION.search(text, 0, match.start()):
            continue
        if thoughts is None:
            thoughts = _spans(text)
        while thoughts and thoughts[0][1] <= match.start():
            thoughts.pop(0)
        if not thoughts or thoughts[0][0] > match.start():
            return match.start()
    return len(text)


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


def _spans(text: str) -> list[tuple[int, int]]:
    """Where the thoughts are that end."""
    spans: list[tuple[int, int]] = []
    ends = Thoughts(text)
    for opening in OPENING.finditer(text):
        if spans and opening.start() < spans[-1][1]:
            continue
        if (end := ends.end(opening)) is not None:
            spans.append((opening.start(), end))
    return spans
