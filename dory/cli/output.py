"""What the programs print: lines for the person, and tables.

A table is drawn by ``rich`` in a terminal and is plain text with aligned columns elsewhere, so
that scripts can read it. Nothing printed steers the terminal, whatever stands in a name, a path or
a setting. An agent may outlive its terminal, so no line that cannot be printed ends it.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from dory.config import secrets
from dory.config.settings import Config
from dory.text import formatting
from dory.text.characters import visible
from dory.text.redaction import redact

_WIDTH = 1000
"""Characters of one error at most."""


def tell(name: str, text: str) -> None:
    """Print one line on stderr, without secrets. ``name`` is the program or the agent."""
    kept = redact(text, secrets.secrets(Config(), os.environ))
    _print(f"{name}: {formatting.one_line(kept, _WIDTH)}", sys.stderr)


def show(text: str) -> None:
    """Print what was asked for on stdout."""
    _print(text, sys.stdout)


def show_table(rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first row is its heading."""
    if not sys.stdout.isatty():
        show(formatting.table(rows))
        return
    show_rich_table(rows[0], rows[1:])


def show_rich_table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a table in a terminal; long cells are wrapped."""
    from rich import box  # only when a person looks at it
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in heading:
        drawn.add_column(title, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(formatting.one_line(cell, _WIDTH)) for cell in row))
    with suppress(OSError):
        Console(highlight=False).print(drawn)


def _print(text: str, stream: TextIO) -> None:
    with suppress(OSError):
        try:
            print(visible(text), file=stream, flush=True)
        except BrokenPipeError:
            # nobody reads on, and the interpreter must not complain at its last flush
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
