"""Notes and archives as a folder of markdown files, to read, to edit, or to give to another agent.

A file such as ``0007-lisbon-hotel.md`` is front matter and the content, byte for byte. The numbers
order the entries, oldest first:

    ---
    dory: note 1
    name: "lisbon-hotel"
    aliases: ["hotel"]
    kind: Note
    at: 2026-03-02T12:00:00Z
    hash: null
    ---
    Miramar, booked until 9 May.

What a person has written into the front matter of a note's own file follows in a field ``head``.

``load`` replaces all entries by those in the folder. It reads and checks every file before it
changes anything, and changes all or nothing. Entries get new ids, in the order of the file names.
While a dump is not complete, its folder holds the file ``UNFINISHED``, and is not loaded.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from dory import clock, regular_files
from dory.errors import DoryError, FormatError, ToolError, UnknownVersion
from dory.extensions.notes.names import check_name, key
from dory.extensions.notes.store import KINDS, Note, Notes, check
from dory.storage import files
from dory.text import front_matter

UNFINISHED = "UNFINISHED"
LOADED = "a person, with dory.recall"
_VERSION = "note 1"
_FIELDS = ("dory", "name", "aliases", "kind", "at", "hash")
_HEAD = "head"
_HASH = re.compile(r"[0-9a-f]{16,64}")
_STRANGE = re.compile(r"[^\w.-]+")


def dump(notes: Notes, folder: Path) -> int:
    """Write all entries into ``folder``; returns how many.

    The folder is created if needed. Raises ``DoryError`` if it holds markdown files already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.glob("*.md")):
        raise DoryError(f"{folder} holds markdown files already: name a new folder")
    entries = sorted(notes, key=lambda note: note.id)
    files.replace(folder / UNFINISHED, b"Not all files of this dump are here.\n")
    for number, note in enumerate(entries, 1):
        files.replace(folder / file_name(number, len(entries), note.name), _written(note).encode())
    (folder / UNFINISHED).unlink()
    files.sync_folder(folder)
    return len(entries)


def load(notes: Notes, folder: Path) -> int:
    """Replace all entries by those in ``folder``; returns how many.

    Raises a ``FormatError`` that names the file at fault.
    """
    if (folder / UNFINISHED).exists():
        raise FormatError(
            f"the dump into {folder} was cut short: dump again, into a new folder; "
            "nothing was loaded"
        )
    entries = [_read(path) for path in sorted(folder.glob("*.md"))]
    if not entries:
        raise FormatError(f"{folder} holds no markdown files: the notes stay as they are")
    _check_names(entries)
    with notes.changes.by(LOADED), notes.changes.as_one("loaded notes from a folder:"):
        for note in notes:
            notes.remove(note.name)
        for note in entries:
            notes.add(note.name, note.content, note.kind, note.at, note.hash)
            for alias in note.aliases:
                notes.alias(note.name, alias)
            if note.head:
                notes.set_head(note.name, note.head)
    return len(entries)


def file_name(number: int, count: int, name: str) -> str:
    """The file name of the entry with that ``number`` among ``count``; names sort as numbers do."""
    return f"{number:0{max(4, len(str(count)))}}-{_STRANGE.sub('_', name)[:60]}.md"


def _written(note: Note) -> str:
    values = (
        _VERSION,
        _json(note.name),
        _json(note.aliases),
        note.kind,
        clock.second(note.at),
        _json(note.hash),
    )
    head = {_HEAD: _json(note.head)} if note.head else {}
    return front_matter.join({**dict(zip(_FIELDS, values, strict=True)), **head}, note.content)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(path: Path) -> Note:
    try:
        text = regular_files.content(path).decode("utf-8")
        fields, _ = front_matter.split(text)
        names = (*_FIELDS, _HEAD) if _HEAD in fields else _FIELDS
        return _note(*front_matter.split(text, names))
    except (ValueError, RecursionError, ToolError, UnknownVersion) as error:
        raise FormatError(
            f"{path.name}: {' '.join(str(error).split())}; nothing was loaded"
        ) from error


def _note(fields: dict[str, str], content: str) -> Note:
    """The entry that these fields describe.

    Raises ``ValueError``, ``ToolError`` or ``UnknownVersion``.
    """
    if fields["dory"] != _VERSION:
        raise UnknownVersion("it", fields["dory"], _VERSION)
    name, aliases, hash = (json.loads(fields[field]) for field in ("name", "aliases", "hash"))
    head = json.loads(fields.get(_HEAD, '""'))
    kind = next((kind for kind in KINDS if kind == fields["kind"]), None)
    if kind is None:
        raise ValueError(f"there is no kind {fields['kind']!r}, only {' and '.join(KINDS)}")
    if not _texts([name, head]) or not _texts(aliases):
        raise ValueError("name and head must be texts in quotes, aliases a list of such texts")
    if hash is not None and not (isinstance(hash, str) and _HASH.fullmatch(hash)):
        raise ValueError("hash must be null or the name of a blob in quotes")
    return Note(
        0,
        check(name, content, kind),
        kind,
        content,
        _moment(fields["at"]),
        hash,
        tuple(map(check_name, aliases)),
        head,
    )


def _texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _moment(text: str) -> datetime:
    at = clock.of_second(text)
    if clock.second(at) != text:
        raise ValueError(f"at must be a time such as 2026-03-02T12:00:00Z, not {text[:40]!r}")
    return at


def _check_names(entries: Iterable[Note]) -> None:
    """Raise a ``FormatError`` if two entries share a name, case aside, or one has a name twice."""
    holders: dict[str, Note] = {}
    for note in entries:
        names = (note.name, *note.aliases)
        for name in names:
            holder = holders.get(key(name))
            if holder and (holder is not note or names.count(name) > 1):
                raise FormatError(
                    f"two entries are called {name!r}: {holder.name} and {note.name}; "
                    "nothing was loaded"
                )
            holders[key(name)] = note
