"""What a SQLite file from elsewhere must not be: a link into somebody's own file, and a program.

A view, a trigger or a computed column runs when a table is read or written, perhaps for ever. Dory
makes none of them: tables, indexes of tables, and indexes of words are all that it has.
"""

import re
import sqlite3
from pathlib import Path

from dory import regular_files
from dory.text import formatting

_PASSIVE = re.compile(
    r"CREATE (?:TABLE|INDEX|UNIQUE INDEX) (?!.*\bAS\b)|CREATE VIRTUAL TABLE \S+\s+USING fts5\b",
    re.IGNORECASE | re.DOTALL,
)
"""How SQLite writes the definitions of what holds data only. It goes by this text, whatever kind
the schema names beside it.
"""
_FILES = ("", "-wal", "-shm", "-journal")
"""How the names of the files go on that SQLite opens for one."""


def refuse_links(path: Path) -> None:
    """Raise ``OSError`` if the SQLite file at ``path``, or one beside it, is a symlink: SQLite
    would write through it.
    """
    regular_files.refuse_links(*(path.with_name(f"{path.name}{end}") for end in _FILES))


def running(connection: sqlite3.Connection) -> str:
    """The name of something in the schema that runs when it is used; empty if there is nothing."""
    schema = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    for name, definition in connection.execute(schema):
        if not is_passive(str(definition)):
            return formatting.one_line(str(name), 60) or "something"
    return ""


def is_passive(definition: str) -> bool:
    """Whether what is defined so in a schema holds data only, and runs nothing when it is used."""
    return _PASSIVE.match(definition) is not None
