"""Saves what can be read of a damaged ``memory.sqlite``.

Its notes, memories, conversations and relationships exist nowhere else. They are copied row by row
into a new file, around what is damaged. What is derived is left out: the index is made again, and
the tables of the summaries, the diary and the life are filled again by their extensions. The
damaged file is set aside, never removed.

A damaged schema keeps SQLite from reading any table. With ``writable_schema`` it passes over the
entries that it does not understand. If such an entry is a table that this Dory makes, its
definition is written anew, in a copy of the file.
"""

import difflib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from dory.errors import FormatError, UnknownVersion
from dory.extensions import Stores
from dory.identity.state import State
from dory.storage import files, hostile_database
from dory.storage.blobs import Blobs
from dory.storage.database import NAME, Store, damaged
from dory.storage.generation import Tie
from dory.text import formatting

_DERIVED = (
    "piece",
    "stretch",
    "words",
    "traits",
    "edition",
    "speaker",
    "vocabulary",
    "alias_key",
    "mark",
    "summary",
    "vector",
    "passage",
    "diary_page",
    "generation",
)
"""Tables that are made again; so are those whose names go on with ``_``, or begin with these."""
_NOUNS = {
    "note": ("note", "notes"),
    "memory": ("memory", "memories"),
    "dialogue": ("line of conversations", "lines of conversations"),
    "relationship": ("change of relationships", "changes of relationships"),
}
"""What people call the rows of the tables that matter most."""
_FAILURES = (sqlite3.Error, UnicodeError)
"""What damage shows as: SQLite's messages quote it, and may be no text."""
_SIMILAR = 0.8
"""How much of a definition must be left to know it again."""


def needed(folder: Path) -> bool:
    """Whether the file in ``folder`` cannot be opened because it is damaged. Fast: it does not read
    the tables.
    """
    with closing(Store(folder / NAME, readonly=True)) as store:
        try:
            store.has("note")
        except UnknownVersion:
            return False
        except FormatError:
            return True
    return False


def salvage(folder: Path, blobs: Blobs, record: State) -> str:
    """Put a new file in the place of the damaged one, and return what to tell
    people. Raises ``FormatError`` if nothing can be read. The caller holds the lock.
    """
    path = folder / NAME
    hostile_database.refuse_links(path)
    for left in folder.glob(".salvage-*"):  # by a kill
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".salvage-", dir=folder) as name:
        scratch = Path(name)
        copy = scratch / "damaged"
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
        with closing(Stores(scratch, blobs)) as fresh:
            fresh.store.tie = Tie(lambda: record.generation, record.memory_changes)
            with fresh.store.writing() as connection:
                try:
                    saved, lost = _copied(copy, connection)
                except _FAILURES as error:
                    raise damaged(path, error) from error
                if not saved:
                    raise damaged(path, "none of its tables can be read")
                fresh.search.reset()
            fresh.store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        aside = _set_aside(path)
        os.replace(scratch / NAME, path)
        files.sync_folder(folder)
    counts = ", ".join(
        formatting.plural(saved.get(table, 0), *nouns) for table, nouns in _NOUNS.items()
    )
    rest = f"; not all could be read of {', '.join(sorted(lost))}" if lost else ""
    return (
        f"{NAME} was damaged: what can be read of it was saved ({counts}){rest}; the damaged file"
        f" is {aside.name}, and the index is made anew from the rest"
    )


def _copied(old_path: Path, new: sqlite3.Connection) -> tuple[dict[str, int], set[str]]:
    """Copy the rows of all tables that are no derived ones. Returns how many, by table, and the
    tables of which some could not be read.
    """
    expected = _definitions(new)
    _mend(old_path, expected)
    saved: dict[str, int] = {}
    lost = set[str]()
    with closing(_opened(old_path)) as old:
        definitions = _definitions(old)
        for table in sorted(definitions):
            if _derived(table) or table not in definitions:
                continue
            if table not in expected:
                with suppress(*_FAILURES):
                    new.execute(definitions[table])
            try:
                columns = [row[1] for row in new.execute(f'PRAGMA table_info("{table}")')]
                had = {row[1] for row in old.execute(f'PRAGMA table_info("{table}")')}
                names = ", ".join(f'"{column}"' for column in columns if column in had)
                marks = ", ".join("?" for column in columns if column in had)
                if not names:
                    lost.add(table)
                    continue
                insert = f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})'
                count = 0
                for row in _rows(old, table, names, lost):
                    try:
                        count += new.execute(insert, row).rowcount
                    except _FAILURES:
                        lost.add(table)
                saved[table] = count
            except _FAILURES:
                lost.add(table)
    return saved, lost


def _rows(
    old: sqlite3.Connection, table: str, names: str, lost: set[str]
) -> Iterator[tuple[object, ...]]:
    """The rows of a table: from its beginning up to what is damaged, then from its end back to
    there.
    """
    for order in ("ASC", "DESC"):
        try:
            query = f'SELECT {names} FROM "{table}" NOT INDEXED ORDER BY rowid {order}'
            yield from old.execute(query)
            return
        except sqlite3.OperationalError as error:
            if "no such column" in str(error):  # it has no rowid
                yield from _plainly(old, table, names, lost)
                return
            lost.add(table)
        except _FAILURES:
            lost.add(table)


def _plainly(
    old: sqlite3.Connection, table: str, names: str, lost: set[str]
) -> Iterator[tuple[object, ...]]:
    try:
        yield from old.execute(f'SELECT {names} FROM "{table}"')
    except _FAILURES:
        lost.add(table)


def _mend(path: Path, expected: dict[str, str]) -> None:
    """Write definitions that SQLite cannot read anew, if it is known what they were."""
    with closing(_opened(path)) as old:
        schema = "SELECT rowid, name, sql FROM sqlite_master WHERE rootpage > 0 AND sql IS NOT NULL"
        broken = [row for row in old.execute(schema) if not _reads(old, str(row[1]), row[2])]
        names = {name for _, name, _ in old.execute(schema)}
        missing = {
            name: sql
            for name, sql in expected.items()
            if not _derived(name) and (name not in names or any(name == b[1] for b in broken))
        }
        for rowid, _, sql in broken:
            near = difflib.get_close_matches(str(sql), missing.values(), 1, _SIMILAR)
            for name in [name for name, sql in missing.items() if sql in near][:1]:
                old.execute(
                    "UPDATE sqlite_master SET type = 'table', name = ?, tbl_name = ?, sql = ?"
                    " WHERE rowid = ?",
                    (name, name, missing.pop(name), rowid),
                )
        old.commit()


def _reads(old: sqlite3.Connection, name: str, sql: object) -> bool:
    if str(sql).upper().startswith("CREATE INDEX"):
        return True  # nothing is read by it
    try:
        old.execute(f'SELECT 1 FROM "{name}" LIMIT 0')
        return True
    except _FAILURES:
        return False


def _definitions(connection: sqlite3.Connection) -> dict[str, str]:
    """The readable tables, and how each is made."""
    found = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
        " AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    return {
        str(name): str(sql)
        for name, sql in found
        if hostile_database.is_passive(str(sql)) and _reads(connection, str(name), sql)
    }


def _derived(table: str) -> bool:
    return any(table == name or table.startswith(f"{name}_") for name in _DERIVED)


def _opened(path: Path) -> sqlite3.Connection:
    """The copy, with whatever of its schema SQLite understands."""
    connection = sqlite3.connect(path)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA writable_schema=ON")
    return connection


def _set_aside(path: Path) -> Path:
    """Keep the damaged file and its log under another name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    os.link(path, aside)
    with suppress(FileNotFoundError):
        os.rename(f"{path}-wal", f"{aside}-wal")
    Path(f"{path}-shm").unlink(missing_ok=True)
    return aside
