"""Other engines on the same texts, each as a function from a query to the numbers of the best
texts, best first.

``bm25s``, ``rank_bm25`` and ``tantivy`` are given the same terms as the index: stems, with speaker
and date, without stop words in the query. ``bm25s`` is measured once more with each text between
the one before it and the one behind it, the strongest simple way. FTS5 is taken as it comes: its
default tokenizer, any word of the query, ``bm25()``. What is not installed is not measured; ``make
bench-recall`` installs it.
"""

import importlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace

from dory.search.passages import Document
from dory.text.tokenizer import Stemmer, folded, query_words

Engine = Callable[[str], list[int]]
_MOST = 20


def fts5(documents: Sequence[Document]) -> Engine:
    """SQLite's full-text search with its defaults."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE turn USING fts5(text)")
    table.executemany(
        "INSERT INTO turn(rowid, text) VALUES (?, ?)",
        enumerate(document.text for document in documents),
    )

    def search(query: str) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in folded(query).split())
        return [
            id
            for (id,) in table.execute(
                "SELECT rowid FROM turn WHERE turn MATCH ? ORDER BY rank, rowid DESC "
                f"LIMIT {_MOST}",
                (match,),
            )
        ]

    return search


def bm25s(documents: Sequence[Document]) -> Engine:
    """https://github.com/xhluca/bm25s"""
    index = importlib.import_module("bm25s").BM25()
    stemmer = Stemmer()
    corpus = [_terms(document, stemmer) for document in documents]
    index.index(corpus, show_progress=False)
    known = {term for terms in corpus for term in terms}

    def search(query: str) -> list[int]:
        terms = [term for term in _asked(query, stemmer) if term in known]
        numbers, scores = (
            index.retrieve([terms], k=min(_MOST, len(corpus)), show_progress=False)
            if terms
            else ([[]], [[]])
        )
        return [
            int(number) for number, score in zip(numbers[0], scores[0], strict=True) if score > 0
        ]

    return search


def with_neighbours(documents: Sequence[Document]) -> Engine:
    """``bm25s`` over each text between its neighbours."""
    texts = ["", *(document.text for document in documents), ""]
    return bm25s(
        [
            replace(document, text="\n".join(texts[at : at + 3]))
            for at, document in enumerate(documents)
        ]
    )


def rank_bm25(documents: Sequence[Document]) -> Engine:
    """https://github.com/dorianbrown/rank_bm25"""
    stemmer = Stemmer()
    index = importlib.import_module("rank_bm25").BM25Okapi(
        [_terms(document, stemmer) for document in documents]
    )

    def search(query: str) -> list[int]:
        scores = index.get_scores(_asked(query, stemmer))
        return [
            int(number) for number in (-scores).argsort(kind="stable")[:_MOST] if scores[number] > 0
        ]

    return search


def tantivy(documents: Sequence[Document]) -> Engine:
    """https://github.com/quickwit-oss/tantivy-py"""
    library, stemmer = importlib.import_module("tantivy"), Stemmer()
    schema = (
        library.SchemaBuilder()
        .add_text_field("text", tokenizer_name="whitespace")
        .add_integer_field("number", stored=True)
        .build()
    )
    index = library.Index(schema)
    writer = index.writer(heap_size=20_000_000, num_threads=1)
    for number, document in enumerate(documents):
        writer.add_document(
            library.Document(text=" ".join(_terms(document, stemmer)), number=number)
        )
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[int]:
        match = " ".join(f'"{term}"' for term in _asked(query, stemmer))
        hits = searcher.search(index.parse_query(match, ["text"]), _MOST).hits if match else []
        return [int(searcher.doc(address)["number"][0]) for _, address in hits]

    return search


ENGINES = {
    "fts5 as it comes": fts5,
    "bm25s": bm25s,
    "bm25s, a turn on either side": with_neighbours,
    "rank_bm25": rank_bm25,
    "tantivy": tantivy,
}


def _terms(document: Document, stemmer: Stemmer) -> list[str]:
    return stemmer.stems(
        folded(f"{document.text} {document.speaker} {document.at:%A %d %B %Y}").split()
    )


def _asked(query: str, stemmer: Stemmer) -> list[str]:
    return list(
        dict.fromkeys(stemmer.stems([word.folded for word in query_words(query, len(query))]))
    )
