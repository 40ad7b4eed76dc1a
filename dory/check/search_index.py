"""The agent's SQLite file, held against what it is derived from: SQLite's own check, the notes, the
archives that LIFE tells of, and every entry that should be in the index.

A running agent goes on writing meanwhile: what is newer than the state that was read is passed over
then.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, takewhile
from pathlib import Path

from dory.errors import DoryError, FormatError
from dory.extensions.notes import archives
from dory.extensions.notes.store import KINDS, Notes, document
from dory.extensions.people import check
from dory.extensions.recall import life_index
from dory.extensions.recall.life_index import Cursor
from dory.extensions.recall.search import Layer, RecallSearch
from dory.identity import expand
from dory.identity.context import Entry
from dory.identity.life import NAME as LIFE
from dory.identity.state import State
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage import locks
from dory.storage.blobs import Blobs
from dory.storage.database import NAME, Store
from dory.storage.rooms import Rooms


def problems(folder: Path, record: State, live: Sequence[Entry], blobs: Blobs) -> Iterator[str]:
    """What is wrong, one line each; nothing in an agent that has no such file yet. ``record`` and
    ``live`` belong together, and are older.
    """
    with closing(RecallSearch(folder, blobs, readonly=True)) as past:
        try:
            past.store.rows("BEGIN")  # all of it at one moment
            broken = past.store.problems() if past.store.path.exists() else []
            yield from broken
            if not broken:
                yield from _notes(past.store, past.notes, past.index, blobs)
                yield from past.bank.problems()
                for layer in past.layers:
                    edited = (
                        set(past.diary.changed()) if layer is past.diary else ()
                    )  # they are indexed soon
                    yield from _layer(layer, past.index, edited)
                yield from _archives(folder, past.notes, record)
                yield from _life(
                    past.index,
                    past.chronicle.mark,
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


def _notes(store: Store, notes: Notes, index: Index, blobs: Blobs) -> Iterator[str]:
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
    for kind in KINDS:
        yield from _compared(
            (document(note) for note in entries if note.kind == kind), index.walk(kind)
        )


def _layer(layer: Layer, index: Index, passed: Collection[int]) -> Iterator[str]:
    """A layer against the index, but for what is ``passed`` over; one that cannot be read is a
    problem, and no reason to leave out others.
    """
    try:
        due = list(layer.documents())
    except FormatError as error:
        yield str(error)
        return
    for kind in layer.kinds:
        yield from _compared(
            *(
                [one for one in found if one.kind == kind and one.origin not in passed]
                for found in (due, index.walk(kind))
            )
        )


def _archives(folder: Path, notes: Notes, record: State) -> Iterator[str]:
    """Those that are gone, told in one line: a marker is committed only when its archive is.
    Without one an archive may be still to come.
    """
    kept = notes.hashes
    with open(folder / LIFE, "rb") as log:
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
        yield f"{NAME} lacks archives that LIFE.md tells of ({len({marker.hash for marker in lost})}, the first is {lost[0].archive_name})"


def _life(
    index: Index, mark: Cursor, record: State, live: Sequence[Entry], blobs: Blobs, running: bool
) -> Iterator[str]:
    """The index against the life, as far as both go. What is in damaged blobs, of which the check
    tells by itself, is passed over.
    """
    newest = record.next_id - 1
    if mark.newest > newest and not running:
        yield f"{NAME} has indexed entries up to #{mark.newest}, there are {newest}"
    damage: list[DoryError] = []
    due: dict[str, list[Document]] = {kind: [] for kind in life_index.KINDS}
    for found, _ in life_index.read(
        expand.originals(live, blobs, 1, damage.append), Cursor(), record.name
    ):
        if found and found.origin <= mark.newest:
            due[found.kind].append(found)
    for kind in life_index.KINDS:
        known = {one.origin for one in due[kind]}
        yield from _compared(
            due[kind],
            (
                one
                for one in index.walk(kind)
                if one.origin in known or not (damage or (one.origin > newest and running))
            ),
        )


def _compared(due: Iterable[Document], indexed: Iterable[Document]) -> Iterator[str]:
    """One kind: what should be in the index, and what is. White space at the end is not kept there."""
    found = {one.origin: one for one in indexed}
    for one in due:
        other = found.pop(one.origin, None)
        if other is None:
            yield f"{NAME}: the {one.kind} #{one.origin} is not in the index"
        elif (other.text.rstrip(), other.speaker, other.room) != (
            one.text.rstrip(),
            one.speaker,
            one.room,
        ):
            yield f"{NAME}: the {one.kind} #{one.origin} is in the index with another text"
    for origin, one in found.items():
        yield f"{NAME}: the {one.kind} #{origin} of the index is nowhere else"
