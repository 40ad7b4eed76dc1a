"""Related past experiences: the short-term summaries of long ago that resemble what is said now, in
the tail of every prompt.

They are taken from the copies in ``summaries/``. A new one is added when it is saved. After each
start the index is compared with the copies once, beside the loop. Rows without a copy are removed,
such as those of a past that a restored backup does not have. Copies without a row, after a kill or
because somebody deleted the index, are read and added, a few between two turns. The second in a
copy's name identifies it, so copies that are in the index are not read.
"""

from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

from dory import clock
from dory.errors import FormatError
from dory.extensions.cascade.related import Related
from dory.extensions.cascade.store import FOLDER, Summary, copies, read, second_of
from dory.identity import heard_entry
from dory.identity.identity import Identity
from dory.storage.database import Store
from dory.text import formatting, references
from dory.turn.extension import Apply, Extension, PartlyDone, Work

SHOWN = 2
LIMIT = 300
"""Characters of each summary: the tail is paid in full with every turn."""
HEARD = 3
"""The newest messages, which are the present situation."""
SITUATION = 1000
"""Characters of each of those messages."""
AT_ONCE = 50
"""Copies that are read at once."""


class RelatedExtension(Extension):
    """The related experiences of one identity. ``newest`` returns the last event of the summary
    that stands in the prompt anyway.
    """

    name = "related past experiences"
    freshness = "turn"

    def __init__(
        self, identity: Identity, store: Store, related: Related, newest: Callable[[], int]
    ) -> None:
        self._identity = identity
        self._store = store
        self._related = related
        self._newest = newest
        self._unread: list[Path] | None = None

    def section(self) -> str:
        """The most similar summaries, best first."""
        entries = reversed(self._identity.context.entries)
        newest = islice((entry for entry in entries if entry.kind == "heard"), HEARD)
        heard = [heard_entry.read(entry.body).text[:SITUATION] for entry in newest]
        similar = self._related.similar("\n".join(reversed(heard)), SHOWN + 1)
        others = [summary for summary in similar if summary.last != self._newest()]
        return "\n".join(
            f"Events {summary.first}–{summary.last}, until {clock.minute(summary.at)}:"
            f" {references.escape(formatting.bounded(summary.text, LIMIT))}"
            for summary in others[:SHOWN]
        )

    def background(self) -> Work | None:
        """Compare the index with the copies; add what is missing; then compute what similarity is
        measured by.
        """
        if self._unread is None:
            self._unread = []
            if self._store.path.exists() or (self._identity.folder / FOLDER).exists():
                return self._compare
        batch = self._unread[:AT_ONCE]
        self._unread = self._unread[AT_ONCE:]
        return (lambda: self._read(batch)) if batch else self._related.backlog()

    def _compare(self) -> Apply:
        """The index is read before the copies, so a copy that is made meanwhile is no row without
        one.
        """
        with closing(Store(self._store.path, readonly=True)) as store:
            indexed = Related(store, None).made()
        paths = {
            second: path for path in copies(self._identity.folder) if (second := second_of(path))
        }
        gone = [id for id, second in indexed.items() if second not in paths]
        missing = sorted(paths.keys() - indexed.values())

        def apply() -> None:
            self._unread = [paths[second] for second in missing]
            if gone:
                self._related.remove(gone)

        return apply

    def _read(self, batch: list[Path]) -> Apply:
        summaries: list[Summary] = []
        damage: list[FormatError] = []
        for path in batch:
            try:
                if summary := read(path):
                    summaries.append(summary)
            except FormatError as error:
                damage.append(error)

        def apply() -> None:
            with self._store.writing():
                for summary in summaries:
                    self._related.add(summary.text, summary.first, summary.last, summary.at)
            if damage:
                raise PartlyDone from damage[0]

        return apply
