"""An agent with notes, and a person who edits their files."""

import os
import time
from pathlib import Path

from dory.extensions import Stores
from dory.extensions.notes.extension import NoteExtension
from dory.extensions.notes.files import GRACE, PAUSE
from dory.identity.identity import Identity
from dory.turn.extension import Extension
from tests.support.household import Living, bodies


class Vault(Living):
    """A household whose agent has notes, and a person who edits their files."""

    moment = 0.0

    def extensions(self, me: Identity, past: Stores) -> list[Extension]:
        self.notes, self.folder = past.notes, me.folder / "notes"
        self.extension = NoteExtension(
            me, past.store, past.notes, self.config.result_limit, lambda: self.moment
        )
        me.listeners.append(self.extension.on_event)
        return [self.extension]

    def step(self) -> None:
        """As between two turns, some time later."""
        self.moment += PAUSE
        self.host.step()

    def save(self, name: str, text: str | bytes) -> Path:
        """A person saves a file; it was a moment ago."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(path, (time.time() - 5, time.time() - 5))
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.file(name)
        assert old in text
        self.save(name, text.replace(old, new))

    def delete(self, name: str) -> None:
        (self.folder / name).unlink()
        self.wait()

    def wait(self) -> None:
        """As long as a missing file may be one that is being saved."""
        self.step()
        self.moment += GRACE
        self.step()

    def file(self, name: str) -> str:
        return (self.folder / name).read_text()

    @property
    def files(self) -> set[str]:
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.md")}

    @property
    def held(self) -> dict[str, str]:
        return {note.name: note.content for note in self.notes}

    @property
    def told(self) -> str:
        return "\n".join(bodies(self.me.context.entries, "notice"))

    def authors(self) -> list[str]:
        return [
            f"{change.who}: {change.what} {change.name}"
            for change in self.notes.changes.after("notes", 0)
        ]
