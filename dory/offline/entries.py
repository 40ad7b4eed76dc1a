"""Entries of a context, and what each of them says. Pure; nothing raises.

In the ledger a response is a message of its own, and its header stands behind it. An opened original carries its own headers behind one
backslash, and is read by taking that away.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dory.identity import heard_entry
from dory.identity.context import Entry
from dory.text import references, tool_calls
from dory.types import Call

LAYERS = ("RETRIEVE_SPECIFIC_MEMORIES", "SHOW_DIARY_ENTRIES_FROM_DAY")
"""What RECALL names to read a hit from memories and diary."""
OPENING = ("UNCOMPACT", "READ_FILE", "RECALL", "NOTE_READ", "SEARCH_DIARY_FOR_KEYWORDS", *LAYERS)
"""What looks something up."""
TOOLS = ("SAY", "EDIT_FILE", "JOIN", "LEAVE", "WAIT", "NOTE_ADD", *OPENING)
"""Those that the stand-in knows; which of them it has, its prompt tells."""
READINGS = tuple(f"{tool} " for tool in ("READ_FILE", "NOTE_READ", *LAYERS))
"""How the headers of results begin that show something written."""
_ENTRY = re.compile(r"(\d{1,15})(?:-(\d{1,15}))? ([a-z]+)(?: (.*))?\]")
_ADDRESS = re.compile(r"([\w-]+-[0-9a-f]{8})[,:]")
_QUOTATION = re.compile(r"(\S+): “(.*)”")
_CUED = re.compile(r"◱hash=([0-9a-f]+) gist=[^◱◲]*◲|\bnote (\S+)(?= · |$)")


@dataclass(frozen=True, slots=True)
class Heard:
    """One message in a room, unescaped. ``place`` is the index of its entry, ``cued`` what opens the things that the cue below it names."""

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
    """Add the entry with that header to those ``found`` before it; False when the header is not an entry's."""
    if not (entry := _ENTRY.fullmatch(header)):
        return False
    first = int(entry[1])
    last = max(first, int(entry[2] or first))
    if entry[3] == "response" and found and not (before := found[-1]).about and before.kind == "response":
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
        yield Heard(entry.about, one.kind, one.name, one.at, one.text.strip(), place, tuple(_opening(*found) for found in _CUED.findall(cue)))


def said(entry: Entry) -> Iterator[tuple[str, str]]:
    """(speaker, text) of what people, agents, files and summaries say in an entry, nothing of the agent's own; the speaker may be empty."""
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
    """``text`` unescaped; most texts hold nothing to unescape, and looking for one character is faster."""
    return references.unescape(text) if "\\" in text else text


def _opening(hash: str, note: str) -> Call:
    return Call("UNCOMPACT", hash) if hash else Call("NOTE_READ", note)
