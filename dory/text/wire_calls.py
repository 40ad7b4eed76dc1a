"""Calls in an answer that are in another form than tool lines: JSON, tags and tokens, Python, and
ReAct's ``Action:``. Pure.

An attempt that fails costs what it read. When a multiple of the text's length is used up, no more
attempts are made, so that the time is linear for any text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dory.text import edit_blocks, formatting, json_calls, loose_json, shown, tagged_calls
from dory.text.json_calls import Named
from dory.text.loose_json import Unreadable
from dory.text.source import Source
from dory.text.tagged_calls import MARKER, NOISE, Found
from dory.text.tool_lines import ToolLines
from dory.text.tool_usage import call_of, wrong
from dory.types import Call

_LEAD = re.compile(r"[ \t]*+(?:(?:[-*•]|\d{1,3}[.)])[ \t]++)?+`?")
_OWN_TAG = re.compile(r"<([A-Za-z][A-Za-z_]{2,60})((?:\s[^<>]*)?)/?>")
_PYTHON = re.compile(
    r"(?P<list>\[\s*+)?+(?:[A-Za-z_]\w*+ ?= ?)?(?:await )?(?:print ?\( ?)?+(?:[a-z_]\w*+\.)*+"
    r"(?P<name>[A-Za-z_]\w*+)(?: (?=\([\"']))?+(?=\()"
)
_ACTION = re.compile(
    r"\**+Action(?: ?\d+)? ?:\**+[ \t]*+(?P<name>[`\"'\[]?[\w.-]+[`\"'\]]?)[ \t]*+"
    r"(?P<given>[^\n]*+)(?:\n\s*+\**+Action[ _]Input(?: ?\d+)? ?:\**+[ \t]*+(?P<input>))?",
    re.IGNORECASE,
)
_ACTION_LABEL = re.compile(
    r"\**+Action(?: ?\d+)? ?:\**+[ \t]*+\r?(?=\n\s*(?:```|\{))", re.IGNORECASE
)
_LABEL = re.compile(
    r"^[ \t]*\**(?:Observation|Thought|Action|Final Answer|Question)(?: ?\d+)? ?:",
    re.IGNORECASE | re.MULTILINE,
)
_REACT = re.compile(r"^[ \t]*\**(?:Action|Final Answer)(?: ?\d+)? ?:", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"[ \t]*\**Thought(?: ?\d+)? ?:", re.IGNORECASE)
_THINKING = re.compile(
    r"[ \t]*+\**(?:Thoughts?|Thinking|Thought process|Reasoning|My thoughts?|Internal) ?:",
    re.IGNORECASE,
)
_FINAL = re.compile(r"[ \t]*+\**+Final[ _]Answer ?:\**+[ \t]*+", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z_]{2,60}")
_JSON = re.compile(r"\{\s{0,40}[\"'}A-Za-z]|\[\s{0,40}[\[{\"']")
_LABELLED = re.compile(r"\W*+(?:\d{1,3}[.)]\W*)?(?:[A-Za-z]+(?: [A-Za-z]+)?:)?\W*+")
_OPEN_END = re.compile(r"[\w,;(]\s*\Z")
_WORDS = re.compile(r"[\W_]{0,3}\w")
_WINDOW = 300
"""Characters at the beginning of JSON in which something has to hint at a call."""
_EFFORT = 8
"""How many times the length of an answer may be read in attempts that fail."""


@dataclass(frozen=True, slots=True)
class WireCall:
    """The calls of one place, where it ends, and what it holds for a person."""

    calls: list[Call]
    end: int
    plain: str = ""


class WireCalls:
    """Finds such calls in a source. If the text is ``unfinished``, its last call may lack its
    end.
    """

    def __init__(self, source: Source, lines: ToolLines, unfinished: bool) -> None:
        self._source = source
        self._lines = lines
        self._unfinished = unfinished
        self._budget = _EFFORT * len(source.text) + 10_000
        self._begins = len(source.text) - len(source.text.lstrip())
        self._react = bool(_REACT.search(source.text))
        self._parameters = {
            name: usage.parameters
            for name, usage in lines.tools.items()
            if len(usage.parameters) > 1 and not usage.optional
        }

    def noise(self, at: int) -> int | None:
        """The place behind a tag or token at ``at`` that means nothing there, or None."""
        text = self._source.text
        if self._react and (final := _FINAL.match(text, at)):
            return final.end()
        if self._react and (label := _ACTION_LABEL.match(text, at)):
            return label.end()
        if text[at : at + 1] not in "<[ \t" or MARKER.match(text, at):
            return None
        match = NOISE.match(text, at)
        if not match:
            return None
        end = match.end()
        return end + 1 if text[end : end + 1] == "\n" else end

    def label(self, at: int) -> int | None:
        """The end of ReAct's ``Thought:`` at ``at``, or None: it ends with the next label. In other
        answers a paragraph with such a label is a thought if they begin with it.
        """
        source = self._source
        if self._react and _THOUGHT.match(source.text, at):
            following = source.search(_LABEL, source.line_end(at))
            return following.start() if following else source.line_end(at)
        if at > self._begins or not _THINKING.match(source.text, at):
            return None
        row = source.row + 1
        while row < len(source.lines) and source.lines[row].strip():
            line = source.lines[row]
            if self._lines.head(line) or self.marks(line) or edit_blocks.FENCE.fullmatch(line):
                break
            row += 1
        return source.start_of(row)

    def marks(self, line: str) -> bool:
        """Whether a call may begin in the line."""
        return bool(MARKER.search(line))

    def begins(self, at: int) -> bool:
        """Whether a call of a tool begins with the line at ``at``."""
        found = self.at_line(at)
        return bool(found and any(call.tool in self._lines.tools for call in found.calls))

    def in_line(self, at: int, line: str) -> int | None:
        """The place within the line, not at its beginning, where a call begins; None for none. What
        stands in backticks is only mentioned.
        """
        indent = len(line) - len(line.lstrip())
        backticks = counted = 0
        for marker in MARKER.finditer(line):
            start = marker.start()
            backticks += line.count("`", counted, start)
            counted = start
            if start <= indent or line[start - 1] in "`\\" or backticks % 2:
                continue
            found = self._marked(at + start)
            if found and any(call.tool in self._lines.tools for call in found.calls):
                return at + start
        return None

    def within_sentence(self, start: int, end: int) -> bool:
        """Whether the call from ``start`` to ``end`` stands within a sentence, which shows it: text
        goes on behind it, or it stands behind text that is no sentence of its own.
        """
        text = self._source.text
        if not MARKER.match(text, start):
            return False
        before = text[max(0, start - _WINDOW) : start].rpartition("\n")[2]
        behind = text[end : end + _WINDOW]
        while closing := NOISE.match(behind):
            behind = behind[closing.end() :]
        behind = behind.partition("\n")[0].strip()
        if not before.strip() or _LABELLED.fullmatch(before):
            return behind[:1].islower() and self._lines.head(behind) is None
        head = self._lines.head(before)
        if shown.speaks(before) or (head is None and _OPEN_END.search(before)):
            return True
        follows = _WORDS.match(behind) and not MARKER.match(behind)
        return bool(follows and not self._lines.head(behind))

    def at_line(self, at: int) -> WireCall | None:
        """The calls that begin with the line at ``at``; None for none."""
        text = self._source.text
        lead = _LEAD.match(text, at)
        at = lead.end() if lead else at
        if self._budget < 0 or at >= len(text):
            return None
        start = text[at]
        if MARKER.match(text, at):
            return self._marked(at)
        if start == "<":
            return self._own_tag(at)
        if start in "{[" and (found := self._json(at)):
            return found
        if start in "Aa*" and self._react and (action := _ACTION.match(text, at)):
            return self._action(at, action)
        if (start.isalpha() or start in "_[") and (python := _PYTHON.match(text, at)):
            return self._python(at, python)
        return None

    def _marked(self, at: int) -> WireCall | None:
        marker = MARKER.match(self._source.text, at)
        if not marker or self._budget < 0:
            return None
        found = tagged_calls.tagged(self._source, marker, self._is_tool, self._unfinished)
        return self._made(at, found)

    def _own_tag(self, at: int) -> WireCall | None:
        tag = _OWN_TAG.match(self._source.text, at)
        name = self._lines.named(tag[1]) if tag else None
        if not tag or not name:
            return None
        found = tagged_calls.own_tag(self._source, tag, name)
        if found.broken and self._unfinished and "room" in tag[2]:
            text = self._source.text
            closed = Source(f"{text}</{tag[1]}>")
            return self._made(at, tagged_calls.own_tag(closed, tag, name), len(text))
        return self._made(at, found)

    def _json(self, at: int) -> WireCall | None:
        text = self._source.text
        if not _JSON.match(text, at):
            return None
        window = text[at : at + _WINDOW]
        tool = self._mentioned(window)
        vague = window[:1] == "{" and any(
            f'"{names[0]}"' in window for names in self._parameters.values()
        )
        if not tool and not vague and not json_calls.HINT.search(window):
            self._budget -= len(window)
            return None
        try:
            value, end = loose_json.read(self._source.json, at, self._unfinished)
        except Unreadable as error:
            self._budget -= error.effort
            if not tool or not json_calls.HINT.search(window):
                self._budget -= _WINDOW
                return None
            return self._made(at, Found([], self._end_of_broken(at), broken=True))
        named = json_calls.calls_in(value, self._is_tool)
        if not named:
            self._budget -= end - at
            alone = json_calls.from_arguments(value, self._parameters)
            if alone is None:
                return None
            usage = self._lines.tools[alone]
            problem = f"line {self._source.number_at(at)} looks like the arguments of {alone}"
            return WireCall([Call(alone, error=wrong(usage, problem))], end)
        return self._made(at, Found(named, end))

    def _python(self, at: int, match: re.Match[str]) -> WireCall | None:
        text = self._source.text
        calls: list[Named] = []
        end = at
        following: re.Match[str] | None = match
        while following:
            name = self._lines.named(following["name"])
            shouted = following["name"].isupper() or "_" in following["name"]
            if not name:
                break
            try:
                given, end = loose_json.arguments(text, following.end(), self._unfinished)
            except Unreadable as error:
                self._budget -= error.effort + 200
                if not shouted:
                    break
                return self._made(at, Found([], self._end_of_broken(at), broken=True))
            if not shouted and not self._sure(name, given):
                self._budget -= end - at + 200
                break
            calls.append((name, given))
            gap = re.compile(r"[\s,;)\]]*+").match(text, end)
            place = gap.end() if gap and match["list"] else len(text)
            following = _PYTHON.match(text, place) if match["list"] else None
        if not calls:
            return None
        closing = re.compile(r"[ \t]*[)\]]*`*").match(text, end)
        return self._made(at, Found(calls, closing.end() if closing else end))

    def _sure(self, name: str, given: object) -> bool:
        """Whether arguments behind a name in lower case are those of the tool."""
        usage = self._lines.tools.get(name)
        if not usage or not usage.message or not self._lines.rooms:
            return False
        call = call_of(usage, given, self._lines.rooms)
        return not call.error and call.named[0] in self._lines.rooms

    def _action(self, at: int, action: re.Match[str]) -> WireCall | None:
        text = self._source.text
        name = action["name"].strip("`\"'[]")
        if not self._is_tool(name):
            if action["input"] is None or name.lower() in ("none", "n"):
                return None
            label = self._source.search(_LABEL, action.end())
            end = label.start() if label else len(text)
            return self._made(at, Found([(name, None)], end))
        if action["input"] is None:
            given: object = action["given"].strip("`*").strip() or None
            if isinstance(given, str) and given.startswith(("(", "{")):
                try:
                    given, _ = loose_json.arguments(given, 0)
                except Unreadable:
                    return self._made(at, Found([], action.end(), broken=True))
            return self._made(at, Found([(name, given)], action.end()))
        label = self._source.search(_LABEL, action.end())
        end = label.start() if label else len(text)
        inner = re.sub(r"^\s*```\w*\n|\n```\s*$", "", text[action.end() : end]).strip()
        if len(inner) > 1 and inner[0] == inner[-1] == '"' and inner.count('"') == 2:
            inner = inner[1:-1]
        return self._made(at, Found([(name, json_calls.decoded(inner))], end))

    def _made(self, at: int, found: Found, end: int | None = None) -> WireCall | None:
        """The calls that were found, or one with an error if they cannot be read."""
        text = self._source.text
        end = found.end if end is None else end
        if found.broken or not found.calls:
            self._budget -= end - at + 100
            tool = self._mentioned(text[at : min(end, at + 2000)])
            if tool is None:
                return None
            number = self._source.number_at(at)
            problem = f"line {number} looks like a call of {tool} and cannot be read"
            usage = self._lines.tools.get(tool)
            error = wrong(usage, problem) if usage else f"nothing was done: {problem}"
            return WireCall([Call(tool, error=error)], end)
        plain = [str(given) for name, given in found.calls if name == json_calls.FINAL]
        return WireCall(self._calls(found.calls, at), end, "\n".join(plain))

    def _calls(self, found: Sequence[Named], at: int) -> list[Call]:
        return [self._call(*named, at) for named in found if named[0] != json_calls.FINAL]

    def _call(self, name: str, given: object, at: int) -> Call:
        tool = self._lines.named(name)
        if tool is None:
            near = self._lines.nearest(name.upper().replace("-", "_"))
            hint = f": did you mean the tool {near}" if near else ""
            form = f"; write: {self._lines.tools[near].usage}" if near else ""
            number = self._source.number_at(at)
            problem = f"line {number} calls {formatting.one_line(name, 60)}, which is no tool"
            return Call(
                formatting.one_line(name, 60), error=f"nothing was done: {problem}{hint}{form}"
            )
        usage = self._lines.tools.get(tool)
        if usage is None:
            return Call(tool, error=f"there is no tool {tool} here: nothing was done")
        return call_of(usage, given, self._lines.rooms)

    def _is_tool(self, name: str) -> bool:
        return self._lines.named(name) is not None

    def _mentioned(self, text: str) -> str | None:
        """The first tool whose name stands in ``text`` as that of a call would."""
        for match in _IDENTIFIER.finditer(text):
            before = text[match.start() - 1 : match.start()]
            meant = match[0].isupper() or "_" in match[0] or before in ("'", '"', ".", "=", ">")
            if meant and (tool := self._lines.named(match[0])):
                return tool
        return None

    def _end_of_broken(self, at: int) -> int:
        """Where JSON ends at the latest that cannot be read: before a fence or a tool line."""
        source = self._source
        end = source.line_end(at)
        while end < len(source.text):
            line = source.text[end + 1 : source.line_end(end + 1)]
            head = self._lines.head(line)
            if edit_blocks.FENCE.fullmatch(line) or (head and head.exact):
                return end
            end = source.line_end(end + 1)
        return end
