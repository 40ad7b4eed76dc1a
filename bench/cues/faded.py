"""A life made of one LoCoMo conversation, all of which was heard and has left the context, as the
harness leaves it; no model is needed.

In place of every session stands a compacted entry. Its turns are in the blob, an archive holds the
summary (the data set's own; of a session without one, its first turn), and everything is indexed.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from bench.common import locomo
from bench.common.questions import ROOM, Talk
from dory import clock
from dory.extensions import Stores
from dory.extensions.notes import archives
from dory.identity import context, heard_entry
from dory.identity.context import Entry
from dory.search.passages import Document
from dory.storage import rooms
from dory.storage.blobs import Blobs
from dory.types import Compacted, Line

_AGENT = "dory"


@contextmanager
def life(path: Path, talk: Talk) -> Iterator[tuple[Stores, list[Entry]]]:
    """What the agent can remember, and its context; ``talk`` is what ``path`` holds. The document
    ``n`` is the entry ``n + 1``.
    """
    content = json.loads(path.read_bytes())
    turns = zip(locomo.load(path).turns, talk.documents, strict=True)
    with tempfile.TemporaryDirectory(prefix="dory-faded-") as folder:
        blobs = Blobs(Path(folder) / "blobs")
        blobs.open()
        past, live = Stores(Path(folder), blobs), list[Entry]()
        for session, group in groupby(
            turns, lambda turn: turn[0].id.partition(":")[0].removeprefix("D")
        ):
            documents = [document for _, document in group]
            summary = content.get(f"session_{session}_summary") or documents[0].text
            live.append(_faded(past, blobs, documents, summary))
        past.chronicle.index_all(live, blobs, _AGENT)
        yield past, live
        past.store.close()


def _faded(past: Stores, blobs: Blobs, documents: list[Document], summary: str) -> Entry:
    """The entry that stands in place of these, and what a compaction leaves behind besides."""
    entries = [_heard(document) for document in documents]
    first, last, at = entries[0].first, entries[-1].last, documents[-1].at
    hash = blobs.stash(context.render(entries), kind="context", gist=summary, at=at)
    entry = context.compacted(first, last, hash, summary, summary)
    archives.Archives(past.store, past.notes).keep(
        Compacted(first, last, hash, entry.gist, summary, 0), at
    )
    return entry


def _heard(document: Document) -> Entry:
    line = Line(
        ROOM,
        "USER",
        rooms.clean_name(document.speaker),
        clock.second(document.at),
        document.text,
        0,
    )
    return Entry(
        document.origin + 1,
        document.origin + 1,
        "heard",
        ROOM,
        heard_entry.body(line, line.text, ""),
    )
