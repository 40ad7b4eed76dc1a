"""Checks the agent's SQLite file: SQLite's own check, the notes and which files they have, the log
of changes, the archives that LIFE tells of, and every entry that should be in the index.

A running agent goes on writing meanwhile. What is newer than the state that was read is passed over
then.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, takewhile
from pathlib import Path

from dory import regular_files
from dory.errors import DoryError, FormatError
from dory.extensions import Stores
from dory.extensions.memories.log import LAYER as MEMORIES
from dory.extensions.notes import archives, file_table
from dory.extensions.notes.store import KINDS, Notes
from dory.extensions.notes.store import LAYER as NOTES
from dory.extensions.notes.store import document as note_document
from dory.extensions.people import check
from dory.extensions.recall import life_index
from dory.extensions.recall.life_index import Cursor, LifeIndexer
from dory.extensions.recall.search import Layer
from dory.identity import expand
from dory.identity.context import Entry
from dory.identity.life import NAME as LIFE
from dory.identity.state import State
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage import locks
from dory.storage.blobs import Blobs
from dory.storage.changes import Undoable, agrees
from dory.storage.database import NAME, Store
from dory.storage.rooms import Rooms


def problems(folder: Path, record: State, live: Sequence[Entry], blobs: Blobs) -> Iterator[str]:
    """Return what is wrong, one line each; nothing if there is no such file yet. ``record`` and
    ``live`` belong together, and are older than the file.
    """
    with closing(Stores(folder, blobs, readonly=True)) as past:
        try:
            past.store.rows("BEGIN")  # so that everything is read as of one moment
            broken = past.store.problems() if past.store.path.exists() else []
            yield from broken
            if not broken:
                # what an older Dory indexed by its own rules is made anew when the agent wakes
                compared = not past.index.outdated()
                yield from _notes(past.store, past.notes, past.index if compared else None, blobs)
                yield from _logged(past)
                yield from file_table.problems(past.store)
                yield from past.bank.problems()
                for layer in past.layers if compared else ():
                    # days that somebody has edited are indexed soon
                    edited = set(past.diary.changed()) if layer is past.diary else ()
                    yield from _layer(layer, past.index, edited)
                yield from _archives(folder, past.notes, record)
                if compared:
                    yield from _life(
                        past.index,
                        past.chronicle,
                        record,
                        live,
                        blobs,
                        running=locks.holder(folder) is not None,
                    )
                yield from check.problems(
                    past.dialogues,
                    past.relationships,
                    Rooms(folder.parent.parent / "chats"),
                    record,
                )
        except (DoryError, OSError) as error:
            yield str(error)


def _notes(store: Store, notes: Notes, index: Index | None, blobs: Blobs) -> Iterator[str]:
    for table, *_ in store.rows("PRAGMA foreign_key_check"):
        yield f"{NAME}: the table {table} names an entry that is not there"
    entries = sorted(notes, key=lambda note: note.id)
    for note in entries:
        holder = notes.find(note.name)
        if holder is None or holder.id != note.id:
            yield f"the note {note.name} is not found by its name"
        if note.kind not in KINDS:
            yield f"the note {note.name} is of the unknown kind {note.kind!r}"
        try:
            if note.hash:
                blobs.resolve(note.hash)
        except DoryError:
            yield f"the archive {note.name} refers to {note.hash}, which is missing"
    if index is None:
        return
    for kind in KINDS:
        documents = (note_document(note) for note in entries if note.kind == kind)
        yield from _compared(documents, index.walk(kind))


def _logged(past: Stores) -> Iterator[str]:
    """Compare the log of changes with the notes and the memories that were changed."""
    layers: tuple[tuple[str, str, Undoable], ...] = (
        ("note", NOTES, past.notes),
        ("memory", MEMORIES, past.bank.log),
    )
    for noun, layer, things in layers:
        for item, left, number in past.changes.states(layer):
            now = things.snapshot(item)
            if not agrees(now, left):
                name = (now or left or {}).get("name", item)
                yield f"the {noun} {name} is not as its newest change ({number}) left it"


def _layer(layer: Layer, index: Index, passed: Collection[int]) -> Iterator[str]:
    """Compare a layer with the index, without the origins ``passed`` over. A layer that cannot be
    read is a problem, and the others are still checked.
    """
    try:
        due = list(layer.documents())
    except FormatError as error:
        yield str(error)
        return
    for kind in layer.kinds:
        expected = [item for item in due if item.kind == kind and item.origin not in passed]
        indexed = [item for item in index.walk(kind) if item.origin not in passed]
        yield from _compared(expected, indexed)


def _archives(folder: Path, notes: Notes, record: State) -> Iterator[str]:
    """Report the archives that are gone, in one line. A marker in LIFE is committed only after its
    archive; an archive without a marker may be new.
    """
    kept = notes.hashes
    with regular_files.opened(folder / LIFE) as log:
        committed = chain(
            takewhile(lambda _: log.tell() <= record.life_bytes, log),
            record.life_lines.encode().splitlines(),
        )
        lost = [
            marker
            for marker in archives.markers(line.rstrip(b"\n") for line in committed)
            if marker.hash not in kept
        ]
    if lost:
        count = len({marker.hash for marker in lost})
        yield (
            f"{NAME} lacks archives that LIFE.md tells of ({count}, the first is"
            f" {lost[0].archive_name})"
        )


def _life(
    index: Index,
    indexer: LifeIndexer,
    record: State,
    live: Sequence[Entry],
    blobs: Blobs,
    running: bool,
) -> Iterator[str]:
    """Compare the index with the life, as far as both go. What is in damaged blobs is passed over:
    the check reports these by themselves.
    """
    cursor = indexer.cursor
    newest = record.next_id - 1
    if cursor.newest > newest and not running:
        yield f"{NAME} has indexed entries up to #{cursor.newest}, there are {newest}"
    damage: list[DoryError] = []
    due: dict[str, list[Document]] = {kind: [] for kind in life_index.KINDS}
    originals = expand.originals(live, blobs, 1, damage.append)
    for document, _ in life_index.read(originals, Cursor(), record.name, indexer.left_out):
        if document and document.origin <= cursor.newest:
            due[document.kind].append(document)
    for kind in life_index.KINDS:
        known = {document.origin for document in due[kind]}
        indexed = [
            document
            for document in index.walk(kind)
            if document.origin in known or not (damage or (document.origin > newest and running))
        ]
        yield from _compared(due[kind], indexed)


def _compared(due: Iterable[Document], indexed: Iterable[Document]) -> Iterator[str]:
    """Compare what should be in the index, of one kind, with what is. The index does not keep white
    space at the end of a text.
    """
    remaining = {document.origin: document for document in indexed}
    for document in due:
        name = f"the {document.kind} #{document.origin}"
        found = remaining.pop(document.origin, None)
        if found is None:
            yield f"{NAME}: {name} is not in the index"
        elif _content(found) != _content(document):
            yield f"{NAME}: {name} is in the index with another text"
    for origin, document in remaining.items():
        yield f"{NAME}: the {document.kind} #{origin} of the index is nowhere else"


def _content(document: Document) -> tuple[str, str, str]:
    return document.text.rstrip(), document.speaker, document.room
