"""Native function calling on the server's side: a model that writes tool lines, served as one that
calls functions. Pure.

A request with functions is told to the model as the lines and texts of the record, and the lines of
its answer go out as calls.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dory.text.answers import parse
from dory.text.native_calls import function
from dory.text.tool_calls import render
from dory.text.tool_usage import ToolUsage, call_of, usages
from dory.types import Answer, Call, Message


def offered(asked: Mapping[str, Any]) -> dict[str, ToolUsage]:
    """The tools that a decoded request offers, by name. Raises ``ValueError``."""
    try:
        return usages(_usage(tool["function"]) for tool in asked.get("tools") or [])
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"'tools' must be a list of functions: {error!r}") from None


def _usage(given: Mapping[str, Any]) -> str:
    properties = given["parameters"]["properties"]
    required = given["parameters"]["required"]
    words = [f"<{key}>" if key in required else f"[{key}]" for key in properties if key != "edits"]
    blocks = ", then one or more search/replace blocks" if "edits" in properties else ""
    return " ".join([given["name"], *words]) + blocks


def message(given: Mapping[str, Any], tools: Mapping[str, ToolUsage]) -> Message:
    """A message of a request as the record has it. Raises ``ValueError``: every call needs a name
    and an object of arguments.
    """
    role, content = given["role"], given.get("content") or ""
    if role == "tool":
        return Message("user", content)
    calls: list[Call] = []
    for each in given.get("tool_calls") or []:
        name = each["function"]["name"]
        arguments = json.loads(each["function"]["arguments"])
        if not isinstance(arguments, dict):
            raise ValueError("the arguments of a call must be a JSON object")
        calls.append(call_of(tools[name], arguments) if name in tools else Call(name))
    return Message(role, "\n".join(filter(None, [content, render(calls)])))


def check(messages: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``ValueError``, as OpenAI refuses it, unless each call is answered once, directly
    behind its message and in any order, and nothing else is.
    """
    open_calls: list[object] = []
    for given in messages:
        if given.get("role") == "tool":
            if given.get("tool_call_id") not in open_calls:
                raise ValueError("a message of a tool must follow a message with its tool_calls")
            open_calls.remove(given.get("tool_call_id"))
        elif open_calls:
            raise ValueError(f"tool_call_ids did not have response messages: {open_calls}")
        else:
            open_calls = [each.get("id") for each in given.get("tool_calls") or []]


def calls(text: str, tools: Mapping[str, ToolUsage], number: int) -> tuple[str, list[Any]]:
    """What an answer says beside its tool lines, and the lines as calls. ``number`` makes their ids
    unique.
    """
    answer: Answer = parse(text, [usage.usage for usage in tools.values()])
    made = [call for call in answer.calls if call.tool in tools and not call.error]
    if len(made) != len(answer.calls):
        return text, []  # what no function can say is said as it is
    return answer.plain, [
        {
            "index": place,
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.tool, "arguments": _arguments(call, tools[call.tool])},
        }
        for place, call in enumerate(made)
    ]


def _arguments(call: Call, usage: ToolUsage) -> str:
    [made] = [function(usage.usage)]
    keys = list(json.loads(made.schema)["function"]["parameters"]["properties"])
    keys = [key for key in keys if key != "edits"]
    body = [] if call.body is None else [call.body]
    words = call.args.split(" ", max(len(keys) - 1 - len(body), 0)) if call.args else []
    given: dict[str, Any] = dict(zip(keys, [*words, *body], strict=False))
    if usage.blocks:
        given["edits"] = [{"search": old, "replace": new} for old, new in call.edits]
    return json.dumps(given, ensure_ascii=False)


def pieces(made: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The deltas of calls in a stream: the name first, then the arguments in two halves."""
    deltas: list[dict[str, Any]] = []
    for call in made:
        arguments = call["function"]["arguments"]
        half = len(arguments) // 2
        head = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        rest = [
            {"index": call["index"], "function": {"arguments": part}}
            for part in (arguments[:half], arguments[half:])
        ]
        deltas += [{"delta": {"tool_calls": [delta]}} for delta in (head, *rest)]
    return deltas
