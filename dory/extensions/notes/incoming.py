"""What people write into the files of notes becomes notes here, each time as one change in the log.

A file may name its note, give it aliases, and hold anything. Whatever it is called, it becomes a
note: if its name belongs to a note with another file, it gets a number behind it. An alias that
belongs to another note stays there.
"""

from collections.abc import Callable
from itertools import count
from pathlib import PurePosixPath

from dory.errors import ToolError
from dory.extensions.notes import note_file
from dory.extensions.notes.names import NAME_LIMIT, made_of
from dory.extensions.notes.note_file import NoteText
from dory.extensions.notes.store import LAYER, Note, Notes
from dory.storage.changes import Snapshot

PERSON = "a person, in notes/"
"""How the log calls those who edit files; the path follows."""
AT_ONCE = "changed, at the same time as the agent,"
LONGEST = 400_000
"""Characters of a file. The agent's own notes are shorter, so that it can read them at once."""
_UNNAMED = "note"


class Incoming:
    """Takes what files say into one agent's notes."""

    def __init__(self, notes: Notes, redact: Callable[[str], str]) -> None:
        self._notes = notes
        self._redact = redact

    def text(self, path: str, content: bytes) -> NoteText:
        """What a file says. Raises ``ToolError`` if it is no text that can be a note."""
        try:
            wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
            text = content.decode("utf-16" if wide else "utf-8")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise ToolError(
                f"notes/{path} is no text in UTF-8, so it is no note: save it as such a text; its"
                " note, if it had one, stays as it was"
            )
        if len(text) > LONGEST:
            raise ToolError(
                f"notes/{path} has {len(text):,} characters, a note may have {LONGEST:,}: make"
                " several files of it; its note, if it had one, stays as it was"
            )
        return note_file.read(self._redact(text))

    def take(
        self,
        path: str,
        text: NoteText,
        id: int | None,
        on: Callable[[Note], bool],
        who: str,
        at_once: bool = False,
    ) -> Note | None:
        """Let the note ``id``, or a new one, be as the file at ``path`` says, and return it; None
        if the file says nothing. ``on`` tells whether a note has a file of its own, ``who`` wrote
        this one. The caller is in a transaction.
        """
        if not text.content.strip():
            return None
        wanted = text.name or made_of(PurePosixPath(path).stem) or _UNNAMED
        note = self._notes.numbered(id) if id is not None else None
        holder = self._notes.find(wanted)
        if not note and holder and holder.kind == "Note" and not on(holder):
            note = holder
        if holder and not (note and holder.id == note.id):
            wanted = note.name if note else self._free(wanted)
        after = self._after(note, wanted, text)
        if note and note.snapshot == after:
            return note
        new = int(after["id"])
        what = (AT_ONCE if at_once else "changed") if note else "added"
        self._notes.put({new: after})
        with self._notes.changes.by(who):
            before = [note.snapshot] if note else []
            self._notes.changes.record(LAYER, what, wanted, before, [after])
        return self._notes.numbered(new)

    def remove(self, id: int, who: str) -> None:
        """Remove the note whose file ``who`` deleted. The caller is in a transaction."""
        if note := self._notes.numbered(id):
            self._notes.put({id: None})
            with self._notes.changes.by(who):
                self._notes.changes.record(LAYER, "removed", note.name, [note.snapshot], [])

    def _after(self, note: Note | None, name: str, text: NoteText) -> Snapshot:
        renamed = [note.name] if note and note.name != name else []
        aliases = [
            alias
            for alias in dict.fromkeys([*text.aliases, *renamed])
            if alias != name and self._is_free(alias, note)
        ]
        at = note.at if note else text.created or self._notes.changes.now()
        return {
            "id": note.id if note else self._notes.next_id,
            "name": name,
            "content": text.content,
            "at": int(at.timestamp()),
            "aliases": sorted(aliases),
            "head": text.head,
        }

    def _is_free(self, name: str, note: Note | None) -> bool:
        holder = self._notes.find(name)
        return not holder or bool(note and holder.id == note.id)

    def _free(self, name: str) -> str:
        stem = name[: NAME_LIMIT - 6]
        return next(free for number in count(2) if not self._notes.find(free := f"{stem}-{number}"))
