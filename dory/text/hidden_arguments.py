"""What a response gives to hidden tools, taken out of what is kept of it, and what they hold, out
of what others make of a prompt. Pure.

A hidden tool has a place of its own for what it is given, and it shall stand nowhere else: not in
the context, nor in anything that is made of that. So a response is kept with ``MARK`` in the place
of each such argument. What is said in a room is public and stays as it was said; the thoughts
around it stay, too, but for the same words, and for what follows the tool's name in them, where a
model tries out what it is going to write, or writes it in a form that is no call: the rest of that
line, or, if it has none, what stands below up to an empty line, a call, or the end of a
here-document.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from dory.text.tool_calls import TAG, nearest, placed, prefixed
from dory.types import Call

MARK = "(kept there alone)"
"""What stands in the place of such an argument."""
_LEAST = 8
"""Characters of three words, twice as many of two, three times of one: less may mean anything, and
stays in the thoughts; so do a few digits, which are an id.
"""
_ID = re.compile(rf"[\W\d]{{0,{_LEAST}}}")
_SPACED, _UNSPACED = r"[^\W\u0e00-\U0010ffff]", re.compile(r"[^\W\0-\u0dff]")
"""Letters of a script that has spaces between words, and of one that has none, where each counts as
a word.
"""
_LINE = re.compile(r"(\w+)([:\s]*)")
_BELOW = re.compile(r"(.*?)<<[^\w\n]{0,4}(\w{1,40})[^\w\n]{0,4}")


def hushed(text: str, words: Iterable[str]) -> str:
    """``text`` with the mark in the place of each of these ``words``, in whatever case and however
    broken into lines.
    """
    for one in sorted(filter(_telling, words), key=len, reverse=True):
        if "\n" in text or one.casefold() in text.casefold():
            whole = r"\s+".join(map(re.escape, one.split()))
            text = re.sub(
                rf"(?:(?<!{_SPACED})|(?!{_SPACED})){whole}(?:(?!{_SPACED})|(?<!{_SPACED}))",
                MARK,
                text,
                flags=re.IGNORECASE,
            )
    return text


def discreet(
    text: str,
    reasoning: str,
    tools: Collection[str],
    hidden: Collection[str],
    held: Collection[str] = (),
    known: Collection[str] = (),
) -> tuple[str, str]:
    """A response's text and its reasoning as they are kept: the same calls are read from it, in the
    same order, but for what is hidden. ``held`` is what hidden tools hold already, ``known`` as
    ``parse`` has it.
    """
    if not hidden:
        return text, reasoning
    thoughts = _Thoughts(tools, hidden)
    kept = thoughts.without(text.split("\n"), list(placed(text, tools, known)))
    thought = thoughts.without(reasoning.split("\n"), [])
    words = thoughts.found | set(held)
    return _joined(kept, words, tools), _joined(thought, words, tools)


class _Thoughts:
    """Lines outside of calls; ``found`` is what hidden tools were given in them or in calls."""

    def __init__(self, tools: Collection[str], hidden: Collection[str]) -> None:
        self._tools = tools
        self._hidden = hidden
        self._named = re.compile(rf"\b(?:{'|'.join(hidden)})\b[^\w<(]*", re.IGNORECASE)
        self.found = set[str]()
        self._below: str | None = None
        """Veiled are the lines up to this one; up to an empty line or a call if it is empty; None
        when none are.
        """
        self._first = True

    def without(
        self, lines: Sequence[str], calls: Sequence[tuple[int, int, Call]]
    ) -> list[tuple[str, bool]]:
        """The lines without what is hidden, and of each whether it stands outside of all calls."""
        kept, at, self._below = list[tuple[str, bool]](), 0, None
        for first, end, call in [*calls, (len(lines), len(lines), Call(""))]:
            for number in range(at, first):
                kept += [(line, True) for line in self._line(lines[number], lines[number + 1 :])]
            self._below = self._below or None  # a call ends what has no end of its own
            if (
                call.tool if call.tool in self._tools else nearest(call.tool, self._tools)
            ) in self._hidden:
                kept += [
                    (line, False) for line in self._veiled(call, lines[first:end], lines[end:])
                ]
            else:
                kept += [
                    (line, call.tool not in self._tools) for line in lines[first:end]
                ]  # what does nothing is as good as prose
            at = end
        return kept

    def _line(self, line: str, behind: Sequence[str]) -> Iterator[str]:
        found, called = self._named.search(line), prefixed(line, self._tools)
        if self._below == "" and (
            (called and called not in self._hidden) or (not line.strip() and not self._first)
        ):
            self._below = None
        if self._below is not None and not (found and not self._below):
            if self._below and line.strip() == self._below:
                self._below = None
                yield line
            elif line.strip() and (self._first or TAG.search(line)):
                yield self._masked(line)
                self._first = False
            else:
                self._note(line)
                if self._first:
                    yield line
        elif found:
            yield line[: found.end()] + self._rest(line[found.end() :], behind)
        else:
            yield line

    def _rest(self, rest: str, behind: Sequence[str]) -> str:
        """What stands behind a hidden tool's name on its line; it decides what is veiled of the
        lines ``behind``.
        """
        self._first, below = True, _BELOW.fullmatch(rest.rstrip())
        if below:
            self._below = below[2] if any(line.strip() == below[2] for line in behind) else ""
            return f"{self._masked(below[1])}<<{below[2]}"
        self._below = None if re.search(r"\w", TAG.split(rest)[0]) or TAG.search(rest) else ""
        return rest if _ID.fullmatch(rest) else self._masked(rest)

    def _veiled(self, call: Call, lines: Sequence[str], behind: Sequence[str]) -> Sequence[str]:
        """The call in a form that takes as many of the lines behind it as before: none."""
        for line in [lines[0].partition(call.tool)[2], *lines[1:]]:
            self._note(line)
        if call.body is not None:
            return [f"{call.tool} <<END", MARK, "END"]
        name, between, rest = _LINE.split(lines[0], maxsplit=1)[1:]
        if len(lines) == 1:
            veiled = self._rest(rest, behind)
            return [f"{name}{between}{veiled if _ID.fullmatch(veiled) else MARK}"]
        return [f"{name}{between}{MARK}"]

    def _masked(self, text: str) -> str:
        """Tags stay: those of thoughts decide what is read as a call."""
        parts = TAG.split(text)
        for part in parts:
            self._note(part)
        return "".join(
            part if number % 2 or not part.strip() else MARK for number, part in enumerate(parts)
        )

    def _note(self, line: str) -> None:
        self.found |= {part.strip(": \t\r") for part in [line, *self._named.split(line)]}


def _telling(words: str) -> bool:
    """Whether they can be told from ordinary ones, and hold no tag: those of thoughts decide what
    is read as a call.
    """
    count = len(words.split()) + len(_UNSPACED.findall(words))
    return (
        len(words) >= _LEAST * max(4 - count, 1) and words != MARK and not {"<", ">"} & set(words)
    )


def _joined(
    lines: Iterable[tuple[str, bool]], words: Collection[str], tools: Collection[str]
) -> str:
    """The lines, those outside of calls without these ``words``; what begins like a misplaced call
    begins so still.
    """

    def hush(line: str) -> str:
        named = prefixed(line, tools)
        at = line.index(named) + len(named) if named else 0
        return line[:at] + hushed(line[at:], words)

    return "\n".join(hush(line) if outside else line for line, outside in lines)
