"""Parses the tool calls in a text. Pure, and never raises: what cannot be run becomes a ``Call``
with an ``error`` that says what to do instead.

    SAY dev one line                 arguments up to the end of the line
    SAY dev <<END                    a here-document: the body up to a line that is END
    EDIT_FILE MEMORY.md              edit blocks on the lines that follow
    <<<<<<< SEARCH
    old text
    =======
    new text
    >>>>>>> REPLACE

A call begins at the first column with a tool's name. Lines of code fences are passed over, so a
model may fence its calls. Text inside ``<think>`` or ``<reasoning>`` is never parsed. An
unterminated body swallows the rest of the text: it must not be half-executed.
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
"""Where a thought begins or ends."""
_CLOSING = re.compile(r"</(?=reasoning>)", re.IGNORECASE | re.ASCII)
_WORD = re.compile(r"[A-Z][A-Z_]{2,}(?=\s|:|$)")
_DECORATED = re.compile(r"[ \t]*+(?:(?:[-*+>•]|\d+[.)])[ \t]*+)?[*_`]*+([A-Z][A-Z_]*+)(?=[ \t]+\S)")
_SEARCH, _DIVIDER, _REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"
_UNTERMINATED_EDIT = (
    f"unterminated edit block: nothing was changed; a block is '{_SEARCH}', old text, '{_DIVIDER}',"
    f" new text, '{_REPLACE}', each mark on a line of its own"
)


def parse(text: str, tools: Collection[str], known: Collection[str] = ()) -> list[Call]:
    """Return the calls in ``text``, in order. ``tools`` are the names that exist. A line with
    another ``known`` name is a call without effect.
    """
    return [call for _, _, call in placed(text, tools, known)] or _misplaced(text, tools)


def placed(
    text: str, tools: Collection[str], known: Collection[str] = ()
) -> Iterator[tuple[int, int, Call]]:
    """Return the same calls without misplaced ones, each with its first line and the line behind
    its last, counted from 0.
    """
    lines = _Lines(text.split("\n"))
    while lines.left:
        first, line = lines.at, lines.take()
        name, _, rest = line.rstrip("\r").partition(" ")
        if name in tools or name in known:
            call = _call(name, rest.strip(), lines)
            if name not in tools:
                call = replace(call, error=f"there is no tool {name} here: nothing was done")
            yield first, lines.at, call
        elif (thought := _THOUGHT.search(line)) and (
            not line[: thought.start()].strip() or lines.closes(thought[1])
        ):
            lines.skip_thought(line[thought.end() :], thought[1])
        elif hint := _misspelt(line, tools):
            yield first, lines.at, hint


def render(calls: list[Call]) -> str:
    """Return tool lines that parse back to ``calls``. A body gets a delimiter that is not in it."""
    return "\n".join(_rendered(call) for call in calls)


def as_thought(reasoning: str) -> str:
    """Return reasoning as it stands before its response. It cannot close its own tag, so ``parse``
    finds no call in it.
    """
    if not reasoning:
        return ""
    inert = _CLOSING.sub(r"<\\/", reasoning)
    return f"<reasoning>\n{inert}\n</reasoning>\n"


def without_thoughts(text: str) -> str:
    """Return ``text`` without the thoughts that end in it."""
    return _WHOLE_THOUGHT.sub("", text)


class _Lines:
    """The lines not yet taken."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.at = 0

    @property
    def left(self) -> bool:
        return self.at < len(self._lines)

    def closes(self, tag: str) -> bool:
        """Whether the closing ``tag``, in upper or lower case, is in a line not yet taken, or in
        the last one taken.
        """
        return self._closings[tag.lower()] >= self.at - 1

    @cached_property
    def _closings(self) -> dict[str, int]:
        """The last line with each closing tag; -1 if there is none. Determined once, as a text may
        open a thought in every line.
        """
        lowered = list(enumerate(line.lower() for line in self._lines))
        return {
            tag: max((at for at, line in lowered if f"</{tag}>" in line), default=-1)
            for tag in ("think", "reasoning")
        }

    def take(self) -> str:
        self.at += 1
        return self._lines[self.at - 1]

    def until(self, *ends: str) -> list[str] | None:
        """Take the lines before the next line that is one of ``ends``, and that line. If there is
        none, take everything and return None.
        """
        for at in range(self.at, len(self._lines)):
            if self._lines[at].rstrip() in ends:
                taken = self._lines[self.at : at]
                self.at = at + 1
                return taken
        self.at = len(self._lines)
        return None

    def at_block(self) -> bool:
        """Whether an edit block comes next, after nothing but empty lines and fences. If so, take
        everything up to its first line.
        """
        for at in range(self.at, len(self._lines)):
            if self._lines[at].rstrip() == _SEARCH:
                self.at = at + 1
                return True
            if self._lines[at].strip() and not _FENCE.fullmatch(self._lines[at]):
                return False
        return False

    def skip_thought(self, rest: str, tag: str) -> None:
        """Take the lines up to the closing tag, which may be in ``rest``, the first line's end."""
        close = f"</{tag.lower()}>"
        while close not in rest.lower() and self.left:
            rest = self.take()


def _call(name: str, rest: str, lines: _Lines) -> Call:
    heredoc = _HEREDOC.fullmatch(rest)
    if heredoc:
        args = heredoc[1].rstrip()
        body = lines.until(heredoc[3])
        if body is None:
            error = "unterminated text: nothing was done; end it with a line that is just"
            return Call(name, args, error=f"{error} {heredoc[3]}")
        return Call(name, args, body="\n".join(body))
    edits: list[tuple[str, str]] = []
    while lines.at_block():
        search = lines.until(_DIVIDER)
        replacement = lines.until(_REPLACE)
        if (
            search is None
            or replacement is None
            or {_SEARCH, _REPLACE} & {line.rstrip() for line in [*search, *replacement]}
        ):
            lines.until()
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
    """Return the tool that a line would call but for what stands before its name: an indent, a
    bullet, bold type.
    """
    match = _DECORATED.match(line)
    return match[1] if match and match[1] in tools else None


def _misplaced(text: str, tools: Collection[str]) -> list[Call]:
    """In a response without any call: the first line that would be one but for what stands before
    the name.
    """
    for line in text.split("\n"):
        if name := prefixed(line, tools):
            error = "nothing was done: a tool line begins at the very start of its line, with"
            return [Call(name, error=f"{error} {name} and a space")]
    return []


def _rendered(call: Call) -> str:
    if call.body is not None:
        mark = "END"
        while mark in {line.rstrip() for line in call.body.split("\n")}:
            mark += "_"
        return f"{call.title} <<{mark}\n{call.body}\n{mark}"
    blocks = [
        f"\n{_SEARCH}\n{_joined(search)}{_DIVIDER}\n{_joined(replacement)}{_REPLACE}"
        for search, replacement in call.edits
    ]
    return call.title + "".join(blocks)


def _joined(text: str) -> str:
    return f"{text}\n" if text else ""
