"""What an agent has done since a person last spoke to it, and whether it may do more.

The exchanges of agents are limited in each room (``turn/inbox.py``), but agents can go to another
room. So the calls are counted over all of them, by ``usage.jsonl``: the state keeps the byte at
which that file ended when a person last spoke. No clock is asked, and a restart counts on.

Turns and the work beside them are counted apart. So the context is still compacted, and a Dream
still comes, after the turns of a long talk; and work beside the turns cannot go on for ever either.
"""

from collections import Counter
from pathlib import Path

from dory.config.unattended import UnattendedSettings
from dory.llm import usage_log
from dory.storage import files
from dory.text.formatting import plural
from dory.types import Usage

TURNS, BESIDE = "turns", "calls"
"""The two kinds of calls: turns, and all others."""


class Unattended:
    """The calls of one agent since byte ``start`` of the usage log at ``path``. The caller holds a
    lock: calls are noted in any thread.
    """

    def __init__(self, path: Path, limits: UnattendedSettings, start: int | None) -> None:
        """``start`` None: nobody has noted it, as in a state of an older Dory; then it is now."""
        self._path = path
        self._limits = limits
        self._calls: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        size = files.size(path)
        self.start = size if start is None else start
        if self.start > size:  # the file was moved away
            self.start = 0
        for call in usage_log.read(path, self.start):
            if isinstance(call, usage_log.Call):
                self.count(call.usage)

    def count(self, usage: Usage) -> None:
        """A call was made."""
        kind = kind_of(usage.purpose)
        self._calls[kind] += 1
        self._tokens[kind] += usage.prompt + usage.completion

    def attended(self) -> None:
        """A person has spoken: everything is counted anew."""
        self.start = files.size(self._path)
        self._calls.clear()
        self._tokens.clear()

    def reached(self, kind: str) -> str:
        """The limit that calls of a kind have reached, in words; empty if none."""
        most: int = getattr(self._limits, kind)
        noun = "turn" if kind == TURNS else "call"
        if self._calls[kind] >= most:
            return plural(most, noun) + ("" if kind == TURNS else " beside the turns")
        if self._tokens[kind] >= self._limits.tokens:
            return f"{self._limits.tokens:,} tokens in {plural(self._calls[kind], noun)}" + (
                "" if kind == TURNS else " beside the turns"
            )
        return ""

    def status(self) -> str:
        """How much was done, and of how much."""
        limits = self._limits
        return (
            f"{self._calls[TURNS]:,} of {plural(limits.turns, 'turn')}"
            f" ({plural(self._tokens[TURNS], 'token')}), {self._calls[BESIDE]:,} of"
            f" {plural(limits.calls, 'other call')} ({plural(self._tokens[BESIDE], 'token')});"
            f" at most {plural(limits.tokens, 'token')} each"
        )


def kind_of(purpose: str) -> str:
    """Which kind a call for this purpose is."""
    return TURNS if purpose == "turn" else BESIDE
