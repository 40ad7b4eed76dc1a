"""The life as it was, entry by entry: what stands in the live context, and behind its references.
Pure, but for the blobs that are read.

An original entry has one id and is met once, whatever the depth: a ``compacted`` entry leads to the
stretch in whose place it stands. What is quoted from elsewhere is passed over: ``uncompacted``
entries, and those into which they were folded back.
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

_QUOTING = ("compacted", "uncompacted")
_KEPT = 1000
"""Blobs of which an ``Outline`` keeps what it has read, some kilobytes each."""


def originals(
    live: Sequence[Entry], blobs: Blobs, start: int, on_damage: Callable[[DoryError], None]
) -> Iterator[Entry]:
    """The original entries from id ``start`` on, in order of id. ``on_damage`` is told of a blob
    that cannot be read, and is passed over.
    """
    waiting = [*reversed(live)]
    while waiting:
        entry = waiting.pop()
        if entry.kind not in _QUOTING and entry.first >= start:
            yield entry
        elif entry.kind == "compacted" and entry.last >= start:
            try:
                waiting += reversed(behind(entry, blobs))
            except DoryError as error:
                on_damage(error)


def behind(entry: Entry, blobs: Blobs) -> list[Entry]:
    """The entries in whose place a compacted one stands; none for an opened original, folded back.
    Raises ``DoryError`` for a damaged blob.
    """
    blob = blobs.get(entry.hash or "")
    inside = context.parse(blob.body) if blob.kind == "context" else []
    return inside if inside and inside[0].first == entry.first else []


def stretches(
    live: Iterable[Entry], blobs: Blobs, on_damage: Callable[[DoryError], None]
) -> Iterator[Compacted]:
    """What every compaction told of its stretches, each once, those inside another one before it;
    how relevant they were is not known any more, and 0. ``on_damage`` is told of a blob that cannot
    be read, and what is in it is passed over.
    """
    waiting, met = [(entry, False) for entry in reversed([*live])], set[str]()
    while waiting:
        entry, entered = waiting.pop()
        if entry.kind != "compacted" or not entry.hash:
            continue
        if not entered and entry.hash in met:  # many ways lead to an old one
            continue
        met.add(entry.hash)
        if entered:
            yield Compacted(
                entry.first, entry.last, entry.hash, entry.gist, references.unescape(entry.body), 0
            )
            continue
        try:
            inside = behind(entry, blobs)
        except DoryError as error:
            on_damage(error)
            continue
        waiting += (
            [(entry, True), *((inner, False) for inner in reversed(inside))] if inside else []
        )


class Outline:
    """The same life without its texts, for many questions: what stands behind a reference is read
    once, for a blob never changes.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._read = lru_cache(_KEPT)(self._skeleton)

    def gist(self, hash: str) -> str:
        """The gist of a blob. Raises ``DoryError`` for a damaged one."""
        return self._read(hash)[0]

    def entries(self, hash: str) -> tuple[Entry, ...]:
        """What stands in the blob of a stretch, without bodies; nothing in another one. Raises
        ``DoryError`` for a damaged one.
        """
        return self._read(hash)[1]

    def place(self, id: int, live: Sequence[Entry]) -> Entry | None:
        """Where an original stands word for word: the entry itself if it is live, else the
        innermost compacted one that covers it; None if nothing does. Inside a damaged blob the
        search ends with the entry that names it.
        """
        found: Entry | None = None
        level = live
        while (at := bisect_right(level, id, key=lambda entry: entry.first)) and level[
            at - 1
        ].last >= id:
            entry = level[at - 1]
            if entry.kind != "compacted":
                return found or entry
            found, level = entry, ()
            with suppress(DoryError):
                inside = self.entries(entry.hash or "")
                level = inside if inside and inside[0].first == entry.first else ()
        return found

    def opened(self, live: Iterable[Entry]) -> dict[int, Entry]:
        """The originals that stand word for word in one that was put back, by id, each with the
        live entry that shows it.
        """
        shown: dict[int, Entry] = {}
        for entry in live:
            if entry.kind == "uncompacted" and entry.hash:
                with suppress(
                    DoryError
                ):  # the blob is damaged by now: what it shows is not known any more
                    shown |= {
                        inner.first: entry
                        for inner in self.entries(entry.hash)
                        if inner.kind not in _QUOTING
                    }
        return shown

    def _skeleton(self, hash: str) -> tuple[str, tuple[Entry, ...]]:
        blob = self._blobs.get(hash)
        inside = context.parse(blob.body) if blob.kind == "context" else []
        return blob.gist, tuple(replace(entry, body="") for entry in inside)
