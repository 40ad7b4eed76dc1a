"""usage.jsonl: one line of JSON, in plain ASCII, for every model call, as the provider counted it.
Append-only; ``v`` is the version.

{"v": 2, "at": "2026-11-21T07:38:04Z", "purpose": "turn", "model": "…", "prompt": 5120, "cached":
4864, "completion": 80, "seconds": 1.9, "dollars": 0.000434}

Between them stands what providers' caches were seen to miss (``llm/cache_monitor.py``), in words:

{"v": 2, "at": "2026-11-21T07:38:09Z", "missed": "only 1,024 of some 9,600 tokens …"}

Version 1 had no ``dollars``: what its calls cost is not known. Readers take one line at a time,
however long the file is, and say which lines they could not count; a line that another program is
about to end is none yet.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from dory import clock
from dory.clock import Clock
from dory.storage import files
from dory.storage.files import open_regular
from dory.text.formatting import money
from dory.types import Usage

NAME = "usage.jsonl"
CUT, FOREIGN, NEWER = "cut off at its end", "no model call", "of a version that is not known here"
"""What a line may be that cannot be counted."""
_MOST = 10**9  # tokens; what is counted beyond that is no count
_LONGEST = 65536
"""Bytes of a line; what is longer is no call, and is not taken into memory whole."""
_END = 1 << 18
"""Bytes at the end of the file that ``since`` reads first: some thousand calls."""


@dataclass(frozen=True, slots=True)
class Call:
    """One line."""

    at: datetime
    usage: Usage


@dataclass(frozen=True, slots=True)
class Missed:
    """A line that is about a cache."""

    at: datetime
    text: str


class UsageLog:
    """Notes the calls of one identity, from any thread. ``tell`` gets a line for a person about
    each.
    """

    def __init__(self, path: Path, now: Clock, tell: Callable[[str], None] | None) -> None:
        self._path = path
        self._now = now
        self._tell = tell

    def record(self, usage: Usage) -> None:
        """Append one call. Tokens; ``cached`` is null when the provider does not say; ``seconds``
        is rounded to milliseconds.
        """
        dollars = None if usage.dollars is None else round(usage.dollars, 9)
        line = {
            "v": 2,
            "at": clock.second(self._now()),
            **asdict(usage),
            "seconds": round(usage.seconds, 3),
            "dollars": dollars,
        }
        files.append(self._path, (json.dumps(line) + "\n").encode())
        if self._tell:
            self._tell(told(usage))


def missed(path: Path, at: datetime, text: str) -> None:
    """Append what a cache was seen to miss."""
    files.append(
        path, (json.dumps({"v": 2, "at": clock.second(at), "missed": text}) + "\n").encode()
    )


def told(usage: Usage) -> str:
    """One line for a person."""
    cached = (
        "not told"
        if usage.cached is None
        else f"{usage.cached} ({usage.cached / max(usage.prompt, 1):.0%})"
    )
    cost = "price unknown" if usage.dollars is None else money(usage.dollars)
    counts = f"prompt {usage.prompt} tokens, cached {cached}, answer {usage.completion}"
    return f"{usage.purpose}: {counts}, {usage.seconds:.1f} s, {cost}, {usage.model}"


def read(path: Path, offset: int = 0, end: int | None = None) -> Iterator[Call | Missed | str]:
    """The calls, and what was missed, in the lines that begin at byte ``offset`` or behind it, in
    order; for one that cannot be counted, in words what it is. ``end`` is where the whole lines
    end, if that is known.
    """
    end, at = files.whole_end(path) if end is None else end, max(0, offset - 1)
    if end > offset:
        begun = (
            offset > 0
        )  # a line of which the beginning was not read, or was too long to be a call's
        with open(open_regular(path), "rb") as file:
            file.seek(at)
            while at < end and (raw := file.readline(_LONGEST)):
                at += len(raw)
                whole = raw.endswith(b"\n")
                if not begun:
                    yield _call(raw) if whole else FOREIGN
                begun = not whole
    if files.size(path) > end == files.whole_end(path):
        yield CUT


def since(path: Path, at: datetime) -> Iterator[Call]:
    """The calls from ``at`` on. Only the end of the file is read: as much of it as reaches back so
    far.
    """
    size, reach = files.size(path), _END
    while reach < size:
        first = next((call for call in read(path, size - reach) if isinstance(call, Call)), None)
        if first and first.at < at:
            break
        reach *= 4
    yield from (
        call
        for call in read(path, max(0, size - reach))
        if isinstance(call, Call) and call.at >= at
    )


def _call(raw: bytes) -> Call | Missed | str:
    try:
        line = json.loads(raw)
        version = line.pop("v")
        if version not in (1, 2):
            return NEWER
        at = clock.moment(line.pop("at"))
        if list(line) == ["missed"]:
            return Missed(at, str(line["missed"]))
        call = Call(at, Usage(**line))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return FOREIGN
    return call if _sound(call) else FOREIGN


def _sound(call: Call) -> bool:
    usage = call.usage
    counts = (usage.prompt, 0 if usage.cached is None else usage.cached, usage.completion)
    figures = (usage.seconds, 0 if usage.dollars is None else usage.dollars)
    return (
        isinstance(usage.purpose, str)
        and isinstance(usage.model, str)
        and all(type(count) is int and 0 <= count <= _MOST for count in counts)
        and all(type(figure) in (int, float) and 0 <= figure < _MOST for figure in figures)
    )
