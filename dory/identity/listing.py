"""The identities in a home, seen from outside. Nothing here writes, or holds a lock for long.

A chat asks several times a second who listens. So ``listening`` reads nothing of an agent that does
not run, and the state of one that runs only after it has changed.
"""

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from dory.errors import DoryError, IdentityError
from dory.identity import life, state
from dory.storage import files, locks
from dory.storage.blobs import Blobs
from dory.text import formatting
from dory.text.typed_commands import command

_DIGITS = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """One identity. ``pid`` is None if it does not run. ``read`` is the byte up to which it has
    read each room.
    """

    hash: str
    name: str
    folder: Path
    soul_line: str
    last_active: datetime | None
    turns: int
    context_tokens: int
    life_bytes: int
    pid: int | None
    awake: bool
    read: dict[str, int]
    stuck: bool = False
    """Whether its last model call failed. It tries again by itself."""
    problem: str = ""
    """Why its state cannot be read; empty if it can."""

    @property
    def rooms(self) -> list[str]:
        """The rooms that it is subscribed to."""
        try:
            links = os.listdir(self.folder / "subs")
        except OSError:
            return []
        return sorted(name[:-3] for name in links if name.endswith(".md"))


def folders(home: Path) -> list[Path]:
    """Return the folders of all identities, in order of hash. The names of half-made ones begin
    with a dot; they are left out.
    """
    try:
        with os.scandir(home / "agents") as entries:
            names = [entry.name for entry in entries if entry.name[0] in _DIGITS and entry.is_dir()]
    except OSError:
        return []
    return [home / "agents" / name for name in sorted(names)]


def find(home: Path, prefix: str) -> str:
    """Return the identity that a prefix of 4 or more digits names, or a name that ends with it.

    Raises ``IdentityError``, which lists the candidates.
    """
    known = [folder.name for folder in folders(home)]
    digits = prefix.lower().rpartition("-")[2]
    hashes = [hash for hash in known if hash.startswith(digits)]
    listed = f"there are {formatting.named(known, 10)}"
    if not known:
        listed = f"there is none yet: '{command(home, 'agent.py')}' boots one"
    if len(digits) < 4:
        raise IdentityError(
            f"{prefix!r} is too short: give at least 4 digits of an identity ({listed})"
        )
    if not hashes:
        raise IdentityError(f"no identity begins with {prefix[:70]!r} ({listed})")
    if len(hashes) > 1:
        raise IdentityError(
            f"{prefix} fits {len(hashes)} identities: give more digits of"
            f" {formatting.named(hashes, 10)}"
        )
    return hashes[0]


def agents(home: Path) -> list[AgentInfo]:
    """Return every identity, the one that was active last first."""
    return _newest_first([_info(home, folder, locks.holder(folder)) for folder in folders(home)])


def listening(home: Path, room: str) -> list[AgentInfo]:
    """Return the agents that run and are subscribed to ``room``, in the order of ``agents``."""
    holders = [(folder, locks.holder(folder)) for folder in folders(home)]
    infos = [_info(home, folder, pid) for folder, pid in holders if pid is not None]
    return _newest_first([agent for agent in infos if room in agent.rooms])


def last_active(home: Path, room: str) -> AgentInfo | None:
    """Return the agent subscribed to ``room`` that was active last, running or not."""
    for agent in agents(home):
        if room in agent.rooms and not agent.problem:
            return agent
    return None


def _newest_first(infos: list[AgentInfo]) -> list[AgentInfo]:
    never = datetime.fromtimestamp(0, UTC)
    return sorted(infos, key=lambda agent: agent.last_active or never, reverse=True)


@cache
def _soul_line(home: Path, hash: str) -> str:
    """Cached: a blob never changes."""
    return Blobs(home / "blobs").get(hash).gist


_read: dict[Path, tuple[tuple[int, int, int], AgentInfo]] = {}
"""By folder: which ``state.json`` was read last (inode, time, size), and what it said."""


def _info(home: Path, folder: Path, pid: int | None) -> AgentInfo:
    life_bytes = files.size(folder / life.NAME)
    try:
        record = (folder / "state.json").stat()
        version = record.st_ino, record.st_mtime_ns, record.st_size
        known = _read.get(folder)
        if known is None or known[0] != version:
            known = version, _of_state(home, folder, record.st_mtime)
            _read[folder] = known
    except (DoryError, OSError) as error:
        return AgentInfo(
            hash=folder.name,
            name=folder.name[:8],
            folder=folder,
            soul_line="",
            last_active=None,
            turns=0,
            context_tokens=0,
            life_bytes=life_bytes,
            pid=pid,
            awake=False,
            read={},
            problem=str(error),
        )
    return replace(known[1], life_bytes=life_bytes, pid=pid)


def _of_state(home: Path, folder: Path, written: float) -> AgentInfo:
    """What ``state.json`` says, which was ``written`` at that time (seconds since 1970). Raises
    ``DoryError`` or ``OSError``.
    """
    current = state.load(folder / "state.json")
    return AgentInfo(
        hash=folder.name,
        name=current.name,
        folder=folder,
        soul_line=_soul_line(home, folder.name),
        last_active=datetime.fromtimestamp(written, UTC),
        turns=current.turn,
        context_tokens=round(current.context_bytes / current.characters_per_token),
        life_bytes=0,
        pid=None,
        awake=current.awake and not current.stuck,
        read={room: at.read for room, at in current.rooms.items()},
        stuck=current.stuck,
    )
