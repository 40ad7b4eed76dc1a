"""Which lines are tool lines, as they should be or with slips that have only one meaning. Pure.

    SAY dev hello                    as it should be
    - **SAY** #dev: hello            marks of Markdown, a colon, marks around the room
    say dev hello                    in lower case, if the whole line fits: dev is a room
    READFILE MEMORY.md               an error, which names the tool that was probably meant

An ordinary word is no tool: "Say what you think", "NOTE that", "Recall the plan" are prose.
"""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dory.text.tool_usage import ToolUsage, room_in

_HEAD = re.compile(
    r"(?P<indent>[ \t]*+)(?P<bullet>(?:[-*+•]|#{1,6}|\d{1,3}[.)])[ \t]++)?+(?P<quote>>[ \t]*+)?+"
    r"(?P<label>(?:tool(?:[ _](?:call|line|use))?|action|call|command|function) ?:\s*+)?+"
    r"(?P<open>[*_`\[\"'/]*+)(?P<name>[A-Za-z][A-Za-z0-9_]*+)(?P<close>[*_`\]\"']*+)"
    r"(?P<mark>[:.]?+)(?P<after>[*_`]*+)(?=\s|\Z)(?P<rest>.*)",
    re.DOTALL | re.IGNORECASE,
)
_WORD = re.compile(r"([A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)*+)(?=[\s:(]|\Z)")
_PROSE = frozenset(
    [
        "NOTE",
        "NOTES",
        "TODO",
        "FIXME",
        "WARNING",
        "OK",
        "API",
        "I",
        "A",
        "NO",
        "YES",
        "AND",
        "OR",
        "IF",
        "SO",
        "THE",
        "IT",
        "ALL",
        "ADD",
        "GO",
        "SET",
        "SHOW",
        "EDIT",
        "USER",
        "AGENT",
        "SYSTEM",
        "JSON",
        "HTTP",
        "URL",
        "ID",
        "NB",
        "PS",
        "FAQ",
        "TIP",
        "DONE",
        "END",
        "SELF",
        "NEVER",
        "ALWAYS",
        "IMPORTANT",
    ]
)
_DESCRIBED = re.compile(r"<[a-z]|\[[a-z]|[-–—=] ")
"""What stands behind a tool's name where its syntax or its use is explained."""
_MOST_WORDS = 300
_HEX = re.compile(r"(?:◱?hash=)?[0-9a-f]{6,64}\b")


@dataclass(frozen=True, slots=True)
class Head:
    """A line that begins with a tool's name. ``rest`` is what follows the name. ``exact``: it is
    as it should be. ``listed``: it has an indent, a bullet or backticks, as lines have that are
    shown. ``quoted``: it has the mark of a quotation. ``cited``: it is opened by a quotation mark.
    ``marked``: only a bullet, a number, an indent or ``>`` stands before the name, which is in
    capitals.
    """

    name: str
    rest: str
    exact: bool = False
    listed: bool = False
    quoted: bool = False
    cited: bool = False
    marked: bool = False


class ToolLines:
    """Recognises the lines of these tools. ``known`` are names of tools that are not in use."""

    def __init__(
        self, tools: Mapping[str, ToolUsage], known: Collection[str], rooms: Collection[str]
    ) -> None:
        self.tools = tools
        self.known = known
        self.rooms = rooms
        names = {*tools, *known}
        self._by_letters = {_letters(name): name for name in sorted(names)}
        self._nearest: dict[str, str | None] = {}

    def named(self, word: str) -> str | None:
        """The tool that ``word`` names in whatever case, with the prefixes of other formats."""
        bare = word.strip().split(":")[0] if "functions." in word else word.strip()
        upper = bare.rpartition(".")[2].upper().replace("-", "_").replace(" ", "_")
        if upper in self.tools or upper in self.known:
            return upper
        return self._by_letters.get(_letters(upper)) if "_" not in upper and upper else None

    def head(self, line: str) -> Head | None:
        """The tool that the line calls; None if it is no tool line."""
        line = line.rstrip("\r")
        name, _, rest = line.partition(" ")
        if name in self.tools or name in self.known:
            return Head(name, rest.strip(), exact=True)
        match = _HEAD.match(line)
        if not match:
            return None
        name = match["name"].upper()
        if name not in self.tools and name not in self.known:
            return None
        rest = _closed(match["rest"].strip(), match["open"])
        listed = bool(match["indent"] or match["bullet"] or "`" in match["open"])
        quoted = bool(match["quote"])
        cited = bool(set("\"'") & set(match["open"]))
        marked = bool(listed or quoted) and match["name"].isupper() and "`" not in match["open"]
        head = Head(name, rest, False, listed, quoted, cited, marked and not cited)
        return head if self._fits(head, match) else None

    def ends_message(self, line: str, like: Head) -> bool:
        """Whether the line ends the message that began with the head ``like``: a listed line only
        if that one was listed, too, for a message may show tools.
        """
        head = self.head(line)
        if head is None:
            misspelt = self.misspelt(line)
            return bool(
                misspelt
                and misspelt[1]
                and ("_" in misspelt[0] or not misspelt[1].startswith(f"{misspelt[0]}_"))
            )
        if head.cited and not like.cited:
            return False  # somebody's words
        return head.exact or (not head.quoted and (not head.listed or like.listed))

    def doubtful(self, line: str) -> bool:
        """Whether a line of a message that does not end it could be a call all the same: a point
        of a list or a quotation that has a tool's exact name and what the tool takes.
        """
        head = self.head(line)
        if head is None or not head.marked or _DESCRIBED.match(head.rest):
            return False
        usage = self.tools.get(head.name)
        if usage is None or not usage.parameters or not head.rest:
            return bool(head.rest)
        if usage.parameters[0] in ("room", "path", "hash", "id"):
            return self._shape(usage, head.rest)
        return True

    def misspelt(self, line: str) -> tuple[str, str | None] | None:
        """The word of a line that looks like a tool and is none, and the tool that is nearest."""
        word = _WORD.match(line)
        if not word or word[1] in self.tools or word[1] in self.known:
            return None
        tool = self.nearest(word[1])
        if "_" in word[1]:
            return word[1], tool
        alone = len(word[1]) == len(line.strip())
        if tool is None or alone or len(word[1]) < 3 or word[1] in _PROSE:
            return None
        return word[1], tool

    def stranger(self, line: str) -> str | None:
        """The name of the tool that a line seems to call, if there is none like it."""
        misspelt = self.misspelt(line)
        named = misspelt and "_" in misspelt[0] and line[len(misspelt[0]) :].startswith(" ")
        return misspelt[0] if misspelt and named else None

    def nearest(self, word: str) -> str | None:
        """The tool that was probably meant by ``word``; None if no name is similar, or after too
        many other words: the comparison is slow.
        """
        if word not in self._nearest:
            if len(self._nearest) >= _MOST_WORDS:
                return None
            self._nearest[word] = self._compared(word)
        return self._nearest[word]

    def _compared(self, word: str) -> str | None:
        candidates = [tool for tool in self.tools if tool.startswith(f"{word}_")]
        if not candidates:
            candidates = difflib.get_close_matches(word[:60], self.tools, n=1, cutoff=0.75)
        return candidates[0] if candidates else None

    def _fits(self, head: Head, match: re.Match[str]) -> bool:
        usage = self.tools.get(head.name)
        shouted = match["name"].isupper()
        if usage is None:
            return shouted
        if not usage.parameters:
            if usage.usage == usage.name and head.rest:
                return False
            return shouted or "_" in head.name or match[0].strip() == head.name.lower()
        sure = self._shape(usage, head.rest)
        if shouted:
            return bool(head.rest) or usage.takes_text
        return sure or ("_" in head.name and bool(head.rest))

    def _shape(self, usage: ToolUsage, rest: str) -> bool:
        """Whether what follows a name can hardly be prose."""
        first, _, more = rest.partition(" ")
        parameter = usage.parameters[0]
        if parameter == "room":
            room = bool(self.rooms) and room_in(first, self.rooms)
            return bool(room and more.strip()) if usage.message else bool(room and not more)
        if parameter == "path":
            return "." in first.strip(".") or "/" in first
        if parameter == "hash":
            return bool(_HEX.match(first))
        return parameter == "id" and first.isdecimal() and not more


def _letters(name: str) -> str:
    return name.replace("_", "").upper()


def _closed(rest: str, opened: str) -> str:
    """``rest`` without the marks at its end that close what was ``opened`` before the name."""
    for mark in reversed(opened):
        closing = {"[": "]"}.get(mark, mark)
        if rest.endswith(closing) and (mark in "*_`" or rest.count(closing) == 1):
            rest = rest.removesuffix(closing)
    return rest.strip()
