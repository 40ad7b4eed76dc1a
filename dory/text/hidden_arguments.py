"""The arguments of hidden tools, masked in what is kept of a response. Pure.

A hidden tool keeps its argument in a place of its own, and the record of the response must not be a
second one. So each place that holds a call of a hidden tool, in whatever form, is kept as tool
lines with ``MARK`` as the argument. That goes for what the answer invents, too. Nothing else is
masked: what an agent believes it may also think and say.
"""

from collections.abc import Collection, Iterable, Sequence

from dory.text.answers import placed
from dory.text.imitations import places
from dory.text.tool_calls import render
from dory.types import Call

MARK = "(kept there alone)"
"""Stands in the place of the argument."""
_BROKEN = Call("CALL_WITH_AN_ERROR")
"""Stands in the place of a call that had an error, beside a hidden one. It is no tool, so it has an
error again.
"""


def masked(call: Call) -> Call:
    """The call as it may be kept: with the mark for what it was given, if that is anything."""
    if call.body is not None:
        return Call(call.tool, body=MARK)
    return Call(call.tool, MARK if call.args or call.edits or call.error else "")


def kept(
    text: str,
    tools: Iterable[str],
    hidden: Collection[str],
    known: Collection[str] = (),
    rooms: Collection[str] = (),
) -> str:
    """The text with each call of a ``hidden`` tool masked. The same calls are read from it, in the
    same order. ``tools``, ``known`` and ``rooms`` are as ``answers.parse`` has them.
    """
    usages = list(tools)
    if not hidden:
        return text
    pieces: list[str] = []
    at = 0
    for end in [*places(text), len(text)]:
        pieces.append(_kept(text[at:end], usages, hidden, known, rooms))
        at = text.find("\n", end) + 1 or len(text)
        pieces.append(text[end:at])
    return "".join(pieces)


def _kept(
    text: str,
    tools: Sequence[str],
    hidden: Collection[str],
    known: Collection[str],
    rooms: Collection[str],
) -> str:
    shown: list[str] = []
    at = 0
    for start, end, calls in placed(text, tools, known, rooms):
        if any(call.tool in hidden for call in calls):
            before = text[at:start]
            gap = "\n" if before and not before.endswith("\n") else ""
            lines = render([_shown(call, hidden) for call in calls])
            behind = "\n" if end < len(text) or text[end - 1 : end] == "\n" else ""
            shown += [before, gap, lines, behind]
            at = end
    return "".join([*shown, text[at:]])


def _shown(call: Call, hidden: Collection[str]) -> Call:
    if call.tool in hidden:
        return masked(call)
    return _BROKEN if call.error else call
