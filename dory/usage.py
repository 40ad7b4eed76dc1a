"""usage.jsonl: one line of JSON, in plain ASCII, for every model call, as the provider counted it. Append-only; ``v`` is the version.

{"v": 1, "at": "2026-11-21T07:38:04Z", "purpose": "turn", "model": "…", "prompt": 5120, "cached": 4864, "completion": 80, "seconds": 1.9}
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from dory import clock, files
from dory.clock import Clock
from dory.records import Usage


class Meter:
    """Notes the calls of one identity. ``tell`` gets a line for a person about each."""

    def __init__(self, path: Path, now: Clock, tell: Callable[[str], None] | None) -> None:
        self._path, self._now, self._tell = path, now, tell

    def record(self, usage: Usage) -> None:
        """Append one call. Tokens; ``cached`` is null when the provider does not say; ``seconds`` is rounded to milliseconds."""
        line = {"v": 1, "at": clock.second(self._now()), **asdict(usage), "seconds": round(usage.seconds, 3)}
        files.append(self._path, (json.dumps(line) + "\n").encode())
        if self._tell:
            self._tell(told(usage))


def told(usage: Usage) -> str:
    """One line for a person."""
    cached = "not told" if usage.cached is None else f"{usage.cached} ({usage.cached / max(usage.prompt, 1):.0%})"
    return f"{usage.purpose}: prompt {usage.prompt} tokens, cached {cached}, answer {usage.completion}, {usage.seconds:.1f} s, {usage.model}"
