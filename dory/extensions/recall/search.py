"""The search over everything that the agent has lived through: the answer to RECALL, and the cue
beside a message.

Both search the original entries, the notes, the archives, and the layers: long-term memories, the
diary and conversations. Each hit says how to get the full text: it is in the context, or UNCOMPACT,
NOTE_READ or the tool of its layer returns it. An answer has one line for each hit, with one ``->``:

    3 hits for "hotel lisbon"
    1. heard 2026-03-02 12:00 ada in dev, score 7.1: the **hotel** in **Lisbon** is the Miramar ->
       UNCOMPACT 5d41402abc4b2a76 (Ada's trip)
    2. note 2026-03-04 09:30, score 3.2: **lisbon** **hotel** Miramar, until 9 May -> NOTE_READ
       lisbon-hotel
    3. memory 2026-03-05 18:12, score 2.9: Ada liked the **hotel** -> RETRIEVE_SPECIFIC_MEMORIES 17

A cue names only what a message clearly belongs to, and nothing that is in the context anyway.

Rooms keep their secrets (``identity/secrecy.py``). The agent finds everything, and a hit says for
which room it is not. A cue names nothing that was said in a room which is not for that of the
message. People who may not see everything get only what was surely said in a room that may be shown
where they ask: what was heard, and responses that are nothing but a SAY on one line.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from dory import clock
from dory.errors import DoryError
from dory.extensions.notes.store import KINDS, Notes, document
from dory.extensions.recall import request as requests
from dory.extensions.recall.life_index import KINDS as ENTRIES
from dory.extensions.recall.life_index import LifeIndexer
from dory.extensions.recall.request import Request
from dory.extensions.recall.source import Source, cue, of_entry, plain, shown, uncrowded
from dory.identity import expand
from dory.identity.context import Entry
from dory.search.filters import Filter
from dory.search.index import Hit, Index
from dory.search.meaning import Meaning
from dory.search.passages import Document
from dory.search.postings import GLANCE, SearchBudget
from dory.search.snippets import MARK
from dory.storage.blobs import Blobs
from dory.storage.database import Store
from dory.text import formatting

HITS = 10
"""Hits in one answer."""
CUES = 3
"""References in one cue."""
CUE_SHARE = 0.55
"""The least share of a hit in a cue: its score divided by the score of an entry that contains every
word of the message, and one more word that never occurred before.

Words of the message that never occurred count as well, so a message about something new stays below
this value. The additional word keeps a short message below it of which only one word matches.
``python -m bench.cues`` measures the value; docs/cues.md has its table.
"""
CONSIDERED = 20
"""Hits that are examined for one cue."""
CONSIDERED_FOR_PEOPLE = 200
"""Hits that are examined if some of them may not be shown."""
_UNKNOWN = 8
"""Words that are named as occurring nowhere."""
_TAKEN = 3
"""Words that are named for which one of these was taken."""
_IN_CONTEXT = re.compile(r" -> in your context at #([0-9]{1,15})$", re.MULTILINE)
_SAY = re.compile(r"SAY ([a-z0-9_-]{1,64}) .*")
_THOUGHT = re.compile(r"<(?:think|thought|reasoning)", re.IGNORECASE)


class Asked(Protocol):
    """What a person who asks may see: see ``RoomSecrets``."""

    def shows(self, room: str) -> bool:
        """Whether the answer may hold what was said in a room; an empty one stands for any."""

    def knows(self, room: str) -> bool:
        """Whether the person may read it in that room."""


class Layer(Protocol):
    """A kind of memory that is searched beside the entries and the notes."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its documents. No other layer has them."""

    def documents(self) -> Iterator[Document]:
        """All documents that belong in the index."""

    def way(self, kind: str, origin: int) -> str:
        """The tool call that returns a document; empty if the document is gone."""

    def heard_in(self, kind: str, origin: int) -> Sequence[str]:
        """The rooms of which a document tells; none if that is not known."""


class RecallSearch:
    """The search over the life, the notes and the ``layers`` of one agent. ``hidden`` are those of
    the layers whose extensions are not in use: their hits are left out, because they would name
    tools that do not exist. For one thread. Raises what the store raises.
    """

    def __init__(
        self,
        store: Store,
        index: Index,
        notes: Notes,
        indexer: LifeIndexer,
        blobs: Blobs,
        layers: Sequence[Layer],
        hidden: Sequence[Layer] = (),
    ) -> None:
        self._store = store
        self._index = index
        self._notes = notes
        self._indexer = indexer
        self._layers = layers
        self._hidden = {kind for layer in hidden for kind in layer.kinds}
        self._outline = expand.Outline(blobs)
        self.meaning: Meaning | None = None
        """The vectors of what is searched, if there are any."""

    def recall(
        self,
        query: str,
        live: Sequence[Entry],
        mark: Callable[[str], str] = lambda room: "",
        asked: Asked | None = None,
    ) -> str:
        """Return the best hits for any text, as text. ``live`` are the entries of the context.
        ``mark``: what the agent is told of a hit from a room. ``asked``: what a person may see.
        """
        quoted = formatting.one_line(query)
        request = requests.read(query, self._known(asked))
        hits, elsewhere = self._found(request, live, asked)
        more = f"; more was said in {formatting.named(elsewhere)}: ask there" if elsewhere else ""
        if not hits:
            wider = ", or leave out a filter" if request.only else ""
            return (
                f'no hits for "{quoted}"{more}; try other words: names, things, a month, as they'
                f" were said then{wider}"
            )
        # else they would learn what words there are in rooms that they may not know
        if asked is None or all(map(asked.shows, self._index.rooms())):
            more += self._misses(request.words)
        if self.meaning and self.meaning.failure:
            more += f"; by words alone: {plain(self.meaning.failure)}"
        noun = "hit" if len(hits) == 1 else "hits"
        lines = [
            f"{number}. {_described(hit)}{self._marks(hit, source, mark)}"
            f" -> {source.for_people if asked else source}"
            for number, (hit, source) in enumerate(hits, 1)
        ]
        return "\n".join([f'{len(hits)} {noun} for "{quoted}"{more}', *lines])

    def hits(
        self, query: str, live: Sequence[Entry], count: int = HITS, only: Filter | None = None
    ) -> list[tuple[Hit, Source]]:
        """Return the best hits for the agent, each with where its full text is; ``only`` those that
        a filter admits. What has the query as its name goes first.
        """
        found = uncrowded(self._search(query, live, considered=2 * count, only=only))
        named = self._notes.called(query.strip())
        if named is None or (only and not only.admits(document(named))):
            return found[:count]
        by_name = [
            (hit, source)
            for hit, source in self._search(named.name, live, kinds=[named.kind])
            if hit.document.origin == named.id
        ]
        others = [
            (hit, source)
            for hit, source in found
            if (hit.document.kind, hit.document.origin) != (named.kind, named.id)
        ]
        return [*by_name, *others][:count] if by_name else found[:count]

    def cue(
        self,
        text: str,
        live: Sequence[Entry],
        shows: Callable[[str], bool] = lambda room: True,
    ) -> str:
        """Return the line beside a message that nobody has answered yet; empty if nothing matches
        clearly. ``shows``: whether what was said in a room may be named there.
        """
        candidates = self.candidates(text, live, CUE_SHARE, shows)
        return cue([source for source, _ in candidates[:CUES]])

    def candidates(
        self,
        text: str,
        live: Sequence[Entry],
        share: float,
        shows: Callable[[str], bool] = lambda room: True,
    ) -> list[tuple[Source, float]]:
        """Return what a cue could name, best first: each source once, with its share as
        ``CUE_SHARE`` explains it, which is at least ``share``.
        """
        best: dict[Source, float] = {}
        for hit, source in self._search(text, live, GLANCE, share):
            if source.entry is None and hit.share >= share:
                if not all(map(shows, self._rooms(hit, source) | self._heard_in(source))):
                    continue
                # An archive and the compacted stretch that it was made of are one source.
                unnamed = replace(source, name="") if source.hash else source
                best.setdefault(unnamed, hit.share)
        return list(best.items())

    def moved(self, live: Sequence[Entry]) -> list[tuple[int, Source | None]]:
        """The entries that answers in the context name as standing there, and that stand there no
        more: each with its source now; None if there is none.
        """
        standing = {entry.first for entry in live if entry.kind != "compacted"}
        named = {
            int(number)
            for entry in live
            if entry.kind == "result" and entry.about.startswith("RECALL")
            for number in _IN_CONTEXT.findall(entry.body)
        }
        opened = self._outline.opened(live)
        return [
            (id, of_entry(opened.get(id) or self._outline.place(id, live)))
            for id in sorted(named - standing)
        ]

    def reset(self) -> None:
        """Empty the index, add the notes and the layers again, and be ready to index the life from
        its beginning. Does all of it or nothing.
        """
        with self._store.writing():
            self._index.clear()
            self._indexer.clear()
            for note in sorted(self._notes, key=lambda note: note.id):
                self._index.add(document(note))
            for layer in self._layers:
                for layer_document in layer.documents():
                    self._index.add(layer_document)

    def bring_up_to_date(self) -> None:
        """Reset an index that another Dory made by its own rules."""
        if self._index.outdated():
            self.reset()

    def _known(self, asked: Asked | None) -> requests.Known:
        """What there is to filter by, as far as who ``asked`` may know of it."""
        kinds = [*ENTRIES, *KINDS, *(kind for layer in self._layers for kind in layer.kinds)]
        shown = [kind for kind in kinds if kind not in self._hidden]
        if asked is None:
            return requests.Known(shown, self._index.rooms(), self._index.speakers())
        rooms = [room for room in self._index.rooms() if asked.shows(room) or asked.knows(room)]
        return requests.Known(shown, rooms, None)

    def _misses(self, words: str) -> str:
        """Which words of a query occur nowhere, and for which others they were taken."""
        unknown = self._index.unknown(words)
        taken = self._index.taken_for(words)
        nowhere = [word for word in unknown if word not in taken][:_UNKNOWN]
        told = f"; nothing has the words: {plain(', '.join(nowhere))}" if nowhere else ""
        for word in [word for word in unknown if word in taken][:_UNKNOWN]:
            others = formatting.named(taken[word][:_TAKEN])
            told += f'; nothing has "{plain(word)}", so this is for {plain(others)}'
        return told

    def _found(
        self, request: Request, live: Sequence[Entry], asked: Asked | None
    ) -> tuple[list[tuple[Hit, Source]], list[str]]:
        """The hits of an answer, and the rooms in which the person who ``asked`` may find more."""
        query, only = request.words, request.only
        if asked is None:
            return self.hits(query, live, only=only), []
        considered = CONSIDERED_FOR_PEOPLE
        if asked.shows(""):  # all but what is of a private room
            found = self._search(query, live, considered=considered, only=only)
            shown = [
                (hit, source)
                for hit, source in found
                if all(map(asked.shows, self._rooms(hit, source)))
            ]
            return uncrowded(shown)[:HITS], []
        hits: list[tuple[Hit, Source]] = []
        elsewhere = set[str]()
        for hit, source in self._search(query, live, considered=considered, only=only):
            room = _said_in(hit.document)
            if room and asked.shows(room):
                hits.append((hit, replace(source, hint=f"chats/{room}.md", entry=None)))
            elif asked.knows(room):
                elsewhere.add(room)
        return hits[:HITS], sorted(elsewhere)

    def _marks(self, hit: Hit, source: Source, mark: Callable[[str], str]) -> str:
        return "".join(map(mark, sorted(self._rooms(hit, source))))

    def _rooms(self, hit: Hit, source: Source) -> set[str]:
        """The rooms in which that was said of which a hit tells, as far as that is known."""
        kind = hit.document.kind
        if kind in KINDS:
            return self._heard_in(source)
        if layer := self._layer(kind):
            return set(layer.heard_in(kind, hit.document.origin))
        return {_said_in(hit.document) or hit.document.room} - {""}

    def _heard_in(self, source: Source) -> set[str]:
        """The rooms in which something was heard of which a stretch consists."""
        try:
            inside = self._outline.entries(source.hash) if source.hash else ()
        except DoryError:  # damaged: nobody can read it
            return set()
        return {entry.about for entry in inside if entry.kind == "heard"}

    def _search(
        self,
        query: str,
        live: Sequence[Entry],
        budget: SearchBudget | None = None,
        share: float = 0.0,
        considered: int = CONSIDERED,
        kinds: Sequence[str] = (),
        only: Filter | None = None,
    ) -> list[tuple[Hit, Source]]:
        """The hits whose text can still be had, each with its source, best first; only of these
        ``kinds``, if any, and only what a filter admits.
        """
        similarities = self.meaning.similarities(query) if self.meaning and not budget else None
        hits = self._index.search(
            query, considered, kinds, budget, share, self._hidden, only, similarities
        )
        opened = self._outline.opened(live)

        def place(id: int) -> Entry | None:
            return opened.get(id) or self._outline.place(id, live)

        sources = [(hit, self._source(hit, live, place)) for hit in hits]
        return [(hit, source) for hit, source in sources if source]

    def _source(
        self, hit: Hit, live: Sequence[Entry], place: Callable[[int], Entry | None]
    ) -> Source | None:
        kind, origin = hit.document.kind, hit.document.origin
        if kind in KINDS:
            return self._note_source(hit, live, place)
        layer = self._layer(kind)
        if layer is None:
            return of_entry(place(origin))
        hint = layer.way(kind, origin)
        if not hint:
            return None
        text = hit.document.text.strip()
        return shown(hint, "", text, live) or Source(hint=hint)

    def _layer(self, kind: str) -> Layer | None:
        return next((layer for layer in self._layers if kind in layer.kinds), None)

    def _note_source(
        self, hit: Hit, live: Sequence[Entry], place: Callable[[int], Entry | None]
    ) -> Source | None:
        """The source of a note or an archive. Its content may be in the context: the note was
        written or read there, or the archived entry is live.
        """
        note = self._notes.numbered(hit.document.origin)
        if not note:
            return None
        if not note.hash:
            source = Source(name=note.name)
            return shown(str(source), note.name, note.content, live) or source
        try:
            gist = self._outline.gist(note.hash)
            first = self._outline.entries(note.hash)[0].first
        except (DoryError, IndexError):
            # The archive is damaged or was loaded from elsewhere; its note can still be read.
            return Source(name=note.name)
        entry = place(first)
        if entry and entry.kind != "compacted":
            return of_entry(entry)
        return Source(note.hash, gist, note.name)


def _said_in(document: Document) -> str:
    """The room in which a document was said as it is; empty if it may tell of others, too. The
    agent's responses may hold thoughts.
    """
    if document.kind == "heard":
        return document.room
    said = _SAY.fullmatch(document.text.strip()) if document.kind == "response" else None
    return said[1] if said and not _THOUGHT.search(said[0]) else ""


def _described(hit: Hit) -> str:
    """Kind, time, speaker, room, score and snippet of a hit."""
    document = hit.document
    speaker = f" {plain(document.speaker)}" if document.speaker else ""
    room = f" in {document.room}" if document.room else ""
    beside = "" if MARK in hit.snippet or not hit.score else "(beside a match) "
    return (
        f"{document.kind.lower()} {clock.minute(document.at)}{speaker}{room},"
        f" score {hit.score:.1f}: {beside}{plain(hit.snippet)}"
    )
