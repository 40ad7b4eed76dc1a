"""One note as a markdown file: what stands in it, and how it is called. Pure.

    ---
    aliases: [hotel, bed]
    created: 2026-03-02T12:00:00Z
    ---
    Miramar, booked until 9 May. See [[lisbon-trip]] #travel

The note is named by its file; ``name:`` stands in the front matter only if the file cannot be
called so. Nothing of this has to be there: a file with plain text is a note. What else a person has
written into the front matter, such as ``tags:``, stays there word for word.
"""

import json
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime

from dory import clock
from dory.extensions.notes import properties
from dory.extensions.notes.names import made_of
from dory.extensions.notes.store import Note
from dory.text import file_names
from dory.text.edits import unix

_OWN = ("name", "aliases", "alias", "created")
_PLAIN = re.compile(r"[^\W\d_][\w-]*")
"""What needs no quotes in YAML."""
_UNFIT = re.compile(r"[/\\:*?\"<>|\x00-\x1f\x7f]+")
"""What the name of a file cannot hold on some file systems."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that mean something else on some systems."""
_STEM_LIMIT = 200
"""Bytes of a file's name without its ending."""
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class NoteText:
    """What a file says of its note. ``name`` is empty and ``created`` None if it does not."""

    content: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    head: str = ""


def read(text: str) -> NoteText:
    """What the text of a file says."""
    text = unix(text.removeprefix("\ufeff"))
    block, content = properties.split(text)
    fields = properties.read(block) or {}
    name = next(iter(fields.get("name", [])), "")
    created = _moment(next(iter(fields.get("created", [])), ""))
    given = [*fields.get("aliases", []), *fields.get("alias", [])]
    aliases = [made_of(alias) for text in given for alias in text.split(",")]
    own = _OWN if created or "created" not in fields else _OWN[:-1]
    return NoteText(
        content.removesuffix("\n"),
        made_of(name),
        tuple(dict.fromkeys(alias for alias in aliases if alias)),
        created,
        properties.without(block, *own),
    )


def written(note: Note, stem: str) -> str:
    """The text of the file of a note that is called ``stem`` and the ending."""
    lines = [f"name: {_quoted(note.name)}"] if made_of(stem) != note.name else []
    if note.aliases:
        lines.append(f"aliases: [{', '.join(map(_quoted, note.aliases))}]")
    if "created" not in properties.names(note.head):  # it may be one that only people can read
        lines.append(f"created: {clock.second(note.at)}")
    head = note.head if not note.head or note.head.endswith("\n") else f"{note.head}\n"
    own = "".join(f"{line}\n" for line in lines)
    return f"---\n{own}{head}---\n{note.content}\n"


def stem_of(name: str) -> str:
    """The name of a file, without its ending, for a note of that name."""
    stem = _UNFIT.sub("-", name).strip(" .") or "note"
    if _RESERVED.fullmatch(stem):
        stem = f"{stem}-note"
    if file_names.acts(f"{stem}.md"):
        stem = file_names.harmless(f"{stem}.md", ".md").removesuffix(".md")
    while len(stem.encode()) > _STEM_LIMIT:
        stem = stem[:-1]
    return stem


def same_place(path: str) -> str:
    """What the paths have in common that are one file on some file systems."""
    return unicodedata.normalize("NFC", path).casefold()


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _moment(text: str) -> datetime | None:
    """A time as people write it, in UTC if it has no zone; None if it is none."""
    at = clock.parsed(text, _EARLIEST)
    return at if at > _EARLIEST else None
