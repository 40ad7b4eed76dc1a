"""USER.md and VOICE.md in the prompt: who the people are and how the agent sounds stand there for
an epoch, and a change is told once.

A person may have put anything there: no more than what may stand there is shown.
"""

from dory.identity.identity import Identity
from dory.storage import files
from dory.text import prompt_files, references
from dory.turn.extension import Extension


class TextExtension(Extension):
    """One durable text as a settled section; an empty one has none."""

    def __init__(self, identity: Identity, file: str) -> None:
        self._identity = identity
        self._file = file
        self.name = file.partition(".")[0].lower()

    def heading(self) -> str:
        """With its length, and how long it may be."""
        return prompt_files.heading(self._file, self._text())

    def section(self) -> str:
        """The text as it is now, as much of it as may stand here; it may have been edited by hand."""
        return references.escape(
            prompt_files.shown(self._file, self._identity.redact(self._text())).rstrip("\n")
        )

    def _text(self) -> str:
        return files.read_from(self._identity.folder / self._file, 0).decode("utf-8", "replace")
