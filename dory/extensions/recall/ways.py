"""How what was found is to be had, in words: as an answer to RECALL tells it, and as a cue names it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from dory import clock
from dory.identity.context import Entry
from dory.search.index import Hit
from dory.search.snippets import MARK
from dory.text import references


@dataclass(frozen=True, slots=True)
class Way:
    """How something is to be had: it stands in the live entry ``entry``, or behind ``hash``; a note, and an archive, has a name. ``told`` is
    what its layer says.
    """

    hash: str = ""
    gist: str = ""
    name: str = ""
    entry: int | None = None
    told: str = ""

    def __str__(self) -> str:
        """As an answer to RECALL tells it."""
        if self.entry is not None:
            return f"in your context at #{self.entry}"
        if self.told:
            return self.told
        if not self.hash:
            return f"NOTE_READ {self.name}"
        return f"UNCOMPACT {self.hash}" + ("" if self.name else f" ({_plain(self.gist)})")

    @property
    def cue(self) -> str:
        """As a cue names it."""
        return references.reference(self.hash, self.gist) if self.hash else self.told or f"note {self.name}"


def cue(ways: Sequence[Way]) -> str:
    """The cue that names these; empty for none."""
    return f"may belong to this: {' · '.join(way.cue for way in ways)}" if ways else ""


def to(entry: Entry | None) -> Way | None:
    """The way to an original that stands word for word in ``entry``, or in the blob of it."""
    if entry and entry.kind == "compacted":
        return Way(entry.hash or "", entry.gist)
    return Way(entry=entry.first) if entry else None


def shown(text: str, live: Sequence[Entry]) -> Way | None:
    """The way to a text that stands in the context by itself, where it was written or read. Only what has a backslash has to be unescaped."""
    entry = next((one for one in reversed(live) if text in (references.unescape(one.body) if "\\" in one.body else one.body)), None)
    return to(entry) if entry and entry.kind != "compacted" else None


def told(hit: Hit) -> str:
    """Kind, when, who, where, score, snippet."""
    what = hit.document
    who = "".join([f" {_plain(what.speaker)}" if what.speaker else "", f" in {what.room}" if what.room else ""])
    beside = "" if MARK in hit.snippet else "(beside a match) "
    return f"{what.kind.lower()} {clock.minute(what.at)}{who}, score {hit.score:.1f}: {beside}{_plain(hit.snippet)}"


def _plain(text: str) -> str:
    """On one line that has no arrow of its own."""
    return references.one_line(text, 500).replace("->", "→")
