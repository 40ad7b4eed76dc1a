"""Notes: the tools with which the agent writes, and the archive and the marker of each compacted
stretch.

An archive is written after its stretch has left the context. Its marker is a line of LIFE that
follows with the next commit. What a kill withholds is made up for after the next start: the live
references tell which archive is missing, the archives which marker. So are stretches that were
compacted before this extension was switched on: they are found beside the loop, and written a batch
at a time.
"""

from collections.abc import Sequence

from dory import clock
from dory.errors import DoryError, ToolError
from dory.extensions.notes.archives import EVENT, Archives, markers
from dory.extensions.notes.names import NAME_LIMIT, check_name, cleaned
from dory.extensions.notes.store import LAYER, Note, Notes
from dory.identity import expand
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.storage import files
from dory.storage.database import Store
from dory.text import formatting, pages
from dory.turn import change_log
from dory.turn.extension import Apply, Command, Extension, Outcome, PartlyDone, Tool, Work, counted
from dory.turn.lessons import taught
from dory.types import Call, Compacted

BATCH = 50
"""Archives that are written at once."""
_LAST = 500
"""The newest lines of LIFE, which hold the markers of the last swap: a kill may have come before
the archives knew that they have one.
"""
_LISTED = 40
"""Notes in the prompt. A search finds the others."""


class NoteExtension(Extension):
    """The notes of one identity."""

    name = "notes"

    def __init__(self, identity: Identity, store: Store, notes: Notes, limit: int) -> None:
        """``limit``: characters of a note that fit into one result."""
        self._identity = identity
        self._store = store
        self._notes = notes
        self._limit = limit
        self._archives = Archives(store, notes)
        self._marked = {marker.hash for marker in markers(files.tail(identity.life.path, _LAST))}
        self._new: list[tuple[Compacted, bool]] = []
        self._waiting = True
        self._complete = False

    def add(self, call: Call) -> Outcome:
        """A new note."""
        name, content = self._fitting(call)
        note = self._notes.add(name, content, "Note", self._identity.now())
        return Outcome(f"noted as {note.name}")

    def write(self, call: Call) -> Outcome:
        """Another content for a note."""
        name, content = self._fitting(call)
        note = self._notes.write(self._own(name).name, content)
        return Outcome(f"{note.name} changed; it has {len(content)} characters now")

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
        """What a note or an archive holds."""
        return Outcome(self.show(call.args))

    def show(self, name: str) -> str:
        """The same for people."""
        return _shown(self._notes.get(name))

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

    def background(self) -> Work | None:
        """Write archives that are due, and their markers. Once after the start, find out what a
        kill withheld.
        """
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

    def _fitting(self, call: Call) -> tuple[str, str]:
        name, content = self._named(call)
        if len(content) > self._limit:
            raise ToolError(
                f"{name} would have {len(content)} characters, of which NOTE_READ can show"
                f" {self._limit}: make two of it"
            )
        return name, content

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
    )
    COMMANDS = (
        Command("/notes [page]  the agent's notes and archives by name, the newest first", listed),
        Command("/note <name>  what a note or an archive holds", show),
        Command(
            "/note-log [name] [page]  every change of the notes, or of one: when, by whom, what was"
            " before and after",
            log,
        ),
    )


def _shown(note: Note) -> str:
    names = f"; also {', '.join(note.aliases)}" if note.aliases else ""
    return f"{note.name} ({note.kind.lower()} of {clock.minute(note.at)}{names})\n{note.content}"
