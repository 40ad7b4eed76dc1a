"""How the store of memories writes its changes into the log of changes, and how one is taken back.

``change`` surrounds every write. It looks at the memories before and after:

    with self.log.change("corrected", [id]) as connection:
        connection.execute("UPDATE memory SET text = ? WHERE id = ?", (text, id))

Self-care and a link touch very many memories at once. Of these the log keeps only what the change
has touched, and not their texts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from sqlite3 import Connection

from dory.search.index import Index
from dory.search.passages import Document
from dory.storage.changes import Changes, Snapshot
from dory.storage.database import Store

LAYER = "memories"
"""Of these changes in the log."""
_FIELDS = ("id", "kind", "text", "at", "origin", "summary")


class MemoryLog:
    """The changes of one agent's memories. Raises what the ``Store`` raises."""

    def __init__(self, store: Store, index: Index, changes: Changes) -> None:
        self._store = store
        self._index = index
        self.changes = changes

    @contextmanager
    def change(
        self, what: str, ids: Iterable[int] = (), members: Sequence[int] = (), copies: bool = False
    ) -> Iterator[Connection]:
        """A transaction that changes the memories ``ids``, or adds some, and is one change.

        ``members`` are memories of which it changes only what stands for them; ``copies`` says that
        it adds those of another agent.
        """
        with self._store.writing() as connection:
            newest = self._store.number("SELECT max(id) FROM memory")
            before = [*self._whole(ids), *self._standing(members)]
            yield connection
            sql = "SELECT id, origin FROM memory WHERE id > ? ORDER BY id"
            new = self._store.rows(sql, (newest,))
            origins: list[Snapshot] = [{"id": id, "origin": origin} for id, origin in new]
            added = origins if copies else self._whole(id for id, _ in new)
            after = [*self._whole(ids), *added, *self._standing(members)]
            if before or after:
                of_all = max((*before, *after), key=lambda snapshot: int(snapshot["id"]))
                summary = bool(members) or of_all.get("kind") == "Summary"
                name = f"{'summary' if summary else 'memory'} {of_all['id']}"
                self.changes.record(LAYER, what, name, before, after)

    def snapshot(self, item: int) -> Snapshot | None:
        """The memory with that id as it is now."""
        return next(iter(self._whole([item])), None)

    def put(self, states: Mapping[int, Snapshot | None]) -> None:
        """Let these memories be so, without logging it."""
        with self._store.writing() as connection:
            for memory in self._whole(states):
                connection.execute("DELETE FROM memory WHERE id = ?", (memory["id"],))
                self._index.remove(memory["kind"], memory["id"])
            for state in filter(None, states.values()):
                values = [state[field] for field in _FIELDS]
                connection.execute("INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, 0)", values)
                at = self._store.moment(state["at"])
                self._index.add(Document(state["kind"], state["id"], at, state["text"]))

    def _whole(self, ids: Iterable[int]) -> list[Snapshot]:
        sql = f"SELECT {', '.join(_FIELDS)} FROM memory WHERE id = ?"
        rows = [row for id in ids for row in self._store.rows(sql, (id,))]
        return [dict(zip(_FIELDS, row, strict=True)) for row in rows]

    def _standing(self, ids: Iterable[int]) -> list[Snapshot]:
        """Only which summary stands for each of these."""
        sql = "SELECT id, summary FROM memory WHERE id = ?"
        rows = [row for id in ids for row in self._store.rows(sql, (id,))]
        return [{"id": id, "summary": summary} for id, summary in rows]
