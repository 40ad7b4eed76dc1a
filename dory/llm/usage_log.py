"""usage.jsonl: one line of JSON, in plain ASCII, for every model call, with the provider's figures.
Append-only. ``v`` is the version. A line, wrapped here:

    {"v": 2, "at": "2026-11-21T07:38:04Z", "purpose": "turn", "model": "…", "prompt": 5120,
     "cached": 4864, "completion": 80, "seconds": 1.9, "dollars": 0.000434}

Other lines tell what a provider's cache has missed (``llm/cache_monitor.py``), in words:

    {"v": 2, "at": "2026-11-21T07:38:09Z", "missed": "only 1,024 of some 9,600 tokens …"}

Version 1 had no ``dollars``: the cost of its calls is not known. Readers take one line at a time,
however long the file is, and report the lines that they cannot count. A last line without its
newline is not read yet.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from dory import clock, regular_files
from dory.clock import Clock
from dory.errors import Held
from dory.storage import files
from dory.storage.file_locks import LATER
from dory.text.formatting import money
from dory.types import Usage

NAME = "usage.jsonl"
CUT = "cut off at its end"
FOREIGN = "no model call"
NEWER = "of a version that is not known here"
"""The three reasons why a line cannot be counted."""
_MOST = 10**9
"""A greater number of tokens, seconds or dollars is no figure."""
_LONGEST = 65536
"""Bytes of a line. A longer one is no call, and is not read into memory as a whole."""
AHEAD = timedelta(days=1)
"""A line that is dated further ahead was noted by a wrong clock. A nearer one counts at its date.
"""
_FIRST_READ = 1 << 18
"""Bytes at the end of the file that ``since`` reads first: some thousand calls."""


@dataclass(frozen=True, slots=True)
class Call:
    """A line about a model call."""

    at: datetime
    usage: Usage


@dataclass(frozen=True, slots=True)
class Missed:
    """A line about what a cache has missed."""

    at: datetime
    text: str


class UsageLog:
    """Notes the calls of one identity, from any thread. ``tell`` is given a line about each call,
    for a person.
    """

    def __init__(self, path: Path, now: Clock, tell: Callable[[str], None] | None) -> None:
        self._path = path
        self._now = now
        self._tell = tell
        self._waiting = b""
        """Whole lines that could not be written while another program held the file."""

    def record(self, usage: Usage) -> None:
        """Append one call. ``cached`` is null if the provider does not say. ``seconds`` are rounded
        to milliseconds.
        """
        dollars = None if usage.dollars is None else round(usage.dollars, 9)
        line = {
            "v": 2,
            "at": clock.second(self._now()),
            **asdict(usage),
            "seconds": round(usage.seconds, 3),
            "dollars": dollars,
        }
        self._add(line)
        if self._tell:
            self._tell(told(usage))

    def _add(self, line: Mapping[str, object]) -> None:
        """Append a line. While another program holds the file it waits in memory for the next one:
        the reply is paid for, and must not be lost.
        """
        self._waiting += (json.dumps(line) + "\n").encode()
        with suppress(Held):
            files.append(self._path, self._waiting, patience=LATER)
            self._waiting = b""


def missed(path: Path, at: datetime, text: str) -> None:
    """Append what a cache has missed, unless another program holds the file."""
    line = {"v": 2, "at": clock.second(at), "missed": text}
    with suppress(Held):
        files.append(path, (json.dumps(line) + "\n").encode(), patience=LATER)


def told(usage: Usage) -> str:
    """Return one line about a call, for a person."""
    cached = "not told"
    if usage.cached is not None:
        cached = f"{usage.cached} ({usage.cached / max(usage.prompt, 1):.0%})"
    cost = "price unknown" if usage.dollars is None else money(usage.dollars)
    counts = f"prompt {usage.prompt} tokens, cached {cached}, answer {usage.completion}"
    return f"{usage.purpose}: {counts}, {usage.seconds:.1f} s, {cost}, {usage.model}"


def read(path: Path, offset: int = 0, end: int | None = None) -> Iterator[Call | Missed | str]:
    """Return the lines that begin at byte ``offset`` or behind it, in order; for a line that cannot
    be counted, the reason. ``end`` is where the whole lines end, if that is known.
    """
    if end is None:
        end = files.whole_end(path)
    at = max(0, offset - 1)
    if end > offset:
        # whether this is the rest of a line: one that begins before ``offset``, or a too long one
        is_rest = offset > 0
        with regular_files.opened(path) as file:
            file.seek(at)
            while at < end and (raw := file.readline(_LONGEST)):
                at += len(raw)
                ended = raw.endswith(b"\n")
                if not is_rest:
                    yield _call(raw) if ended else FOREIGN
                is_rest = not ended
    if files.size(path) > end == files.whole_end(path):
        yield CUT


def since(path: Path, at: datetime, now: datetime) -> Iterator[Call]:
    """Return the calls from ``at`` on, newest first. Of the file only as much is read, from its
    end, as reaches back so far.

    A call that is dated more than a day ahead was noted by a wrong clock. It was made before the
    next line, so it is returned with the date of that one, or else with ``now``.
    """
    size = files.size(path)
    reach = _FIRST_READ
    while reach < size:
        first = next((line for line in read(path, size - reach) if isinstance(line, Call)), None)
        if first and first.at < at:
            break
        reach *= 4
    dated = [line for line in read(path, max(0, size - reach)) if not isinstance(line, str)]
    made = now
    for line in reversed(dated):
        if line.at <= now + AHEAD:
            made = line.at
        if isinstance(line, Call) and made >= at:
            yield replace(line, at=made)


def settle(path: Path, now: datetime) -> None:
    """If the last line is dated by a wrong clock, append one that is dated now: so ``since`` knows
    for ever when the lines before it were noted at the latest.
    """
    lines = read(path, max(0, files.size(path) - _FIRST_READ))
    last = deque((line for line in lines if not isinstance(line, str)), maxlen=1)
    if last and last[0].at > now + AHEAD:
        missed(
            path, now, "nothing; but the clock was put back, and the calls before count until now"
        )


def last_model(path: Path) -> str:
    """Return the model of the last turn; empty if there was none."""
    size = files.size(path)
    reach = _FIRST_READ
    while True:
        calls = [line for line in read(path, max(0, size - reach)) if isinstance(line, Call)]
        turns = [call.usage.model for call in calls if call.usage.purpose == "turn"]
        if turns or reach >= size:
            return turns[-1] if turns else ""
        reach *= 4


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
