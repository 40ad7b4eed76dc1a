"""The visit of a script: each line that comes in is said, and the next one waits until it was
answered and everybody has fallen silent.
"""

import sys
import time
from collections.abc import Iterable

from dory.chat.completions import answered
from dory.chat.sanitize import plain
from dory.chat.session import Session
from dory.errors import DoryError

_PAUSE = 0.05
"""Seconds between two looks at the room."""
_LEFT = "it stays in the room, and no line after it was said"


def run(visit: Session, lines: Iterable[str], patience: float) -> None:
    """Say every line that is not blank and print what the room says.

    Raises ``DoryError`` if nobody listens, or if an answer takes longer than ``patience`` seconds;
    no further line is said then.
    """
    if not visit.listeners():
        raise DoryError(visit.absence())
    for text in lines:
        if text.strip():
            _ask(visit, text.strip(), patience)


def _ask(visit: Session, text: str, patience: float) -> None:
    """An answer is an agent's line, to a command also the harness's; it is whole when those who
    listen have read ``text`` and sleep again.
    """
    awaited = ("AGENT", "NOTICE") if answered(text) else ("AGENT",)
    deadline = time.monotonic() + patience
    own = visit.say(text)
    replied = settled = False
    while not (replied and settled):
        if time.monotonic() > deadline:
            raise DoryError(
                f"no answer within {patience:g} seconds (--wait SECONDS waits longer) to {text[:60]!r}; {_LEFT}"
            )
        time.sleep(_PAUSE)
        listeners = (
            visit.listeners()
        )  # before the lines are read: whatever the listeners said until now is then printed
        settled = all(one.read.get(visit.room, 0) >= own and not one.awake for one in listeners)
        for line in visit.heard():
            replied = replied or (line.kind in awaited and line.end > own)
            if line.end != own:
                print(plain(line))
        sys.stdout.flush()
        if not replied and not listeners:
            raise DoryError(
                f"nobody listens in {visit.room} any more to answer {text[:60]!r}: {_LEFT}"
            )
