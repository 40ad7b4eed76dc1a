"""Numbers the passages in the order in which they were indexed, for the vectors that are made of
them later: their ids are no such order. Derived: deleting it loses nothing.

    passage_number   the number of each passage, from 1 on; none is given twice
    passage_vector   the vectors by these numbers (``search/vectors.py``)

The tables are there once somebody wanted vectors. From then on whoever adds or removes a passage
keeps them, so none is missed.
"""

import sqlite3

VECTORS = "passage_vector"
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS passage_number (number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " piece INTEGER NOT NULL UNIQUE)"
)
_EXISTS = "SELECT 1 FROM sqlite_master WHERE name = 'passage_number'"


def add(connection: sqlite3.Connection, id: int) -> None:
    """A passage was indexed."""
    if connection.execute(_EXISTS).fetchone():
        connection.execute("INSERT INTO passage_number (piece) VALUES (?)", (id,))


def remove(connection: sqlite3.Connection, id: int) -> None:
    """A passage was removed: so is its vector."""
    if connection.execute(_EXISTS).fetchone():
        number = "(SELECT number FROM passage_number WHERE piece = ?)"
        connection.execute(f"DELETE FROM {VECTORS} WHERE id = {number}", (id,))
        connection.execute("DELETE FROM passage_number WHERE piece = ?", (id,))


def clear(connection: sqlite3.Connection) -> None:
    """All passages were removed."""
    if connection.execute(_EXISTS).fetchone():
        connection.execute(f"DELETE FROM {VECTORS}")
        connection.execute("DELETE FROM passage_number")
