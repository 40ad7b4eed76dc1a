"""Prompt → what stands in it. Pure; a line that looks like no header the stand-in knows is left aside, so nothing raises.

The prompt is text that ``turn/prompt.py`` wrote: entries as ``identity/context.py`` lays them out, and sections whose header is a word
(``[#memory 31 of 4000 characters]``, ``[#turn]``), of which the last one of a name counts. Only the harness can write a line that begins with
``[#``.
"""

import re
from dataclasses import dataclass, field

from dory.identity.context import CHANGED, Entry
from dory.offline.entries import add, blocks, plain
from dory.text import references
from dory.types import Prompt

_SPAN = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?")
_SECTION = re.compile(r"([a-z]+)(?: (.*))?\]")
_NUMBER = re.compile(r"\d+\. ")
_NAME = re.compile(r"^You are (\S+); your identity is", re.MULTILINE)
_LIMIT = re.compile(r"(\d{1,9}) of (\d{1,9}) ")
_OFFERED = re.compile(r"^Tool lines:\n((?:[A-Z].*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a prompt. ``sections`` maps a section's name to what its header says and its text; ``name`` is the agent's own, ``tools``
    are the names of the tools that it has.
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
        """The lines of a section about the agent itself, unescaped, without numbers and what introduces them."""
        lines = plain(self.sections.get(section, ("", ""))[1]).split("\n")
        return [_NUMBER.sub("", line) for line in lines if _NUMBER.match(line) or section != "soul"]

    def named(self, section: str) -> list[list[Entry]]:
        """The runs of entries whose ids a request's header names, such as ``[#segment 3-17 19-40]``."""
        spans = [(int(span[1]), int(span[2] or span[1])) for span in _SPAN.finditer(self.sections[section][0])]
        return [[entry for entry in self.entries if first <= entry.first and entry.last <= last] for first, last in spans]


def read(prompt: Prompt) -> Reading:
    """Read the whole prompt."""
    system = "\n".join(message.content for message in prompt.messages if message.role == "system")
    name, offered = _NAME.search(system), _OFFERED.search(system)
    reading = Reading(name[1] if name else "", frozenset(line.split()[0] for line in offered[1].splitlines()) if offered else frozenset())
    _read_sections(system[max((found.start() for found in _NAME.finditer(system)), default=0) :], reading)  # behind SOUL, which people wrote
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
