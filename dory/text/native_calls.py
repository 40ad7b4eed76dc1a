"""Native function calling and tool lines, each made of the other. Pure.

The schemas are made from the tools that the prompt would list. The calls that come back become tool
lines, which are the record: what runs is what is read from them, also after a crash. A call that no
line can hold (arguments that are no JSON, a tool that does not exist, an argument too many) stands
in the record as ``<tool_call>``, as other formats have it, and is read as an error there. So each
call has exactly one place in the record, behind the text that came beside it, in their order.
"""

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dory.text import loose_json
from dory.text.answers import parse
from dory.text.formatting import encodable, one_line
from dory.text.hidden_arguments import MARK
from dory.text.loose_json import Unreadable
from dory.text.tool_calls import render
from dory.text.tool_usage import ToolUsage, call_of, usages
from dory.types import Answer, Call, Function, NativeCall

_EDITS = "edits"
_EDIT = {
    "type": "object",
    "properties": {"search": {"type": "string"}, "replace": {"type": "string"}},
    "required": ["search", "replace"],
}
_NO_KEY = re.compile(r"[^a-z0-9_.-]")
_WAY = re.compile(r"; write: .*\Z", re.DOTALL)
_WORD = re.compile(r"\W+")
_PIECE = 40
"""Characters of arguments after which their line is made anew while they come."""


def function(usage: str, lesson: str = "") -> Function:
    """The tool with this ``usage`` as a function. Of its ``lesson`` the description keeps what does
    not show a line.
    """
    [tool] = usages([usage]).values()
    properties: dict[str, Any] = {key: {"type": "string"} for key in _keys(tool)}
    required = _keys(tool)[: len(tool.parameters) - tool.optional]
    if tool.blocks:
        about = "each search text stands there exactly once; an empty one appends its replacement"
        properties[_EDITS] = {"type": "array", "items": _EDIT, "description": about}
        required = [*required, _EDITS]
    if tool.parameters == ("text",) and "<text>" not in usage:
        properties["text"]["description"] = usage.partition(" ")[2]
    schema = {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": _description(tool.name, lesson) or usage,
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
    }
    return Function(usage, json.dumps(schema, ensure_ascii=False))


def _description(name: str, lesson: str) -> str:
    told, shows, _ = lesson.partition(f"{name} ")
    told = told.strip()
    if not shows or not told.endswith(":"):
        return told
    sentences = told.removesuffix(":").split(". ")
    return ". ".join(sentences[:-1]) + ("." if sentences[:-1] else "")


def _keys(tool: ToolUsage) -> list[str]:
    return [_NO_KEY.sub("_", parameter.lower()) for parameter in tool.parameters]


def record(
    text: str, calls: Sequence[NativeCall], functions: Sequence[Function]
) -> tuple[str, str, tuple[NativeCall, ...]]:
    """The ``text`` of an answer with a place for each of its ``calls`` behind it; what of the text
    must be a thought instead, because a call below it would not be one; and the calls with what is
    wrong with each.
    """
    tools = usages(function.usage for function in functions)
    usage_texts = [function.usage for function in functions]
    places: list[str] = []
    checked: list[NativeCall] = []
    for native in calls:
        call, problem = _call(native, tools)
        line = _line(call, tools[call.tool], usage_texts) if call else ""
        if not line:
            line = _unreadable(native, usage_texts)
            problem = problem or f"{native.name} was given what no tool line can hold"
        places.append(line)
        checked.append(replace(native, problem=problem and f"nothing was done: {problem}"))
    lines = "\n".join(places)
    whole = f"{text.rstrip()}\n{lines}" if text.strip() else lines
    expected = parse(lines, usage_texts).calls
    if not lines or parse(whole, usage_texts).calls[-len(expected) :] == expected:
        return whole, "", tuple(checked)
    return lines, text, tuple(checked)


def _line(call: Call, usage: ToolUsage, usage_texts: Sequence[str]) -> str:
    """The tool line that is read as the call; empty if there is none."""
    forms = [call]
    if usage.takes_text and call.body is None:  # what looks like a mark of its own at the beginning
        *heads, last = call.args.split(" ", len(usage.parameters) - 1)
        forms.append(replace(call, args=" ".join(heads), body=last))
    for form in forms:
        line = render([form])
        if parse(line, usage_texts).calls == (form,):
            return line
    return ""


def _call(native: NativeCall, tools: Mapping[str, ToolUsage]) -> tuple[Call | None, str]:
    """The call that a line can hold, or what is wrong with it."""
    name = native.name.strip().rpartition(".")[2].upper()
    usage = tools.get(name)
    if not usage:
        near = difflib.get_close_matches(name[:60], tools, n=1, cutoff=0.75)
        hint = f"; did you mean {near[0]}?" if near else ""
        return None, f"there is no tool {one_line(native.name, 60)}{hint}"
    try:
        given = json.loads(native.arguments or "{}", strict=False)
    except (ValueError, RecursionError):
        return None, f"the arguments of {usage.name} are no JSON: they may have been cut off"
    if not isinstance(given, dict):
        return None, f"the arguments of {usage.name} must be a JSON object"
    call = call_of(usage, given)
    if call.error:
        named = ", ".join([*_keys(usage), *([_EDITS] if usage.blocks else [])]) or "none"
        problem = _WAY.sub("", call.error).removeprefix("nothing was done: ")
        return None, f"{problem}; the arguments of {usage.name}: {named}"
    return _soundly(call), ""


def _soundly(call: Call) -> Call:
    """The call with texts that UTF-8 can hold, and without blanks that a line cannot hold."""
    return replace(
        call,
        args=encodable(" ".join(call.args.split("\r")).strip()),
        body=None if call.body is None else encodable(call.body),
        edits=tuple((encodable(old), encodable(new)) for old, new in call.edits),
    )


def _unreadable(native: NativeCall, usage_texts: Sequence[str]) -> str:
    """A place in the record that is read as one call with an error, whatever came."""
    name = json.dumps(one_line(native.name, 60), ensure_ascii=False)
    arguments = one_line(native.arguments, len(native.arguments) + 1) or "{}"
    bare = _WORD.sub("_", native.name).strip("_").upper()[:60] or "NO_NAME"
    for line in (
        f'<tool_call>{{"name": {name}, "arguments": {arguments}}}</tool_call>',
        f'<tool_call>{{"name": {name}, "arguments": {json.dumps(native.arguments)}}}</tool_call>',
    ):
        calls = parse(line, usage_texts).calls
        if len(calls) == 1 and calls[0].error:
            return encodable(line)
    return f"CALL_WITH_AN_ERROR {bare}"


def told(answer: Answer, calls: Sequence[NativeCall]) -> Answer:
    """The answer that was read from a record, with what is wrong with its native ``calls`` told in
    their terms. A call with a problem never runs, whatever was read.
    """
    count = len(calls)
    if not count or len(answer.calls) < count:
        return answer
    first = len(answer.calls) - count
    read = [
        replace(call, error=native.problem) if native.problem else call
        for call, native in zip(answer.calls[first:], calls, strict=True)
    ]
    return replace(answer, calls=(*answer.calls[:first], *read), first_native=first)


def masked(call: NativeCall, functions: Sequence[str]) -> NativeCall:
    """The call of a hidden tool as it may be kept; ``functions`` are the usages of all tools."""
    tool = usages(functions).get(call.name)
    keys = _keys(tool) if tool else []
    return replace(call, arguments=json.dumps(dict.fromkeys(keys, MARK)))


class Arriving:
    """The tool lines of calls that are still arriving, so that people see a message while it is
    written. Takes linear time.
    """

    def __init__(self, functions: Sequence[Function], show: Callable[[str], object]) -> None:
        """``show`` gets each further piece of the lines."""
        self._tools = usages(function.usage for function in functions)
        self._show = show
        self._number = 0
        self._shown = ""
        self._next = self._size = self._pieces = 0

    def add(self, number: int, name: str, arguments: Sequence[str]) -> None:
        """The call with this ``number`` (from 1 on) has these pieces of arguments by now."""
        if number != self._number:
            self._number, self._shown, self._next = number, "", 0
            self._pieces = self._size = 0
        self._size += sum(map(len, arguments[self._pieces :]))
        self._pieces = len(arguments)
        if self._size < self._next or name not in self._tools:
            return
        self._next = self._size + max(_PIECE, self._size // 10)
        line = f"\n{name} {_values(''.join(arguments))}"
        if line.startswith(self._shown):
            self._show(line[len(self._shown) :])
            self._shown = line


def _values(arguments: str) -> str:
    """The texts in arguments that are not whole yet, in their order."""
    try:
        given, _ = loose_json.read(arguments, 0, unfinished=True)
    except Unreadable:
        return ""
    texts = given.values() if isinstance(given, dict) else ()
    return " ".join(text for text in texts if isinstance(text, str))
