"""Where the full text of a hit is, and which hits only repeat others. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dory.constants import ABOUT_LIMIT
from dory.extensions.notes.store import KINDS
from dory.identity.context import Entry
from dory.search.index import Hit
from dory.text import formatting, references
from dory.text.tokenizer import STOP, folded

OF_ONE_STRETCH = 3
"""Hits in an answer with the same original, not counting what was heard."""
SAYS_MORE = 0.5
"""The least share of the words of a response that no better hit has."""
_COMMANDS = {
    "UNCOMPACT": "/show",
    "NOTE_READ": "/note",
    "RETRIEVE_SPECIFIC_MEMORIES": "/memory",
    "SHOW_DIARY_ENTRIES_FROM_DAY": "/diary",
}
"""What people write instead of a tool line."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where the full text of a hit is: in the live entry with the id ``entry``, or in the blob with
    this ``hash``. A note or an archive has a ``name``. ``hint`` is what a layer says of its own.
    """

    hash: str = ""
    gist: str = ""
    name: str = ""
    entry: int | None = None
    hint: str = ""

    def __str__(self) -> str:
        """The source as an answer to RECALL names it."""
        if self.entry is not None:
            return f"in your context at #{self.entry}"
        if self.hint:
            return self.hint
        if not self.hash:
            return f"NOTE_READ {self.name}"
        return f"UNCOMPACT {self.hash}" + ("" if self.name else f" ({plain(self.gist)})")

    @property
    def for_people(self) -> str:
        """The source as an answer to ``/recall`` names it."""
        if self.entry is not None:
            return f"in its context at #{self.entry}"
        tool, space, given = str(self).partition(" ")
        return f"{_COMMANDS.get(tool, tool)}{space}{given}"

    @property
    def cue(self) -> str:
        """The source as a cue names it."""
        if self.hash:
            return references.reference(self.hash, self.gist)
        return self.hint or f"note {self.name}"


def cue(sources: Sequence[Source]) -> str:
    """Return the cue that names these sources; empty if there are none."""
    names = " · ".join(source.cue for source in sources)
    return f"may belong to this: {names}" if names else ""


def of_entry(entry: Entry | None) -> Source | None:
    """The source of an original that is in ``entry``, or in the blob of ``entry``."""
    if entry and entry.kind == "compacted":
        return Source(entry.hash or "", entry.gist)
    return Source(entry=entry.first) if entry else None


def shown(way: str, name: str, text: str, live: Sequence[Entry]) -> Source | None:
    """The newest entry of the context that shows this text of a note or a layer: the response that
    wrote it, under its ``name`` if it has one, or what the tool line ``way`` returned.
    """
    about = formatting.one_line(way, ABOUT_LIMIT)
    for entry in reversed(live):
        # only a body with a backslash has anything to unescape
        body = references.unescape(entry.body) if "\\" in entry.body else entry.body
        if text not in body:
            continue
        shows = entry.kind == "result" and entry.about == about
        if shows or (entry.kind == "response" and _writes(body, name, text)):
            return of_entry(entry)
    return None


def _writes(response: str, name: str, text: str) -> bool:
    """Whether a line of a response gives a tool exactly this text, behind its ``name`` if it has
    one.
    """
    given = rf"{re.escape(name)} *" if name else ""
    block = rf"<<(\w+)\n{re.escape(text)}\n\1"
    line = rf"^[A-Z_]+ +{given}(?:{re.escape(text)}|{block})\s*$"
    return bool(re.search(line, response, re.MULTILINE))


def uncrowded(hits: Sequence[tuple[Hit, Source]]) -> list[tuple[Hit, Source]]:
    """The hits without those that only repeat others or crowd them out: an archive of a stretch
    that another hit has an entry of, which says the same in its own words; a response with hardly a
    word that no better hit has; more than ``OF_ONE_STRETCH`` from one stretch that nobody said to
    the agent.
    """
    entries = {source.hash for hit, source in hits if hit.document.kind not in KINDS}
    known = set[str]()
    of_stretch = Counter[str]()
    kept: list[tuple[Hit, Source]] = []
    for hit, source in hits:
        kind = hit.document.kind
        words = set(folded(hit.document.text).split()) - STOP
        repeats = (
            len(words - known) < SAYS_MORE * len(words)
            if kind == "response"
            else bool(source.name and source.hash and source.hash in entries)
        )
        crowds = kind != "heard" and source.hash and of_stretch[source.hash] >= OF_ONE_STRETCH
        if repeats or crowds:
            continue
        of_stretch[source.hash] += kind != "heard"
        known |= words
        kept.append((hit, source))
    return kept


def plain(text: str) -> str:
    """A text on one line that contains no ``->``."""
    return formatting.one_line(text, 500).replace("->", "→")
