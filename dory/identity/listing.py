"""The identities in a home, seen from outside. Nothing here writes, or holds a lock for long."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from dory.config.command_line import command
from dory.errors import DoryError, IdentityError
from dory.identity import life, state
from dory.storage import files, locks
from dory.storage.blobs import Blobs


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
        return sorted(link.stem for link in (self.folder / "subs").glob("*.md"))


def folders(home: Path) -> list[Path]:
    """Return the folders of all identities, in order of hash. The names of half-made ones begin
    with a dot; they are left out.
    """
    return sorted(folder for folder in (home / "agents").glob("[0-9a-f]*") if folder.is_dir())


def find(home: Path, prefix: str) -> str:
    """Return the identity that a prefix of 4 or more digits names, or a name that ends with it.

    Raises ``IdentityError``, which lists the candidates.
    """
    known = [folder.name for folder in folders(home)]
    digits = prefix.lower().rpartition("-")[2]
    hashes = [hash for hash in known if hash.startswith(digits)]
    listed = f"there are {', '.join(known[:10])}"
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
            f"{prefix} fits {len(hashes)} identities: give more digits of {', '.join(hashes)}"
        )
    return hashes[0]


def agents(home: Path) -> list[AgentInfo]:
    """Return every identity, the one that was active last first."""
    never = datetime.fromtimestamp(0, UTC)
    infos = [_info(home, folder) for folder in folders(home)]
    return sorted(infos, key=lambda agent: agent.last_active or never, reverse=True)


def listening(home: Path, room: str) -> list[AgentInfo]:
    """Return the agents that run and are subscribed to ``room``."""
    return [agent for agent in agents(home) if agent.pid is not None and room in agent.rooms]


def last_active(home: Path, room: str) -> AgentInfo | None:
    """Return the agent subscribed to ``room`` that was active last, running or not."""
    for agent in agents(home):
        if room in agent.rooms and not agent.problem:
            return agent
    return None


@cache
def _soul_line(home: Path, hash: str) -> str:
    """Cached: a blob never changes, and a chat lists the agents ten times a second."""
    return Blobs(home / "blobs").get(hash).gist


def _info(home: Path, folder: Path) -> AgentInfo:
    pid = locks.holder(folder)
    record = folder / "state.json"
    try:
        current = state.load(record)
        soul = _soul_line(home, folder.name)
    except (DoryError, OSError) as error:
        return AgentInfo(
            hash=folder.name,
            name=folder.name[:8],
            folder=folder,
            soul_line="",
            last_active=None,
            turns=0,
            context_tokens=0,
            life_bytes=files.size(folder / life.NAME),
            pid=pid,
            awake=False,
            read={},
            problem=str(error),
        )
    return AgentInfo(
        hash=folder.name,
        name=current.name,
        folder=folder,
        soul_line=soul,
        last_active=datetime.fromtimestamp(record.stat().st_mtime, UTC),
        turns=current.turn,
        context_tokens=round(current.context_bytes / current.characters_per_token),
        life_bytes=files.size(folder / life.NAME),
        pid=pid,
        awake=current.awake and not current.stuck,
        read={room: at.read for room, at in current.rooms.items()},
        stuck=current.stuck,
    )
