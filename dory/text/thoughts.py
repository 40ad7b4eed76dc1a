"""The tags between which models think. What stands there is private and holds no call. Pure.

<think> … </think>          also <thinking>, <reasoning>, <analysis>, <antThinking> and the like
[THINK] … [/THINK]          Mistral
◁think▷ … ◁/think▷          Kimi
<|channel|>analysis<|message|> … <|end|>    gpt-oss
"""

import re

_NAMES = (
    "think|thinking|reasoning|thought|thoughts|reflection|scratchpad|analysis|inner_monologue|"
    "internal_monologue|antThinking"
)
_XML = rf"(?:[a-z]{{1,9}}:)?(?:{_NAMES})>"
OPENING = re.compile(
    rf"<{_XML}|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|channel\|>analysis<\|message\|>",
    re.IGNORECASE | re.ASCII,
)
"""What begins a thought."""
_CLOSING = rf"</{_XML}|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
CLOSING = re.compile(rf"(?<![ \t])[ \t]*+(?:{_CLOSING})", re.IGNORECASE | re.ASCII)
"""The end of a thought, with the blanks before it. It is not tried again at each of many blanks."""
TAG = re.compile(rf"({OPENING.pattern}|{_CLOSING})", re.IGNORECASE | re.ASCII)
"""A tag that begins or ends a thought."""
_CALLED_TAG = re.compile(r" (?:tags?|marks?|tokens?)\b", re.IGNORECASE)
_REASONING_END = re.compile(r"</(?=reasoning>)", re.IGNORECASE | re.ASCII)
_ALONE = re.compile(r"</think>|\[/THINK\]|◁/think▷", re.IGNORECASE)
"""What ends a thought that began in the prompt."""
_ENDS = re.compile(rf"{_CLOSING}|<\|end\|>|(?=<\|start\|>|<\|channel\|>)", re.IGNORECASE | re.ASCII)


class Thoughts:
    """Where the thoughts of one text end. The closing tags are looked up once, because a text may
    open a thought in every line.
    """

    def __init__(self, text: str) -> None:
        self._ends: dict[str, list[tuple[int, int]]] = {}
        for match in _ENDS.finditer(text):
            self._ends.setdefault(_kind(match[0]), []).append((match.start(), match.end()))
        for places in self._ends.values():
            places.reverse()

    def end(self, opening: re.Match[str]) -> int | None:
        """The place behind the thought that ``opening`` begins; None if it does not end. To be
        asked from the first thought to the last.
        """
        places = self._ends.get(_kind(opening[0]), [])
        while places and places[-1][0] < opening.end():
            places.pop()
        return places[-1][1] if places else None


def unended(text: str) -> bool:
    """Whether ``text`` opens a thought that has not ended yet."""
    ends = Thoughts(text)
    return any(ends.end(opening) is None for opening in OPENING.finditer(text))


def as_thought(reasoning: str) -> str:
    """Return ``reasoning`` between the tags that it has in front of its response. It cannot close
    its own tag, so no call is read from it.
    """
    if not reasoning:
        return ""
    inert = _REASONING_END.sub(r"<\\\\/", reasoning)
    return f"<reasoning>\n{inert}\n</reasoning>\n"


def split(content: str) -> tuple[str, str]:
    """The thoughts at the beginning of what a model wrote, and the rest. If they do not end, all is
    a thought. Some chat templates put the opening tag into the prompt, so that only the closing one
    comes.
    """
    begun = content.lstrip()
    if opening := OPENING.match(begun):
        end = Thoughts(begun).end(opening)
        thought, rest = (begun, "") if end is None else (begun[:end], begun[end:])
        return TAG.sub("", thought).removesuffix("<|end|>").strip(), rest.lstrip()
    tag = next((tag for tag in TAG.finditer(content) if not mentioned(content, tag)), None)
    if not tag or not _ALONE.fullmatch(tag[0]):
        return "", content
    return content[: tag.start()].strip(), content[tag.end() :].lstrip()


def mentioned(text: str, tag: re.Match[str]) -> bool:
    """Whether the text only speaks of a tag in it: in backticks, or as "the <think> tag"."""
    line = text.rfind("\n", 0, tag.start()) + 1
    quoted = text.count("`", line, tag.start()) % 2 == 1
    return quoted or bool(_CALLED_TAG.match(text, tag.end()))


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


def _kind(tag: str) -> str:
    """What a tag has in common with the one that it begins or ends with."""
    if tag in ("", "<|end|>") or tag.startswith("<|channel"):
        return "channel"
    return re.sub(r"^<[a-z]{1,9}:", "<", tag.lower().replace("/", "").replace("end_of", "begin_of"))
