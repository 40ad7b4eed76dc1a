"""Which tools a value decoded from JSON calls, in any form that models were taught. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence

from dory.text import loose_json

Named = tuple[str, object]
"""The name of a tool as it was written, and its arguments: by name, in order, or one text."""
FINAL = "final answer"
"""In the place of a tool's name: the arguments are an answer for the person."""
_LISTS = ("tool_calls", "toolcalls", "calls", "function_calls", "actions", "tools", "tool_uses")
_WRAPPERS = ("tool_call", "function_call", "tool_use", "tool_calling", "call")
_NAMES = (
    *("tool", "tool_name", "toolname", "recipient_name", "function_name", "function", "action"),
    *("name", "command", "method", "api"),
)
_ARGUMENTS = (
    *("arguments", "args", "parameters", "params", "action_input", "tool_input", "input"),
    *("kwargs", "tool_args", "tool_arguments", "arguments_json", "payload", "inputs"),
)
_META = frozenset(
    ("id", "type", "index", "call_id", "tool_call_id", "thought", "thoughts", "reasoning")
)
_WRAPPED = re.compile(
    r"\s*\{\s*\"(?:answer|response|reply|message|text|content|output|final_answer|thought|"
    r"thoughts|reasoning)\"\s*:"
)
_WORD = re.compile(r"[A-Za-z][\w.:-]{0,79}")
HINT = re.compile(
    rf"[\"']?(?:{'|'.join(sorted({*_LISTS, *_WRAPPERS, *_NAMES}))})[\"']?\s*+:", re.IGNORECASE
)
"""What stands near the beginning of JSON that may be a call."""

IsTool = Callable[[str], bool]


def calls_in(value: object, is_tool: IsTool) -> list[Named]:
    """What ``value`` calls, in order; empty if it is data. A name that is no tool is among it if
    the value has the form of a call.
    """
    if isinstance(value, list):
        parts = [calls_in(item, is_tool) for item in value]
        return [named for part in parts for named in part] if any(parts) else []
    if not isinstance(value, dict):
        return []
    keys = {str(key).lower(): key for key in value}
    for name in _LISTS:
        if name in keys and isinstance(value[keys[name]], list):
            return calls_in(value[keys[name]], is_tool)
    for name in (*_WRAPPERS, "function"):
        inner = value.get(keys.get(name, ""))
        if isinstance(inner, dict) and (named := calls_in(inner, is_tool)):
            return named
    if single := _keyed(value, is_tool):
        return single
    return _flat(value, keys, is_tool)


def unwrapped(text: str) -> str:
    """The answer that JSON holds under a name of its own; ``text`` if it is not just that."""
    if not _WRAPPED.match(text):
        return text
    value = decoded(text.strip())
    said = {k: v for k, v in value.items() if k not in _META} if isinstance(value, dict) else {}
    texts = list(said.values())
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else text


def decoded(given: object) -> object:
    """Arguments that may be JSON inside of a string."""
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        try:
            value, end = loose_json.read(given, len(given) - len(given.lstrip()))
        except loose_json.Unreadable:
            return given
        return value if not given[end:].strip() else given
    return given


def _keyed(value: Mapping[str, object], is_tool: IsTool) -> list[Named]:
    """``{"SAY": {...}}``: every key is a tool."""
    if value and all(is_tool(key) for key in value):
        return [(key, decoded(given)) for key, given in value.items()]
    return []


def _flat(value: Mapping[str, object], keys: Mapping[str, str], is_tool: IsTool) -> list[Named]:
    given_key = next((keys[key] for key in _ARGUMENTS if key in keys), None)
    for key in _NAMES:
        name = value.get(keys.get(key, ""))
        if not isinstance(name, str):
            continue
        if name.strip().lower().replace("_", " ") == FINAL and given_key:
            return [(FINAL, value[given_key])]
        if is_tool(name):
            if given_key is not None and given_key != keys[key]:
                given = decoded(value[given_key])
                return [(name, given)]
            rest = {k: v for k, v in value.items() if k != keys[key] and k.lower() not in _META}
            return [(name, rest)]
        if given_key and _WORD.fullmatch(name) and isinstance(value[given_key], dict | str | list):
            return [(name, decoded(value[given_key]))]
    return []


def from_arguments(value: object, parameters: Mapping[str, Sequence[str]]) -> str | None:
    """The only tool that has exactly the keys of ``value`` as its parameters, two at least."""
    if not isinstance(value, dict) or len(value) < 2:
        return None
    keys = {str(key).lower() for key in value}
    fitting = [name for name, needed in parameters.items() if set(needed) == keys]
    return fitting[0] if len(fitting) == 1 else None
