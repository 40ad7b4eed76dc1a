"""What changes in a room while a person looks at it. Nothing is read before it has changed."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dory.chat.session import Session
from dory.identity.listing import AgentInfo
from dory.storage import live
from dory.storage.live import Live
from dory.types import Line

BUSY = 0.1
"""Seconds between two looks while an agent is at work; its spinner turns as fast."""
IDLE = 0.25
"""Seconds between two looks while nothing happens."""


@dataclass(frozen=True, slots=True)
class News:
    """New messages, and how things are now: who listens, and what agents are doing."""

    lines: Sequence[Line]
    listeners: Sequence[AgentInfo]
    lives: Sequence[Live]

    @property
    def awake(self) -> list[str]:
        """The names of the listeners that are at work."""
        return [agent.name for agent in self.listeners if agent.awake]

    @property
    def busy(self) -> bool:
        """Whether any agent is at work."""
        return bool(self.lives or self.awake)


class Watch:
    """Looks at one room. One thread at a time may use it."""

    def __init__(self, session: Session, listeners: Sequence[AgentInfo]) -> None:
        """``listeners`` are those that are known by now."""
        self.closed = False
        self._session = session
        self._latest = News((), listeners, ())
        self._folder = session.home / "chats" / live.FOLDER / session.room
        self._changed = 0
        self._passed = False

    def next(self) -> News:
        """Wait for something new. While an agent is at work, return every tenth of a second. Ends
        when ``closed`` is set. Raises ``FormatError`` if the room is of an unknown version.
        """
        while True:
            time.sleep(BUSY if self._latest.busy else IDLE)
            before, now = self._latest, self.look()
            if now.lines or now.busy or self.closed:
                return now
            if (now.listeners, now.lives) != (before.listeners, before.lives):
                return now

    def look(self) -> News:
        """How things are now. The side channel is read before the room: a text that has left it is
        then in the room.
        """
        lives = self._lives()
        lines = self._session.heard()
        listeners = self._latest.listeners
        self._passed = not (lines or lives or self._latest.busy or self._passed)
        if not self._passed:  # while nothing happens, every second time will do
            listeners = self._session.listeners()
        self._latest = News(lines, listeners, lives)
        return self._latest

    def _lives(self) -> Sequence[Live]:
        """Read again if anything was written since, or if a record may have become too old."""
        changed = _changed(self._folder)
        if changed == self._changed and not self._latest.lives:
            return ()
        self._changed = changed
        return live.read(self._session.home / "chats", self._session.room)


def _changed(folder: Path) -> int:
    """When a file was last put into ``folder`` or taken out, in nanoseconds; 0 if it is missing."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
