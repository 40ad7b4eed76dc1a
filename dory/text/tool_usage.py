"""What a tool's usage says of its call, and calls made from named or ordered arguments. Pure.

    SAY <room> <message>                             a message: it goes on up to the next tool line
    NOTE_ADD <name> <content>                        the last parameter takes free text
    READ_FILE <path> [from-to]                       the last one may be left out
    EDIT_FILE <path>, then one or more search/replace blocks

A tool of which only the name is known takes whatever stands on its line.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dory.text import edit_blocks
from dory.text.thoughts import spoken
from dory.types import Call

_PARAMETER = re.compile(r"<([^<>]+)>|\[([^\[\]]+)\]")
_FREE = frozenset(
    ("message", "text", "content", "query", "keywords", "words", "mood", "place", "body")
)
_ROOM = re.compile(r"[a-z0-9_-]{1,64}")
_SYNONYMS = (
    ("room", "channel", "chat", "room_id", "room_name", "to", "recipient", "target"),
    ("message", "text", "content", "body", "msg", "note", "entry", "value"),
    ("path", "file", "filename", "file_path", "filepath", "file_name", "target_file"),
    ("hash", "id", "ref", "reference", "hash_id"),
    ("query", "q", "keywords", "search", "words", "search_query", "text"),
    ("name", "title", "key", "note_name", "note"),
    ("agent", "name", "agent_name"),
    ("from-to", "lines", "range", "line_range"),
)
_OLD = ("search", "old_string", "old_str", "old_text", "old", "find", "before")
_NEW = ("replace", "new_string", "new_str", "new_text", "new", "replacement", "after")
_APPENDED = ("append", "appended", "add")
_FIRST = ("from", "start", "start_line", "first", "from_line", "offset")
_LAST = ("to", "end", "end_line", "last", "to_line")
_REMARKS = frozenset(("reason", "explanation", "thought", "thoughts", "comment", "id", "type"))
"""What models like to add to any call, and no tool needs."""


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """The syntax of one tool. ``optional`` of the ``parameters``, the last ones, may be left out.
    ``blocks``: edit blocks follow its line.
    """

    name: str
    usage: str
    parameters: tuple[str, ...] = ()
    optional: int = 0
    blocks: bool = False

    @property
    def message(self) -> bool:
        """Whether it speaks in a room: its text goes on up to the next tool line."""
        return self.parameters[:1] == ("room",) and len(self.parameters) > 1

    @property
    def takes_text(self) -> bool:
        """Whether its last parameter is a text, which may stand below its line."""
        return bool(self.parameters) and self.parameters[-1] in _FREE and not self.blocks

    @property
    def names_room(self) -> bool:
        """Whether its first parameter is a room."""
        return self.parameters[:1] == ("room",)


def usages(tools: Iterable[str]) -> dict[str, ToolUsage]:
    """The syntax of each tool by its name. ``tools`` are usages, or names alone."""
    read = (_usage(tool) for tool in tools)
    return {usage.name: usage for usage in read}


@lru_cache(256)
def _usage(text: str) -> ToolUsage:
    name, _, rest = text.partition(" ")
    line, _, below = rest.partition(",")
    name, _, _ = name.partition(",")
    if line.strip() and _PARAMETER.sub("", line).strip():  # words of its own: it is one text
        return ToolUsage(name, text, ("text",))
    found = list(_PARAMETER.finditer(line))
    parameters = tuple((match[1] or match[2]).lower() for match in found)
    optional = sum(1 for match in found if match[2])
    return ToolUsage(name, text, parameters, optional, "block" in below)


def room_in(word: str, rooms: Collection[str]) -> str | None:
    """The room that ``word`` names, with whatever marks stand around it: ``#dev``, ``"dev"``,
    ``[dev]``, ``dev:``. If no ``rooms`` are known, any word that may be a room's id is one.
    """
    bare = word.strip("\"'`*[]<>(),").lstrip("#@").removeprefix("room=").strip("\"'`*[]<>():.,")
    if rooms:
        return bare if bare in rooms else None
    return bare if _ROOM.fullmatch(bare) else None


def call_of(usage: ToolUsage, given: object, rooms: Collection[str] = ()) -> Call:
    """The call of a tool with arguments as another format has them: by name, in order, or as one
    text. A call with an error if they do not fit.
    """
    values: list[str] | None
    edits: tuple[tuple[str, str], ...] = ()
    problem = "its arguments do not fit"
    if isinstance(given, Mapping):
        named = {_key(key): value for key, value in given.items()}
        if usage.blocks:
            edits, named = _edits(named)
        values, problem = _ordered(usage, named, rooms)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        values = [_text(value) for value in given]
        if usage.blocks and len(values) == 3:
            edits, values = ((_lined(values[1]), _lined(values[2])),), values[:1]
    else:
        text = _text(given).strip("\n") if given is not None else ""
        if usage.blocks or not usage.parameters or len(usage.parameters) < 2:
            values = [text] if text.strip() else []
        else:
            values = text.strip().split(None, len(usage.parameters) - 1) if text.strip() else []
    if values is None:
        return Call(usage.name, error=wrong(usage, problem))
    return _call(usage, values, edits, rooms)


def wrong(usage: ToolUsage, problem: str) -> str:
    """What is wrong with a call, and its right form."""
    return f"nothing was done: {problem}; write: {usage.usage}"


def _call(
    usage: ToolUsage,
    values: list[str],
    edits: tuple[tuple[str, str], ...],
    rooms: Collection[str],
) -> Call:
    most = len(usage.parameters)
    if usage.message and len(values) == 1 and len(rooms) == 1 and values[0] not in rooms:
        values = [*rooms, *values]  # it named no room, and there is only one
    if not most and any(values) and usage.usage != usage.name:
        return Call(usage.name, error=wrong(usage, "it takes no arguments"))
    if most and len(values) > most:
        return Call(usage.name, error=wrong(usage, f"it takes {most} arguments at most"))
    if len([value for value in values if value.strip()]) < most - usage.optional:
        return Call(usage.name, error=wrong(usage, "an argument is missing"))
    if usage.names_room and values and (room := room_in(values[0], ())):
        values = [room, *values[1:]]
    *heads, last = values or [""]
    if any("\n" in head for head in heads):
        return Call(usage.name, error=wrong(usage, "one of its arguments has several lines"))
    if usage.message:
        last = message(last)
    if "\n" in last.strip("\n") and usage.takes_text:
        return Call(usage.name, " ".join(heads).strip(), body=last.strip("\n"), edits=edits)
    return Call(usage.name, " ".join([*heads, " ".join(last.split("\n"))]).strip(), edits=edits)


def message(text: str) -> str:
    """A message as it may enter a room: without thoughts."""
    return spoken(text).strip("\n")


def _ordered(
    usage: ToolUsage, named: dict[str, object], rooms: Collection[str]
) -> tuple[list[str] | None, str]:
    """The values in the order of the parameters; None and what is wrong if they do not fit."""
    given = {key: value for key, value in named.items() if value is not None and value != ""}
    values: list[str] = []
    missing: list[str] = []
    for parameter in usage.parameters:
        key = next((key for key in _names(parameter) if key in given), None)
        if key is not None:
            values.append(_text(given.pop(key)))
        elif parameter == "from-to" and (lines := _lines(given)):
            values.append(lines)
        else:
            missing.append(parameter)
            values.append("")
    extra = {key: value for key, value in given.items() if key not in _REMARKS}
    if missing and len(extra) == len(missing):  # other names for the same: by their order
        rest = iter(extra.values())
        values = [value or _text(next(rest)) for value in values]
        extra, missing = {}, []
    required = usage.parameters[: len(usage.parameters) - usage.optional]
    if missing == ["room"] and usage.message and len(rooms) == 1 and not extra:
        return [*rooms, *values[1:]], ""
    if lacking := [name for name in missing if name in required]:
        return None, f"{' and '.join(f'<{name}>' for name in lacking)} is missing"
    if extra and (usage.parameters or usage.usage != usage.name):
        return None, f"it has no argument {next(iter(extra))!r}"
    if not usage.parameters:
        return [_text(value) for value in extra.values()], ""
    return [value for value in values if value], ""


def _names(parameter: str) -> Iterable[str]:
    key = _key(parameter)
    yield key
    if parameter != key:
        yield parameter
    for group in _SYNONYMS:
        if group[0] == parameter or (parameter in group[:3] and parameter == group[0]):
            yield from group[1:]
    if parameter == "content":
        yield from ("text", "message", "body", "note", "value")
    if parameter == "text":
        yield from ("content", "message", "body", "entry", "memory", "value")
    if parameter in ("keywords", "words"):
        yield from ("query", "q", "search", "text")


def _lines(given: dict[str, object]) -> str:
    first = next((_text(given.pop(key)) for key in _FIRST if key in given), "")
    last = next((_text(given.pop(key)) for key in _LAST if key in given), "")
    return f"{first}-{last}" if first or last else ""


def _edits(
    named: dict[str, object],
) -> tuple[tuple[tuple[str, str], ...], dict[str, object]]:
    """The edits among named arguments, and the other arguments."""
    rest = dict(named)
    listed = next(
        (rest.pop(key) for key in ("edits", "blocks", "changes", "diff") if key in rest), None
    )
    items = listed if isinstance(listed, list) else [listed] if isinstance(listed, dict) else []
    blocks = edit_blocks.all_in(_text(listed or "")) if isinstance(listed, str) else []
    pairs = [
        _pair({_key(k): v for k, v in item.items()}) for item in items if isinstance(item, dict)
    ]
    own = _pair(rest)
    for key in (*_OLD, *_NEW, *_APPENDED):
        rest.pop(key, None)
    return tuple(pair for pair in [*blocks, *pairs, own] if pair), rest


def _pair(named: Mapping[str, object]) -> tuple[str, str] | None:
    old = next((_text(named[key]) for key in _OLD if key in named), None)
    new = next((_text(named[key]) for key in _NEW if key in named), None)
    if new is None:
        added = next((_text(named[key]) for key in _APPENDED if key in named), None)
        return None if added is None else ("", _lined(added))
    return _lined(old or ""), _lined(new)


def _lined(text: str) -> str:
    """As an edit block holds it: the end of its last line is not part of it."""
    return text.removesuffix("\n")


def _key(key: object) -> str:
    return str(key).strip().lower().replace(" ", "_").replace("-", "_") if key != "from-to" else key


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value):
        return f"{value[0]}-{value[1]}"
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    if isinstance(value, Mapping):
        return " ".join(map(_text, value.values()))
    return "" if value is None else str(value)
