"""The client for a script: each line from the pipe is said in the room, and the next one waits
until it was answered and all agents are idle.
"""

import sys
import time
from collections.abc import Iterable

from dory.chat.completions import LEAVING, answered
from dory.chat.sanitize import plain
from dory.chat.session import Session
from dory.errors import DoryError, Unanswered

_POLL = 0.05
"""Seconds between two looks at the room."""
_UNANSWERED = "it stays in the room, and no line after it was said"


def run(session: Session, lines: Iterable[str], timeout: float) -> None:
    """Say every line that is not blank and print what the room says.

    Raises ``Unanswered`` if all agents are idle again and none has answered, and ``DoryError`` if
    nobody listens, or if an answer takes longer than ``timeout`` seconds. No further line is said
    then.
    """
    if not session.listeners():
        raise DoryError(session.absence())
    for line in lines:
        text = line.strip()
        if text in LEAVING:
            return
        if text:
            if session.wake:
                session.wake()
            _ask(session, text, timeout)


def _ask(session: Session, text: str, timeout: float) -> None:
    """Say ``text`` and print messages until it is answered.

    An agent's message answers it. So does a notice of the harness, if the text is a command. The
    answer is complete when every listener has read ``text`` and is idle again.
    """
    commanded = answered(text, session.commands)
    awaited = ("AGENT", "NOTICE") if commanded else ("AGENT",)
    deadline = time.monotonic() + timeout
    own = session.say(text)
    replied = False
    settled = False
    while not (replied and settled):
        if time.monotonic() > deadline:
            raise DoryError(
                f"no answer within {timeout:g} seconds (--wait SECONDS waits longer)"
                f" to {text[:60]!r}; {_UNANSWERED}"
            )
        time.sleep(_POLL)
        # The listeners are read before the messages: whatever they said until now is then printed.
        listeners = session.listeners()
        settled = all(
            agent.read.get(session.room, 0) >= own and not agent.awake for agent in listeners
        )
        for line in session.heard():
            if line.kind in awaited and line.end > own:
                replied = True
            if line.end != own:
                print(plain(line))
        sys.stdout.flush()
        trying = commanded or any(agent.stuck for agent in listeners)
        if settled and listeners and not replied and not trying:
            raise Unanswered(
                f"every agent in {session.room} has read {text[:60]!r} and sleeps without an"
                f" answer; {_UNANSWERED}"
            )
        if not replied and not listeners:
            raise DoryError(
                f"nobody listens in {session.room} any more to answer {text[:60]!r}: {_UNANSWERED}"
            )
