"""One agent in a home of its own: a real ``agent.py`` process on the offline model, and the room in
which people talk to it.

How the agent does is read from the files that it commits and never asked for, so looking changes
nothing. ``say`` returns only when the line was taken in, the agent sleeps again and no compaction
is due or under way, so the same talk leads to the same life, but for the times in it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from dory.chat.session import Session
from dory.constants import LIFE_SHOWN
from dory.errors import DoryError
from dory.identity import context, listing, state
from dory.identity.context import Entry
from dory.storage import files
from dory.text import formatting, references
from dory.text.prompt_files import ROOT

ROOM = "dev"
TIMEOUT = 60.0
"""Seconds that the agent may take to wake, or to settle after a line."""
_POLL = 0.01


def environment() -> dict[str, str]:
    """This process's own, without the keys and settings that would lead to another model or another
    home.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.startswith("DORY_")
    }


class Household:
    """The agent of ``home``, which the first ``wake`` boots; ``arguments`` are further ones for
    ``agent.py``. As a context manager it leaves no process behind.
    """

    def __init__(self, home: Path, context_limit: int, arguments: Sequence[str] = ()) -> None:
        self.home = home
        self._limit = context_limit
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wake(self) -> None:
        """Boot the agent, or resume it; returns when it listens. Raises ``DoryError`` if it does
        not come up.
        """
        known = [folder.name for folder in listing.folders(self.home)]
        who = known or ["--room", ROOM]
        epoch = self.state.epoch if known else 0
        command = [
            sys.executable,
            str(ROOT / "agent.py"),
            *who,
            "--home",
            str(self.home),
            *self._arguments,
        ]
        with open(self.home / "agent.log", "ab") as log:
            self._process = subprocess.Popen(
                [*command, "--context-limit", str(self._limit)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(),
            )
        self._await(
            lambda: (
                bool(listing.folders(self.home)) and self.state.epoch > epoch and self._settled(0)
            ),
            "wake",
        )

    def say(self, name: str, text: str) -> list[str]:
        """Say ``text`` as the person ``name``; returns what the agent said to that. Raises
        ``DoryError`` if it does not settle.
        """
        visit = Session(self.home, ROOM, name)
        end = visit.say(text)
        self._await(lambda: self._settled(end), f"settle after {formatting.one_line(text, 60)!r}")
        return [line.text for line in visit.heard() if line.kind == "AGENT"]

    def stop(self) -> None:
        """End the agent in good order. Raises ``DoryError`` if it does not end."""
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                raise DoryError(
                    f"the agent did not end within {TIMEOUT:g} seconds; {self.last_lines()}"
                ) from None
            self._process = None

    def kill(self) -> None:
        """End the agent as a power cut would: SIGKILL."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int | None:
        """The agent's process; None while none runs."""
        return self._process.pid if self._process else None

    @property
    def lives(self) -> bool:
        """Whether the agent's process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def folder(self) -> Path:
        """``agents/<self>/``. Raises ``DoryError`` when the agent was never woken."""
        known = listing.folders(self.home)
        if not known:
            raise DoryError(f"nobody lives in {self.home} yet")
        return known[0]

    @property
    def state(self) -> state.State:
        """The agent's commit record."""
        return state.load(self.folder / "state.json")

    @property
    def entries(self) -> list[Entry]:
        """The live context. Raises ``FormatError`` if it is being replaced at this moment, which
        cannot be while the agent is settled.
        """
        return context.parse(context.read_epoch((self.folder / "context.md").read_bytes())[1])

    @property
    def tokens(self) -> int:
        """The size of the live context, as the agent itself counts it."""
        return round(len(context.render(self.entries)) / self.state.characters_per_token)

    @property
    def life(self) -> list[str]:
        """The lines of LIFE.md, the oldest first."""
        return (self.folder / "LIFE.md").read_text(encoding="utf-8").splitlines()[1:]

    @property
    def in_view(self) -> str:
        """What the next prompt shows of this life, as it was said: context, MEMORY and the newest
        LIFE lines.
        """
        memory = (self.folder / "MEMORY.md").read_text(encoding="utf-8")
        return "\n".join(
            [references.unescape(context.render(self.entries)), memory, *self.life[-LIFE_SHOWN:]]
        )

    def _settled(self, end: int) -> bool:
        """Whether the line up to byte ``end`` of the room was dealt with. A compaction always ends
        with its turn in ``paused_until``.
        """
        now = self.state
        lived = now.life_bytes + len(now.life_lines.encode())
        if now.awake or now.rooms[ROOM].read < end or files.size(self.folder / "LIFE.md") < lived:
            return False
        content = (self.folder / "context.md").read_bytes()[: now.context_bytes]
        if not content.startswith(context.heading(now.epoch).encode()):
            return False  # between two epochs
        _, text = context.read_epoch(content)
        return (
            round(len(text) / now.characters_per_token) <= self._limit
            or now.turn <= now.paused_until
        )

    def _await(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            if not self.lives:
                raise DoryError(
                    f"the agent did not {what}: its process has ended; {self.last_lines()}"
                )
            if time.monotonic() > deadline:
                raise DoryError(
                    f"the agent did not {what} within {TIMEOUT:g} seconds; {self.last_lines()}"
                )
            time.sleep(_POLL)

    def last_lines(self) -> str:
        """The end of the agent's log, for whoever has to say what went wrong."""
        log = self.home / "agent.log"
        return "the end of its log: " + " | ".join(
            line.decode("utf-8", "replace") for line in files.tail(log, 3)
        )
