"""Parses a prompt for the offline model. Pure; nothing raises.

A prompt is text that ``turn/prompt.py`` wrote. It consists of entries of the context, as
``identity/context.py`` lays them out, and of sections whose header is a word (``[#memory 31 of 4000
characters]``, ``[#turn]``). Of several sections of one name the last one counts. Only the harness
can write a line that begins with ``[#``. A header of an unknown form is ignored.

In the ledger layout a response is a message of its own, and its header comes after it. An
``uncompacted`` entry holds the original entries, whose headers stand behind one backslash.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dory.identity import heard_entry
from dory.identity.context import CHANGED, Entry
from dory.text import answers, references
from dory.types import Call, Prompt

LAYERS = ("RETRIEVE_SPECIFIC_MEMORIES", "SHOW_DIARY_ENTRIES_FROM_DAY")
"""The tools that RECALL names for reading a hit from long-term memory or the diary."""
OPENING = ("UNCOMPACT", "READ_FILE", "RECALL", "NOTE_READ", "SEARCH_DIARY_FOR_KEYWORDS", *LAYERS)
"""The tools that look something up."""
TOOLS = (
    *("SAY", "EDIT_FILE", "JOIN", "LEAVE", "WAIT"),
    *("NOTE_ADD", "NOTE_APPEND", "WRITE_DIARY"),
    *OPENING,
)
"""The tools that the offline model knows. Its prompt says which of them it has."""
READINGS = tuple(f"{tool} " for tool in ("READ_FILE", "NOTE_READ", *LAYERS))
"""How the headers of results begin that show something written."""

_DEFAULT_MEMORY_LIMIT = 4000

_ENTRY = re.compile(r"(\d{1,15})(?:-(\d{1,15}))? ([a-z]+)(?: (.*))?\]")
_SECTION = re.compile(r"([a-z]+)(?: (.*))?\]")
_SPAN = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?")
_SIZE_OF_LIMIT = re.compile(r"(\d{1,9}) of (\d{1,9}) ")
_LIST_NUMBER = re.compile(r"\d+\. ")
_AGENT_NAME = re.compile(r"^You are (\S+); your identity is", re.MULTILINE)
_TOOL_LIST = re.compile(r"^Tool lines:\n((?:.+\n)*)", re.MULTILINE)
_FUNCTIONS = re.compile(r"^Functions: (.+)$", re.MULTILINE)
_OTHERS = re.compile(r"^ +others: (.+)$", re.MULTILINE)
_ADDRESSEE = re.compile(r"([\w-]+-[0-9a-f]{8})[,:]")
_QUOTATION = re.compile(r"(\S+): “(.*)”")
_WITHHELD = re.compile(r"Not for (\S+): what was said in ([^.]+)\.")
_CUED = re.compile(r"◱hash=([0-9a-f]+) gist=[^◱◲]*◲|\bnote (\S+)(?= · |$)")


@dataclass(frozen=True, slots=True)
class Heard:
    """One message in a room, unescaped. ``place`` is the index of its entry in the context.
    ``cued`` holds the calls that open what the cue below the message names.
    """

    room: str
    kind: str
    name: str
    at: str
    text: str
    place: int
    cued: tuple[Call, ...] = ()

    @property
    def speaker(self) -> str:
        """The name with a capital, as it is written in a sentence."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def addressee(self) -> str:
        """The agent whose full name and a comma begin the message; empty when there is none."""
        match = _ADDRESSEE.match(self.text)
        return match[1] if match else ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A parsed prompt. ``sections`` maps the name of a section to the rest of its header and its
    text. ``name`` is the agent's own name, ``tools`` are the names of the tools that it has.
    """

    name: str = ""
    tools: frozenset[str] = frozenset()
    entries: list[Entry] = field(default_factory=list)
    sections: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def user(self) -> list[str]:
        """The lines of USER.md, unescaped."""
        return self.lines("user")

    @property
    def memory(self) -> list[str]:
        """The lines of MEMORY.md, unescaped."""
        return self.lines("memory")

    def lines(self, section: str) -> list[str]:
        """The lines of a section, unescaped; none when it is empty or missing."""
        text = plain(self._text(section))
        return text.split("\n") if text.strip() else []

    @property
    def memory_limit(self) -> int:
        """Characters that MEMORY.md may have, as its header says. The limit of USER.md is the
        same.
        """
        match = _SIZE_OF_LIMIT.search(self._header("memory"))
        return int(match[2]) if match else _DEFAULT_MEMORY_LIMIT

    def too_long(self, name: str) -> bool:
        """Whether a durable text exceeds its limit. The prompt then shows only its beginning."""
        match = _SIZE_OF_LIMIT.search(self._header(name.removesuffix(".md").lower()))
        return match is not None and int(match[1]) > int(match[2])

    def own(self, section: str) -> list[str]:
        """The lines of a section about the agent itself, unescaped and without list numbers. In the
        soul only the numbered lines count; the others introduce them.
        """
        lines = plain(self._text(section)).split("\n")
        return [
            _LIST_NUMBER.sub("", line)
            for line in lines
            if section != "soul" or _LIST_NUMBER.match(line)
        ]

    def withheld(self, room: str) -> frozenset[str]:
        """The rooms of which nothing may be told in ``room``, as far as the prompt names them."""
        for told_in, rooms in _WITHHELD.findall(self._text("turn")):
            if told_in == room:
                return frozenset(re.findall(r"[\w-]+", rooms))
        return frozenset()

    def named(self, section: str) -> list[list[Entry]]:
        """The runs of entries whose ids the header of a section names, such as ``[#segment 3-17
        19-40]``.
        """
        spans = [
            (int(match[1]), int(match[2] or match[1]))
            for match in _SPAN.finditer(self._header(section))
        ]
        return [
            [entry for entry in self.entries if first <= entry.first and entry.last <= last]
            for first, last in spans
        ]

    def _header(self, section: str) -> str:
        return self.sections.get(section, ("", ""))[0]

    def _text(self, section: str) -> str:
        return self.sections.get(section, ("", ""))[1]


def read(prompt: Prompt) -> Reading:
    """Parse the whole prompt."""
    system = "\n".join(message.content for message in prompt.messages if message.role == "system")
    name = _AGENT_NAME.search(system)
    tool_list = _TOOL_LIST.search(system)
    functions = _FUNCTIONS.search(system)
    reading = Reading(
        name[1] if name else "",
        frozenset(functions[1].split(", "))
        if functions
        else _tools(tool_list[1] if tool_list else ""),
    )
    # People write SOUL, which comes first: a header in it is no section.
    begin = max((match.start() for match in _AGENT_NAME.finditer(system)), default=0)
    _read_sections(system[begin:], reading)
    for message in prompt.messages:
        if message.role == "assistant":
            following = reading.entries[-1].last + 1 if reading.entries else 1
            reading.entries.append(Entry(following, following, "response", "", message.content))
        elif message.role != "system":
            for header, body in _blocks(message.content):
                if not _add_entry(reading.entries, header, body):
                    _read_section(header, body, reading)
    for entry in reading.entries:
        if entry.kind == "notice" and entry.body.startswith(CHANGED):
            _read_sections(references.unquote(entry.body.removeprefix(CHANGED)), reading)
    return reading


def _tools(text: str) -> frozenset[str]:
    """The tools that a list names: each begins a line, and the last line of a short list names
    those beside the everyday ones. Lessons are indented.
    """
    usages = [line.split()[0] for line in text.splitlines() if not line[0].isspace()]
    others = _OTHERS.search(text)
    return frozenset([*usages, *(others[1].split(", ") if others else ())])


def original(entry: Entry) -> list[Entry]:
    """The entries within an ``uncompacted`` entry."""
    entries: list[Entry] = []
    for header, body in _blocks(references.unquote(entry.body)):
        _add_entry(entries, header, body)
    return entries


def heard(entry: Entry, place: int = 0) -> Iterator[Heard]:
    """The message in a ``heard`` entry; none where its tag is missing. ``place`` is the index of
    the entry.
    """
    message = heard_entry.read(entry.body)
    if not message.name:
        return
    cue = entry.body[len(heard_entry.without_cue(entry.body)) :]
    cued = tuple(_opening_call(digest, note) for digest, note in _CUED.findall(cue))
    text = message.text.strip()
    yield Heard(entry.about, message.kind, message.name, message.at, text, place, cued)


def said(entry: Entry) -> Iterator[tuple[str, str]]:
    """(speaker, text) of what people, agents, files and summaries say in an entry; nothing of the
    agent's own. The speaker may be empty.
    """
    if entry.kind == "heard":
        for message in heard(entry):
            yield message.speaker, message.text
    elif entry.kind == "compacted":
        yield "", entry.gist
        for line in plain(entry.body).split("\n"):
            quotation = _QUOTATION.fullmatch(line)
            yield (quotation[1], quotation[2]) if quotation else ("", line)
    elif entry.kind == "uncompacted":
        for inner in original(entry):
            yield from said(inner)
    elif entry.kind == "result" and entry.about.startswith(READINGS):
        yield "", plain(entry.body)


def calls(entry: Entry) -> list[Call]:
    """The tool lines of a ``response`` entry."""
    return list(answers.parse(plain(entry.body), TOOLS).calls)


def plain(text: str) -> str:
    """``text`` unescaped. Most texts hold no backslash, and looking for one is faster than
    unescaping.
    """
    return references.unescape(text) if "\\" in text else text


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Each header, and the text below it."""
    for block in f"\n{text}".split("\n[#")[1:]:
        header, _, body = block.partition("\n")
        yield header, body


def _add_entry(entries: list[Entry], header: str, body: str) -> bool:
    """Append the entry that ``header`` begins. False when the header is not an entry's."""
    match = _ENTRY.fullmatch(header)
    if not match:
        return False
    first = int(match[1])
    last = max(first, int(match[2] or first))
    kind = match[3]
    places = (place for place in reversed(range(len(entries))) if entries[place].kind == "response")
    newest = next(places, None) if kind == "response" else None
    if newest is not None and not entries[newest].about:
        # In the ledger layout this is the header of the response that was a message of its own.
        # The results of its native calls stand before it.
        entries[newest] = Entry(first, last, kind, match[4] or "", entries[newest].body)
        return True
    entries.append(Entry(first, last, kind, match[4] or "", body.strip("\n")))
    return True


def _read_sections(text: str, reading: Reading) -> None:
    """Read the sections of a text that holds no entries. What looks like an entry was written by
    somebody, and is ignored.
    """
    for header, body in _blocks(text):
        _read_section(header, body, reading)


def _read_section(header: str, body: str, reading: Reading) -> None:
    if match := _SECTION.fullmatch(header):
        reading.sections[match[1]] = (match[2] or "", body.strip("\n"))


def _opening_call(digest: str, note: str) -> Call:
    return Call("UNCOMPACT", digest) if digest else Call("NOTE_READ", note)
