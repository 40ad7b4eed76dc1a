"""Rows as text for a person."""

from collections.abc import Sequence

from dory.text import references


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of equal width, each cell on one line: names of files may hold anything."""
    rows = [[references.one_line(cell, 200) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
