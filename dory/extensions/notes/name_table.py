"""The names of all notes and archives: what each means, also where case is not kept.

Two tables of the agent's SQLite file. ``alias`` has every name and every alias with the id of its
entry; they share one namespace. ``alias_key`` has their keys (``names.key``), by which a name is
found that differs in case alone. A file of an older Dory gets its keys with the first new name; as
long as there are none, all names are looked through.
"""

import sqlite3
from collections.abc import Collection

from dory.extensions.notes.names import key, nearest
from dory.storage.database import Store

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS alias"
    " (name TEXT PRIMARY KEY, id INTEGER REFERENCES note) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS alias_id ON alias (id)",
)
NEWER = (
    "CREATE TABLE IF NOT EXISTS alias_key (key TEXT, id INTEGER, PRIMARY KEY (key, id))"
    " WITHOUT ROWID",
)
"""The table that an older file lacks."""
_NAMES = 5000
"""Names that are looked through for similar ones, the newest."""


class NameTable:
    """The names in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def exact(self, name: str) -> int | None:
        """The id of the entry with exactly this name or alias."""
        rows = self._store.rows("SELECT id FROM alias WHERE name = ?", (name,))
        return rows[0][0] if rows else None

    def alike(self, name: str) -> int | None:
        """The id of the only entry with a name that differs at most in case."""
        wanted = key(name)
        if self._has_keys():
            rows = self._store.rows(
                "SELECT alias.name, id FROM alias_key JOIN alias USING (id) WHERE key = ?",
                (wanted,),
            )
        else:
            rows = self._store.rows("SELECT name, id FROM alias")
        ids = {id for known, id in rows if key(known) == wanted}
        return ids.pop() if len(ids) == 1 else None

    def nearest(self, name: str) -> list[str]:
        """Names that may have been meant, the likeliest first."""
        rows = self._store.rows("SELECT name FROM alias ORDER BY id DESC LIMIT ?", (_NAMES,))
        return nearest(name, [known for (known,) in rows])

    def others(self, id: int, name: str) -> tuple[str, ...]:
        """The names of an entry besides ``name``."""
        sql = "SELECT name FROM alias WHERE id = ? AND name <> ? ORDER BY name"
        return tuple(alias for (alias,) in self._store.rows(sql, (id, name)))

    def give(self, connection: sqlite3.Connection, name: str, id: int) -> None:
        """Let a name mean the entry ``id``, whatever it meant before."""
        if not self._has_keys():
            older = connection.execute("SELECT name, id FROM alias").fetchall()
            connection.executemany(
                "INSERT OR IGNORE INTO alias_key VALUES (?, ?)",
                [(key(known), other) for known, other in older],
            )
        connection.execute("INSERT OR REPLACE INTO alias VALUES (?, ?)", (name, id))
        connection.execute("INSERT OR IGNORE INTO alias_key VALUES (?, ?)", (key(name), id))

    def take(self, connection: sqlite3.Connection, names: Collection[str]) -> None:
        """Let these names mean nothing. Their keys find nothing then."""
        sql = "DELETE FROM alias WHERE name = ?"
        connection.executemany(sql, [(name,) for name in names])

    def remove(self, connection: sqlite3.Connection, id: int) -> None:
        """Remove all names of an entry."""
        connection.execute("DELETE FROM alias WHERE id = ?", (id,))
        connection.execute("DELETE FROM alias_key WHERE id = ?", (id,))

    def _has_keys(self) -> bool:
        known = not self._store.readonly or self._store.has("alias_key")
        return known and bool(self._store.rows("SELECT 1 FROM alias_key LIMIT 1"))
