"""Indexes the life: each original entry once, in order of its id. A cursor says how far it is.

What people and the agent said and what was done is indexed. Tags, headers and cues are left out,
and so is whatever only repeats other text or would reveal a secret:

* searches and their results (RECALL, NOTE_READ …), waiting, originals put back, and the agent's own
  files and blobs when it reads them;
* thoughts, errors, and empty talk: responses that say no more than "I see, Ada";
* "said in dev", "MEMORY.md changed" and the like, because the response itself has what was said or
  done;
* the contents of files that look like credentials.

A response counts as said by the agent, in the room in which somebody spoke last. An entry without a
time has the time of the entry before it.
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
from dory.text import references, thoughts
from dory.text.credential_files import is_secret
from dory.text.tokenizer import STOP, folded
from dory.turn.extension import Tool

KINDS = ("heard", "response", "result", "notice")
"""The kinds of entries that are indexed. The document of an entry has the same kind."""
BATCH = 100
"""Most documents that are added to the index in one step."""
BATCH_CHARACTERS = 100_000
"""A batch ends with the document that exceeds this number of characters."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS mark (id INTEGER PRIMARY KEY, newest INTEGER, room TEXT,"
    " at INTEGER)"
)
_EMPTY_TALK = """
    alright agreed certainly clear course cool done fine glad good great happy hm hmm know nice
    noted nothing perfect right said see sorry sure understand understood welcome wonderful
"""
EMPTY_TALK = STOP.union(_EMPTY_TALK.split())
"""English words that say nothing where they stand alone."""
_SAY = re.compile(r"^SAY [a-z0-9_-]{1,64} ", re.MULTILINE)
_ONLY_SAID = re.compile(r"(?:SAY .*(?:\n|$))+")
_ADDRESS = re.compile(r", \w+(?=[.!]?$)", re.MULTILINE)
_OWN = re.compile(r"(?:\./)?(?:blobs/|diary/|LIFE\.md|context\.md)")
_PATH = re.compile(r"(.*), (?:lines \d+-\d+[;,] |the beginning of line )")


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far the life is read: the id of the newest entry, and the room and the time that applied
    there.
    """

    newest: int = 0
    room: str = ""
    at: datetime = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LifeBatch:
    """Consecutive entries: their documents, the cursor after the last one, and the errors of what
    could not be read.
    """

    documents: Sequence[Document]
    cursor: Cursor
    damage: Sequence[DoryError]


class LeftOut:
    """What the index leaves out of tool calls: the lines of tools that only look something up, and
    the results that are not indexed. Follows from the attributes of ``tools``, all that exist.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        every_tool = list(tools)
        self._unindexed = frozenset(tool.name for tool in every_tool if not tool.indexed)
        lookups = [tool for tool in every_tool if tool.looks_up]
        bare = "|".join(tool.name for tool in lookups if tool.usage == tool.name)
        with_argument = "|".join(tool.name for tool in lookups if tool.usage != tool.name)
        self._lookups = re.compile(
            rf"^(?:(?:{with_argument}) .*?(?:<<(\w+)\n(?:.*\n)*?\1)?|(?:{bare})) *$\n?",
            re.MULTILINE,
        )

    def without_lookups(self, response: str) -> str:
        """Return the response without the lines that only look something up."""
        return self._lookups.sub("", response)

    def result(self, entry: Entry, text: str) -> bool:
        """Whether the result ``entry`` is left out: it only repeats what is elsewhere, or would
        reveal a secret.
        """
        tool, _, argument = entry.about.partition(" ")
        if tool != "READ_FILE":
            return tool in self._unindexed
        # the entry's header has the path only up to a space, and only its first characters
        path = _PATH.match(text)
        paths = (argument, path[1] if path else "")
        return any(bool(_OWN.match(path)) or is_secret(path) for path in paths)


class LifeIndexer:
    """The indexed life of one agent. ``tools`` are all tools that exist. Raises what the store
    raises.
    """

    def __init__(self, store: Store, index: Index, tools: Iterable[Tool]) -> None:
        self.left_out = LeftOut(tools)
        self._store = store
        self._index = index
        store.tables(_SCHEMA)

    @property
    def cursor(self) -> Cursor:
        """How far everything is indexed."""
        for newest, room, at in self._store.rows("SELECT newest, room, at FROM mark"):
            return Cursor(newest, room, self._store.moment(at))
        return Cursor()

    def clear(self) -> None:
        """Set the cursor back to the beginning. The index keeps its documents."""
        with self._store.writing() as connection:
            connection.execute("DELETE FROM mark")

    def add(self, batch: LifeBatch) -> None:
        """Index a batch that begins at the cursor: all of it or nothing."""
        cursor = batch.cursor
        with self._store.writing() as connection:
            for document in batch.documents:
                self._index.add(document)
            connection.execute(
                "INSERT OR REPLACE INTO mark VALUES (1, ?, ?, ?)",
                (cursor.newest, cursor.room, int(cursor.at.timestamp())),
            )

    def index_all(self, live: Sequence[Entry], blobs: Blobs, name: str) -> list[DoryError]:
        """Index everything after the cursor, batch by batch. Returns the errors of what could not
        be read.
        """
        damage: list[DoryError] = []
        while live and self.cursor.newest < live[-1].last:
            batch = next_batch(live, blobs, self.cursor, name, self.left_out)
            self.add(batch)
            damage += batch.damage
        return damage


def next_batch(
    live: Sequence[Entry], blobs: Blobs, cursor: Cursor, name: str, left_out: LeftOut
) -> LifeBatch:
    """Read the entries after ``cursor``, as many as are indexed in one step. ``name`` is the
    agent's own. Writes nothing, and may run in any thread.
    """
    documents: list[Document] = []
    damage: list[DoryError] = []
    size = 0
    last = cursor
    originals = expand.originals(live, blobs, cursor.newest + 1, damage.append)
    for document, last in read(originals, cursor, name, left_out):
        if document:
            documents.append(document)
            size += len(document.text)
        if len(documents) == BATCH or size > BATCH_CHARACTERS:
            return LifeBatch(documents, last, damage)
    newest = live[-1].last if live else cursor.newest
    return LifeBatch(documents, replace(last, newest=newest), damage)


def read(
    entries: Iterable[Entry], cursor: Cursor, name: str, left_out: LeftOut
) -> Iterator[tuple[Document | None, Cursor]]:
    """Yield for each original entry after ``cursor`` its document, None if it is not indexed, and
    the cursor after it. ``name`` is the agent's own.
    """
    for entry in entries:
        cursor = replace(cursor, newest=entry.last)
        text = references.unescape(entry.body)
        speaker, room = name, cursor.room
        if entry.kind == "heard":
            heard = heard_entry.read(entry.body)
            text, speaker, room = heard.text, heard.name, entry.about
            cursor = replace(cursor, room=room, at=clock.parsed(heard.at, cursor.at))
        elif entry.kind == "response":
            text = _told(left_out.without_lookups(text))
            cursor = replace(cursor, at=clock.parsed(entry.about, cursor.at))
        elif entry.kind == "notice":
            speaker, room = "", ""
            cursor = replace(cursor, at=clock.parsed(entry.about, cursor.at))
        repeats = entry.kind == "result" and left_out.result(entry, text)
        document = None
        if entry.kind in KINDS and text.strip() and not repeats:
            document = Document(entry.kind, entry.first, cursor.at, text, speaker, room)
        yield document, cursor


def _told(response: str) -> str:
    """A response without its thoughts; nothing of one that is only empty talk."""
    told = thoughts.without_thoughts(response).strip()
    words = folded(_ADDRESS.sub("", _SAY.sub("", told))).split()
    empty = _ONLY_SAID.fullmatch(told) and EMPTY_TALK.issuperset(words)
    return "" if empty else told
