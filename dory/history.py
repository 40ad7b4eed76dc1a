"""The life as it was, entry by entry: what stands in the live context, and behind its references. Pure, but for the blobs that are read.

An original entry has one id and is met once, whatever the depth: a ``compacted`` entry leads to the stretch in whose place it stands. What is
quoted from elsewhere is passed over: ``uncompacted`` entries, and those into which they were folded back.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress

from dory import context, refs
from dory.blobs import Blobs
from dory.context import Entry
from dory.errors import DoryError
from dory.records import Compacted

_QUOTING = ("compacted", "uncompacted")


def originals(live: Sequence[Entry], blobs: Blobs, start: int, on_damage: Callable[[DoryError], None]) -> Iterator[Entry]:
    """The original entries from id ``start`` on, in order of id. ``on_damage`` is told of a blob that cannot be read, and is passed over."""
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
    """The entries in whose place a compacted one stands; none for an opened original, folded back. Raises ``DoryError`` for a damaged blob."""
    blob = blobs.get(entry.hash or "")
    inside = context.parse(blob.body) if blob.kind == "context" else []
    return inside if inside and inside[0].first == entry.first else []


def stretches(live: Iterable[Entry], blobs: Blobs, known: Container[str]) -> Iterator[Compacted]:
    """What every compaction told of its stretches, those inside another one before it; how relevant they were is not known any more, and 0.

    A stretch whose blob is ``known`` is left out with all that is in it. Raises ``DoryError`` for a damaged blob.
    """
    for entry in live:
        if entry.kind == "compacted" and entry.hash and entry.hash not in known and (inside := behind(entry, blobs)):
            yield from stretches(inside, blobs, known)
            yield Compacted(entry.first, entry.last, entry.hash, entry.gist, refs.unescape(entry.body), 0)


def place(id: int, live: Iterable[Entry], blobs: Blobs) -> Entry | None:
    """Where an original stands word for word: the entry itself if it is live, else the innermost compacted one that covers it; None if nothing
    does. Inside a damaged blob the search ends with the entry that names it.
    """
    found: Entry | None = None
    level = live
    while entry := next((entry for entry in level if entry.first <= id <= entry.last), None):
        if entry.kind != "compacted":
            return found or entry
        found = entry
        try:
            level = behind(entry, blobs)
        except DoryError:
            break
    return found


def opened(live: Iterable[Entry], blobs: Blobs) -> dict[int, Entry]:
    """The originals that stand word for word in one that was put back, by id, each with the live entry that shows it."""
    shown: dict[int, Entry] = {}
    for entry in live:
        with suppress(DoryError):  # the blob is damaged by now: what it shows is not known any more
            blob = blobs.get(entry.hash) if entry.kind == "uncompacted" and entry.hash else None
            inside = context.parse(blob.body) if blob and blob.kind == "context" else []
            shown |= {inner.first: entry for inner in inside if inner.kind not in _QUOTING}
    return shown
