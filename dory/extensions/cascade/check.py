"""The summaries held against LIFE: long-term, short-term and immediate window cover the whole life,
each memory once.

The immediate window is whatever the summaries leave. So what has to be proven is that the long-term
summary begins with the first memory, that the short-term one goes on where it ends, that both end
where a line of LIFE does, and that the time-stamped copies cover the same, again without gap or
overlap. Here alone all lines of LIFE are counted. What a kill has left unfinished (see
``extensions/cascade/store.py``) is no problem. A file that cannot be read is named, and the others
are looked at as if it were not there.
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
    known: list[Named] = []
    damage: list[str] = []
    made = copies(folder)
    for path in (*made, *(folder / FOLDER / name for name in (LONGTERM, RECENT, DRAFT))):
        try:
            known += [(path.name, one)] if (one := read(path)) else []
        except FormatError as error:
            damage.append(str(error))
    yield from damage
    names = {path.name for path in made}
    copied = [(name, one) for name, one in known if name in names]
    yield from _meet(copied)
    try:
        yield from _agree(
            Summaries(folder),
            [0, *(one.last for _, one in copied)],
            locks.holder(folder) is not None,
        )
    except FormatError as error:
        if str(error) not in damage:
            yield str(error)
    yield from _stand(known, LifeReader(folder / life.NAME))


def _agree(kept: Summaries, ends: Sequence[int], running: bool) -> Iterator[str]:
    """Whether the summaries end where copies do; a ``running`` agent may have made one more
    meanwhile.
    """
    covered = kept.covered.number
    if covered != ends[-1] and not (covered in ends and running):
        yield f"{FOLDER}: the summaries cover memories up to {covered}, their copies up to {ends[-1]}"
    if kept.longterm and kept.longterm.last not in ends:
        yield f"{FOLDER}/{LONGTERM} ends at memory {kept.longterm.last}, where no copy ends"


def _meet(made: Iterable[Named]) -> Iterator[str]:
    """Whether each copy goes on where the one before it ends, from the first memory on."""
    before = 0
    for name, one in made:
        if one.first != before + 1:
            yield f"{FOLDER}/{name} begins with memory {one.first}, the one before it ends with {before}: memories are missing or doubled"
        before = one.last


def _stand(known: Iterable[Named], moments: LifeReader) -> Iterator[str]:
    """Whether each covers as many lines of LIFE as it says, and has the size that summaries have.
    LIFE is counted once.
    """
    at = BEGINNING
    for name, one in sorted(known, key=lambda named: named[1].last):
        lines = moments.count(at.end, one.place.end)
        if at.number + lines != one.last or not moments.holds(one.place):
            yield f"{FOLDER}/{name} does not end where memory {one.last} does in LIFE.md"
        else:
            at = one.place
        if not 0 < len(one.text) <= LIMIT:
            yield f"{FOLDER}/{name} has {len(one.text)} characters, it may have 1 to {LIMIT}"
