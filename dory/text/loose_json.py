"""JSON as models write it, and the arguments of a call in Python's manner. Pure.

Read are also: trailing commas, single and triple quotes, line breaks and quotation marks inside a
string, keys and words without quotes, ``True`` and ``None``, comments, and closing brackets that
are missing at the end of a line or of the text. What cannot be read, or is nested deeper than any
call is, raises ``Unreadable``. The time is linear in what was read.
"""

import json
import re

from dory.text.formatting import encodable

_DEEPEST = 40
_SPACE = re.compile(r"(?:\s++|//[^\n]*+)*+")
_QUOTED = {
    quote: re.compile(
        rf"{quote}((?:[^{quote}\\]|\\.|{quote}(?!\s*+(?:[,}}\]:);]|\Z|<[/|])))*+){quote}", re.DOTALL
    )
    for quote in "\"'"
}
_TRIPLE = re.compile(r'"""(.*?)(?:"""|\Z)|\'\'\'(.*?)(?:\'\'\'|\Z)', re.DOTALL)
_TOKEN_QUOTED = re.compile(r'<\|"\|>(.*?)<\|"\|>', re.DOTALL)  # Gemma's quotes
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*+[,}\])]|\s*+\Z)")
_BARE = re.compile(r"[^\s,(){}\[\]\"'=:][^,(){}\[\]\"'=:\n]*+")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_KEYWORD = re.compile(r"([A-Za-z_]\w*+)\s*+[=:](?!=)\s*+")
_STRICT = json.JSONDecoder(strict=False)


class Text(str):
    """A text that is read at many places. For each that is no JSON, the decoder makes an error with
    its line and column, which nobody looks at; here it does not count all lines before.
    """

    def count(self, *_: object) -> int:
        """Nothing."""
        return 0

    def rfind(self, *_: object) -> int:
        """Nothing."""
        return 0


class Unreadable(ValueError):
    """A text is no JSON, which was found out by reading ``effort`` characters of it."""

    def __init__(self, reason: str, effort: int) -> None:
        super().__init__(reason)
        self.effort = effort


def read(text: str, at: int, unfinished: bool = False) -> tuple[object, int]:
    """The value that begins at ``at``, and the place behind it. If it may be ``unfinished``, a
    string and every bracket may lack its end at the end of the text. Raises ``Unreadable``.
    """
    try:
        value, end = _STRICT.raw_decode(text, at)
        return _sound(value), end
    except (ValueError, RecursionError):
        return _Reader(text, unfinished).read(at)


def arguments(
    text: str, at: int, unfinished: bool = False
) -> tuple[dict[str, object] | list[object], int]:
    """The arguments of a call, which begin with a bracket at ``at``, and the place behind them: by
    name if any of them has one, else in order. Raises ``Unreadable``.
    """
    return _Reader(text, unfinished).read_arguments(at)


def _sound(value: object, depth: int = 0) -> object:
    """The value with strings that UTF-8 can hold."""
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {encodable(key): _sound(item, depth + 1) for key, item in value.items()}
    return value


class _Reader:
    def __init__(self, text: str, unfinished: bool) -> None:
        self._text = text
        self._unfinished = unfinished
        self._furthest = 0

    def read(self, at: int) -> tuple[object, int]:
        """The value at ``at``, and the place behind it."""
        try:
            return self._value(at, 0)
        except ValueError as error:
            raise Unreadable(str(error), self._furthest - at) from None

    def read_arguments(self, at: int) -> tuple[dict[str, object] | list[object], int]:
        """The arguments in the bracket at ``at``, and the place behind them."""
        try:
            return self._arguments(at)
        except ValueError as error:
            raise Unreadable(str(error), self._furthest - at) from None

    def _value(self, at: int, depth: int) -> tuple[object, int]:
        at = self._skip(at)
        start = self._text[at : at + 1]
        if depth > _DEEPEST or not start:
            raise ValueError("too deep, or nothing there")
        if start == "{":
            return self._members(at + 1, "}", depth)
        if start == "[":
            return self._items(at + 1, "]", depth)
        if start in "\"'" or self._text.startswith('<|"|>', at):
            return self._string(at)
        if number := _NUMBER.match(self._text, at):
            return json.loads(number[0]), number.end()
        if word := _BARE.match(self._text, at):
            plain = word[0].strip()
            return _LITERALS.get(plain.lower(), plain), word.end()
        raise ValueError("no value")

    def _arguments(self, at: int) -> tuple[dict[str, object] | list[object], int]:
        close = {"(": ")", "{": "}"}[self._text[at]]
        first = self._skip(at + 1)
        if _KEYWORD.match(self._text, first) or (close == "}" and self._at(first, "\"'")):
            return self._members(at + 1, close, 0)
        values, end = self._items(at + 1, close, 0)
        if len(values) == 1 and isinstance(values[0], dict):
            return values[0], end
        return values, end

    def _members(self, at: int, close: str, depth: int) -> tuple[dict[str, object], int]:
        members: dict[str, object] = {}
        more = True
        while more and (end := self._closed(at, close)) is None:
            at = self._skip(at)
            if keyword := _KEYWORD.match(self._text, at):
                key, at = keyword[1], keyword.end()
            else:
                key, at = self._string(at)
                at = self._skip(at)
                if not self._at(at, ":="):
                    raise ValueError("a key without a value")
                at += 1
            members[key], at = self._value(at, depth + 1)
            at, more = self._separated(at, close)
        return members, at if not more else end or at

    def _items(self, at: int, close: str, depth: int) -> tuple[list[object], int]:
        items: list[object] = []
        more = True
        while more and (end := self._closed(at, close)) is None:
            item, at = self._value(at, depth + 1)
            items.append(item)
            at, more = self._separated(at, close)
        return items, at if not more else end or at

    def _separated(self, at: int, close: str) -> tuple[int, bool]:
        """After a value: the place where the next one begins and True, or the place behind the
        closing bracket, which may be missing, and False.
        """
        behind = self._skip(at)
        if self._at(behind, ",;"):
            return behind + 1, True
        if self._at(behind, close):
            return behind + 1, False
        if behind == len(self._text) or self._at(behind, "}])<`") or "\n" in self._text[at:behind]:
            return at, False
        raise ValueError("something between two values")

    def _closed(self, at: int, close: str) -> int | None:
        """The place behind the closing bracket, before which nothing or a comma stands; None if a
        value follows.
        """
        at = self._skip(at)
        if self._at(at, close):
            return at + 1
        return at if at == len(self._text) else None

    def _string(self, at: int) -> tuple[str, int]:
        if triple := _TRIPLE.match(self._text, at):
            inner = triple[1] if triple[1] is not None else triple[2]
            return encodable(_unescaped(inner)), triple.end()
        if token := _TOKEN_QUOTED.match(self._text, at):
            return encodable(token[1]), token.end()
        quote = self._text[at : at + 1]
        if quote not in _QUOTED or not quote:
            raise ValueError("no string")
        if match := _QUOTED[quote].match(self._text, at):
            return encodable(_unescaped(match[1])), match.end()
        self._furthest = len(self._text)
        if not self._unfinished:
            raise ValueError("a string without an end")
        return encodable(_unescaped(self._text[at + 1 :].rstrip("\\"))), len(self._text)

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        end = match.end() if match else at
        self._furthest = max(self._furthest, end)
        return end

    def _at(self, at: int, characters: str) -> bool:
        return self._text[at : at + 1] in characters and at < len(self._text)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return _ESCAPED.get(match[2], match[2] if match[2] in "\\/\"'\n" else match[0])

    return _ESCAPE.sub(plain, text)
