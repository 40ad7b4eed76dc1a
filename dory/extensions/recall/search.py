"""What comes back when one looks for it: the answer to RECALL, and the cue beside a message.

Both search everything that there ever was: entries, notes, archives, and the layers of a self. Of
each hit they say how it is to be had word for word: it stands in the context, or UNCOMPACT,
NOTE_READ or what its layer says brings it. An answer has one line for a hit, and in it one ``->``:

    3 hits for "hotel lisbon"
    1. heard 2026-03-02 12:00 ada in dev, score 7.1: the **hotel** in **Lisbon** is the Miramar ->
       UNCOMPACT 5d41402abc4b2a76 (Ada's trip)
    2. note 2026-03-04 09:30, score 3.2: **lisbon** **hotel** Miramar, until 9 May -> NOTE_READ
       lisbon-hotel
    3. memory 2026-03-05 18:12, score 2.9: Ada liked the **hotel** -> RETRIEVE_SPECIFIC_MEMORIES 17

A cue names what a message clearly belongs to, and nothing that the agent has before its eyes.

How what was found is to be had, in words: as an answer to RECALL tells it, and as a cue names it.
Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from dory import clock
from dory.errors import DoryError
from dory.extensions.notes.store import KINDS, Notes, document
from dory.extensions.recall.life_index import LifeIndexer
from dory.identity import expand
from dory.identity.context import Entry
from dory.search.index import Hit, Index
from dory.search.passages import Document
from dory.search.postings import GLANCE, SearchBudget
from dory.search.snippets import MARK
from dory.storage.blobs import Blobs
from dory.storage.database import Store
from dory.text import formatting, references


@dataclass(frozen=True, slots=True)
class Source:
    """How something is to be had: it stands in the live entry ``entry``, or behind ``hash``; a
    note, and an archive, has a name. ``told`` is what its layer says.
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
        return (
            references.reference(self.hash, self.gist)
            if self.hash
            else self.told or f"note {self.name}"
        )


def cue(ways: Sequence[Source]) -> str:
    """The cue that names these; empty for none."""
    return f"may belong to this: {' · '.join(way.cue for way in ways)}" if ways else ""


def to(entry: Entry | None) -> Source | None:
    """The way to an original that stands word for word in ``entry``, or in the blob of it."""
    if entry and entry.kind == "compacted":
        return Source(entry.hash or "", entry.gist)
    return Source(entry=entry.first) if entry else None


def shown(text: str, live: Sequence[Entry]) -> Source | None:
    """The way to a text that stands in the context by itself, where it was written or read. Only
    what has a backslash has to be unescaped.
    """
    entry = next(
        (
            one
            for one in reversed(live)
            if text in (references.unescape(one.body) if "\\" in one.body else one.body)
        ),
        None,
    )
    return to(entry) if entry and entry.kind != "compacted" else None


def told(hit: Hit) -> str:
    """Kind, when, who, where, score, snippet."""
    what = hit.document
    who = "".join(
        [
            f" {_plain(what.speaker)}" if what.speaker else "",
            f" in {what.room}" if what.room else "",
        ]
    )
    beside = "" if MARK in hit.snippet else "(beside a match) "
    return (
        f"{what.kind.lower()} {clock.minute(what.at)}{who}, score {hit.score:.1f}:"
        f" {beside}{_plain(hit.snippet)}"
    )


def _plain(text: str) -> str:
    """On one line that has no arrow of its own."""
    return formatting.one_line(text, 500).replace("->", "→")


HITS = 10
"""In one answer."""
CUES = 3
"""References in one cue."""
CUE_SHARE = 0.45
"""What a hit must have to be in a cue: its score as a share of what an entry would have in which
every word of the message stands, and one more that never was. Other words that never were count as
well, so a message about something new stays below it, and the one more leaves a short message below
it of which only one word is found. ``python -m bench.cues`` chooses the number; docs/cues.md has
its table.
"""
CONSIDERED = 20
"""Hits that are looked through for them."""


class Layer(Protocol):
    """What of a self is found beside its life and its notes, by the ``kinds`` of its documents."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its documents, which are no other layer's."""

    def documents(self) -> Iterator[Document]:
        """All that have to be in the index."""

    def way(self, kind: str, origin: int) -> str:
        """How one that was found is to be had; empty when it is gone."""


class RecallSearch:
    """The search over the life, the notes and the ``layers`` of one agent. Layers that are also
    ``hidden`` belong to extensions that are not in use: a hit there would name tools that there are
    not. For one thread. Raises what the store raises.
    """

    def __init__(
        self,
        store: Store,
        index: Index,
        notes: Notes,
        chronicle: LifeIndexer,
        blobs: Blobs,
        layers: Sequence[Layer],
        hidden: Sequence[Layer] = (),
    ) -> None:
        self._store = store
        self._index = index
        self._notes = notes
        self._chronicle = chronicle
        self._layers = layers
        self._hidden = {kind for layer in hidden for kind in layer.kinds}
        self._outline = expand.Outline(blobs)

    def recall(self, query: str, live: Sequence[Entry]) -> str:
        """The best hits for any text, as text; ``live`` are the entries of the context."""
        shown, found = formatting.one_line(query), self._telling(self._ways(query, live))[:HITS]
        if not found:
            return (
                f'no hits for "{shown}"; try other words: names, things, a month, as they were said'
                " then"
            )
        lines = [f"{number}. {told(hit)} -> {way}" for number, (hit, way) in enumerate(found, 1)]
        return "\n".join([f'{len(found)} hit{"s" * (len(found) > 1)} for "{shown}"', *lines])

    def cue(self, text: str, live: Sequence[Entry]) -> str:
        """The line beside a message that nobody has answered yet; empty when nothing matches
        clearly.
        """
        return cue([way for way, _ in self.candidates(text, live, CUE_SHARE)][:CUES])

    def candidates(
        self, text: str, live: Sequence[Entry], share: float
    ) -> list[tuple[Source, float]]:
        """What a cue could name, each once with its share as ``CUE_SHARE`` explains it, at least
        ``share``; the best first.
        """
        best: dict[Source, float] = {}
        for hit, way in self._ways(text, live, GLANCE, share):
            if way.entry is None and hit.share >= share:
                best.setdefault(
                    replace(way, name="") if way.hash else way, hit.share
                )  # a stretch and its archive are one
        return list(best.items())

    def reset(self) -> None:
        """Empty all that is derived, index notes and layers anew, and be ready to index the life
        from its beginning; all of it or nothing.
        """
        with self._store.writing():
            self._index.clear()
            self._chronicle.clear()
            for note in sorted(self._notes, key=lambda note: note.id):
                self._index.add(document(note))
            for one in (one for layer in self._layers for one in layer.documents()):
                self._index.add(one)

    def _ways(
        self,
        query: str,
        live: Sequence[Entry],
        budget: SearchBudget | None = None,
        share: float = 0.0,
    ) -> list[tuple[Hit, Source]]:
        hits = self._index.search(
            query, CONSIDERED, (), budget, share, self._hidden
        )  # those would name tools that there are not
        opened = self._outline.opened(live)

        def place(id: int) -> Entry | None:
            return opened.get(id) or self._outline.place(id, live)

        return [(hit, way) for hit in hits if (way := self._way(hit, live, place))]

    def _way(
        self, hit: Hit, live: Sequence[Entry], place: Callable[[int], Entry | None]
    ) -> Source | None:
        kind, origin = hit.document.kind, hit.document.origin
        if kind in KINDS:
            return self._noted(hit, live, place)
        if not (layer := next((layer for layer in self._layers if kind in layer.kinds), None)):
            return to(place(origin))
        told = layer.way(kind, origin)
        return (shown(hit.document.text.strip(), live) or Source(told=told)) if told else None

    def _telling(self, found: Sequence[tuple[Hit, Source]]) -> list[tuple[Hit, Source]]:
        """Without the archives of stretches in which an entry was found: that tells the same in its
        own words.
        """
        entered = {way.hash for hit, way in found if hit.document.kind not in KINDS}
        return [
            (hit, way) for hit, way in found if not (way.name and way.hash in entered and way.hash)
        ]

    def _noted(
        self, hit: Hit, live: Sequence[Entry], place: Callable[[int], Entry | None]
    ) -> Source | None:
        """The way to a note or an archive. What it holds may stand in the context: a note was
        written or read there, an original is live.
        """
        if not (note := self._notes.numbered(hit.document.origin)):
            return None
        if not note.hash:
            return shown(note.content, live) or Source(name=note.name)
        try:
            gist, first = self._outline.gist(note.hash), self._outline.entries(note.hash)[0].first
        except (
            DoryError,
            IndexError,
        ):  # damaged, or loaded from elsewhere: what was noted of it is there all the same
            return Source(name=note.name)
        entry = place(first)
        return (
            to(entry) if entry and entry.kind != "compacted" else Source(note.hash, gist, note.name)
        )
