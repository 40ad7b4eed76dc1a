"""What the agent and the people are told of the folder ``notes/``.

The agent is told when people have changed notes there. An editor saves every few seconds, so a note
is named once until the agent had a turn and could look at it. The log of changes says what there is
to tell, so nothing of it is forgotten by a kill; a kill may let it be told twice.

People are told in the agent's rooms what they can mend: that ``memory.sqlite`` was lost, and a file
that is no text. The latter names a note, so it is told only where notes may be shown
(``identity/secrecy.py``).
"""

from collections.abc import Iterator, Sequence

from dory.extensions.notes.files import NoteFiles
from dory.extensions.notes.incoming import AT_ONCE, PERSON
from dory.extensions.notes.store import LAYER, Notes
from dory.identity import audience
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.identity.state import Owed
from dory.storage.changes import Change
from dory.storage.database import NAME

_NAMED = 20
"""Notes that are named in one notice."""


class FileNews:
    """Tells one agent, and the people in its rooms."""

    def __init__(
        self, identity: Identity, notes: Notes, files: NoteFiles, secrets: RoomSecrets
    ) -> None:
        self._identity = identity
        self._secrets = secrets
        self._notes = notes
        self._files = files
        self._looked = -1
        """The newest change that was looked at."""
        self._named: dict[str, int] = {}
        """In which turn a note was named last."""

    def tell(self) -> None:
        """Tell what is new."""
        last = self._notes.changes.last
        lost = list(self._lost()) if self._files.table.lost else []
        texts = [*lost, *self._files.problems]
        shared = len(texts)
        if last != self._looked:
            texts += self._changes(self._notes.changes.after(LAYER, self._files.table.told, PERSON))
        if texts:
            for number, text in enumerate(texts):
                self._identity.notice(text)
                if number < shared:
                    self._post(text, everywhere=number < len(lost))
            self._identity.commit()
            self._files.problems.clear()
            self._files.table.tell(last)
        self._looked = last

    def _lost(self) -> Iterator[str]:
        count = len(self._notes.newest("Note", -1))
        notes = "1 note came" if count == 1 else f"{count} notes came"
        yield (
            f"{NAME} was missing and is begun anew. {notes} back from the files in notes/, and"
            " conversations come back from the rooms' files. Memories, relationships, summaries and"
            " the log of changes are gone; to have them back, stop the agent and put the file back"
            " from a backup."
        )

    def _changes(self, changes: Sequence[Change]) -> Iterator[str]:
        """Each note that was changed is in one sentence, by the last that was done to it."""
        turn = self._identity.state.turn
        newest = {change.name: change for change in changes}
        fresh = {
            name: change
            for name, change in newest.items()
            if change.what == AT_ONCE or self._named.get(f"{change.what} {name}") != turn
        }
        self._named |= {f"{change.what} {name}": turn for name, change in fresh.items()}
        if len(fresh) > _NAMED:
            names = ", ".join(list(fresh)[:_NAMED])
            yield (
                f"People have changed {len(fresh)} notes in the folder notes/: {names} and"
                f" {len(fresh) - _NAMED} more. NOTE_READ shows one."
            )
        elif fresh:
            yield " ".join(map(_sentence, fresh.values()))

    def _post(self, text: str, everywhere: bool) -> None:
        """Say it in every room, or in those where notes may be shown, with the next commit."""
        me = self._identity
        for room in audience.rooms(me):
            if everywhere or self._secrets.may_show("", "", room):
                me.state.notices.append(Owed(room, text, me.rooms.end(room)))


def _sentence(change: Change) -> str:
    where = change.who.removeprefix(PERSON)
    if change.what == "removed":
        return f"A person has removed the note {change.name} (the file notes/{where})."
    way = f"NOTE_READ {change.name} shows it."
    if change.what != AT_ONCE:
        return f"A person has {change.what} the note {change.name} in notes/{where}: {way}"
    return (
        f"A person has changed the note {change.name} in notes/{where} at the same time as you."
        f" Their text stands now: {way} Yours is kept: a person can bring it back with"
        f" /undo {change.number}."
    )
