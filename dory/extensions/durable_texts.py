"""USER.md and VOICE.md in the prompt: who the people are, and how the agent sounds. Each stands
there for an epoch, and a change in between is told once. VOICE stands in the system message. USER
is made of what people said, so it stands in the user's part.

A person may put anything into these files; only as much as the length limit allows is shown.
"""

from dory.identity.identity import Identity
from dory.storage import files
from dory.text import prompt_files, references
from dory.text.prompt_files import USER
from dory.turn.extension import Extension


class TextExtension(Extension):
    """One durable text as a section; an empty text has none."""

    def __init__(self, identity: Identity, file: str) -> None:
        self._identity = identity
        self._file = file
        self.name = file.partition(".")[0].lower()
        self.freshness = "opening-change" if file == USER else "change"

    def heading(self) -> str:
        """With the text's length, and how long it may be."""
        return prompt_files.heading(self._file, self._text())

    def section(self) -> str:
        """The text as it is now, up to its length limit. A person may have edited it."""
        text = self._identity.redact(self._text())
        return references.escape(prompt_files.shown(self._file, text).rstrip("\n"))

    def _text(self) -> str:
        return files.read_from(self._identity.folder / self._file, 0).decode("utf-8", "replace")
