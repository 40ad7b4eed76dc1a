"""The original entries of a life: those in the live context, and those behind its references. Pure
but for the blobs that are read.

A ``compacted`` entry leads to the stretch that it replaced, to any depth. Each original entry has
one id and is visited once. Copies are passed over: ``uncompacted`` entries, and the entries into
which they were folded back.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from dory.errors import DoryError
from dory.identity import context
from dory.identity.context import Entry
from dory.storage.blobs import Blobs
from dory.text import references
from dory.types import Compacted

_NOT_ORIGINAL = ("compacted", "uncompacted")
_CACHED_BLOBS = 1000
"""Blobs whose outline is cached, some kilobytes each."""


def originals(
    live: Sequence[Entry], blobs: Blobs, start: int, on_damage: Callable[[DoryError], None]
) -> Iterator[Entry]:
    """Return the original entries from id ``start`` on, in order of id. A blob that cannot be read
    is passed over, and ``on_damage`` is called.
    """
    waiting = [*reversed(live)]
    while waiting:
        entry = waiting.pop()
        if entry.kind not in _NOT_ORIGINAL and entry.first >= start:
            yield entry
        elif entry.kind == "compacted" and entry.last >= start:
            try:
                waiting += reversed(behind(entry, blobs))
            except DoryError as error:
                on_damage(error)


def behind(entry: Entry, blobs: Blobs) -> list[Entry]:
    """Return the entries that a compacted one replaced; none if it is an original that was put back
    and folded again. Raises ``DoryError`` for a damaged blob.
    """
    blob = blobs.get(entry.hash or "")
    inside = context.parse(blob.body) if blob.kind == "context" else []
    return inside if inside and inside[0].first == entry.first else []


def stretches(
    live: Iterable[Entry], blobs: Blobs, on_damage: Callable[[DoryError], None]
) -> Iterator[Compacted]:
    """Return the record of every compacted stretch, each once, inner ones before outer ones. Their
    relevance is not known any more, and 0. A blob that cannot be read is passed over, with what is
    in it, and ``on_damage`` is called.
    """
    waiting = [(entry, False) for entry in reversed([*live])]
    visited = set[str]()
    while waiting:
        entry, expanded = waiting.pop()
        if entry.kind != "compacted" or not entry.hash:
            continue
        if not expanded and entry.hash in visited:  # several references lead to it
            continue
        visited.add(entry.hash)
        if expanded:
            yield Compacted(
                entry.first, entry.last, entry.hash, entry.gist, references.unescape(entry.body), 0
            )
            continue
        try:
            inside = behind(entry, blobs)
        except DoryError as error:
            on_damage(error)
            continue
        if inside:
            waiting.append((entry, True))
            waiting += [(inner, False) for inner in reversed(inside)]


class Outline:
    """The same life without its texts, for many look-ups. Each blob is read once, as it never
    changes.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._read = lru_cache(_CACHED_BLOBS)(self._read_blob)

    def gist(self, hash: str) -> str:
        """Return the gist of a blob. Raises ``DoryError`` for a damaged one."""
        return self._read(hash)[0]

    def entries(self, hash: str) -> tuple[Entry, ...]:
        """Return the entries in the blob of a stretch, without bodies; none for another blob.
        Raises ``DoryError`` for a damaged one.
        """
        return self._read(hash)[1]

    def place(self, id: int, live: Sequence[Entry]) -> Entry | None:
        """Return the entry from which the original ``id`` can be read word for word: itself if it
        is live, else the innermost compacted entry that covers it; None if no entry does. At a
        damaged blob the search ends with the entry that names it.
        """
        innermost: Entry | None = None
        level = live
        while entry := _covering(level, id):
            if entry.kind != "compacted":
                return innermost or entry
            innermost = entry
            level = ()
            with suppress(DoryError):
                inside = self.entries(entry.hash or "")
                if inside and inside[0].first == entry.first:
                    level = inside
        return innermost

    def opened(self, live: Iterable[Entry]) -> dict[int, Entry]:
        """Return the original entries that uncompacted entries show word for word: by id, the live
        entry that shows it.
        """
        shown: dict[int, Entry] = {}
        for entry in live:
            if entry.kind != "uncompacted" or not entry.hash:
                continue
            with suppress(DoryError):  # of a damaged blob it is not known what it shows
                for inner in self.entries(entry.hash):
                    if inner.kind not in _NOT_ORIGINAL:
                        shown[inner.first] = entry
        return shown

    def _read_blob(self, hash: str) -> tuple[str, tuple[Entry, ...]]:
        blob = self._blobs.get(hash)
        inside = context.parse(blob.body) if blob.kind == "context" else []
        return blob.gist, tuple(replace(entry, body="") for entry in inside)


def _covering(entries: Sequence[Entry], id: int) -> Entry | None:
    """The entry that covers ``id``, by bisection."""
    after = bisect_right(entries, id, key=lambda entry: entry.first)
    if not after or entries[after - 1].last < id:
        return None
    return entries[after - 1]
