"""What must hold of a life that is summed up, computed from the triggers of its windows alone, and
what does not. Reads only.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from pathlib import Path
from statistics import mean

from bench.cascade.life import Size
from bench.cascade.spoken import Spoken
from dory import check
from dory.config.profiles import CascadeSettings
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.store import FOLDER, copies, read
from dory.identity import listing
from dory.storage.database import NAME, Store

WINDOWS = Windows(CascadeSettings().immediate_window, CascadeSettings().recent_window)
"""The default ones."""
SETTLED = WINDOWS.immediate + 3 * WINDOWS.recent
"""Events after which a prompt holds all that it ever will: the window, both summaries, and two
related ones that are older.
"""
DRIFT = 0.03
"""By so much may the mean prompt of the last third of a life differ from that of the third before.
"""
Range = tuple[int, int]


def triggers(events: int) -> range:
    """The numbers of events at which a run happens: 129, 193, 257 …"""
    return range(WINDOWS.immediate + WINDOWS.recent + 1, events + 1, WINDOWS.recent)


def ranges(events: int) -> list[Range]:
    """What the short-term summaries cover, one after the other: 1 to 65, 66 to 129, 130 to 193 …"""
    ends = [instant - WINDOWS.immediate for instant in triggers(events)]
    return [(before + 1, end) for before, end in pairwise([0, *ends])]


def calls(events: int) -> int:
    """Of the model: two in each run, one in the first, which has nothing to squash."""
    return max(0, 2 * len(triggers(events)) - 1)


def late_calls(events: int) -> int:
    """When the cascade is switched on after so many events: one for each piece of what had left the
    window at the newest trigger.
    """
    return (
        ceil((triggers(events)[-1] - WINDOWS.immediate) / (WINDOWS.recent + 1))
        if triggers(events)
        else 0
    )


def drift(sizes: Sequence[Size]) -> float:
    """By what share prompts have grown from the second third of a life to the last, as soon as they
    hold all that they ever will.
    """
    settled = [size for size in sizes if size.events > SETTLED]
    third = len(settled) // 3
    before, after = (
        mean(size.whole for size in part) for part in (settled[third : 2 * third], settled[-third:])
    )
    return after / before - 1


def kept(home: Path) -> dict[str, bytes]:
    """What must be the same however often a life was killed: LIFE, each file of summaries, what is
    found as related past experiences.
    """
    folder = listing.folders(home)[0]
    store = Store(folder / NAME, readonly=True)
    rows = store.rows(
        "SELECT memory_range_start, memory_range_end, timestamp, summary_text FROM "
        "summary ORDER BY memory_range_start"
    )
    store.close()
    files = {
        f"{FOLDER}/{path.name}": path.read_bytes() for path in sorted((folder / FOLDER).glob("*"))
    }
    return {
        "LIFE.md": (folder / "LIFE.md").read_bytes(),
        **files,
        f"{NAME}: summaries": repr(rows).encode(),
    }


def different(first_home: Path, second_home: Path) -> list[str]:
    """The names of what two homes do not have alike."""
    first, second = kept(first_home), kept(second_home)
    return sorted(
        name for name in first.keys() | second.keys() if first.get(name) != second.get(name)
    )


def of_prompts(sizes: Sequence[Size]) -> Iterator[str]:
    """What is not constant."""
    if abs(drift(sizes)) > DRIFT:
        yield (
            f"prompts of the last third of the life are {drift(sizes):+.1%} larger than "
            "those of the third before"
        )
    for size in sizes:
        if size.lines != min(size.events, WINDOWS.immediate):
            yield f"with {size.events} events {size.lines} lines of LIFE stand in the prompt"


def of_runs(home: Path, events: int, made: int) -> Iterator[str]:
    """What is not as the triggers say, of a life that ``made`` so many calls."""
    if made != calls(events):
        yield f"{made} calls of the model, {calls(events)} were computed"
    covered = [
        (summary.first, summary.last)
        for path in copies(listing.folders(home)[0])
        if (summary := read(path))
    ]
    if covered != ranges(events):
        yield f"the {len(covered)} short-term summaries do not cover what the triggers say"


def of_loop(spoken: Spoken) -> Iterator[str]:
    """What is not as the triggers say in the real loop, where the last run may be under way at the
    end.
    """
    made, most = spoken.meter.calls["cascade"], calls(spoken.events)
    if made > most:
        yield (
            f"in the loop: {made} calls of the model for the cascade, at most {most} were computed"
        )
    if (lines := max(size.lines for size in spoken.sizes)) > WINDOWS.immediate:
        yield f"in the loop: {lines} lines of LIFE stand in a prompt"


def of_files(home: Path) -> Iterator[str]:
    """What the product's own check finds, coverage of the life included."""
    yield from (f"{home.name}: {problem}" for problem in check.problems(home))
