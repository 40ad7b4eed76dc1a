"""Calls between the tags and tokens of the formats that models were trained on, in text. Pure.

Hermes and Qwen (``<tool_call>``), Qwen-Coder and Llama (``<function=SAY>``), Anthropic (``<invoke
name="SAY">``), Mistral (``[TOOL_CALLS]``), Llama (``<|python_tag|>``), DeepSeek and Kimi
(``<|tool_call_begin|>``), GLM (``<arg_key>``), Gemma (``call:SAY{…}``), gpt-oss
(``to=functions.SAY``), and tools as tags of their own (``<SAY room="dev">``).
"""

import html
import re
from dataclasses import dataclass, replace

from dory.text import loose_json
from dory.text.json_calls import IsTool, Named, calls_in, decoded
from dory.text.source import Source

_BAR = "[|｜]"
_GAP = "[_▁ ]"
_PREFIX = r"(?:[a-z]{1,9}:|[|｜‖]+DSML[|｜‖]+)?"
_WRAPPER = r"(?:tool_calls?|tool_use|tool_code|function_calls?|toolcalls?|tools?|action)"
MARKER = re.compile(
    rf"(?P<block><\|?(?:tool_call|tool_use|function_call|toolcall|tool_code)>"
    r"|<\|(?:tool_call|tool_use|function_call)\|>)"
    rf"|<{_PREFIX}function ?(?:= ?|name ?= ?)[\"']?(?P<function>[\w.:-]+)[\"']?\s*>"
    rf"|<{_PREFIX}(?:invoke|tool_call|tool) name ?= ?[\"'](?P<invoke>[^\"'<>]+)[\"'][^<>]*>"
    rf"|(?P<mistral>\[TOOL_CALLS?\])|(?P<python><\|python_tag\|>)"
    rf"|(?P<token><{_BAR}tool{_GAP}call{_GAP}begin{_BAR}>)"
    r"|(?:<\|start\|> ?assistant ?)?(?:<\|channel\|> ?)?(?:(?:commentary|analysis) )?"
    r"\bto ?= ?functions\.(?P<channel>[\w-]+)"
    r"|(?P<gemma>\bcall:(?=[A-Z_]{3,60}[({]))",
    re.IGNORECASE,
)
"""What begins a call."""
NOISE = re.compile(
    rf"[ \t]*+(?:</?{_PREFIX}{_WRAPPER}>|</{_PREFIX}(?:function|invoke|parameter|arguments)>"
    rf"|<{_BAR}(?:/?(?:tool|end|im|eot|eom|start|return|call|begin|message|channel|constrain)"
    rf"[\w▁ ]*){_BAR}>(?:assistant|final|commentary)?|</?s>|<end_of_turn>|<start_of_turn>model"
    r"|<\|?/?tool_call\|?>|\[/TOOL_CALLS\])",
    re.IGNORECASE,
)
"""A tag or token that means nothing where it stands."""
_BLANK_LINE = re.compile(r"\n\n")
_SEPARATOR = re.compile(rf"<{_BAR}tool{_GAP}(?:sep|call{_GAP}argument{_GAP}begin){_BAR}>")
_PARAMETER = re.compile(
    rf"<{_PREFIX}parameter ?(?:= ?|name ?= ?)[\"']?([\w-]+)[\"']?[^<>]*>", re.IGNORECASE
)
_PARAMETER_END = re.compile(
    rf"</{_PREFIX}(?:parameter|function|invoke|tool_call)>|<{_PREFIX}parameter\b", re.IGNORECASE
)
_BLOCK_END = re.compile(
    rf"</{_PREFIX}(?:function|invoke|tool_call|tool)>|<{_PREFIX}(?:invoke|function)\b",
    re.IGNORECASE,
)
_CALL = re.compile(r"\s*(?:call:)?([\w.-]{1,80}?)(?:\.call)?\s*(?=[({])")
_NAME = re.compile(r"\s*([\w.:-]{1,80})")
_BEFORE_JSON = re.compile(
    r"(?:\s|<\|[a-z]+\|>\s*(?:json)?|```\w*|json(?=\s*[{\[])|\[CALL_ID\]\s*\w+|\[ARGS\])*+"
)
_BETWEEN = re.compile(r"[\s;,]*+")
_FENCE_END = re.compile(r"\s*```")
_ARGUMENT = re.compile(
    r"<arg_key>(.{0,80}?)</arg_key>\s*<arg_value>|<(?:name|tool_name)>([^<]{1,80})</\w+>", re.DOTALL
)
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ARGUMENT_NEAR = 1000
"""Characters in which the first such argument of a call stands, behind its name."""
_VALUE_END = re.compile("</arg_value>")
_ARGUMENTS = re.compile("<arguments>")
_ARGUMENTS_END = re.compile("</arguments>")
_CHILD = re.compile(r"\s*<([A-Za-z_][\w-]{0,39})>")


@dataclass(frozen=True, slots=True)
class Found:
    """The calls of one place, and the place behind them. ``broken``: it begins like a call, and
    cannot be read.
    """

    calls: list[Named]
    end: int
    broken: bool = False


def tagged(source: Source, marker: re.Match[str], is_tool: IsTool, unfinished: bool) -> Found:
    """What the ``marker`` at which a call begins calls."""
    reader = _Tagged(source, is_tool, unfinished)
    kind = marker.lastgroup or ""
    at = marker.end()
    try:
        if kind in ("function", "invoke"):
            return reader.parameters(marker[kind], at)
        if kind == "channel":
            return reader.with_json(marker[kind], at)
        if kind == "token":
            return reader.token(at)
        if kind == "gemma":
            return reader.bare(at)
        return reader.block(at)
    except ValueError:
        return Found([], reader.end_of_block(at), broken=True)


def own_tag(source: Source, tag: re.Match[str], name: str) -> Found:
    """What ``<SAY room="dev">hi</SAY>`` calls; ``tag`` is the opening tag, with its attributes as
    the second group.
    """
    given: dict[str, object] = {
        match[1]: _plain(match[2] or match[3] or "") for match in _ATTRIBUTE.finditer(tag[2] or "")
    }
    if tag[0].endswith("/>"):
        return Found([(name, given or None)], tag.end())
    closing = source.search(re.compile(rf"</{re.escape(tag[1])}\s*>", re.IGNORECASE), tag.end())
    if not closing:
        return Found([], tag.end(), broken=True)
    inner = source.text[tag.end() : closing.start()]
    children = _children(inner)
    if children is not None:
        return Found([(name, {**given, **children} or None)], closing.end())
    value = decoded(inner.strip())
    if isinstance(value, dict):
        return Found([(name, {**given, **value})], closing.end())
    if given:
        given["diff" if "<<<<<<<" in inner else "message"] = _plain(inner.strip("\n"))
        return Found([(name, given)], closing.end())
    return Found([(name, _plain(inner.strip()))], closing.end())


class _Tagged:
    def __init__(self, source: Source, is_tool: IsTool, unfinished: bool) -> None:
        self._source = source
        self._text = source.text
        self._is_tool = is_tool
        self._unfinished = unfinished

    def end_of_block(self, at: int) -> int:
        """Where a call that cannot be read ends at the latest."""
        match = self._source.search(_BLOCK_END, at)
        end = match.start() if match else len(self._text)
        blank = None if match else self._source.search(_BLANK_LINE, at)
        return blank.start() if blank else end

    def block(self, at: int) -> Found:
        """What follows ``<tool_call>`` and its like."""
        start = at
        at = self._skip(at)
        if self._text[at : at + 1] in ("{", "["):
            found = self._values(at)
            fenced = _FENCE_END.match(self._text, found.end)
            framed = fenced and "```" in self._text[start:at]
            return replace(found, end=fenced.end()) if fenced and framed else found
        inner = MARKER.match(self._text, at)
        if inner and inner.lastgroup != "block":
            return tagged(self._source, inner, self._is_tool, self._unfinished)
        near = min(self.end_of_block(at), at + _ARGUMENT_NEAR)
        argument = _ARGUMENT.search(self._text, at, near)
        if argument and argument[2]:
            return self._cherry(argument)
        if argument:
            return self._glm(at, argument)
        return self.bare(at)

    def bare(self, at: int) -> Found:
        """``SAY(room="dev")``, ``SAY{"room": "dev"}``, ``SAY`` and JSON behind it, or ``SAY``."""
        if (call := _CALL.match(self._text, at)) and self._is_tool(call[1]):
            given, end = loose_json.arguments(self._text, call.end(), self._unfinished)
            return Found([(call[1], given)], end)
        name = _NAME.match(self._text, at)
        if not name:
            raise ValueError("no name")
        return self.with_json(name[1], name.end())

    def with_json(self, name: str, at: int) -> Found:
        """The arguments as JSON behind what may stand before it."""
        behind = self._skip(at)
        if self._text[behind : behind + 1] in ("{", "["):
            given, end = loose_json.read(self._source.json, behind, self._unfinished)
            fence = _FENCE_END.match(self._text, end) if "```" in self._text[at:behind] else None
            return Found([(name, given)], fence.end() if fence else end)
        line_end = self._text.find("\n", at)
        line_end = len(self._text) if line_end < 0 else line_end
        tag = self._text.find("<", at, line_end)
        end = tag if tag >= 0 else line_end
        rest = self._text[at:end].strip()
        if not self._is_tool(name):
            raise ValueError("no tool")
        return Found([(name, rest or None)], end)

    def parameters(self, name: str, at: int) -> Found:
        """``<parameter=room>dev</parameter>``, or JSON in their place, up to the closing tag."""
        behind = self._skip(at)
        if self._text[behind : behind + 1] == "{":
            return self.with_json(name, at)
        given: dict[str, object] = {}
        while parameter := _PARAMETER.match(self._text, self._space(at)):
            end = self._source.search(_PARAMETER_END, parameter.end())
            stop = end.start() if end else len(self._text)
            if not end and not self._unfinished and not given:
                raise ValueError("no end")
            given[parameter[1]] = _plain(_trimmed(self._text[parameter.end() : stop]))
            at = end.end() if end and "/" in end[0] and "parameter" in end[0].lower() else stop
        if not given:
            stop = self.end_of_block(at)
            inner = self._text[at:stop].strip()
            return Found([(name, decoded(inner) if inner else None)], stop)
        return Found([(name, given)], at)

    def token(self, at: int) -> Found:
        """DeepSeek's and Kimi's tokens: the name, a separator, the arguments."""
        separator = _SEPARATOR.search(self._text, at, at + 300)
        if not separator:
            raise ValueError("no separator")
        name = self._text[at : separator.start()].strip()
        at = separator.end()
        if name == "function":
            match = _NAME.match(self._text, at)
            if not match:
                raise ValueError("no name")
            name, at = match[1], match.end()
        return self.with_json(name, at)

    def _values(self, at: int) -> Found:
        calls: list[Named] = []
        while True:
            value, at = loose_json.read(self._source.json, at, self._unfinished)
            named = calls_in(value, self._is_tool)
            if not named:
                return Found(calls, at, broken=not calls)
            calls += named
            behind = _BETWEEN.match(self._text, at)
            following = behind.end() if behind else at
            if self._text[following : following + 1] != "{":
                return Found(calls, at)
            at = following

    def _glm(self, at: int, argument: re.Match[str]) -> Found:
        name = self._text[at : argument.start()].strip()
        given: dict[str, object] = {}
        end = argument.start()
        while argument := _ARGUMENT.match(self._text, self._space(end)):  # type: ignore[assignment]
            closing = self._source.search(_VALUE_END, argument.end())
            if not closing:
                raise ValueError("no end")
            value = self._text[argument.end() : closing.start()]
            given[argument[1].strip()] = _plain(_trimmed(value))
            end = closing.end()
        return Found([(name, given)], end)

    def _cherry(self, name: re.Match[str]) -> Found:
        closing = self._source.search(_ARGUMENTS_END, name.end())
        stop = closing.start() if closing else len(self._text)
        opening = self._source.search(_ARGUMENTS, name.end())
        if not opening or opening.end() > stop:
            return Found([(name[2].strip(), None)], name.end())
        inner = self._text[opening.end() : stop]
        end = closing.end() if closing else stop
        children = _children(inner)
        return Found([(name[2].strip(), children or decoded(inner.strip()))], end)

    def _skip(self, at: int) -> int:
        match = _BEFORE_JSON.match(self._text, at)
        return match.end() if match else at

    def _space(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at


def _children(inner: str) -> dict[str, object] | None:
    """The texts between ``<key>`` and ``</key>``; None if there is anything else."""
    given: dict[str, object] = {}
    at = 0
    while child := _CHILD.match(inner, at):
        stop = inner.find(f"</{child[1]}>", child.end())
        if stop < 0:
            return None
        given[child[1]] = _plain(_trimmed(inner[child.end() : stop]))
        at = stop + len(child[1]) + 3
    return given if given and not inner[at:].strip() else None


def _trimmed(text: str) -> str:
    return text.removeprefix("\n").removesuffix("\n")


def _plain(text: str) -> str:
    return html.unescape(text) if "&" in text else text
