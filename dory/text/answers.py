"""Takes the answer of a model apart: calls, plain text, thoughts, what it invented. Pure, and never
raises: what looks like a call and cannot be run becomes a ``Call`` with an ``error`` that names the
line and the right form.

    SAY dev one line                 a message goes on up to the next tool line,
    and another                      with paragraphs, lists and code blocks
    NOTE_ADD trip one line           other texts end with their line,
    NOTE_ADD trip                    unless nothing stands there: then up to the next tool line
    NOTE_ADD trip <<END              a here-document: the body up to a line that is END
    EDIT_FILE MEMORY.md              edit blocks on the lines that follow

Slips with one meaning (``tool_lines``) and the formats of other frameworks (``wire_calls``) are
understood as well. A call that is shown has no effect: in a code block of a message, in a
quotation. A code block of an answer is read like its other lines if nothing but calls stands there
and there is no other text; where the block could be either, its calls become errors that ask.

Every visible line lands in a call, an error, ``plain``, a thought or ``invented``. The time is
linear: an attempt that fails is paid from a budget, and when that is used up, the rest is plain.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from dory.text import edit_blocks, imitations, json_calls, shown
from dory.text.message_reader import Body, BodyReader
from dory.text.source import Source
from dory.text.thoughts import CLOSING
from dory.text.tool_lines import Head, ToolLines
from dory.text.tool_usage import ToolUsage, room_in, usages, wrong
from dory.text.wire_calls import WireCalls
from dory.types import Answer, Call

_POINT = r"(?:(?:[-*+•>]|\d{1,3}[.)])[ \t]*)*"


@dataclass(slots=True)
class _Part:
    """A stretch of the text. ``kind`` is ``plain``, ``call``, ``thought`` or ``marks``; ``fence``
    is the number of the code block that it stands in. ``sure``: its calls are in another format
    than lines, which nobody shows to a person without saying so. ``shown``: what its calls may be
    instead.
    """

    kind: str
    start: int
    end: int
    calls: list[Call] = field(default_factory=list)
    text: str | None = None
    fence: int | None = None
    sure: bool = False
    exact: bool = False
    shown: str = ""


def parse(
    text: str,
    tools: Iterable[str],
    known: Collection[str] = (),
    rooms: Collection[str] = (),
    examples: bool = True,
) -> Answer:
    """Take ``text`` apart. ``tools`` are the usages of the tools that exist (``SAY <room>
    <message>``), or their names alone, which leaves what they take unknown. A call of another
    ``known`` tool becomes an error. ``rooms`` are those that the agent is in. Without ``examples``
    nobody is shown anything, so that a call in a code block is one.
    """
    reader = _Reader(text, tools, known, rooms, examples=examples)
    parts = reader.parts
    return Answer(
        tuple(call for part in parts for call in part.calls),
        reader.plain(),
        text[reader.end :],
    )


def placed(
    text: str,
    tools: Iterable[str],
    known: Collection[str] = (),
    rooms: Collection[str] = (),
) -> list[tuple[int, int, list[Call]]]:
    """The calls of ``parse``, with the places in ``text`` where each or several begin and end."""
    parts = _Reader(text, tools, known, rooms).parts
    return [(part.start, part.end, part.calls) for part in parts if part.calls]


def saying(
    partial: str, tools: Iterable[str], rooms: Collection[str] = ()
) -> tuple[str, str] | None:
    """The room and the text so far of the message that an unfinished answer ends with; None if it
    is not about to say something. The last word is left out as long as it may become a tool.
    """
    end = partial.rfind("\n") + 1
    last = partial[end:]
    if re.fullmatch(rf"\s*(?:[<\[{{`*\"#]\S*|{_POINT}[A-Z_]*|\[#.*|<.*)", last[:200]):
        partial = partial[:end]
    reader = _Reader(partial, tools, (), rooms, unfinished=True)
    if reader.end < len(partial) or not reader.parts:
        return None
    calls = [call for part in reader.parts[-1:] for call in part.calls]
    if not calls or calls[-1].error:
        return None
    usage = reader.lines.tools.get(calls[-1].tool)
    if not usage or not usage.message:
        return None
    room, text = calls[-1].named
    return (room, text.strip()) if text.strip() else None


class _Reader:
    """Reads one answer. ``end`` is where what it invented begins."""

    def __init__(
        self,
        text: str,
        tools: Iterable[str],
        known: Collection[str],
        rooms: Collection[str],
        unfinished: bool = False,
        examples: bool = True,
    ) -> None:
        self._examples = examples
        self.end = imitations.begun(text)
        self._source = Source(text[: self.end])
        self.lines = ToolLines(usages(tools), known, rooms)
        self._wire = WireCalls(self._source, self.lines, unfinished)
        self._bodies = BodyReader(self._source, self.lines, self._wire, unfinished)
        self._fence: int | None = None
        self._fences = 0
        self._above = ""
        self._in_list = False
        self._example_to = -1

    @cached_property
    def parts(self) -> list[_Part]:
        """All parts in order, from the first character to ``end``."""
        parts: list[_Part] = []
        while self._source.remaining:
            part = self._next()
            part.fence = part.fence if part.kind == "marks" else self._fence
            parts.append(part)
        self._settle(parts)
        return parts

    def plain(self) -> str:
        """What may be meant for a person."""
        pieces: list[str] = []
        for part in self.parts:
            if part.kind == "plain":
                text = self._source.text[part.start : part.end]
                if pieces and pieces[-1] == "\n" and self._within_line(part.start):
                    text = text.lstrip(" \t")
                pieces.append(text if part.text is None else part.text)
            elif pieces and part.kind == "call" and not pieces[-1].endswith("\n\n"):
                pieces[-1] = pieces[-1].rstrip(" \t")
                pieces.append("\n")
        text = imitations.cleaned(json_calls.unwrapped("".join(pieces)))
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def _within_line(self, place: int) -> bool:
        return self._source.text[place - 1 : place] not in ("", "\n")

    def _next(self) -> _Part:
        source = self._source
        start = source.at
        if source.take_blank():
            return _Part("plain", start, source.at)
        line = source.line
        if thought := self._thought(line):
            return thought
        if edit_blocks.FENCE.fullmatch(line):
            return self._turn_fence(line)
        if end := self._wire.noise(start):
            source.at = end
            return _Part("marks", start, end)
        found = self._wire.at_line(start)
        if found:
            source.at = found.end
            part = self._called(start, found.calls, sure=True, text=found.plain)
            if self._wire.within_sentence(start, found.end):
                part.shown = part.shown or "part of the sentence"
            return part
        head = self.lines.head(line)
        if head:
            return self._line_call(start, head)
        if misspelt := self.lines.misspelt(line):
            source.take()
            return self._called(start, [self._unknown(line, *misspelt)], exact=True)
        return self._prose(start, line)

    def _thought(self, line: str) -> _Part | None:
        """The thought that begins in the line, from the line's beginning or else from the first
        tag of one that ends.
        """
        start = self._source.at
        if end := self._wire.label(start):
            self._source.at = end
            return _Part("thought", start, end)
        if closing := CLOSING.match(line):  # what was thought before it is gone already
            self._source.at = start + closing.end()
            return _Part("marks", start, self._source.at)
        thought = self._source.thought(start, line, framed=self._fence is not None)
        if not thought:
            return None
        begins, end = thought
        if self._source.text[start:begins].strip():
            if self.lines.head(line) or self._wire.marks(line) or self._wire.at_line(start):
                return None
            self._source.at = begins
            return _Part("plain", start, begins)
        self._source.at = len(self._source.text) if end is None else end
        return _Part("thought", start, self._source.at)

    def _turn_fence(self, line: str) -> _Part:
        start = self._source.at
        self._source.take()
        inside = self._fence
        if inside is None:
            self._fences += 1
            self._fence = self._fences
        else:
            self._fence = None
        return _Part("marks", start, self._source.at, fence=inside or self._fence)

    def _line_call(self, start: int, head: Head) -> _Part:
        number = self._source.number
        self._doubt_list(start, head)
        self._source.take()
        usage = self.lines.tools.get(head.name)
        body = self._bodies.body(usage or ToolUsage(head.name, head.name), head, self._fence)
        call = _call(head, body, usage, self.lines.rooms)
        if usage is None:
            call = replace(call, error=f"there is no tool {head.name} here: nothing was done")
        if head.quoted:
            call = replace(call, error=call.error or self._ask(number, head.name, "a quotation"))
        if call.error and not head.exact and usage and "write: " not in call.error:
            call = replace(call, error=f"{call.error}; write: {usage.usage}")
        return self._called(start, [call, *self._strangers()], exact=head.exact)

    def _strangers(self) -> list[Call]:
        """An error for each line of the message just read that looks like a tool and is none."""
        found = [
            Call(word, error=f"line {number} was said as text: there is no tool {word[:60]}")
            for number, word in self._bodies.strangers
        ]
        self._bodies.strangers.clear()
        return found

    def _doubt_list(self, start: int, head: Head) -> None:
        """The points below one that may be part of a message may be part of it, too."""
        doubts = self._bodies.doubts
        if start in doubts:
            self._in_list = doubts[start] != "an example"
        elif head.listed and self._in_list:
            doubts[start] = "part of the message"
        else:
            self._in_list = False

    def _called(
        self,
        start: int,
        calls: Sequence[Call],
        sure: bool = False,
        exact: bool = False,
        text: str = "",
    ) -> _Part:
        if not calls:
            return _Part("plain", start, self._source.at, text=text or None)
        part = _Part("call", start, self._source.at, list(calls), sure=sure, exact=exact)
        part.shown = self._only_shown(start, calls)
        return part

    def _only_shown(self, start: int, calls: Sequence[Call]) -> str:
        """What the calls may be instead, for what stands around them; empty if they are meant."""
        doubt = self._bodies.doubts.get(start, "")
        if doubt == "an example" or start == self._example_to:  # the calls below it are of it, too
            at = self._source.at
            self._example_to = at + (self._source.text[at : at + 1] == "\n")
            return "an example"
        if doubt or shown.announces(self._above):
            return doubt or "an example"
        above = self._bodies.above.get(start, "") or self._line_above(start)
        drastic = any(shown.drastic(call.tool) for call in calls)
        if drastic and shown.speaks(above) and self._prose_follows():
            return "an example"
        return ""

    def _line_above(self, start: int) -> str:
        """The prose directly above a line."""
        row = self._source.number_at(start) - 1
        above = self._above
        return above if row and above and self._source.lines[row - 1].endswith(above) else ""

    def _prose_follows(self) -> bool:
        """Whether text stands directly below what was read."""
        source = self._source
        at = source.at + (source.text[source.at : source.at + 1] == "\n")
        line = source.text[at : source.line_end(at)]
        if not line.strip() or edit_blocks.FENCE.fullmatch(line):
            return False
        return not (self.lines.head(line) or self._wire.marks(line) or self._wire.at_line(at))

    def _unknown(self, line: str, word: str, tool: str | None) -> Call:
        if tool:
            error = (
                f"nothing was done: did you mean the tool {tool}? A tool line begins with its exact"
                f" name and a space; write: {self.lines.tools[tool].usage}"
            )
        else:
            error = f"nothing was done: there is no tool {word[:60]}"
        return Call(word, error=error)

    def _prose(self, start: int, line: str) -> _Part:
        """A line without a call at its beginning; it may have one further on, in another format."""
        source = self._source
        if found := self._wire.in_line(start, line):
            source.at = found
            return _Part("plain", start, found)
        source.take()
        if line.strip():
            self._above = line
        return _Part("plain", start, source.at)

    def _ask(self, number: int, tool: str, what: str) -> str:
        usage = self.lines.tools.get(tool)
        form = f"; write: {usage.usage}" if usage else ""
        return (
            f"line {number} ({tool} …) may be a call or {what}: nothing was done; to call the tool,"
            f" begin a line with its name, outside of any block{form}"
        )

    def _settle(self, parts: list[_Part]) -> None:
        """Decide which calls are only shown, and what the lines of code blocks belong to."""
        blocks: dict[int, list[_Part]] = {}
        for part in parts:
            if part.fence is not None:
                blocks.setdefault(part.fence, []).append(part)
        text = self._source.text
        outside = [part for part in parts if part.fence is None and self._visible(part)]
        example = any(
            part.kind == "plain" and shown.EXAMPLE.search(text, part.start, part.end)
            for part in outside
        )
        for members in blocks.values():
            calls = [part for part in members if part.calls]
            prose = [part for part in members if part.kind == "plain" and self._visible(part)]
            if not calls or (prose and not any(part.exact or part.sure for part in calls)):
                for part in members:  # code, or text in a frame
                    part.kind, part.calls = "plain", []
            elif prose or outside:
                for part in calls:
                    if prose or example or not part.sure:
                        self._question(part, "an example")
        for part in parts:
            if (
                part.shown
                and part.calls
                and (part.fence is None or part.shown == "part of the message")
            ):
                self._question(part, part.shown)

    def _visible(self, part: _Part) -> bool:
        text = self._source.text
        return bool(part.calls) or (
            part.kind == "plain"
            and not text[part.start : part.end].isspace()
            and part.end > part.start
        )

    def _question(self, part: _Part, what: str) -> None:
        if not self._examples and what != "part of the message":
            return
        number = self._source.number_at(part.start)
        part.calls = [
            replace(call, error=call.error or self._ask(number, call.tool, what))
            for call in part.calls
        ]


def _call(head: Head, body: Body, usage: ToolUsage | None, rooms: Collection[str]) -> Call:
    """The call of a tool line with what stands below it."""
    if body.error:
        return Call(head.name, body.args, error=body.error)
    args = body.args
    if usage and usage.names_room and args:
        first, gap, rest = args.partition(" ")
        room = room_in(first, rooms) or room_in(first, ())
        args = f"{room}{gap}{rest}" if room else args
    if usage and not head.exact and not usage.parameters and usage.usage == usage.name and args:
        return Call(head.name, args, error=wrong(usage, "it takes no arguments"))
    return Call(head.name, args, body.text, body.edits)
