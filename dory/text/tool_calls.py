"""Parses the tool calls in a text. Pure, and never raises: a call that cannot be run becomes a
``Call`` with an ``error`` that says what to do instead.

    SAY dev one line                 arguments up to the end of the line
    SAY dev <<END                    a here-document: the body up to a line that is END
    EDIT_FILE MEMORY.md              edit blocks on the lines that follow
    <<<<<<< SEARCH
    old text
    =======
    new text
    >>>>>>> REPLACE

A call begins at the first column with a tool's name. Lines of code fences are skipped, so a model
may put its calls between fences. Text inside ``<think>`` or ``<reasoning>`` is never parsed. If a
body is not terminated, the rest of the text belongs to it, so that no part of it is run as a call.
"""

import difflib
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cached_property

from dory.types import Call

_HEREDOC = re.compile(r"(\S*\s*(?=<<)|.*?\s(?=<<\S))<<\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\2\s*")
_FENCE = re.compile(r"\s*(```|~~~)[\w-]*\s*")
_THOUGHT = re.compile(r"<(think|reasoning)>", re.IGNORECASE | re.ASCII)
_WHOLE_THOUGHT = re.compile(rf"{_THOUGHT.pattern}.*?</\1>", re.IGNORECASE | re.ASCII | re.DOTALL)
TAG = re.compile(r"(</?(?:think|reasoning)>)", re.IGNORECASE | re.ASCII)
"""A tag that begins or ends a thought."""
_CLOSING = re.compile(r"</(?=reasoning>)", re.IGNORECASE | re.ASCII)
_WORD = re.compile(r"[A-Z][A-Z_]{2,}(?=\s|:|$)")
_DECORATED = re.compile(r"[ \t]*+(?:(?:[-*+>•]|\d+[.)])[ \t]*+)?[*_`]*+([A-Z][A-Z_]*+)(?=[ \t]+\S)")
_SEARCH = "<<<<<<< SEARCH"
_DIVIDER = "======="
_REPLACE = ">>>>>>> REPLACE"
_UNTERMINATED_EDIT = (
    f"unterminated edit block: nothing was changed; a block is '{_SEARCH}', old text, '{_DIVIDER}',"
    f" new text, '{_REPLACE}', each mark on a line of its own"
)


def parse(text: str, tools: Collection[str], known: Collection[str] = ()) -> list[Call]:
    """Return the calls in ``text``, in order. ``tools`` are the names of the tools that exist. A
    line that begins with another ``known`` name becomes a call with an error.
    """
    calls = [call for _, _, call in placed(text, tools, known)]
    return calls or _misplaced(text, tools)


def placed(
    text: str, tools: Collection[str], known: Collection[str] = ()
) -> Iterator[tuple[int, int, Call]]:
    """Yield the same calls without misplaced ones, each with its first line and the line after its
    last one, counted from 0.
    """
    lines = _Lines(text.split("\n"))
    while lines.remaining:
        first = lines.position
        line = lines.take()
        name, _, rest = line.rstrip("\r").partition(" ")
        if name in tools or name in known:
            call = _call(name, rest.strip(), lines)
            if name not in tools:
                call = replace(call, error=f"there is no tool {name} here: nothing was done")
            yield first, lines.position, call
        elif (thought := _THOUGHT.search(line)) and (
            not line[: thought.start()].strip() or lines.closes(thought[1])
        ):
            lines.skip_thought(line[thought.end() :], thought[1])
        elif hint := _misspelt(line, tools):
            yield first, lines.position, hint


def render(calls: list[Call]) -> str:
    """Return tool lines that parse back to ``calls``. The delimiter of a body does not occur in the
    body as a line.
    """
    return "\n".join(_rendered(call) for call in calls)


def as_thought(reasoning: str) -> str:
    """Return ``reasoning`` between the tags that it has in front of its response. It cannot close
    its own tag, so ``parse`` finds no call in it.
    """
    if not reasoning:
        return ""
    inert = _CLOSING.sub(r"<\\/", reasoning)
    return f"<reasoning>\n{inert}\n</reasoning>\n"


def without_thoughts(text: str) -> str:
    """Return ``text`` without its thoughts. A thought without a closing tag stays."""
    return _WHOLE_THOUGHT.sub("", text)


class _Lines:
    """The lines of a text, which are taken one after the other. ``position`` is the number of the
    next line, from 0.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.position = 0

    @property
    def remaining(self) -> bool:
        return self.position < len(self._lines)

    def closes(self, tag: str) -> bool:
        """Whether the closing ``tag``, in upper or lower case, is in a remaining line or in the
        line that was taken last.
        """
        return self._closings[tag.lower()] >= self.position - 1

    @cached_property
    def _closings(self) -> dict[str, int]:
        """The last line with each closing tag; -1 if there is none. Computed once, because a text
        may open a thought in every line.
        """
        closings = {"think": -1, "reasoning": -1}
        for number, line in enumerate(self._lines):
            lowered = line.lower()
            for tag in closings:
                if f"</{tag}>" in lowered:
                    closings[tag] = number
        return closings

    def take(self) -> str:
        line = self._lines[self.position]
        self.position += 1
        return line

    def take_until(self, *ends: str) -> list[str] | None:
        """Take the lines up to and including the next line that is one of ``ends``, and return
        those before it. If there is no such line, take everything and return None.
        """
        for number in range(self.position, len(self._lines)):
            if self._lines[number].rstrip() in ends:
                taken = self._lines[self.position : number]
                self.position = number + 1
                return taken
        self.position = len(self._lines)
        return None

    def take_block_start(self) -> bool:
        """Take the first line of an edit block, and the empty lines and fences before it. If
        anything else comes first, take nothing and return False.
        """
        for number in range(self.position, len(self._lines)):
            if self._lines[number].rstrip() == _SEARCH:
                self.position = number + 1
                return True
            if self._lines[number].strip() and not _FENCE.fullmatch(self._lines[number]):
                return False
        return False

    def skip_thought(self, rest: str, tag: str) -> None:
        """Take the lines up to the one with the closing tag. ``rest`` is what follows the opening
        tag on its line; the closing tag may be there.
        """
        close = f"</{tag.lower()}>"
        while close not in rest.lower() and self.remaining:
            rest = self.take()


def _call(name: str, rest: str, lines: _Lines) -> Call:
    heredoc = _HEREDOC.fullmatch(rest)
    if heredoc:
        args = heredoc[1].rstrip()
        body = lines.take_until(heredoc[3])
        if body is None:
            error = "unterminated text: nothing was done; end it with a line that is just"
            return Call(name, args, error=f"{error} {heredoc[3]}")
        return Call(name, args, body="\n".join(body))
    edits: list[tuple[str, str]] = []
    while lines.take_block_start():
        search = lines.take_until(_DIVIDER)
        replacement = lines.take_until(_REPLACE)
        if (
            search is None
            or replacement is None
            or {_SEARCH, _REPLACE} & {line.rstrip() for line in [*search, *replacement]}
        ):
            lines.take_until()  # the rest of the text, so that no part of the block is run
            return Call(name, rest, error=_UNTERMINATED_EDIT)
        edits.append(("\n".join(search), "\n".join(replacement)))
    return Call(name, rest, edits=tuple(edits))


def nearest(word: str, tools: Collection[str]) -> str | None:
    """Return the tool that was probably meant by ``word``; None if no name is similar."""
    candidates = [tool for tool in tools if tool.startswith(f"{word}_")]
    if not candidates:
        candidates = difflib.get_close_matches(word, tools, n=1, cutoff=0.75)
    return candidates[0] if candidates else None


def _misspelt(line: str, tools: Collection[str]) -> Call | None:
    word = _WORD.match(line)
    if not word or (len(word[0]) == len(line.strip()) and "_" not in word[0]):
        return None
    tool = nearest(word[0], tools)
    if tool is None:
        return None
    error = (
        f"nothing was done: did you mean the tool {tool}? A tool line begins with its exact name"
    )
    return Call(word[0], error=f"{error} and a space")


def prefixed(line: str, tools: Collection[str]) -> str | None:
    """Return the tool that a line would call without the marks before its name: an indent, a
    bullet, bold type. None if there is no such tool.
    """
    match = _DECORATED.match(line)
    return match[1] if match and match[1] in tools else None


def _misplaced(text: str, tools: Collection[str]) -> list[Call]:
    """The first line that would be a call without the marks before its name, as a call with an
    error. For a text without any other call.
    """
    for line in text.split("\n"):
        if name := prefixed(line, tools):
            error = "nothing was done: a tool line begins at the very start of its line, with"
            return [Call(name, error=f"{error} {name} and a space")]
    return []


def _rendered(call: Call) -> str:
    if call.body is not None:
        delimiter = "END"
        lines = {line.rstrip() for line in call.body.split("\n")}
        while delimiter in lines:
            delimiter += "_"
        return f"{call.title} <<{delimiter}\n{call.body}\n{delimiter}"
    blocks = [
        f"\n{_SEARCH}\n{_terminated(search)}{_DIVIDER}\n{_terminated(replacement)}{_REPLACE}"
        for search, replacement in call.edits
    ]
    return call.title + "".join(blocks)


def _terminated(text: str) -> str:
    return f"{text}\n" if text else ""
