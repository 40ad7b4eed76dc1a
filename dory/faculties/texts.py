"""USER.md and VOICE.md in the prompt: who the people are and how the agent sounds stand there for an epoch, and a change is told once.

A person may have put anything there: no more than what may stand there is shown, and hardly more is read.
"""

from dory import files, refs, texts
from dory.faculty import Faculty
from dory.identity import Identity
from dory.limits import MEMORY_LIMIT

_READ = 4 * MEMORY_LIMIT
"""Bytes of a file that are read: as many as a text of that length can have."""


class TextFaculty(Faculty):
    """One durable text as a settled section; an empty one has none."""

    def __init__(self, identity: Identity, file: str) -> None:
        self._identity, self._file = identity, file
        self.name = file.partition(".")[0].lower()

    def heading(self) -> str:
        """With its length, and how long it may be."""
        text, more = self._read()
        return f"{self.name} {more}{len(text)} of {MEMORY_LIMIT} characters"

    def section(self) -> str:
        """The text as it is now, as much of it as may stand here; it may have been edited by hand."""
        text, more = self._read()
        return refs.escape(texts.shown(self._identity.redact(text), self._file, more).rstrip("\n"))

    def _read(self) -> tuple[str, str]:
        """The text, or what was read of it and words that there is more."""
        content = files.read_from(self._identity.folder / self._file, 0, _READ + 1)
        return content[:_READ].decode("utf-8", "replace"), "at least " if len(content) > _READ else ""
