"""Recall: everything that enters the context is indexed once, and the tool, the command and the
cues that search it.

Entries are indexed when they are on disk, between turns, and the index notes in the same
transaction up to which id it has come. A few new entries are added at once; of a long past that is
not indexed yet (this extension was switched on later, or the index was deleted) stride after stride
is read beside the loop and added between turns, so it goes on after a kill where it was.
"""

from collections.abc import Sequence
from contextlib import closing

from dory.errors import FormatError
from dory.extensions.recall.life_index import Cursor, next_stride
from dory.extensions.recall.search import RecallSearch
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.storage.database import Store
from dory.turn.extension import Apply, Command, Extension, Outcome, Tool, Work
from dory.types import Line

AT_ONCE = 32
"""Entries that are indexed in the loop's own thread, some milliseconds' work."""
TIDY_AFTER = 1000
"""Entries after which what SQLite has logged is copied into its file, beside the loop."""


class RecallExtension(Extension):
    """The recall of one identity."""

    name = "recall"

    def __init__(self, identity: Identity, past: RecallSearch, cues: bool) -> None:
        self._identity = identity
        self._past = past
        self._cues = cues
        self._seen = 0
        self._tidied: int | None = None
        self._progress = ""

    def tools(self) -> Sequence[Tool]:
        """The search."""
        return [Tool("RECALL", "RECALL <query>", lambda call: Outcome(self.recall(call.given)))]

    def commands(self) -> Sequence[Command]:
        """The same for people."""
        return [
            Command(
                "recall",
                "/recall <query>  search everything that ever was: what was heard, said and done, notes, archives",
                self.recall,
            )
        ]

    def recall(self, query: str) -> str:
        """The answer to a search."""
        return self._past.recall(query, self._identity.context.entries)

    def cue(self, line: Line) -> str:
        """What a person's message may belong to, if that is clear."""
        return self._past.cue(line.text, self._identity.context.entries) if self._cues else ""

    def progress(self) -> str:
        """How much of a long past is indexed."""
        return self._progress

    def background(self) -> Work | None:
        """Index what is new."""
        newest = self._identity.state.next_id - 1 - len(self._identity.uncommitted)
        if newest == self._seen:
            return None
        # whatever comes of it: what fails is tried again with the next entry, and not at every step
        self._seen = newest
        mark = self._past.chronicle.mark
        if mark.newest > newest:
            self._past.reset()
            self._seen = 0
            raise FormatError(
                "the index knew more than there is, as after a backup was put back: it is made anew"
            )
        if self._tidied is None:
            self._tidied = mark.newest
        elif mark.newest - self._tidied >= TIDY_AFTER:
            self._tidied, self._seen, self._progress = mark.newest, 0, ""
            return self._tidy
        live = tuple(
            entry for entry in self._identity.context if mark.newest < entry.last <= newest
        )
        if newest - mark.newest > AT_ONCE:
            self._progress = f"recall {mark.newest:,} of {newest:,}"
            return lambda: self._next(live, mark)
        self._next(live, mark)()
        return None

    def _tidy(self) -> Apply:
        with closing(Store(self._past.store.path)) as store:  # of this thread's own
            store.tidy()
        return lambda: None

    def _next(self, live: Sequence[Entry], mark: Cursor) -> Apply:
        """Read the next entries; what is returned indexes them."""
        stride = next_stride(live, self._identity.blobs, mark, self._identity.name)

        def apply() -> None:
            self._past.chronicle.add(stride)
            self._seen = stride.mark.newest
            if stride.damage:
                raise stride.damage[0]  # to be told of; the rest goes on

        return apply
