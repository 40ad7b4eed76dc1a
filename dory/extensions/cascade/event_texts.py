"""The full text of an event: what was heard, what was said, what a tool was given and what came of
it.

A line of LIFE is short. All of its event stands in the blob that the line leads to, or in the line
itself if that has no reference. Read from there:

* a message as it was heard;
* a response without its thoughts: its tool lines with what they give, or else what it says;
* what a tool answered. An original that was brought back has its gist. If the answer only repeats
  what stands elsewhere (a search, the agent's own files), or comes from a file that looks like
  credentials, the event has no text but the tool.

Only reads, so any thread may use it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dory.errors import BlobError, FormatError
from dory.identity.life import EMPTY
from dory.storage.blobs import Blobs
from dory.text import answers, formatting, references, thoughts
from dory.text.credential_files import is_secret
from dory.turn.extension import Tool
from dory.types import Blob, Call

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d) (\S+(?: failed)?) ?(.*)")
_OWN = re.compile(r"(?:\./)?(?:blobs/|diary/|LIFE\.md|context\.md)")
_READ = re.compile(r"(.*), (?:lines \d+-\d+[;,] |the beginning of line )")
_READING = "READ_FILE"


@dataclass(frozen=True, slots=True)
class EventText:
    """``head`` is the time and the kind, as LIFE has them; ``text`` may have several lines. It is
    empty if there is nothing to tell.
    """

    head: str
    text: str

    def line(self, limit: int) -> str:
        """Both on one line, the text bounded: of a longer one the middle is left out."""
        return f"{self.head} {middle_cut(formatting.one_line(self.text, len(self.text)), limit)}"


class EventTexts:
    """The texts of the events of one agent. ``tools`` are all that exist; those of other packages
    may be added to it before the first event is read. With ``plainly``, what a response says beside
    its tool lines is said, too, unless one of them is a SAY.
    """

    def __init__(self, blobs: Blobs, tools: Sequence[Tool], plainly: bool) -> None:
        self._blobs = blobs
        self._declared = tools
        self._plainly = plainly

    @property
    def usages(self) -> list[str]:
        """The usages of all tools."""
        return [tool.usage for tool in self._declared]

    def of(self, line: str) -> EventText:
        """The text behind a line of LIFE; of a blob that is gone, what the line has of it."""
        parts = _LINE.fullmatch(line)
        if not parts:
            return EventText("", line)
        at, kind, shown = parts.groups()
        blob = self._behind(shown)
        text = references.gists(shown)
        if kind == "response":
            text = self._response(blob.body if blob else text)
        elif kind != "heard" and not kind.endswith(" failed"):
            text = self._answer(kind, blob, text)
        elif blob:
            text = blob.body
        return EventText(f"{at} {kind}", text.strip())

    def _behind(self, shown: str) -> Blob | None:
        for hash, _ in references.live(shown):
            try:
                return self._blobs.get(hash)
            except (BlobError, FormatError, OSError):  # ``check`` reports it
                return None
        return None

    def _response(self, body: str) -> str:
        """What a response says and gives to tools."""
        answer = answers.parse(body, self.usages)
        told = [_given(call) for call in answer.calls if not self._waits(call)]
        said = any(call.tool == "SAY" for call in answer.calls)
        if not answer.calls or (self._plainly and not said):
            told.append(thoughts.spoken(answer.plain).strip().removeprefix(EMPTY))
        return "\n".join(filter(None, told))

    def _tool(self, name: str) -> Tool | None:
        return next((tool for tool in self._declared if tool.name == name), None)

    def _waits(self, call: Call) -> bool:
        tool = self._tool(call.tool)
        return bool(tool and tool.quiet and tool.looks_up)

    def _answer(self, kind: str, blob: Blob | None, text: str) -> str:
        """What a tool answered, unless that only repeats what is elsewhere."""
        tool = self._tool(kind)
        if blob is None:
            return text
        if blob.kind == "context":
            return blob.gist
        if tool and tool.looks_up:
            return blob.gist.partition(": ")[0].removeprefix(kind).strip()
        if kind == _READING:
            path = _READ.match(blob.body)
            if path and (_OWN.match(path[1]) or is_secret(path[1])):
                return path[1]
        return blob.body


def middle_cut(text: str, limit: int) -> str:
    """``text`` with at most ``limit`` characters: beginning and end stay, the middle goes."""
    if len(text) <= limit:
        return text
    mark = " … "
    end = (limit - len(mark)) // 2
    return f"{text[: limit - len(mark) - end]}{mark}{text[-end:]}"


def _given(call: Call) -> str:
    """A tool line with all that it gives; of edits, what they put in. A hash tells nobody anything:
    what it opens is told by the answer.
    """
    edits = [replacement for _, replacement in call.edits]
    args = "" if references.named_hash(call.args) else call.args
    return "\n".join(filter(None, [f"{call.tool} {args}".strip(), call.body, *edits]))
