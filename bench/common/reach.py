"""Whether everything that entered a life is found again, and how deep.

``entered`` counts at the sources: the room's file, and the response and result blobs that LIFE
names. ``found`` comes from the other end: it walks the live context and the references in it, level
by level. A piece is reached when the walk meets its text, byte for byte.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dory.errors import BlobError
from dory.identity import context, heard_entry
from dory.identity.context import Entry
from dory.storage.blobs import Blobs
from dory.storage.rooms import Rooms, laid_out
from dory.text import references


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that entered the context: ``kind`` is ``heard``, ``response`` or ``result``,
    ``text`` as it was said, with its tag.
    """

    kind: str
    text: str

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.text.encode())


def entered(home: Path, folder: Path, room: str) -> list[Piece]:
    """All that the agent in ``folder`` took in: what people said in ``room``, in order, then its
    own responses and their results.
    """
    return [*_said(Rooms(home / "chats"), room), *_done(folder / "LIFE.md", Blobs(home / "blobs"))]


def depths(pieces: Sequence[Piece], entries: Sequence[Entry], blobs: Blobs) -> list[int | None]:
    """For each piece how many references must be opened one inside the other: 0 when it stands in
    ``entries``, None when it is lost.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for text, depth in found(entries, blobs).values():
        places[text].append(depth)
    return [places[piece.text].pop(0) if places[piece.text] else None for piece in pieces]


def found(entries: Sequence[Entry], blobs: Blobs) -> dict[int, tuple[str, int]]:
    """By entry id: the text of every entry that there ever was, and the least depth at which it is
    met.
    """
    met: dict[int, tuple[str, int]] = {}
    opened: set[str] = set()
    depth, level = 0, list(entries)
    while level:
        closed: dict[str, None] = {}
        for entry in _spread(level, blobs):
            if entry.kind == "compacted" and entry.hash:
                closed[entry.hash] = None
            else:
                met.setdefault(entry.first, (_text(entry), depth))
        level = [inner for hash in closed.keys() - opened for inner in _stretch(blobs, hash)]
        opened |= closed.keys()
        depth += 1
    return met


def _said(rooms: Rooms, room: str) -> Iterator[Piece]:
    for line in rooms.messages(room):
        if line.kind == "USER":
            yield Piece("heard", f"[{line.kind}:{line.name} {line.at}] {laid_out(line.text)}")


def _done(life: Path, blobs: Blobs) -> Iterator[Piece]:
    named = [
        hash
        for line in life.read_text(encoding="utf-8").splitlines()
        for hash, _ in references.live(line)
    ]
    for blob in map(blobs.get, dict.fromkeys(named)):
        if blob.kind in ("response", "result"):
            yield Piece(blob.kind, blob.body)


def _spread(entries: Sequence[Entry], blobs: Blobs) -> Iterator[Entry]:
    """The entries, with those of an original that was put back inline in the place of that."""
    for entry in entries:
        if entry.kind == "uncompacted" and entry.hash and _stretch(blobs, entry.hash):
            yield from _spread(context.parse(f"{references.unquote(entry.body)}\n"), blobs)
        else:
            yield entry


def _stretch(blobs: Blobs, hash: str) -> list[Entry]:
    """The entries behind a reference; none behind one to a response or a result, which has an entry
    of its own, and none where nothing is.
    """
    try:
        blob = blobs.get(hash)
    except BlobError:
        return []
    return context.parse(blob.body) if blob.kind == "context" else []


def _text(entry: Entry) -> str:
    """What the entry holds, as it was before it was escaped. What is heard begins with a tag, which
    is the harness's own.
    """
    tag, mark, said = (
        heard_entry.without_cue(entry.body).partition("] ")
        if entry.kind == "heard"
        else ("", "", entry.body)
    )
    return f"{tag}{mark}{references.unescape(said)}"
