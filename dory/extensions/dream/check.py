"""Checks the files of Dream against each other: the history line by line, how far it was written
and dreamed of, a revision that was begun, and the versions of the three files from the newest to
the first, each Dream among them with its record.

Reads only, never a whole file at once, and also beside a running agent. The two cursors are read
before the lines, because the lines only grow. What a kill leaves and the next start mends is no
problem: a torn last line, a ``.cursor`` that is one behind, a revision half made.
"""

from collections.abc import Generator, Iterator
from pathlib import Path

from dory import clock, regular_files
from dory.errors import BlobError, FormatError, VersionError
from dory.extensions.dream import apply, dreams
from dory.extensions.dream.history import CURSOR, DREAM_CURSOR, HISTORY, parse, read_cursor
from dory.extensions.dream.versions import DREAM, SHORT, Versions
from dory.storage import locks
from dory.storage.blobs import Blobs
from dory.text import formatting


def problems(folder: Path, blobs: Blobs) -> Iterator[str]:
    """What is wrong for the identity in ``folder``, one line for each problem."""
    yield from _history(folder)
    yield from _revision(folder, blobs)
    if (folder / ".git").exists():
        yield from _versions(Versions(folder, clock.utc, str), blobs)


def _history(folder: Path) -> Iterator[str]:
    cursors: dict[str, int] = {}
    for name in (CURSOR, DREAM_CURSOR):
        try:
            cursors[name] = read_cursor(folder / name)
        except FormatError as error:
            yield str(error)
    has_dream_cursor = (folder / DREAM_CURSOR).exists()
    last = yield from _lines(folder / HISTORY)
    written = cursors.get(CURSOR, last)
    if written > last or (last - written > 1 and locks.holder(folder) is None):
        yield f"{CURSOR} says {written}, and {HISTORY} ends with entry {last}"
    dreamed = cursors.get(DREAM_CURSOR, 0)
    if dreamed > last:
        yield f"{DREAM_CURSOR} says {dreamed}, and {HISTORY} ends with entry {last}"
    if written and not has_dream_cursor:
        yield f"{DREAM_CURSOR} is missing"


def _lines(path: Path) -> Generator[str, None, int]:
    """Whether each line is an entry whose cursor follows the one before. Returns the last
    cursor.
    """
    last = 0
    if not path.exists():
        return last
    with regular_files.opened(path) as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):  # torn, or being written
                break
            item = parse(line)
            where = f"{HISTORY} line {number}"
            if item is None:
                beginning = line[:200].decode("utf-8", "replace")
                yield f"{where} is no entry: {formatting.one_line(beginning, 60)}"
                last += 1
            else:
                if item.cursor != last + 1:
                    yield f"{where} has the cursor {item.cursor}, {last + 1} is wanted there"
                last = item.cursor
    return last


def _revision(folder: Path, blobs: Blobs) -> Iterator[str]:
    try:
        if pending := apply.read_pending(folder / apply.NAME):
            blobs.resolve(pending.record)
    except (FormatError, BlobError) as error:
        yield f"{apply.NAME}: {error}"


def _versions(versions: Versions, blobs: Blobs) -> Iterator[str]:
    try:
        for version in versions.log():
            versions.contents(version.sha)
            record = dreams.record(version) if version.author == DREAM else ""
            if record and not blobs.path(record).exists():
                yield f"the Dream {version.sha[:SHORT]} names {record}, which is missing"
    except VersionError as error:
        yield str(error)
