"""Related past experiences: the short-term summaries of long ago that are most like what is said
now, in the tail of every prompt.

The copies in ``summaries/`` are what they are taken from. A new one is added when it is saved.
After each start the index is held against them once, beside the loop: what no copy backs goes, such
as that of a past that was not since a backup was put back; what a kill has withheld, or somebody
deleted from the index, is read and added, a few between two turns. The second in the name of a copy
tells which it is, so those that are in the index are not read.
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
from dory.turn.extension import Apply, Extension, Work

SHOWN = 2
LIMIT = 300
"""Characters of each: what is live is paid in full with every turn."""
HEARD, SITUATION = 3, 1000
"""The newest messages, and so many characters of each, are the present situation."""
AT_ONCE = 50


class RelatedExtension(Extension):
    """The related experiences of one identity; ``newest`` gives the last memory of the summary that
    stands in the prompt anyway.
    """

    name, live = "related past experiences", True

    def __init__(
        self, identity: Identity, store: Store, related: Related, newest: Callable[[], int]
    ) -> None:
        self._identity = identity
        self._store = store
        self._related = related
        self._newest = newest
        self._left: list[Path] | None = None

    def section(self) -> str:
        """The most similar, best first."""
        newest = islice(
            (entry for entry in reversed(self._identity.context.entries) if entry.kind == "heard"),
            HEARD,
        )
        heard = [heard_entry.read(entry.body).text[:SITUATION] for entry in newest]
        found = [
            one
            for one in self._related.similar("\n".join(reversed(heard)), SHOWN + 1)
            if one.last != self._newest()
        ]
        return "\n".join(
            f"Events {one.first}–{one.last}, until {clock.minute(one.at)}: {references.escape(formatting.bounded(one.text, LIMIT))}"
            for one in found[:SHOWN]
        )

    def background(self) -> Work | None:
        """Hold the index against the copies; add what is not there; then see to what similarity is
        measured by.
        """
        if self._left is None:
            self._left = []
            if self._store.path.exists() or (self._identity.folder / FOLDER).exists():
                return self._compared
        batch, self._left = self._left[:AT_ONCE], self._left[AT_ONCE:]
        return (lambda: self._read(batch)) if batch else self._related.backlog()

    def _compared(self) -> Apply:
        """The index is read before the copies: one that is made meanwhile is then no row without a
        copy.
        """
        with closing(Store(self._store.path, readonly=True)) as store:
            known = Related(store, None).made()
        there = {
            second: path for path in copies(self._identity.folder) if (second := second_of(path))
        }
        gone, left = (
            [id for id, second in known.items() if second not in there],
            sorted(there.keys() - known.values()),
        )
        return lambda: self._begin(gone, [there[second] for second in left])

    def _begin(self, gone: list[int], left: list[Path]) -> None:
        self._left = left
        if gone:
            self._related.remove(gone)

    def _read(self, batch: list[Path]) -> Apply:
        found: list[Summary] = []
        damage: list[FormatError] = []
        for path in batch:
            try:
                found += filter(None, [read(path)])
            except FormatError as error:
                damage.append(error)
        return lambda: self._add(found, damage)

    def _add(self, found: list[Summary], damage: list[FormatError]) -> None:
        with self._store.writing():
            for one in found:
                self._related.add(one.text, one.first, one.last, one.at)
        if damage:
            raise damage[0]  # to be told of; the rest is there
