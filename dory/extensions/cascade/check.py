"""Checks the summaries against LIFE: together they must cover every event exactly once.

The immediate window is whatever the summaries leave over. So this is checked:

* the long-term summary begins with event 1, and the short-term summary continues where it ends;
* both end where a line of LIFE ends;
* the time-stamped copies cover the same events, also without gap or overlap.

Only here are all lines of LIFE counted. What a kill has left unfinished (``store.py``) is no
problem. A file that cannot be read is named, and the other files are checked as if it did not
exist.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dory.errors import FormatError
from dory.extensions.cascade.life_reader import BEGINNING, LifeReader
from dory.extensions.cascade.rolling import LIMIT
from dory.extensions.cascade.store import (
    DRAFT,
    FOLDER,
    LONGTERM,
    RECENT,
    Summaries,
    Summary,
    copies,
    read,
)
from dory.identity import life
from dory.storage import locks

Named = tuple[str, Summary]


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the summaries of the identity in ``folder``, one line each. Reads only."""
    copied, damage = _readable(copies(folder))
    kept, more_damage = _readable(folder / FOLDER / name for name in (LONGTERM, RECENT, DRAFT))
    damage += more_damage
    yield from damage
    yield from _check_copies(copied)
    ends = [0, *(summary.last for _, summary in copied)]
    running = locks.holder(folder) is not None
    try:
        yield from _check_ends(Summaries(folder), ends, running)
    except FormatError as error:
        if str(error) not in damage:
            yield str(error)
    yield from _check_life([*copied, *kept], LifeReader(folder / life.NAME))


def _readable(paths: Iterable[Path]) -> tuple[list[Named], list[str]]:
    """The summaries in those files that exist, by file name, and what is wrong with the others."""
    summaries: list[Named] = []
    damage: list[str] = []
    for path in paths:
        try:
            summary = read(path)
        except FormatError as error:
            damage.append(str(error))
        else:
            if summary:
                summaries.append((path.name, summary))
    return summaries, damage


def _check_ends(kept: Summaries, ends: Sequence[int], running: bool) -> Iterator[str]:
    """Whether the summaries end where copies do.

    A ``running`` agent may have made one more copy meanwhile.
    """
    covered = kept.covered.number
    if covered != ends[-1] and not (covered in ends and running):
        yield f"{FOLDER}: the summaries cover events up to {covered}, their copies up to {ends[-1]}"
    if kept.longterm and kept.longterm.last not in ends:
        yield f"{FOLDER}/{LONGTERM} ends at event {kept.longterm.last}, where no copy ends"


def _check_copies(copied: Iterable[Named]) -> Iterator[str]:
    """Whether each copy continues where the one before it ends, from the first event on."""
    before = 0
    for name, summary in copied:
        if summary.first != before + 1:
            yield (
                f"{FOLDER}/{name} begins with event {summary.first}, the one before it ends with "
                f"{before}: events are missing or doubled"
            )
        before = summary.last


def _check_life(summaries: Iterable[Named], reader: LifeReader) -> Iterator[str]:
    """Whether each summary covers as many lines of LIFE as it says, and is no longer than allowed.

    LIFE is counted once.
    """
    position = BEGINNING
    for name, summary in sorted(summaries, key=lambda named: named[1].last):
        lines = reader.count(position.end, summary.place.end)
        if position.number + lines != summary.last or not reader.holds(summary.place):
            yield f"{FOLDER}/{name} does not end where event {summary.last} does in LIFE.md"
        else:
            position = summary.place
        if not 0 < len(summary.text) <= LIMIT:
            yield f"{FOLDER}/{name} has {len(summary.text)} characters, it may have 1 to {LIMIT}"
