"""Prompt → what stands in it. Pure; a line that looks like no header the offline model knows is
left aside, so nothing raises.

The prompt is text that ``turn/prompt.py`` wrote: entries as ``identity/context.py`` lays them out,
and sections whose header is a word (``[#memory 31 of 4000 characters]``, ``[#turn]``), of which the
last one of a name counts. Only the harness can write a line that begins with ``[#``.

Entries of a context, and what each of them says. Pure; nothing raises.

In the ledger a response is a message of its own, and its header stands behind it. An opened
original carries its own headers behind one backslash, and is read by taking that away.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dory.identity import heard_entry
from dory.identity.context import CHANGED, Entry
from dory.text import references, tool_calls
from dory.types import Call, Prompt

LAYERS = ("RETRIEVE_SPECIFIC_MEMORIES", "SHOW_DIARY_ENTRIES_FROM_DAY")
"""What RECALL names to read a hit from memories and diary."""
OPENING = ("UNCOMPACT", "READ_FILE", "RECALL", "NOTE_READ", "SEARCH_DIARY_FOR_KEYWORDS", *LAYERS)
"""What looks something up."""
TOOLS = ("SAY", "EDIT_FILE", "JOIN", "LEAVE", "WAIT", "NOTE_ADD", *OPENING)
"""Those that the offline model knows; which of them it has, its prompt tells."""
READINGS = tuple(f"{tool} " for tool in ("READ_FILE", "NOTE_READ", *LAYERS))
"""How the headers of results begin that show something written."""
_ENTRY = re.compile(r"(\d{1,15})(?:-(\d{1,15}))? ([a-z]+)(?: (.*))?\]")
_ADDRESS = re.compile(r"([\w-]+-[0-9a-f]{8})[,:]")
_QUOTATION = re.compile(r"(\S+): “(.*)”")
_CUED = re.compile(r"◱hash=([0-9a-f]+) gist=[^◱◲]*◲|\bnote (\S+)(?= · |$)")


@dataclass(frozen=True, slots=True)
class Heard:
    """One message in a room, unescaped. ``place`` is the index of its entry, ``cued`` what opens
    the things that the cue below it names.
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
        """The name with a capital, as one writes it in a sentence."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def addressee(self) -> str:
        """The agent with whose name and a comma it begins; empty when with none."""
        found = _ADDRESS.match(self.text)
        return found[1] if found else ""


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Every header, and what stands below it."""
    for block in f"\n{text}".split("\n[#")[1:]:
        header, _, body = block.partition("\n")
        yield header, body


def add(found: list[Entry], header: str, body: str) -> bool:
    """Add the entry with that header to those ``found`` before it; False when the header is not an
    entry's.
    """
    if not (entry := _ENTRY.fullmatch(header)):
        return False
    first = int(entry[1])
    last = max(first, int(entry[2] or first))
    if (
        entry[3] == "response"
        and found
        and not (before := found[-1]).about
        and before.kind == "response"
    ):
        body = found.pop().body  # the header behind a message of the model's own
    found.append(Entry(first, last, entry[3], entry[4] or "", body.strip("\n")))
    return True


def original(entry: Entry) -> list[Entry]:
    """The entries within an ``uncompacted`` entry."""
    found: list[Entry] = []
    for header, body in blocks(references.unquote(entry.body)):
        add(found, header, body)
    return found


def heard(entry: Entry, place: int = 0) -> Iterator[Heard]:
    """The message in a ``heard`` entry; none where its tag is missing."""
    one, cue = heard_entry.read(entry.body), entry.body[len(heard_entry.without_cue(entry.body)) :]
    if one.name:
        yield Heard(
            entry.about,
            one.kind,
            one.name,
            one.at,
            one.text.strip(),
            place,
            tuple(_opening(*found) for found in _CUED.findall(cue)),
        )


def said(entry: Entry) -> Iterator[tuple[str, str]]:
    """(speaker, text) of what people, agents, files and summaries say in an entry, nothing of the
    agent's own; the speaker may be empty.
    """
    if entry.kind == "heard":
        yield from ((message.speaker, message.text) for message in heard(entry))
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
    return tool_calls.parse(plain(entry.body), TOOLS)


def plain(text: str) -> str:
    """``text`` unescaped; most texts hold nothing to unescape, and looking for one character is
    faster.
    """
    return references.unescape(text) if "\\" in text else text


def _opening(hash: str, note: str) -> Call:
    return Call("UNCOMPACT", hash) if hash else Call("NOTE_READ", note)


_SPAN = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?")
_SECTION = re.compile(r"([a-z]+)(?: (.*))?\]")
_NUMBER = re.compile(r"\d+\. ")
_NAME = re.compile(r"^You are (\S+); your identity is", re.MULTILINE)
_LIMIT = re.compile(r"(\d{1,9}) of (\d{1,9}) ")
_OFFERED = re.compile(r"^Tool lines:\n((?:[A-Z].*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a prompt. ``sections`` maps a section's name to what its header says and its
    text; ``name`` is the agent's own, ``tools`` are the names of the tools that it has.
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
        text = plain(self.sections.get(section, ("", ""))[1])
        return text.split("\n") if text.strip() else []

    @property
    def memory_limit(self) -> int:
        """Characters that MEMORY.md may have, as its header says, and USER.md as well."""
        found = _LIMIT.search(self.sections.get("memory", ("", ""))[0])
        return int(found[2]) if found else 4000

    def too_long(self, name: str) -> bool:
        """Whether a durable text is longer than it may be: then its beginning alone is shown."""
        found = _LIMIT.search(self.sections.get(name.removesuffix(".md").lower(), ("", ""))[0])
        return found is not None and int(found[1]) > int(found[2])

    def own(self, section: str) -> list[str]:
        """The lines of a section about the agent itself, unescaped, without numbers and what
        introduces them.
        """
        lines = plain(self.sections.get(section, ("", ""))[1]).split("\n")
        return [_NUMBER.sub("", line) for line in lines if _NUMBER.match(line) or section != "soul"]

    def named(self, section: str) -> list[list[Entry]]:
        """The runs of entries whose ids a request's header names, such as ``[#segment 3-17
        19-40]``.
        """
        spans = [
            (int(span[1]), int(span[2] or span[1]))
            for span in _SPAN.finditer(self.sections[section][0])
        ]
        return [
            [entry for entry in self.entries if first <= entry.first and entry.last <= last]
            for first, last in spans
        ]


def read(prompt: Prompt) -> Reading:
    """Read the whole prompt."""
    system = "\n".join(message.content for message in prompt.messages if message.role == "system")
    name, offered = _NAME.search(system), _OFFERED.search(system)
    reading = Reading(
        name[1] if name else "",
        frozenset(line.split()[0] for line in offered[1].splitlines()) if offered else frozenset(),
    )
    _read_sections(
        system[max((found.start() for found in _NAME.finditer(system)), default=0) :], reading
    )  # behind SOUL, which people wrote
    for message in prompt.messages:
        if message.role == "assistant":
            following = reading.entries[-1].last + 1 if reading.entries else 1
            reading.entries.append(Entry(following, following, "response", "", message.content))
        elif message.role != "system":
            for header, body in blocks(message.content):
                if not add(reading.entries, header, body):
                    _read_section(header, body, reading)
    for entry in reading.entries:
        if entry.kind == "notice" and entry.body.startswith(CHANGED):
            _read_sections(references.unquote(entry.body.removeprefix(CHANGED)), reading)
    return reading


def _read_sections(text: str, reading: Reading) -> None:
    """Of text that holds no entries: what looks like one is somebody's."""
    for header, body in blocks(text):
        _read_section(header, body, reading)


def _read_section(header: str, body: str, reading: Reading) -> None:
    if section := _SECTION.fullmatch(header):
        reading.sections[section[1]] = (section[2] or "", body.strip("\n"))
