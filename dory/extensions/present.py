"""What is true of the agent now: one line in the tail of every prompt, such as

    [#now]
    You are at home. Mood: calm. 12 memories since the last self-care (SELF_CARE needs 30).

Sections that stand for an epoch tell nothing that changes within it: place, mood and counts stand
here alone. Each extension in use adds its own sentences.
"""

from collections.abc import Callable

from dory.text import references
from dory.turn.extension import Extension

Sentences = Callable[[], str]


class PresentExtension(Extension):
    """The line of one identity, from the ``sentences`` of the extensions in use."""

    name = "now"
    freshness = "now"

    def __init__(self, *sentences: Sentences) -> None:
        self._sentences = sentences

    def section(self) -> str:
        """The line; empty if nobody has anything to say."""
        return references.escape(" ".join(filter(None, (say() for say in self._sentences))))
