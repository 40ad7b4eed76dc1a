"""Whether the files of one identity are of the same time. Each may be damaged, put back from an old
copy, or lose its end, and be whole by itself all the same.

The **generation** of a file is the length of the life that it knows, in bytes of ``LIFE.md``. It
only grows. ``LIFE.md`` has it as its size. ``state.json`` names it (``State.generation``).
``memory.sqlite`` holds the one of ``state.json`` at its own last commit, and counts its commits
(``generation.Stamp``); ``state.json`` names the count that it knew (``memory_changes``).

What a kill may leave follows from the order of the writes, and is never refused:

- LIFE.md is behind ``state.json`` by at most the lines that ``state.json`` still holds.
- ``memory.sqlite`` never has a higher generation than ``state.json``: it takes over the one that is
  on the disk already.
- ``memory.sqlite`` has made at least as many commits as ``state.json`` knows of: they were on the
  disk before ``state.json`` counted them. It may have made more.

Anything else was done to the files, and is refused with both generations. Lines of LIFE behind the
end that ``state.json`` names are foreign, unless the context or ``memory.sqlite`` goes on, too:
then ``state.json`` is the old one. ``accept`` is the way out for a person who has no backup.
"""

import re
import zlib
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from dory import regular_files
from dory.errors import DoryError, FormatError
from dory.identity import context, life, state
from dory.identity.context import Entry
from dory.identity.state import State
from dory.storage import database, files
from dory.storage.database import Store
from dory.storage.generation import Stamp
from dory.text import formatting
from dory.text.typed_commands import command

_LINE = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d \S.*")


def check(folder: Path, record: State) -> None:
    """Raise ``FormatError`` if the files in ``folder`` are of another time than the ``record``,
    which was just read and not completed.
    """
    if told := disagreement(folder, record):
        hash = folder.name[:8]
        home = folder.parent.parent
        back = command(home, "restore", "FILE", "--replace")
        accept = command(home, "clean.py", "--accept", hash)
        raise FormatError(
            f"{told}. Put back the right one, or all of {hash} from a backup ('{back}'); without a"
            f" backup, '{accept}' goes on with what there is"
        )


def disagreement(folder: Path, record: State) -> str:
    """What is of another time in ``folder``, with both generations; empty if nothing is."""
    written = files.size(folder / life.NAME)
    known = f"state.json of generation {record.generation}"
    if written < record.life_bytes:
        return f"{life.NAME} is of generation {written} and {known}: the end of the life is missing"
    own = stamp(folder)
    memory = own and f"{database.NAME} is of generation {own.generation} and {known}"
    ahead = own is not None and own.generation > record.generation
    lines = _unknown_lines(folder, record)
    if lines and (ahead or _context_goes_on(folder, record)):
        return (
            f"{life.NAME} is of generation {written} and {known}, which does not know its newest"
            f" {formatting.plural(lines, 'line', 'lines')}: an old state.json was put back"
        )
    if ahead:
        return f"{memory}: older files were put back"
    if own and own.changes < record.memory_changes:
        newer = formatting.plural(record.memory_changes - own.changes, "newer change")
        return (
            f"{memory}, which knows of {newer}"
            f": its {database.NAME}-wal was lost, or an old {database.NAME} was put back"
        )
    return ""


def missing(folder: Path, record: State) -> str:
    """What to tell people if the SQLite file is gone that ``record`` knows of; else empty."""
    if record.memory_changes and not (folder / database.NAME).exists():
        return (
            f"{database.NAME} is gone, with notes, memories and all else that it held: it is begun"
            " anew unless it is put back before anything is noted"
        )
    return ""


def accept(folder: Path) -> str:
    """Make ``state.json`` agree with the other files as they are, and return what was done; empty
    if they agree. The caller holds the lock. Nothing is removed: acknowledged lines stay in LIFE.
    """
    record = state.load(folder / "state.json")
    told = disagreement(folder, record)
    if not told:
        return ""
    own = stamp(folder)
    if _unknown_lines(folder, record):
        record = _adopted(folder, record)
    written = files.size(folder / life.NAME)
    if written < record.life_bytes:
        record = replace(
            record, life_bytes=files.whole_end(folder / life.NAME), life_lines="", life_check=None
        )
        record.life_tail = None
    if own:
        record.memory_changes = own.changes
        if own.generation > record.generation:
            _put_back(folder, record.generation)
    state.save(folder / "state.json", record)
    return told


def _adopted(folder: Path, record: State) -> State:
    """An old ``record``, brought to the end of the context and of LIFE. What ran then is over, and
    rooms are read on from where it had read them.
    """
    content = regular_files.content(folder / "context.md")
    try:
        epoch, entries = _context(content)
    except FormatError:  # its last entry was never finished
        content = content[: content.rfind(b"\n[#") + 1]
        epoch, entries = _context(content)
    log = regular_files.content(folder / life.NAME)
    log = log[: files.whole(log)]
    ids = {str(entry.first) for entry in entries}
    return replace(
        record,
        epoch=epoch,
        next_id=max(record.next_id, entries[-1].last + 1 if entries else 1),
        context_bytes=len(content),
        context_check=zlib.crc32(content),
        life_bytes=len(log),
        life_lines="",
        life_check=zlib.crc32(log),
        life_tail=None,
        running=None,
        owed=None,
        notices=[],
        opened={id: opened for id, opened in record.opened.items() if id in ids},
        last_swap=[],
    )


def _context(content: bytes) -> tuple[int, list[Entry]]:
    epoch, text = context.read_epoch(content)
    return epoch, context.parse(text)


def stamp(folder: Path) -> Stamp | None:
    """How far the SQLite file has come; nowhere, if an older Dory wrote it. None if there is none,
    or it cannot be read: who needs it tells of the damage.
    """
    path = folder / database.NAME
    if not path.exists():
        return None
    with suppress(DoryError, OSError), closing(Store(path, readonly=True)) as store:
        if not store.has("generation"):
            return Stamp(0, 0)
        rows = store.rows("SELECT number, changes FROM generation")
        if [list(map(type, row)) for row in rows] == [[int, int]]:
            return Stamp(*rows[0])
    return None


def _put_back(folder: Path, generation: int) -> None:
    with closing(Store(folder / database.NAME)) as store, store.writing() as connection:
        connection.execute("UPDATE generation SET number = ?", (generation,))


def _unknown_lines(folder: Path, record: State) -> int:
    """How many whole lines of LIFE's own form stand behind the end that ``record`` names."""
    rest = files.read_from(folder / life.NAME, record.life_bytes)
    lines = record.life_lines.encode()
    if lines.startswith(rest):
        return 0
    rest = rest.removeprefix(lines)
    whole = rest[: files.whole(rest)].splitlines()
    return sum(1 for line in whole if _LINE.fullmatch(line))


def _context_goes_on(folder: Path, record: State) -> bool:
    """Whether whole entries stand behind the context that ``record`` names, or it is another one
    that came after it.
    """
    with suppress(FormatError):
        content = files.read_from(folder / "context.md", 0)
        epoch, _ = context.read_epoch(content)
        if epoch != record.epoch:
            return epoch > record.epoch
        behind = context.parse(content[record.context_bytes :].decode("utf-8", "replace"))
        return bool(behind) and behind[0].first >= record.next_id
    return False
