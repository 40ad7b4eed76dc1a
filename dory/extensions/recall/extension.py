"""Recall: everything that enters the context is indexed once; the tool, the command and the cues
search it.

Entries are indexed between turns, once they are on disk. The index notes in the same transaction up
to which id it has come. A few new entries are added at once. A long past that is not indexed yet
(this extension was switched on later, or the index was deleted) is read in batches beside the loop,
and each batch is added between turns; after a kill it goes on where it was.
"""

from collections.abc import Sequence
from contextlib import closing

from dory.errors import FormatError
from dory.extensions.recall import passed_over, request
from dory.extensions.recall.life_index import Cursor, LifeIndexer, next_batch
from dory.extensions.recall.search import RecallSearch
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.identity.secrecy import RoomSecrets
from dory.search.meaning import Meaning
from dory.storage.database import Store
from dory.turn.extension import Apply, Command, Extension, Outcome, PartlyDone, Tool, Work
from dory.turn.lessons import guidance, taught
from dory.types import Call, Line

AT_ONCE = 32
"""Entries that are indexed in the loop's own thread, some milliseconds' work."""
_FADED = "Answers of RECALL in your context name these as standing there. They have faded since:"
_CORRECTED = 40
"""Entries of which that is said, the newest."""
TIDY_AFTER = 1000
"""After so many entries SQLite's log is copied into its file, beside the loop."""


class RecallExtension(Extension):
    """The recall of one identity. With ``cues``, a person's message gets a cue. ``secrets``: what
    may be shown in which room. ``meaning``: the vectors of what is searched, which are made beside
    the loop.
    """

    name = "recall"
    freshness = "opening"

    def __init__(
        self,
        identity: Identity,
        store: Store,
        indexer: LifeIndexer,
        search: RecallSearch,
        cues: bool,
        secrets: RoomSecrets | None = None,
        meaning: Meaning | None = None,
    ) -> None:
        self._identity = identity
        self._store = store
        self._indexer = indexer
        self._search = search
        self._cues = cues
        self._secrets = secrets or RoomSecrets(identity)
        self._meaning = meaning
        self._seen = 0
        self._current = False
        self._tidied: int | None = None
        self._progress = ""

    def find(self, call: Call) -> Outcome:
        """The answer to the tool: the best hits, with a mark where one is not for the room in which
        the agent answers.
        """
        entries = self._identity.context.entries
        found = self._search.recall(call.given, entries, self._secrets.mark)
        if request.is_filtered(call.given):  # lines of rooms have no index to filter by
            return Outcome(found)
        beside = passed_over.lines(self._identity, call.given, mark=self._secrets.mark)
        return Outcome("\n".join([found, *beside]))

    def recall(self, query: str) -> str:
        """The best hits for a person, as text: of what may be shown where it is asked."""
        found = self._search.recall(query, self._identity.context.entries, asked=self._secrets)
        if request.is_filtered(query):
            return found
        beside = passed_over.lines(self._identity, query, self._secrets.shows)
        return "\n".join([found, *beside])

    def section(self) -> str:
        """What answers in the context name as standing there, and what has faded since."""
        moved = self._search.moved(self._identity.context.entries)[-_CORRECTED:]
        lines = [f"#{id} -> {source if source else 'RECALL finds it'}" for id, source in moved]
        return "\n".join([_FADED, *lines]) if lines else ""

    def cue(self, line: Line) -> str:
        """What a person's message refers to, if that is clear and for its room."""
        if not self._cues:
            return ""

        def shows(room: str) -> bool:
            return self._secrets.may_show(room, line.name, line.room)

        return self._search.cue(line.text, self._identity.context.entries, shows)

    def progress(self) -> str:
        """How much of a long past is indexed, or has vectors."""
        return self._progress or (self._meaning.progress() if self._meaning else "")

    def background(self) -> Work | None:
        """Index what is new, then make its vectors."""
        newest = self._identity.state.next_id - 1 - len(self._identity.uncommitted)
        if newest == self._seen:
            return self._meaning.backlog() if self._meaning else None
        if not self._current:
            self._search.bring_up_to_date()
            self._current = True
        cursor = self._indexer.cursor
        if cursor.newest > newest:
            self._search.reset()
            self._seen = 0
            raise PartlyDone from FormatError(
                "the index knew more than there is, as after a backup was put back: it is made anew"
            )
        if self._tidied is None:
            self._tidied = cursor.newest
        elif cursor.newest - self._tidied >= TIDY_AFTER:
            self._tidied = cursor.newest
            self._seen = 0
            self._progress = ""
            return self._tidy
        live = tuple(
            entry for entry in self._identity.context if cursor.newest < entry.last <= newest
        )
        if newest - cursor.newest > AT_ONCE:
            self._progress = f"recall {cursor.newest:,} of {newest:,}"
            return lambda: self._next(live, cursor)
        self._next(live, cursor)()
        return None

    def _tidy(self) -> Apply:
        with closing(Store(self._store.path)) as store:  # SQLite wants one for each thread
            store.tidy()
        return lambda: None

    def _next(self, live: Sequence[Entry], cursor: Cursor) -> Apply:
        """Read the next entries; what is returned indexes them."""
        left_out = self._indexer.left_out
        batch = next_batch(live, self._identity.blobs, cursor, self._identity.name, left_out)

        def apply() -> None:
            self._indexer.add(batch)
            self._seen = batch.cursor.newest
            if self._meaning:
                self._meaning.wake()
            if batch.damage:
                raise PartlyDone from batch.damage[0]

        return apply

    GUIDANCE = guidance(__file__)
    TOOLS = taught(
        __file__,
        Tool("RECALL <words and filters>", find, looks_up=True, everyday=True, doing="recalls {}"),
    )
    COMMANDS = (
        Command(
            "/recall <words>  search everything that ever was: what was heard, said and done,"
            " notes, archives; filters are since:2026-03-01 until:2026-04 room:dev who:ada"
            " kind:note, and notes: in front",
            recall,
        ),
    )
