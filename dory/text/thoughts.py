"""The tags between which models think. What stands there is private and holds no call. Pure."""

import re

_NAMES = "think|thinking|reasoning|thought|thoughts|reflection|scratchpad"
_PREFIX = r"(?:[a-z]{1,9}:)?"
OPENING = re.compile(
    rf"<{_PREFIX}({_NAMES})>|<\|channel\|>analysis<\|message\|>", re.IGNORECASE | re.ASCII
)
"""What begins a thought; the group is the tag's name, none for the channel of gpt-oss."""
TAG = re.compile(rf"(</?{_PREFIX}(?:{_NAMES})>)", re.IGNORECASE | re.ASCII)
"""A tag that begins or ends a thought."""
CLOSING = re.compile(rf"[ \t]*+</{_PREFIX}(?:{_NAMES})>", re.IGNORECASE | re.ASCII)
"""The end of a thought at the beginning of a line."""
_CALLED_TAG = re.compile(r" (?:tags?|marks?|tokens?)\b", re.IGNORECASE)
_REASONING_END = re.compile(r"</(?=reasoning>)", re.IGNORECASE | re.ASCII)
_ENDS = re.compile(
    rf"</{_PREFIX}({_NAMES})>|<\|end\|>|(?=<\|start\|>|<\|channel\|>)", re.IGNORECASE | re.ASCII
)


class Thoughts:
    """Where the thoughts of one text end. The closing tags are looked up once, because a text may
    open a thought in every line.
    """

    def __init__(self, text: str) -> None:
        self._ends: dict[str, list[tuple[int, int]]] = {}
        for match in _ENDS.finditer(text):
            name = (match[1] or "").lower()
            self._ends.setdefault(name, []).append((match.start(), match.end()))
        for places in self._ends.values():
            places.reverse()

    def end(self, opening: re.Match[str]) -> int | None:
        """The place behind the thought that ``opening`` begins; None if it does not end. To be
        asked from the first thought to the last.
        """
        places = self._ends.get((opening[1] or "").lower(), [])
        while places and places[-1][0] < opening.end():
            places.pop()
        return places[-1][1] if places else None


def as_thought(reasoning: str) -> str:
    """Return ``reasoning`` between the tags that it has in front of its response. It cannot close
    its own tag, so no call is read from it.
    """
    if not reasoning:
        return ""
    inert = _REASONING_END.sub(r"<\\\\/", reasoning)
    return f"<reasoning>\n{inert}\n</reasoning>\n"


def mentioned(line: str, opening: re.Match[str]) -> bool:
    """Whether the line only speaks of the tag: in backticks, or as "the <think> tag"."""
    quoted = line.count("`", 0, opening.start()) % 2 == 1
    return quoted or bool(_CALLED_TAG.match(line, opening.end()))


def spoken(text: str) -> str:
    """``text`` without its thoughts, and without what follows a tag that opens one and is never
    closed. A tag that is only mentioned, or in a code block, hides nothing.
    """
    text = without_thoughts(text)
    framed = False
    start = 0
    for line in text.split("\n"):
        framed = framed != line.lstrip().startswith("```")
        for opening in () if framed else OPENING.finditer(line):
            if not mentioned(line, opening):
                return text[: start + opening.start()].rstrip()
        start += len(line) + 1
    return text


def without_thoughts(text: str) -> str:
    """Return ``text`` without its thoughts. A thought without a closing tag stays."""
    if "<" not in text:
        return text
    parts: list[str] = []
    thoughts = Thoughts(text)
    at = 0
    for opening in OPENING.finditer(text):
        if opening.start() < at:
            continue
        end = thoughts.end(opening)
        if end is not None:
            parts.append(text[at : opening.start()])
            at = end
    return "".join([*parts, text[at:]])
