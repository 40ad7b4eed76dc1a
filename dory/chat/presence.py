"""Who is in a room with a chat, in a terminal or a pipe: each holds a locked file in
``chats/.present/<room>/``. The kernel releases the lock however its process ends, so a file that
nobody has locked is passed over and removed.

``.booted`` in the same folder names the agent that a chat has started there last. A chat stops no
other. Nothing here is synced to the disk: none of it outlives the machine.
"""

import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dory import regular_files
from dory.regular_files import open_regular

FOLDER = ".present"
"""The folder of all these files, below that of the rooms."""
_OWN = re.compile(r"[0-9]{1,10}-[0-9a-f]{8}")
"""The name of a file that stands for somebody: a process, and some digits. Nothing else in the
folder is read or removed.
"""
_CHANGING = ".starting"
"""The file that is locked by who starts or stops the agent."""
_POLL = 0.05
"""Seconds between two attempts to take a lock."""
_STARTING_TIMEOUT = 60.0
"""Seconds that a chat waits for another one that starts an agent: twice what that may take."""
_LEAVING_TIMEOUT = 1.0
"""Seconds that somebody who leaves waits for others who do."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a chat in the room; ``boots``: who starts an agent there, and stops it when
    nobody else is left.
    """

    name: str
    boots: bool


class Presence:
    """One chat's presence in a room. Where the disk does not take it, nobody sees it."""

    def __init__(self, home: Path, room: str, visitor: Visitor) -> None:
        self._folder = home / "chats" / FOLDER / room
        self._path = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        self._fd = -1
        if visitor.boots or home.is_dir():  # a mistyped home is not created by looking at it
            with suppress(OSError):
                self._enter(visitor)

    def leave(self) -> list[Visitor]:
        """Leave the room, and return who is still there. Of several who leave at the same time,
        exactly the last finds nobody.
        """
        others: list[Visitor] = []
        if not self._folder.is_dir():
            return others
        deadline = time.monotonic() + _LEAVING_TIMEOUT
        with suppress(OSError), self._locked(".leaving", lambda: time.monotonic() > deadline):
            others = self.others()
            self._path.unlink(missing_ok=True)
            if self._fd >= 0:
                os.close(self._fd)
            self._fd = -1
        return others

    def others(self) -> list[Visitor]:
        """Who else is in the room."""
        return [visitor for path in self._files() if (visitor := _visitor(path))]

    @contextmanager
    def changing_agent(self, given_up: Callable[[], bool]) -> Iterator[None]:
        """A block in which one chat at a time starts or stops the agent of the room. Waits for it
        until ``given_up`` says otherwise, or another has taken longer than an agent may.
        """
        deadline = time.monotonic() + _STARTING_TIMEOUT
        with self._locked(_CHANGING, lambda: given_up() or time.monotonic() > deadline):
            yield

    def is_agent_changing(self) -> bool:
        """Whether any chat is in such a block."""
        with suppress(OSError):
            self._refuse_links()
            fd = open_regular(self._folder / _CHANGING)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                os.close(fd)
        return False

    def note_booted(self, hash: str, pid: int) -> None:
        """This chat has started the agent ``hash``, which runs as process ``pid``."""
        with suppress(OSError):
            self._refuse_links()
            regular_files.overwrite(self._folder / ".booted", f"{hash} {pid}\n".encode())

    def booted(self) -> tuple[str, int] | None:
        """The agent that a chat has started in the room last: its hash and its process."""
        with suppress(OSError, ValueError):
            self._refuse_links()
            hash, pid = regular_files.content(self._folder / ".booted").decode().split()
            return hash, int(pid)
        return None

    def _enter(self, visitor: Visitor) -> None:
        """Have a locked file. Somebody who looks may hold its lock for a moment, and remove it."""
        self._refuse_links()
        self._folder.mkdir(parents=True, exist_ok=True)
        record = json.dumps({"name": visitor.name, "boots": visitor.boots})
        while self._fd < 0:
            fd = open_regular(self._path, os.O_RDWR | os.O_CREAT)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.stat(self._path).st_ino == os.fstat(fd).st_ino:
                    os.write(fd, record.encode())
                    self._fd = fd
            except (BlockingIOError, FileNotFoundError):
                time.sleep(_POLL)
            finally:
                if self._fd != fd:
                    os.close(fd)

    def _files(self) -> list[Path]:
        """The files of the others; none if the folder is a link."""
        with suppress(OSError):
            self._refuse_links()
            found = sorted(self._folder.iterdir())
            return [path for path in found if path != self._path and _OWN.fullmatch(path.name)]
        return []

    def _refuse_links(self) -> None:
        """Raise ``OSError`` if the folder leads elsewhere: the files there are somebody's own."""
        regular_files.refuse_links(self._folder.parent, self._folder)

    @contextmanager
    def _locked(self, name: str, given_up: Callable[[], bool]) -> Iterator[None]:
        """Hold the lock ``name`` of the room, unless waiting for it is ``given_up``."""
        self._refuse_links()
        self._folder.mkdir(parents=True, exist_ok=True)
        fd = open_regular(self._folder / name, os.O_RDWR | os.O_CREAT)
        try:
            while not given_up():
                with suppress(BlockingIOError):
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(_POLL)
            yield
        finally:
            os.close(fd)


def _visitor(path: Path) -> Visitor | None:
    """Who holds this file. None if nobody does; it is removed then."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        fd = open_regular(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            path.unlink()
        except BlockingIOError:
            record = json.loads(os.read(fd, 4096))
            return Visitor(str(record["name"]), bool(record["boots"]))
        finally:
            os.close(fd)
    return None
