"""The life in the index: every entry that entered the context, once, in order of its id, and up to
which one that has come.

What is found is what was said, done and told: tags, headers and cues are left out, and so is what
only repeats or would give away:

* searches and what they found (RECALL, NOTE_READ …), waiting, originals put back, and the agent's
  own files and blobs when it reads them;
* "said in dev", "MEMORY.md changed" and the like, for what was said and done stands in the
  response;
* the contents of files that look like credentials.

A response counts as said by the agent, in the room in which somebody spoke last. An entry without a
time has that of the one before.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dory import clock
from dory.errors import DoryError
from dory.identity import expand, heard_entry
from dory.identity.context import Entry
from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.blobs import Blobs
from dory.storage.database import Store
from dory.text import references
from dory.text.credential_files import is_secret
from dory.turn.extension import Tool

KINDS = ("heard", "response", "result", "error", "notice")
"""The kinds of entries that are indexed; an entry's document has the same kind."""
STRIDE, STRIDE_CHARACTERS = 100, 100_000
"""Entries, and about how many characters of them, that are added to the index in one step."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS mark (id INTEGER PRIMARY KEY, newest INTEGER, room TEXT, at "
    "INTEGER)"
)
_OWN = re.compile(r"(?:\./)?(?:blobs/|diary/|LIFE\.md|context\.md)")
_PATH = re.compile(r"(.*), (?:lines \d+-\d+[;,] |the beginning of line )")


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the life was read: the id of the newest entry, and the room and the time as they
    stood there.
    """

    newest: int = 0
    room: str = ""
    at: datetime = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LifeBatch:
    """Some entries in a row: what is indexed of them, the mark behind the last, and what could not
    be read on the way.
    """

    documents: Sequence[Document]
    mark: Cursor
    damage: Sequence[DoryError]


class LeftOut:
    """What the index leaves out of tool calls, by the attributes of all ``tools`` there are: the
    lines of those that only look something up, and results that are not indexed.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        known = list(tools)
        self._unindexed = frozenset(tool.name for tool in known if not tool.indexed)
        lookups = [tool for tool in known if tool.looks_up]
        bare = "|".join(tool.name for tool in lookups if tool.usage == tool.name)
        given = "|".join(tool.name for tool in lookups if tool.usage != tool.name)
        self._lookups = re.compile(
            rf"^(?:(?:{given}) .*?(?:<<(\w+)\n(?:.*\n)*?\1)?|(?:{bare})) *$\n?", re.MULTILINE
        )

    def without_lookups(self, response: str) -> str:
        """The response without the lines that only look something up."""
        return self._lookups.sub("", response)

    def result(self, entry: Entry, text: str) -> bool:
        """Whether the result ``entry`` only repeats, or would give away, what stands elsewhere."""
        tool, _, argument = entry.about.partition(" ")
        if tool != "READ_FILE":
            return tool in self._unindexed
        # the header holds the path only up to a space, and only its first characters
        path = _PATH.match(text)
        paths = (argument, path[1] if path else "")
        return any(bool(_OWN.match(path)) or is_secret(path) for path in paths)


class LifeIndexer:
    """The indexed life of one agent; ``tools`` are all that there are. Raises what the store
    raises.
    """

    def __init__(self, store: Store, index: Index, tools: Iterable[Tool]) -> None:
        self.left_out = LeftOut(tools)
        self._store = store
        self._index = index
        store.tables(_SCHEMA)

    @property
    def mark(self) -> Cursor:
        """Up to where everything is indexed."""
        rows = self._store.rows("SELECT newest, room, at FROM mark")
        return next(
            (Cursor(newest, room, self._store.moment(at)) for newest, room, at in rows), Cursor()
        )

    def clear(self) -> None:
        """Begin anew."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM mark")

    def add(self, stride: LifeBatch) -> None:
        """Index one that begins behind the mark, all or nothing."""
        mark = stride.mark
        with self._store.writing() as connection:
            for document in stride.documents:
                self._index.add(document)
            connection.execute(
                "INSERT OR REPLACE INTO mark VALUES (1, ?, ?, ?)",
                (mark.newest, mark.room, int(mark.at.timestamp())),
            )

    def index_all(self, live: Sequence[Entry], blobs: Blobs, name: str) -> list[DoryError]:
        """Index all that is behind the mark, stride by stride; what could not be read on the way."""
        damage: list[DoryError] = []
        while live and self.mark.newest < live[-1].last:
            stride = next_stride(live, blobs, self.mark, name, self.left_out)
            self.add(stride)
            damage += stride.damage
        return damage


def next_stride(
    live: Sequence[Entry], blobs: Blobs, mark: Cursor, name: str, left_out: LeftOut
) -> LifeBatch:
    """The entries behind ``mark``, as many as are indexed in one step. ``name`` is the agent's own.
    Only reads, in whatever thread.
    """
    documents: list[Document] = []
    damage: list[DoryError] = []
    size = 0
    last = mark
    for document, last in read(
        expand.originals(live, blobs, mark.newest + 1, damage.append), mark, name, left_out
    ):
        if document:
            documents.append(document)
            size += len(document.text)
        if len(documents) == STRIDE or size > STRIDE_CHARACTERS:
            return LifeBatch(documents, last, damage)
    return LifeBatch(
        documents, replace(last, newest=live[-1].last if live else mark.newest), damage
    )


def read(
    entries: Iterable[Entry], mark: Cursor, name: str, left_out: LeftOut
) -> Iterator[tuple[Document | None, Cursor]]:
    """For each original entry behind ``mark`` what is indexed of it, if anything, and the mark
    behind it. ``name`` is the agent's own.
    """
    for entry in entries:
        mark = replace(mark, newest=entry.last)
        text, speaker, room = references.unescape(entry.body), name, mark.room
        if entry.kind == "heard":
            heard = heard_entry.read(entry.body)
            text, speaker, room = heard.text, heard.name, entry.about
            mark = replace(mark, room=room, at=clock.parsed(heard.at, mark.at))
        elif entry.kind in ("response", "notice"):
            mark = replace(mark, at=clock.parsed(entry.about, mark.at))
            text, speaker, room = (
                (left_out.without_lookups(text), name, room)
                if entry.kind == "response"
                else (text, "", "")
            )
        wanted = (
            entry.kind in KINDS
            and text.strip()
            and not (entry.kind == "result" and left_out.result(entry, text))
        )
        yield (
            (Document(entry.kind, entry.first, mark.at, text, speaker, room) if wanted else None),
            mark,
        )
