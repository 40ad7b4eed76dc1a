"""What ties a SQLite file to the ``state.json`` beside it. Each commit that changes something
counts itself, and notes the generation of ``state.json`` (``identity/generations.py``).
"""

import sqlite3
from collections.abc import Callable
from typing import NamedTuple

_TABLE = """
CREATE TABLE IF NOT EXISTS generation (
    id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL, changes INTEGER NOT NULL
)"""


class Stamp(NamedTuple):
    """How far a file had come: the generation of ``state.json`` on the disk at its last commit, and
    the number of its commits.
    """

    generation: int
    changes: int


class Tie:
    """What ties the file to ``state.json``: the ``generation`` of that one on the disk now, and how
    many ``changes`` of the file are on the disk as far as is known.
    """

    def __init__(self, generation: Callable[[], int] = lambda: 0, changes: int = 0) -> None:
        self.generation = generation
        self.changes = changes


def stamped(connection: sqlite3.Connection, tie: Tie) -> int:
    """Count this commit, note the generation, and return the count. A file that was begun anew goes
    on counting where the old one was.
    """
    connection.execute(_TABLE)
    (changes,) = connection.execute(
        "INSERT INTO generation VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " number = max(number, excluded.number), changes = max(changes + 1, excluded.changes)"
        " RETURNING changes",
        (tie.generation(), tie.changes + 1),
    ).fetchone()
    return int(changes)
