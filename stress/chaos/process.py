"""A process that is to be killed: ``agent.py`` with a named point. Whether it is at rest is read
from the files that it commits.
"""

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from bench.common.household import environment
from dory.errors import DoryError
from dory.identity import context, listing, state
from dory.storage import files
from dory.storage.rooms import Rooms
from dory.text.prompt_files import ROOT
from stress.chaos import calls

LIMIT = 1000
"""Tokens of context: the least that is allowed, so that much is compacted."""
WINDOWS = "{immediate_window: 8, recent_window: 4}"
"""Settings of the cascade. The windows are so small that summaries are made all the time."""
TIMEOUT = 30.0
"""Seconds within which an agent must have read and answered what was said."""
_POLL = 0.01


class Broken(DoryError):
    """The agent ended, or did not come to rest."""


class Process:
    """The agent of ``home``, booted if there is no identity yet. It is killed, or its calls fail,
    at the ``occurrence`` of ``point``; if that is empty, neither happens.
    """

    def __init__(
        self, home: Path, arguments: list[str], point: str = "", occurrence: int = 1
    ) -> None:
        self._home = home
        self._epoch = 0
        known = identity(home)
        if known:
            self._epoch = state.load(known / "state.json").epoch
        traced = calls.is_call(point)
        command = [
            *(calls.under(point, occurrence, home, known) if traced else []),
            sys.executable,
            "-m",
            "stress.chaos.points",
            "" if traced else point,
            str(occurrence),
            *([known.name] if known else []),
            "--home",
            str(home),
        ]
        with open(home / "agent.log", "ab") as log:
            self._process = subprocess.Popen(
                [*command, "--context-limit", str(LIMIT), f"--cascade={WINDOWS}", *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment(),
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal, None while it lives."""
        return self._process.poll()

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Send it SIGTERM, and wait until it has ended in whatever way; for ``TIMEOUT`` seconds at
        most.
        """
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(TIMEOUT)

    def stop(self) -> None:
        """End it with SIGTERM. Raises ``Broken`` if it does not end with exit code 0."""
        self._process.terminate()
        try:
            code = self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Broken(
                f"it did not end within {TIMEOUT:g} seconds: {self.last_words()}"
            ) from None
        if code:
            raise Broken(f"it ended with exit code {code}: {self.last_words()}")

    def settled(self) -> bool:
        """Wait until it has read and answered everything; False if it ended before. Raises
        ``Broken`` after ``TIMEOUT`` seconds.
        """
        deadline = time.monotonic() + TIMEOUT
        while self.exit_code is None:
            if self._at_rest():
                return True
            if time.monotonic() > deadline:
                raise Broken(f"it did not settle within {TIMEOUT:g} seconds: {self.last_words()}")
            time.sleep(_POLL)
        return False

    def last_words(self) -> str:
        """The end of its log."""
        return " | ".join(
            line.decode("utf-8", "replace") for line in files.tail(self._home / "agent.log", 3)
        )

    def gave_up(self) -> bool:
        """Whether it ended by itself, with a line that says why."""
        return self.exit_code in (1, 2) and self.last_words().rpartition(" | ")[2].startswith(
            ("agent.py: ", "dory-")
        )

    def _at_rest(self) -> bool:
        folder = identity(self._home)
        if folder is None:
            return False
        now = state.load(folder / "state.json")
        rooms = Rooms(self._home / "chats")
        logged = now.life_bytes + len(now.life_lines.encode())
        if now.awake or now.epoch <= self._epoch or files.size(folder / "LIFE.md") < logged:
            return False
        for room in (link.stem for link in (folder / "subs").iterdir()):
            if room not in now.rooms or rooms.read(room, now.rooms[room].read):
                return False
        content = (folder / "context.md").read_bytes()[: now.context_bytes]
        if len(content) < now.context_bytes or not content.startswith(
            context.heading(now.epoch).encode()
        ):
            return False
        characters = len(context.read_epoch(content)[1])
        return (
            round(characters / now.characters_per_token) <= LIMIT or now.turn <= now.paused_until
        )  # else a compaction is due or under way


def identity(home: Path) -> Path | None:
    """The folder of the only identity in ``home``; None before it is booted."""
    return next(iter(listing.folders(home)), None)
