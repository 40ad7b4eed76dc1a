"""What belongs to a tool line: the rest of the line, a here-document, edit blocks, or the lines of
its message. Pure.
"""

import re
from dataclasses import dataclass

from dory.text import edit_blocks, imitations, loose_json, shown
from dory.text.source import Source
from dory.text.thoughts import spoken
from dory.text.tool_lines import Head, ToolLines
from dory.text.tool_usage import ToolUsage, call_of
from dory.text.wire_calls import WireCalls

_HEREDOC = re.compile(r"(\S*\s*(?=<<)|.*?\s(?=<<\S))<<\s*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\2\s*")
_WITH_TEXT = re.compile(r"(\S*\s*)<<\s*(['\"]?)([A-Z][A-Z0-9_]+)\2\s+(\S.*)", re.DOTALL)
_USUAL_MARKS = frozenset(("END", "EOF", "EOT", "EOM", "TEXT", "MSG", "MESSAGE", "BODY", "DONE"))
_TRIPLE = re.compile(r"(?P<args>[^\"'\s]*+[ \t]*+)(?P<quote>\"\"\"|''')(?P<rest>.*)", re.DOTALL)
_ONE_PAIR = r"-{0,2}[a-z][\w-]*+ ?= ?(?:\"[^\"]*+\"|'[^']*+'|[^\s\"',]++)"
_PAIRS = re.compile(rf"{_ONE_PAIR}(?:(?:,\s*+|\s++){_ONE_PAIR})*+")
_PAIR = re.compile(r"-{0,2}([a-z][\w-]*+) ?= ?(?:\"([^\"]*)\"|'([^']*)'|([^\s\"',]+))")


@dataclass(frozen=True, slots=True)
class Body:
    """The arguments on the line, and what stands below them."""

    args: str
    text: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    error: str | None = None


class _Frame:
    """The code block of a message that is open. ``doubt`` is the first line in it that looks like a
    tool line.
    """

    def __init__(self, within: bool) -> None:
        self._within = within
        self.open = ""
        self.doubt = 0

    def closes_outer(self, line: str) -> bool:
        """Whether the line ends the code block that stands around the call."""
        mark = edit_blocks.FENCE.fullmatch(line)
        return bool(mark and self._within and not self.open and not mark[2])

    def turn(self, line: str) -> bool:
        """Whether the line begins or ends a code block of the message."""
        mark = edit_blocks.FENCE.fullmatch(line)
        if not mark or (self.open and (mark[2] or not mark[1].startswith(self.open))):
            return False
        self.open = "" if self.open else mark[1]
        return True


class BodyReader:
    """Reads bodies from a source that has just gone behind the tool line."""

    def __init__(self, source: Source, lines: ToolLines, wire: WireCalls, unfinished: bool) -> None:
        self._source = source
        self._lines = lines
        self._wire = wire
        self._unfinished = unfinished
        self.doubts: dict[int, str] = {}
        """Where calls begin that ended a message and may only be shown there: what else each is."""
        self.strangers: list[tuple[int, str]] = []
        """Lines of messages that look like calls of tools that do not exist: number and name."""
        self.above: dict[int, str] = {}
        """The last line of the message that ended where a call begins."""

    def body(self, usage: ToolUsage, head: Head, fence: int | None) -> Body:
        """The body of a call of ``usage``; ``fence`` is set within a code block."""
        rest = head.rest
        text_like = usage.takes_text or usage.usage == usage.name
        if heredoc := _HEREDOC.fullmatch(rest):
            return self._heredoc(usage, head, heredoc[1].rstrip(), heredoc[3], "")
        begun = _WITH_TEXT.fullmatch(rest) if text_like else None
        if begun and (
            begun[3] in _USUAL_MARKS or self._source.last_row_of(begun[3]) >= self._source.row
        ):
            return self._heredoc(usage, head, begun[1].rstrip(), begun[3], begun[4])
        if usage.takes_text and (triple := _TRIPLE.fullmatch(rest)):
            return self._quoted(usage, head, triple)
        if named := self._named(usage, rest):
            return named
        if usage.blocks or usage.usage == usage.name:
            return self._edits(rest, fence)
        if usage.message and rest:
            return self._message(usage, head, fence)
        needed = len(usage.parameters) - 1
        if usage.takes_text and len(rest.split()) == needed:
            body = self._collected(usage, head, "", fence)
            return Body(rest, error=body.error) if body.error else Body(rest, body.text or None)
        return Body(rest)

    def _message(self, usage: ToolUsage, head: Head, fence: int | None) -> Body:
        room, _, first = head.rest.partition(" ")
        body = self._collected(usage, head, first.strip(), fence)
        if body.error or body.text is None:
            return Body(head.rest, error=body.error)
        text = imitations.cleaned(body.text).strip("\n").rstrip()
        if (
            len(text) > 2
            and text[0] == text[-1] == '"'
            and text.count('"') == 2
            and text[1:-1].strip()
        ):
            text = text[1:-1]
        if not text.strip():
            return Body(room)
        line, gap, below = text.partition("\n")
        if not first.strip():
            return Body(room, text) if gap else Body(f"{room} {text.strip()}")
        return Body(f"{room} {line.strip()}", below if gap else None)

    def _collected(self, usage: ToolUsage, head: Head, first: str, fence: int | None) -> Body:
        """The lines up to the next tool line; ``first`` is the text on the tool line itself. Tool
        names inside a code block of the message are text; thoughts are left out.
        """
        source = self._source
        pieces: list[str] = []
        if first:
            source.at = source.text.rindex(first, 0, source.at)
        frame = _Frame(fence is not None)
        begun = bool(first)
        while source.remaining:
            start = source.at
            if source.take_blank():
                pieces.append(source.text[start : source.at])
                continue
            line = source.line
            if not begun:
                if frame.closes_outer(line) or self._stops(start, line, head, frame):
                    break
                if source.at > start:
                    continue
            begun = False
            stop = "" if frame.open else self._interruption(start, line, pieces)
            if stop == "call":
                break
            if not stop:
                source.take()
                pieces += [first if first and not pieces else line, "\n"]
        if usage.message and source.remaining:
            self._note_above(source.at, pieces)
        return self._joined(usage, pieces, frame)

    def _note_above(self, start: int, pieces: list[str]) -> None:
        """Keep what stands above a call that ended the message: it may announce an example."""
        above = next((piece for piece in reversed(pieces) if piece.strip()), "")
        if shown.announces(above):
            self.doubts.setdefault(start, "an example")
        self.above[start] = above if len(pieces) < 2 or pieces[-2].strip() else ""

    def _stops(self, start: int, line: str, head: Head, frame: _Frame) -> bool:
        """Whether the message ends before a line. Goes behind a token that means nothing there."""
        source = self._source
        if frame.turn(line):
            return False
        if self._ends(start, line, head):
            frame.doubt = frame.doubt or source.number
            return not frame.open
        if frame.open:
            return False
        if self._lines.doubtful(line):
            self.doubts[start] = "part of the message"
            return True
        if end := self._wire.noise(start):
            source.at = end
        elif name := self._lines.stranger(line):
            self.strangers.append((source.number, name))
        return False

    def _interruption(self, start: int, line: str, pieces: list[str]) -> str:
        """Go behind the thought that the line holds, or to the call in another format, and keep
        what is before it; ``thought`` or ``call``, empty for neither.
        """
        source = self._source
        if thought := source.thought(start, line, framed=False):
            pieces.append(source.text[start : thought[0]])
            source.at = len(source.text) if thought[1] is None else thought[1]
            return "thought"
        if inline := self._wire.in_line(start, line):
            pieces.append(source.text[start:inline])
            source.at = inline
            return "call"
        return ""

    def _joined(self, usage: ToolUsage, pieces: list[str], frame: "_Frame") -> Body:
        if frame.open and frame.doubt and not self._unfinished:
            self._source.at = len(self._source.text)
            return Body("", error=_open_block(frame.doubt, usage))
        text = "".join(pieces).rstrip()
        above, _, last = text.rpartition("\n")
        if frame.open and edit_blocks.FENCE.fullmatch(last):
            text = above.rstrip()
        return Body("", text)

    def _ends(self, start: int, line: str, head: Head) -> bool:
        return self._lines.ends_message(line, head) or self._wire.begins(start)

    def _heredoc(self, usage: ToolUsage, head: Head, args: str, mark: str, first: str) -> Body:
        source = self._source
        above = [first] if first else []
        if first.split()[-1:] == [mark]:  # it begins and ends on one line
            return Body(f"{args} {first.rsplit(None, 1)[0]}".strip())
        row = source.row if source.remaining else len(source.lines)
        end = self._end_of(mark, row)
        if end is None:
            calls = any(self._is_call(line) for line in source.lines[row:])
            below = source.lines[row:]
            source.at = len(source.text)
            if calls and not self._unfinished:
                error = "unterminated text: nothing was done; end it with a line that is just"
                return Body(args, error=f"{error} {mark}")
            return self._text(usage, args, "\n".join([*above, *below]).rstrip())
        below = source.lines[row:end]
        source.go_to_row(end + 1)
        return self._text(usage, args, "\n".join([*above, *below]))

    def _text(self, usage: ToolUsage, args: str, text: str) -> Body:
        """A body with a mark at its end: what it holds is meant, but for what nobody may say."""
        return Body(args, imitations.cleaned(spoken(text)) if usage.message else text)

    def _end_of(self, mark: str, row: int) -> int | None:
        """The line that ends a here-document. One with an indent or a full stop ends it if a tool
        line or nothing follows, or if no other line does.
        """
        lines = self._source.lines
        exact = self._source.last_row_of(mark) >= row
        like: int | None = None
        for number in range(row, len(lines)):
            line = lines[number].strip()
            if lines[number].rstrip() == mark:
                return number
            if len(line) <= len(mark) + 4 and line.strip("`*_>. \t") == mark:
                if not exact or self._calls_next(number + 1):
                    return number
                like = number if like is None else like
        return like

    def _calls_next(self, row: int) -> bool:
        for line in self._source.lines[row : row + 5]:
            if line.strip():
                return self._is_call(line)
        return True

    def _is_call(self, line: str) -> bool:
        return bool(self._lines.head(line)) or bool(self._wire.marks(line))

    def _quoted(self, usage: ToolUsage, head: Head, begun: re.Match[str]) -> Body:
        source = self._source
        start = source.text.rindex(begun["quote"] + begun["rest"], 0, source.at) + 3
        end = source.text.find(begun["quote"], start)
        args = begun["args"].strip()
        if end < 0:
            calls = any(self._is_call(line) for line in source.lines[source.row :])
            if source.remaining and calls and not self._unfinished:
                source.at = len(source.text)
                error = f"unterminated text: nothing was done; end it with {begun['quote']}"
                return Body(args, error=error)
            end = len(source.text)
        text = source.text[start:end].strip("\n").rstrip()
        source.at = min(end + 3, len(source.text))
        if source.text[source.at : source.at + 1] == "\n":
            source.at += 1
        body = self._text(usage, args, text)
        if body.text is not None and "\n" not in body.text:
            return Body(f"{args} {body.text}".strip())
        return body

    def _edits(self, rest: str, fence: int | None) -> Body:
        source = self._source
        edits: list[tuple[str, str]] = []
        row = source.row if source.remaining else len(source.lines)
        while (start := edit_blocks.begins(source.lines, row)) is not None:
            found = edit_blocks.block(source.lines, start)
            if not found:
                source.at = len(source.text)  # so that no part of the block is run
                return Body(rest, error=edit_blocks.UNTERMINATED)
            edits.append(found[0])
            framed = fence is None and any(
                source.lines[number].strip() for number in range(row, start)
            )
            row = found[1]
            if (
                framed
                and row < len(source.lines)
                and edit_blocks.FENCE.fullmatch(source.lines[row])
            ):
                row += 1
            source.go_to_row(row)
        return Body(rest, edits=tuple(edits))

    def _named(self, usage: ToolUsage, rest: str) -> Body | None:
        """Arguments by name on the tool line: as JSON, or as ``room="dev" message="hi"``."""
        if not usage.parameters:
            return None
        given: object
        if rest.startswith("{") and self._looks_named(usage, rest):
            start = self._source.text.rindex(rest, 0, self._source.at)
            try:
                given, end = loose_json.read(self._source.json, start, self._unfinished)
            except loose_json.Unreadable:
                return None
            self._source.at = end
            if self._source.text[end : end + 1] == "\n":
                self._source.at += 1
        elif "=" in rest[:40] and len(rest) < 20_000 and _PAIRS.fullmatch(rest):
            pairs = [(m[1], m[2] or m[3] or m[4] or "") for m in _PAIR.finditer(rest)]
            if not {key for key, _ in pairs} <= set(usage.parameters):
                return None
            given = dict(pairs)
        else:
            return None
        call = call_of(usage, given, self._lines.rooms)
        return Body(call.args, call.body, call.edits, call.error)

    def _looks_named(self, usage: ToolUsage, rest: str) -> bool:
        return any(f'"{name}"' in rest[:200] or name in rest[:20] for name in usage.parameters)


def _open_block(number: int, usage: ToolUsage) -> str:
    return (
        f"nothing was done: a code block of the message never ends, and line {number} in it looks"
        f" like a tool line; close the block, or write: {usage.usage}"
    )
