"""What comes back when one looks for it: the answer to RECALL, and the cue beside a message.

Both search everything that there ever was: entries, notes, archives. Of each hit they say how it is to be had word for word: it stands in the
context, or UNCOMPACT or NOTE_READ brings it. An answer has one line for a hit, and in it one ``->``:

    2 hits for "hotel lisbon"
    1. heard 2026-03-02 12:00 ada in dev, score 7.1: the **hotel** in **Lisbon** is the Miramar -> UNCOMPACT 5d41402abc4b2a76 (Ada's trip)
    2. note 2026-03-04 09:30, score 3.2: **lisbon** **hotel** Miramar, until 9 May -> NOTE_READ lisbon-hotel

A cue names what a message clearly belongs to, and nothing that the agent has before its eyes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dory import clock, originals, refs
from dory.blobs import Blobs
from dory.chronicle import Chronicle
from dory.context import Entry
from dory.errors import DoryError
from dory.index import Hit, Index
from dory.notes import KINDS, Notes, document
from dory.postings import GLANCE
from dory.snippets import MARK
from dory.store import NAME, Store

HITS = 10
"""In one answer."""
CUES = 3
"""References in one cue."""
CUE_SHARE = 0.45
"""What a hit must have to be in a cue: its score as a share of what an entry would have in which every word of the message stands, and one more
that never was. Other words that never were count as well, so a message about something new stays below it, and the one more leaves a short
message below it of which only one word is found. ``python -m bench.cues`` chooses the number; docs/CUES.md has its table.
"""
CONSIDERED = 20
"""Hits that are looked through for them."""


@dataclass(frozen=True, slots=True)
class Way:
    """How something is to be had: it stands in the live entry ``entry``, or behind ``hash``; a note, and an archive, has a name."""

    hash: str = ""
    gist: str = ""
    name: str = ""
    entry: int | None = None

    def __str__(self) -> str:
        """As an answer to RECALL tells it."""
        if self.entry is not None:
            return f"in your context at #{self.entry}"
        if not self.hash:
            return f"NOTE_READ {self.name}"
        return f"UNCOMPACT {self.hash}" + ("" if self.name else f" ({_plain(self.gist)})")

    @property
    def cue(self) -> str:
        """As a cue names it."""
        return refs.reference(self.hash, self.gist) if self.hash else f"note {self.name}"


class Recollection:
    """What the agent in ``folder`` can remember, for the thread that made this. Raises what the store raises."""

    def __init__(self, folder: Path, blobs: Blobs, readonly: bool = False) -> None:
        self.store = Store(folder / NAME, readonly)
        self.index = Index(self.store)
        self.notes = Notes(self.store, self.index)
        self.chronicle = Chronicle(self.store, self.index)
        self._outline = originals.Outline(blobs)

    def recall(self, query: str, live: Sequence[Entry]) -> str:
        """The best hits for any text, as text; ``live`` are the entries of the context."""
        shown, found = refs.one_line(query), self._telling(self._ways(self.index.search(query, CONSIDERED), live))[:HITS]
        if not found:
            return f'no hits for "{shown}"; try other words: names, things, a month, as they were said then'
        lines = [f"{number}. {_told(hit)} -> {way}" for number, (hit, way) in enumerate(found, 1)]
        return "\n".join([f'{len(found)} hit{"s" * (len(found) > 1)} for "{shown}"', *lines])

    def cue(self, text: str, live: Sequence[Entry]) -> str:
        """The line beside a message that nobody has answered yet; empty when nothing matches clearly."""
        return cue_line([way for way, _ in self.candidates(text, live, CUE_SHARE)][:CUES])

    def candidates(self, text: str, live: Sequence[Entry], share: float) -> list[tuple[Way, float]]:
        """What a cue could name, each once with its share as ``CUE_SHARE`` explains it, at least ``share``; the best first."""
        best: dict[Way, float] = {}
        for hit, way in self._ways(self.index.search(text, CONSIDERED, budget=GLANCE, share=share), live):
            if way.entry is None and hit.share >= share:
                best.setdefault(replace(way, name="") if way.hash else way, hit.share)  # a stretch and its archive are one
        return list(best.items())

    def reset(self) -> None:
        """Empty all that is derived, index the notes anew, and be ready to index the life from its beginning; all of it or nothing."""
        with self.store.writing():
            self.index.clear()
            self.chronicle.clear()
            for note in sorted(self.notes, key=lambda note: note.id):
                self.index.add(document(note))

    def _ways(self, hits: Sequence[Hit], live: Sequence[Entry]) -> list[tuple[Hit, Way]]:
        opened = self._outline.opened(live)

        def place(id: int) -> Entry | None:
            return opened.get(id) or self._outline.place(id, live)

        found = [(hit, self._noted(hit, live, place) if hit.document.kind in KINDS else _way(place(hit.document.origin))) for hit in hits]
        return [(hit, way) for hit, way in found if way]

    def _telling(self, found: Sequence[tuple[Hit, Way]]) -> list[tuple[Hit, Way]]:
        """Without the archives of stretches in which an entry was found: that tells the same in its own words."""
        entered = {way.hash for hit, way in found if hit.document.kind not in KINDS}
        return [(hit, way) for hit, way in found if not (way.name and way.hash in entered and way.hash)]

    def _noted(self, hit: Hit, live: Sequence[Entry], place: Callable[[int], Entry | None]) -> Way | None:
        """The way to a note or an archive. What it holds may stand in the context: a note was written or read there, an original is live."""
        note = self.notes.numbered(hit.document.origin)
        if not note:
            return None
        if not note.hash:
            entry = next((entry for entry in reversed(live) if note.content in refs.unescape(entry.body)), None)
            return _way(entry) if entry and entry.kind != "compacted" else Way(name=note.name)
        try:
            gist, first = self._outline.gist(note.hash), self._outline.entries(note.hash)[0].first
        except (DoryError, IndexError):  # damaged, or loaded from elsewhere: what was noted of it is there all the same
            return Way(name=note.name)
        entry = place(first)
        return _way(entry) if entry and entry.kind != "compacted" else Way(note.hash, gist, note.name)


def cue_line(ways: Sequence[Way]) -> str:
    """The cue that names these; empty for none."""
    return f"may belong to this: {' · '.join(way.cue for way in ways)}" if ways else ""


def _way(entry: Entry | None) -> Way | None:
    """The way to an original that stands word for word in ``entry``, or in the blob of it."""
    if entry and entry.kind == "compacted":
        return Way(entry.hash or "", entry.gist)
    return Way(entry=entry.first) if entry else None


def _told(hit: Hit) -> str:
    """Kind, when, who, where, score, snippet."""
    what = hit.document
    who = "".join([f" {_plain(what.speaker)}" if what.speaker else "", f" in {what.room}" if what.room else ""])
    beside = "" if MARK in hit.snippet else "(beside a match) "
    return f"{what.kind.lower()} {clock.minute(what.at)}{who}, score {hit.score:.1f}: {beside}{_plain(hit.snippet)}"


def _plain(text: str) -> str:
    """On one line that has no arrow of its own."""
    return refs.one_line(text, 500).replace("->", "→")
