"""Notes: the tools with which the agent writes, and the archive and the marker of each compacted
stretch.

An archive is written after its stretch has left the context. Its marker is a line of LIFE that
follows with the next commit. What a kill withholds is made up for after the next start: the live
references tell which archive is missing, the archives which marker. So are stretches that were
compacted before this extension was switched on: they are found beside the loop, and written a batch
at a time.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence

from dory import clock
from dory.errors import DoryError, ToolError
from dory.extensions.notes.archives import EVENT, Archives, markers
from dory.extensions.notes.file_table import FOLDER
from dory.extensions.notes.files import NoteFiles
from dory.extensions.notes.names import NAME_LIMIT, check_name, cleaned
from dory.extensions.notes.news import FileNews
from dory.extensions.notes.store import LAYER, Note, Notes
from dory.identity import expand
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.storage import files
from dory.storage.database import Store
from dory.text import formatting, pages
from dory.text.edits import edited
from dory.turn import change_log
from dory.turn.extension import Apply, Command, Extension, Outcome, PartlyDone, Tool, Work, counted
from dory.turn.lessons import taught
from dory.types import Call, Compacted, Event

BATCH = 50
"""Archives that are written at once."""
_LAST = 500
"""The newest lines of LIFE, which hold the markers of the last swap: a kill may have come before
the archives knew that they have one.
"""
_LISTED = 40
"""Notes in the prompt. A search finds the others."""


_EDITED = re.compile(rf"(?:\./)?{FOLDER}/(.+\.md) changed; ")
"""What EDIT_FILE answers when the agent has edited the file of a note."""
_BESIDE = 350
"""Characters of a result that are left to say where the whole note is."""
_LINKING = 20
"""Notes that are named because they link to one."""


class NoteExtension(Extension):
    """The notes of one identity."""

    name = "notes"

    def __init__(
        self,
        identity: Identity,
        store: Store,
        notes: Notes,
        limit: int,
        clock: Callable[[], float] = time.monotonic,
        secrets: RoomSecrets | None = None,
    ) -> None:
        """``limit``: characters of a note that fit into one result. ``secrets``: what may be shown
        in which room.
        """
        self._identity = identity
        self._store = store
        self._notes = notes
        self._limit = limit
        self._files = NoteFiles(identity.folder, store, notes, identity.redact, clock)
        self._news = FileNews(identity, notes, self._files, secrets or RoomSecrets(identity))
        self._archives = Archives(store, notes)
        self._marked = {marker.hash for marker in markers(files.tail(identity.life.path, _LAST))}
        self._new: list[tuple[Compacted, bool]] = []
        self._waiting = True
        self._complete = False

    def add(self, call: Call) -> Outcome:
        """A new note."""
        name, content = self._named(call)
        self._check_size(name, content)
        note = self._notes.add(name, content, "Note", self._identity.now())
        return Outcome(f"noted as {note.name}")

    def write(self, call: Call) -> Outcome:
        """Another content for a note."""
        name, content = self._named(call)
        return self._written(self._own(name), content)

    def append(self, call: Call) -> Outcome:
        """More text at the end of a note."""
        name, text = self._named(call)
        note = self._own(name)
        if not text.strip():
            raise ToolError(f"append what? write NOTE_APPEND {note.name} <text>")
        gap = "" if note.content.endswith("\n") else "\n"
        return self._written(note, f"{note.content}{gap}{text}")

    def edit(self, call: Call) -> Outcome:
        """A note after all search/replace blocks of the call, or none."""
        note = self._own(call.args)
        if not call.edits:
            raise ToolError(
                "no search/replace block: put '<<<<<<< SEARCH', old text, '=======', new text,"
                " '>>>>>>> REPLACE' below the line"
            )
        content = note.content
        for search, replacement in call.edits:
            redacted = self._identity.redact(replacement)
            content = edited(content, search, redacted, f"the note {note.name}")
        if not note.content.endswith("\n"):
            content = content.removesuffix("\n")
        return self._written(note, content)

    def by_tag(self, call: Call) -> Outcome:
        """A page of all notes, or of those with a tag, a line each."""
        wanted, page = pages.wanted(call.args)
        tag = wanted.lstrip("#")
        notes = [note for note in self._notes if note.kind == "Note"]
        tags = Counter(known for note in notes for known in note.tags)
        if tag:
            meant = tag.casefold()
            notes = [note for note in notes if meant in map(str.casefold, note.tags)]
        if not notes:
            known = ", ".join(f"#{name} ({count})" for name, count in tags.most_common(_LISTED))
            return Outcome(
                (f"no note has the tag #{tag[:NAME_LIMIT]}" if tag else "you have no notes")
                + (f"; tags: {known}" if known else "")
            )
        command = f"NOTE_LIST {tag}".strip()
        return Outcome(
            pages.page(
                command,
                len(notes),
                page,
                lambda start, count: [_line(note) for note in notes[start : start + count]],
            )
        )

    def rename(self, call: Call) -> Outcome:
        """Another name for a note, by which it is listed from now on."""
        name, new = self._named(call)
        before = self._own(name).name
        return Outcome(
            f"{before} is {self._notes.rename(before, new).name} now; the old name still finds it"
        )

    def alias(self, call: Call) -> Outcome:
        """One more name for a note."""
        name, alias = self._named(call)
        note = self._own(name)
        alias = check_name(alias)
        before = self._notes.alias(note.name, alias)
        return Outcome(
            f"{alias} means {note.name} now" + (f", and no longer {before.name}" if before else "")
        )

    def remove(self, call: Call) -> Outcome:
        """A note with all its names."""
        note = self._notes.remove(self._own(call.args).name)
        return Outcome(
            f"{note.name} is removed"
            + (f", with its names {', '.join(note.aliases)}" if note.aliases else "")
        )

    def read(self, call: Call) -> Outcome:
        """What a note or an archive holds. Only people write notes that no result can hold."""
        text = self.show(call.args)
        path = self._files.path(self._notes.get(call.args))
        if len(text) > self._limit and path:
            text = (
                f"{text[: self._limit - _BESIDE]}\n… it goes on: READ_FILE {path} shows all of it"
            )
        return Outcome(text)

    def show(self, name: str) -> str:
        """The same for people."""
        note = self._notes.get(name)
        about = [f"{note.kind.lower()} of {clock.minute(note.at)}"]
        if note.aliases:
            about.append(f"also {', '.join(note.aliases)}")
        if note.kind == "Note":
            if note.tags:
                about.append(" ".join(f"#{tag}" for tag in note.tags))
            if linking := self._notes.linking(note):
                about.append(f"linked from: {_few(linking)}")
        return f"{note.name} ({'; '.join(about)})\n{note.content}"

    def section(self) -> str:
        """The names of notes. Those of archives stand in the context, with their references."""
        names = [note.name for note in self._notes.newest("Note", _LISTED)]
        return f"Your notes, the newest first: {', '.join(names)}" if names else ""

    def listed(self, argument: str) -> str:
        """A page of all notes and archives, a line each."""
        given, page = pages.wanted(argument)
        if given:
            raise ToolError("write /notes, or /notes and a page; /note <name> shows one")

        def lines(offset: int, limit: int) -> list[str]:
            return [
                f"{note.name}  {note.kind.lower()} of {clock.minute(note.at)}:"
                f" {formatting.one_line(note.content, 60)}"
                for note in self._notes.listed(offset, limit)
            ]

        total = self._notes.count
        return pages.page("/notes", total, page, lines) or "there are no notes yet"

    def log(self, argument: str) -> str:
        """A page of the changes of all notes, or of one, also of one that is gone."""
        changes = self._notes.changes
        name, page = pages.wanted(argument)
        if not name:
            return change_log.listed(changes, LAYER, "/note-log", page)
        note = self._notes.find(name)
        ids = [note.id] if note else changes.named(LAYER, cleaned(name))
        if not ids:
            raise ToolError(f"no note {name[:NAME_LIMIT]!r} was ever changed: /note-log lists all")
        return change_log.told(changes, LAYER, f"/note-log {name}", page, ids, "content")

    def undo(self, number: int) -> str | None:
        """Take a change of notes back."""
        return change_log.undone(self._identity, self._notes.changes, LAYER, number, self._notes)

    def on_compacted(self, record: Compacted) -> None:
        """A stretch has left the context: archive and marker follow. They stay when the compaction
        is taken back, since they are true.
        """
        self._new.append((record, True))

    def on_event(self, event: Event) -> None:
        """Before a response acts, what people have changed in files is taken in; right after its
        EDIT_FILE, what the agent has.
        """
        if event.kind == "response":
            self._files.look()
        elif event.kind == "EDIT_FILE" and (edit := _EDITED.match(event.text)):
            self._files.look(own=edit[1])

    def background(self) -> Work | None:
        """Let notes and files say the same. Write archives that are due, and their markers. Once
        after the start, find out what a kill withheld.
        """
        self._files.step()
        self._news.tell()
        if not self._complete:
            live = [entry for entry in self._identity.context if entry.kind == "compacted"]
            if not all(self._notes.archive_of(entry.hash or "") for entry in live):
                return lambda: self._missed(live)
            self._complete = True
        if self._new:
            self._keep()
        if self._waiting:
            self._leave_markers()
            self._waiting = False
        return None

    def _keep(self) -> None:
        """Many in one commit, for the next turn waits for it. The oldest first, so a stretch has
        its archive only when those inside of it have theirs.
        """
        with self._store.writing():
            for record, waits in self._new[:BATCH]:
                self._archives.keep(record, self._identity.now(), waits)
        del self._new[:BATCH]
        self._waiting = True

    def _leave_markers(self) -> None:
        waiting = self._archives.waiting
        for note in waiting:
            if note.hash and note.hash not in self._marked:
                self._marked.add(note.hash)
                self._identity.log(EVENT, note.name, note.hash)
        if waiting:
            self._identity.commit()
            self._archives.marked()

    def _missed(self, live: Sequence[Entry]) -> Apply:
        """Beside the loop: all stretches there are. A kill withholds the archives of a few. If
        there are more, they are a long past; then stretches inside of others get no marker, so that
        LIFE is not flooded.
        """
        damage: list[DoryError] = []
        records = list(expand.stretches(live, self._identity.blobs, damage.append))
        outermost = {entry.hash for entry in live}

        def apply() -> None:
            missed = [record for record in records if not self._notes.archive_of(record.hash)]
            self._new[:0] = [
                (record, len(missed) <= BATCH or record.hash in outermost) for record in missed
            ]
            self._complete = True
            if damage:
                raise PartlyDone from damage[0]

        return apply

    def _own(self, name: str) -> Note:
        """The note of that name. Raises ``ToolError`` for an archive, which nobody may change."""
        note = self._notes.get(name)
        if note.kind == "Archive":
            raise ToolError(
                f"{note.name} is an archive and stays as it is: NOTE_ADD makes a note of your own"
            )
        return note

    def _written(self, note: Note, content: str) -> Outcome:
        """A note with another content. A person may have made it longer than the agent may: then it
        may become shorter step by step.
        """
        if len(content) >= len(note.content):
            self._check_size(note.name, content)
        self._notes.write(note.name, content)
        return Outcome(f"{note.name} changed; it has {len(content)} characters now")

    def _check_size(self, name: str, content: str) -> None:
        if len(content) > self._limit:
            raise ToolError(
                f"{name} would have {len(content)} characters, of which NOTE_READ can show"
                f" {self._limit}: make two of it"
            )

    def _named(self, call: Call) -> tuple[str, str]:
        """The name and the text behind it, without secrets."""
        name, text = call.named
        return self._identity.redact(name), self._identity.redact(text)

    def _writes(self, _: Call) -> int:
        return self._notes.writes

    TOOLS = taught(
        __file__,
        counted(
            "NOTE_ADD <name> <content>", add, _writes, quiet=True, everyday=True, doing="notes {}"
        ),
        counted(
            "NOTE_WRITE <name> <content>", write, _writes, quiet=True, doing="writes the note {}"
        ),
        counted(
            "NOTE_APPEND <name> <text>", append, _writes, quiet=True, doing="adds to the note {}"
        ),
        counted(
            "NOTE_EDIT <name>, then one or more search/replace blocks",
            edit,
            _writes,
            quiet=True,
            doing="edits the note {}",
        ),
        counted(
            "NOTE_RENAME <name> <new name>",
            rename,
            _writes,
            quiet=True,
            doing="renames the note {}",
        ),
        counted(
            "NOTE_ALIAS <name> <another name>",
            alias,
            _writes,
            quiet=True,
            doing="names the note {}",
        ),
        counted("NOTE_REMOVE <name>", remove, _writes, quiet=True, doing="removes the note {}"),
        Tool("NOTE_READ <name>", read, looks_up=True, everyday=True, doing="reads the note {}"),
        Tool("NOTE_LIST [tag]", by_tag, looks_up=True, doing="looks through its notes"),
    )
    COMMANDS = (
        Command(
            "/notes [page]  the agent's notes and archives by name, the newest first",
            listed,
            private=True,
        ),
        Command("/note <name>  what a note or an archive holds", show, private=True),
        Command(
            "/note-log [name] [page]  every change of the notes, or of one: when, by whom, what was"
            " before and after",
            log,
            private=True,
        ),
    )


def _line(note: Note) -> str:
    tags = "".join(f" #{tag}" for tag in note.tags)
    return f"{note.name}{tags}: {formatting.one_line(note.content, 60)}"


def _few(names: Sequence[str]) -> str:
    """The names, and how many more there are if there are many."""
    more = f" and {len(names) - _LINKING} more" if len(names) > _LINKING else ""
    return f"{', '.join(names[:_LINKING])}{more}"
