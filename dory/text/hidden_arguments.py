"""The arguments of hidden tools, masked in what is kept of a response. Pure.

A hidden tool keeps its argument in a place of its own, and the record of the response must not be a
second one. So each parsed call of a hidden tool is kept with ``MARK`` as its argument. Nothing else
is masked: what an agent believes it may also think and say.
"""

from collections.abc import Collection

from dory.text.tool_calls import placed, render
from dory.types import Call

MARK = "(kept there alone)"
"""Stands in the place of the argument."""


def masked(call: Call) -> Call:
    """The call as it may be kept: with the mark for what it was given, if that is anything."""
    if call.body is not None:
        return Call(call.tool, body=MARK)
    return Call(call.tool, MARK if call.args or call.edits or call.error else "")


def kept(
    text: str, tools: Collection[str], hidden: Collection[str], known: Collection[str] = ()
) -> str:
    """The text with each call of a ``hidden`` tool masked. The same calls are read from it, in the
    same order. ``tools`` and ``known`` are as ``parse`` has them.
    """
    if not hidden:
        return text
    lines = text.split("\n")
    shown: list[str] = []
    at = 0
    for first, end, call in placed(text, tools, known):
        shown += lines[at:first]
        shown += render([masked(call)]).split("\n") if call.tool in hidden else lines[first:end]
        at = end
    return "\n".join([*shown, *lines[at:]])
