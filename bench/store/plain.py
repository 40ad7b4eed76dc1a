"""The same documents in plain FTS5: Porter's stems, ``bm25()`` of each that has any word of the
query, ``ORDER BY rank LIMIT 10``.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from dory.search.passages import Document
from dory.text.tokenizer import query_words

NAME = "plain.sqlite"
_FOUND = 10
_WORDS = 48


class Plain:
    """The table in ``folder``. The number of a document is its place in the order in which they
    were added.
    """

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / NAME, isolation_level=None)
        self._connection.execute("PRAGMA synchronous=OFF")  # its writes are not measured
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS entry USING fts5(text, content='', "
            "tokenize='porter')"
        )

    def add(self, documents: Sequence[Document]) -> None:
        """Index them, with their speakers."""
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO entry(text) VALUES (?)",
            ((f"{document.speaker} {document.text}",) for document in documents),
        )
        self._connection.execute("COMMIT")

    def search(self, query: str) -> list[int]:
        """The numbers of the best ten, without stop words in the query."""
        sql = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT ?"
        return [id - 1 for (id,) in self._connection.execute(sql, (_match(query), _FOUND))]

    def count(self, query: str) -> int:
        """How many a search has to score: the same way through the index, but without any score."""
        ((count,),) = self._connection.execute(
            "SELECT count(*) FROM entry WHERE entry MATCH ?", (_match(query),)
        )
        return int(count)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _match(query: str) -> str:
    return " OR ".join(f'"{word.folded}"' for word in query_words(query, _WORDS))
