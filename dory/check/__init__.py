"""``clean.py --check``: derives again what the files claim, and reports in plain lines what is not
true. It only reads, and may run while agents do.

For every blob it checks the name, the front matter, the parent and the live references. For every
identity it checks state, context, LIFE, MEMORY, rooms and every reference, and the promise itself:
every entry that ever was can be reached from the live context through references, none is missing
and none is there twice. Notes and index are checked by ``search_index``. Summaries, the history and
versions of Dreams, soul, diary and links are checked by their own packages. ``warnings`` tells of
files on which other programs act (``acting_files``), which may be as somebody wants them.
"""

import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from dory import regular_files
from dory.check import acting_files, search_index
from dory.config import kept
from dory.constants import MEMORY_LIMIT
from dory.errors import BlobError, DoryError, FormatError
from dory.extensions.cascade import check
from dory.extensions.diary import store as diary_store
from dory.extensions.dream import check as dream_check
from dory.extensions.link import requests
from dory.extensions.soul import store
from dory.identity import context, generations, life, listing, state
from dory.identity.context import Entry
from dory.storage import files, locks, room_cursor
from dory.storage.blobs import KINDS, Blobs, is_sound
from dory.storage.rooms import Rooms, is_id
from dory.text import formatting, references
from dory.text.prompt_files import DURABLE, SEGMENT, SUMMARISE
from dory.types import Blob

_READS = 5
"""So often files are read that a running agent may replace meanwhile."""


def problems(home: Path) -> Iterator[str]:
    """Return everything that is wrong below ``home``, one line each."""
    blobs = Blobs(home / "blobs")
    yield from _blobs(blobs)
    yield from _rooms(home)
    yield from requests.problems(
        home / requests.FOLDER, {folder.name for folder in listing.folders(home)}
    )
    for folder in listing.folders(home):
        for problem in _identity(home, folder, blobs):
            yield f"agents/{folder.name}: {problem}"


def warnings(home: Path) -> Iterator[str]:
    """Return what a person should look at below ``home`` though nothing may be wrong, one line
    each.
    """
    for folder in listing.folders(home):
        for warning in acting_files.warnings(folder):
            yield f"agents/{folder.name}: {warning}"


def _blobs(blobs: Blobs) -> Iterator[str]:
    for path in blobs.walk():
        name = f"blobs/{path.parent.name}/{path.name}"
        try:
            sound = is_sound(path.stem, files.read_from(path, 0))
            if not sound or path.parent.name != path.stem[:2]:
                yield f"{name}: its content does not match its name"
                continue
            blob = blobs.get(path.stem)
        except (DoryError, OSError) as error:
            yield f"{name}: {error}"
            continue
        if blob.kind not in KINDS:
            yield f"{name}: unknown kind {blob.kind!r}"
        hashes = [blob.parent] if blob.parent else []
        if blob.kind == "context":
            hashes += [hash for hash, _ in references.live(blob.body)]
        for hash in hashes:
            yield from _missing(blobs, hash, name)


def _rooms(home: Path) -> Iterator[str]:
    rooms = Rooms(home / "chats")
    for path in sorted((home / "chats").glob("*.md")):
        try:
            deque(rooms.messages(path.stem), maxlen=0)
        except (DoryError, OSError) as error:
            yield f"chats/{path.name}: {error}"


def _identity(home: Path, folder: Path, blobs: Blobs) -> Iterator[str]:
    try:
        record = state.load(folder / "state.json")
        for problem in (_generations(folder, record), generations.missing(folder, record)):
            if problem:
                yield problem
        record, entries = as_committed(folder)
        blobs.get(folder.name)
        life.Life(folder / life.NAME, 0)
    except (DoryError, OSError) as error:
        yield str(error)
        return
    for part in (
        _texts(folder),
        kept.problems(folder),
        _life(folder, record),
        _subscriptions(home, folder, record),
        _references(folder, record, entries, blobs),
        _coverage(entries, record.next_id - 1, blobs),
        search_index.problems(folder, record, entries, blobs),
        check.problems(folder),
        dream_check.problems(folder, blobs),
        store.problems(folder),
        diary_store.problems(folder),
    ):
        try:
            yield from part
        except OSError as error:  # one file that cannot be read does not hide the others
            yield str(error)


def _life(folder: Path, record: state.State) -> Iterator[str]:
    log = regular_files.content(folder / life.NAME)[: record.life_bytes]
    if len(log) == record.life_bytes and record.life_check not in (
        None,
        zlib.crc32(log + record.life_lines.encode()),
    ):
        yield "LIFE.md is damaged: its content does not match the checksum in state.json"


def _subscriptions(home: Path, folder: Path, record: state.State) -> Iterator[str]:
    for room, at in record.rooms.items():
        if at.read > Rooms(home / "chats").size(room):
            yield f"it has read {at.read} bytes of chats/{room}.md, which is shorter"
        if not all(map(room_cursor.is_sound, (*at.heard_last, *at.run_last, *at.lost))):
            yield f"what state.json notes of the newest messages in chats/{room}.md is damaged"
    for link in (folder / "subs").iterdir():
        if link.suffix != ".md" or not is_id(link.stem):
            name = formatting.one_line(link.name)
            yield f"subs/{name} is no subscription: it must be named after a room, such as dev.md"


def _generations(folder: Path, record: state.State) -> str:
    """What ``generations.check`` refuses. A running agent goes on between two reads: what it does
    is as after a kill once its state stays the same.
    """
    for _ in range(_READS):
        try:
            generations.check(folder, record)
            return ""
        except FormatError as error:
            before = record
            record = state.load(folder / "state.json")
            if record == before:
                return str(error)
    return ""


def _texts(folder: Path) -> Iterator[str]:
    for name in (*DURABLE, SEGMENT, SUMMARISE):
        try:
            text = files.read_from(folder / name, 0).decode("utf-8")
        except UnicodeDecodeError as error:
            yield f"{name} is no text ({error})"
            continue
        if name in DURABLE and len(text) > MEMORY_LIMIT:
            yield f"{name} has {len(text)} characters, it may have {MEMORY_LIMIT}"


def as_committed(folder: Path) -> tuple[state.State, list[Entry]]:
    """Return the state and the context that belong together. A running agent may replace one
    between two reads, so they are read again.

    Raises ``FormatError`` for damage, and if no context is the one that the state describes.
    """
    for attempt in range(_READS):
        record = state.load(folder / "state.json")
        for name in ("context.md", "context.next.md"):
            path = folder / name
            if path.exists():
                content = regular_files.content(path)[: record.context_bytes]
                epoch, text = context.read_epoch(content)
                if epoch == record.epoch and record.names(content):
                    return record, context.parse(text)
        if locks.holder(folder) is None and attempt:
            break
    raise FormatError("context.md is not the one that state.json describes")


def _references(
    folder: Path, record: state.State, entries: list[Entry], blobs: Blobs
) -> Iterator[str]:
    hashes = [hash for hash, _ in references.live(context.render(entries))]
    hashes += record.texts.values()
    hashes += [opened.hash for opened in record.opened.values()]
    if record.parent:
        hashes.append(record.parent)
    if record.running and record.running.response:
        hashes.append(record.running.response)
    for hash in hashes:
        yield from _missing(blobs, hash, "state or context")
    with regular_files.opened(folder / life.NAME) as log:
        for number, line in enumerate(log, 1):
            for hash, _ in references.live(line.decode("utf-8", "replace")):
                yield from _missing(blobs, hash, f"LIFE.md line {number}")


def _coverage(live: list[Entry], newest: int, blobs: Blobs) -> Iterator[str]:
    """Check that the ``live`` entries cover the ids 1 to ``newest``, each once, down to the
    originals. Several references may lead to an original: only one is followed, or the time would
    double with every level.
    """
    waiting = [(live, 1, newest)]
    walked = set[tuple[str, str]]()
    while waiting:
        entries, first, last = waiting.pop()
        expected = first
        for entry in entries:
            if entry.first != expected:
                yield f"entry #{entry.ids} follows on #{expected - 1}: ids are missing or doubled"
            expected = entry.last + 1
            hash = entry.hash
            if entry.kind == "compacted" and hash and (hash, entry.ids) not in walked:
                walked.add((hash, entry.ids))
                try:
                    waiting += _original(entry, blobs.get(hash))
                except DoryError as error:
                    yield f"entry #{entry.ids} cannot be opened: {error}"
        if expected != last + 1:
            yield f"the entries reach to #{expected - 1}, there were {last}"


def _original(entry: Entry, blob: Blob) -> Iterator[tuple[list[Entry], int, int]]:
    """The entries behind a compacted one, and the ids that they must cover; nothing for a response
    or result that was put back and folded again.
    """
    if blob.kind != "context":
        return
    inside = context.parse(blob.body)
    first, last = entry.first, entry.last
    if inside and first == last and not inside[0].first <= first <= inside[-1].last:
        # a stretch that was put back and folded again: it covers its own ids
        first, last = inside[0].first, inside[-1].last
    yield inside, first, last


def _missing(blobs: Blobs, hash: str, where: str) -> Iterator[str]:
    try:
        blobs.resolve(hash)
    except BlobError:
        yield f"{where}: refers to {hash}, which is missing"
