"""The calls of an answer, collected from its chunks, and what providers send beside them. Pure.

Values of an unexpected shape are passed over and never raise.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dory.constants import CALL_LIMIT
from dory.text.formatting import encodable
from dory.types import NativeCall

_MOST_CALLS = 10 * CALL_LIMIT
"""Calls of one answer that are kept. No more than ``CALL_LIMIT`` are run, but each one is read."""
_PIECES = ("text", "summary", "data")
"""What comes in pieces of one of OpenRouter's ``reasoning_details``."""


class _Call:
    """One call as far as it has come."""

    def __init__(self, index: object) -> None:
        self.index = index
        self.id = ""
        self.name: list[str] = []
        self.arguments: list[str] = []
        self.extra: Mapping[str, Any] = {}


class ArrivingCalls:
    """The calls of one answer. ``size`` is in characters."""

    def __init__(self) -> None:
        self.size = 0
        self._calls: list[_Call] = []
        self._details: list[dict[str, Any]] = []

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add what one chunk brings. The name comes first and the arguments in pieces, with the
        same index.
        """
        listed = [_mapping(item) for item in _list(delta.get("tool_calls"))]
        old = _mapping(delta.get("function_call"))
        for place, item in enumerate([*listed, *([{"function": old}] if old else [])]):
            function = _mapping(item.get("function"))
            call = self._of(item.get("index", place), _text(item.get("id")), "name" in function)
            if extra := _mapping(item.get("extra_content")):
                call.extra = extra
                self.size += len(json.dumps(extra))
            for parts, name in ((call.name, "name"), (call.arguments, "arguments")):
                given = function.get(name)
                text = json.dumps(given) if isinstance(given, dict | list) else _text(given)
                if text:
                    parts.append(text)
                    self.size += len(text)
        for detail in map(_mapping, _list(delta.get("reasoning_details"))):
            self._add_detail(detail)

    def _of(self, index: object, id: str, begins: bool) -> _Call:
        """The call that a piece belongs to. Gemini gives several calls the same index, each whole
        and with an id of its own.
        """
        call = next((call for call in reversed(self._calls) if call.index == index), None)
        if call is None or (begins and id and call.id and id != call.id):
            call = _Call(index)
            if len(self._calls) < _MOST_CALLS:
                self._calls.append(call)  # what comes for one beyond them is only counted
        call.id = call.id or id
        return call

    def _add_detail(self, detail: Mapping[str, Any]) -> None:
        """Add a piece of OpenRouter's ``reasoning_details``: they go back in the order in which
        they came, each whole.
        """
        self.size += len(json.dumps(detail))
        last = self._details[-1] if self._details else {}
        if not last or any(last.get(name) != detail.get(name) for name in ("type", "index")):
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            if name in _PIECES and isinstance(value, str):
                last[name] = _text(last.get(name)) + value
            elif value is not None:
                last[name] = value

    @property
    def newest(self) -> tuple[int, str, list[str]]:
        """The number, the name and the arguments so far, in pieces, of the last call; number 0 if
        there is none.
        """
        if not self._calls:
            return 0, "", []
        return len(self._calls), "".join(self._calls[-1].name), self._calls[-1].arguments

    def native(self) -> tuple[NativeCall, ...]:
        """The calls that were asked for, in their order. One without an id gets its number."""
        return tuple(
            NativeCall(
                encodable(call.id or f"call_{number}"),
                encodable("".join(call.name)),
                encodable("".join(call.arguments)),
                json.dumps({"extra_content": call.extra}) if call.extra else "",
            )
            for number, call in enumerate(self._calls, 1)
        )

    def fields(self, reasoning: str) -> str:
        """What else came in the message as a JSON object, by the names that providers give it;
        empty for nothing. ``reasoning`` is the model's.
        """
        given = {
            "reasoning_content": reasoning,
            "reasoning": reasoning,
            "reasoning_details": self._details,
        }
        found = {name: value for name, value in given.items() if value}
        return json.dumps(found) if found else ""

    def tagged(self) -> Iterator[str]:
        """The calls that nobody asked for, as other models write them into the text."""
        for call in self._calls:
            if name := "".join(call.name):
                given = {"name": name, "arguments": "".join(call.arguments)}
                yield f"\n<tool_call>{json.dumps(given, ensure_ascii=False)}</tool_call>"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
