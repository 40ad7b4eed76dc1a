"""Notes: the tools with which the agent writes, and the archive and the marker that each compacted stretch leaves behind.

An archive is written as soon as its stretch has left the context; its marker is in LIFE with the next commit. What a kill withholds is made up
for after the next start: the live references and LIFE tell what is missing. So is what was compacted before this faculty was switched on, a
batch at a time.
"""

from collections.abc import Container, Sequence
from itertools import islice

from dory import clock, history, refs
from dory.archives import EVENT, archive, markers
from dory.context import Entry
from dory.errors import DoryError, ToolError
from dory.faculty import Apply, Command, Faculty, Outcome, Tool, Work
from dory.identity import Identity
from dory.notes import KINDS, Note, Notes
from dory.records import Call, Compacted
from dory.store import Store

BATCH = 50
"""Archives that are made up for at once."""
_LISTED = 40
"""Notes, and archives, that are listed; a search finds the others."""


class NoteFaculty(Faculty):
    """The notes of one identity."""

    name = "notes"

    def __init__(self, identity: Identity, store: Store, notes: Notes) -> None:
        self._identity, self._store, self._notes = identity, store, notes
        self._unmarked = False
        self._made_up = False

    def tools(self) -> Sequence[Tool]:
        """The five ways to write, and reading."""
        writes = [
            ("NOTE_ADD <name> <content>", self.add),
            ("NOTE_WRITE <name> <content>", self.write),
            ("NOTE_RENAME <name> <new name>", self.rename),
            ("NOTE_ALIAS <name> <another name>", self.alias),
            ("NOTE_REMOVE <name>", self.remove),
        ]
        tools = [Tool(usage.partition(" ")[0], usage, run, self._mark, self._acted) for usage, run in writes]
        return [*tools, Tool("NOTE_READ", "NOTE_READ <name>", lambda call: Outcome(_shown(self._notes.get(call.args))))]

    def commands(self) -> Sequence[Command]:
        """What people may see of them."""
        return [
            Command("notes", "/notes  the agent's notes and archives by name, the newest first", self.listed),
            Command("note", "/note <name>  what a note or an archive holds", lambda name: _shown(self._notes.get(name))),
        ]

    def add(self, call: Call) -> Outcome:
        """A new note."""
        name, content = _named(call)
        note = self._notes.add(name, content, "Note", self._identity.now())
        return Outcome(f"noted as {note.name}")

    def write(self, call: Call) -> Outcome:
        """Another content for a note."""
        name, content = _named(call)
        note = self._notes.write(self._own(name).name, content)
        return Outcome(f"{note.name} changed; it has {len(content)} characters now")

    def rename(self, call: Call) -> Outcome:
        """Another name for a note, by which it is listed from now on."""
        name, new = _named(call)
        before = self._own(name).name
        return Outcome(f"{before} is {self._notes.rename(before, new).name} now; the old name still finds it")

    def alias(self, call: Call) -> Outcome:
        """One more name for a note."""
        name, alias = _named(call)
        note = self._own(name)
        before = self._notes.alias(note.name, alias)
        return Outcome(f"{alias} means {note.name} now" + (f", and no longer {before.name}" if before else ""))

    def remove(self, call: Call) -> Outcome:
        """A note with all its names."""
        note = self._notes.remove(self._own(call.args).name)
        return Outcome(f"{note.name} is removed" + (f", with its names {', '.join(note.aliases)}" if note.aliases else ""))

    def section(self) -> str:
        """The names that NOTE_READ may be given, without those of archives, which stand in the context with their references."""
        names = [note.name for note in self._notes.newest("Note", _LISTED)]
        return f"Your notes, the newest first: {', '.join(names)}" if names else ""

    def listed(self, _: str) -> str:
        """A line for each of the newest notes and archives."""
        entries = [note for kind in KINDS for note in self._notes.newest(kind, _LISTED)]
        lines = [f"{note.name}  {note.kind.lower()} of {clock.minute(note.at)}: {refs.one_line(note.content, 60)}" for note in entries]
        return "\n".join(lines) or "there are no notes yet"

    def on_compacted(self, record: Compacted) -> None:
        """Archive and marker of a stretch that has just left the context. They stay when the compaction is taken back: they are true."""
        self._log(archive(self._notes, record, self._identity.now()))

    def background(self) -> Work | None:
        """Commit new markers; once after the start, find out what a kill withheld."""
        if self._unmarked:
            self._unmarked = False
            self._identity.commit()
        if self._made_up:
            return None
        self._made_up = True  # whatever comes of it: what failed once is reported and would fail again
        live, known = tuple(self._identity.context), self._notes.hashes
        return lambda: self._missed(live, known)

    def _missed(self, live: Sequence[Entry], known: Container[str]) -> Apply:
        """Beside the loop: the stretches without an archive, and which of the live ones have a marker."""
        marked = {marker.hash for marker in markers(self._identity.folder / "LIFE.md")}
        records = list(islice(history.stretches(live, self._identity.blobs, known), BATCH))
        unmarked = dict.fromkeys(entry.hash for entry in live if entry.kind == "compacted" and entry.hash not in marked)

        def apply() -> None:
            with self._store.writing():
                for record in records:
                    archive(self._notes, record, self._identity.now())
            for note in [self._notes.archive_of(hash) for hash in unmarked if hash]:
                if note:
                    self._log(note)
            self._made_up = len(records) < BATCH

        return apply

    def _log(self, note: Note) -> None:
        self._identity.log(EVENT, note.name, note.hash)
        self._unmarked = True

    def _own(self, name: str) -> Note:
        """The note of that name; archives are not the agent's to change."""
        note = self._notes.get(name)
        if note.kind == "Archive":
            raise ToolError(f"{note.name} is an archive and stays as it is: NOTE_ADD makes a note of your own")
        return note

    def _mark(self, call: Call) -> str:
        try:
            return str(self._notes.writes)
        except (DoryError, OSError):  # the tool itself will say what is wrong with the file
            return ""

    def _acted(self, call: Call, mark: str) -> bool:
        return bool(mark) and self._mark(call) not in ("", mark)


def _named(call: Call) -> tuple[str, str]:
    """The first word, and what follows on the line and below it."""
    name, _, text = call.args.partition(" ")
    return name, "\n".join(part for part in (text.strip(), call.body) if part)


def _shown(note: Note) -> str:
    names = f"; also {', '.join(note.aliases)}" if note.aliases else ""
    return f"{note.name} ({note.kind.lower()} of {clock.minute(note.at)}{names})\n{note.content}"
