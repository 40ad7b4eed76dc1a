"""Who lives in a home, read from outside: nothing here takes a lock for long or writes a byte."""

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
    """One identity. ``pid`` is None when it does not run; ``read`` tells by room up to which byte
    it has taken the lines in.
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
    trouble: str = ""
    """Why its state cannot be read; empty when it can."""

    @property
    def rooms(self) -> list[str]:
        """The rooms it is subscribed to."""
        return sorted(link.stem for link in (self.folder / "subs").glob("*.md"))


def folders(home: Path) -> list[Path]:
    """The folders of all identities, in order of hash; half-made ones begin with a dot and are not
    among them.
    """
    return sorted(folder for folder in (home / "agents").glob("[0-9a-f]*") if folder.is_dir())


def find(home: Path, prefix: str) -> str:
    """The identity that a prefix of 4 or more digits names, or a name that ends with it. Raises
    ``IdentityError``, the candidates listed.
    """
    known = [folder.name for folder in folders(home)]
    digits = prefix.lower().rpartition("-")[2]
    found = [hash for hash in known if hash.startswith(digits)]
    listed = (
        f"there are {', '.join(known[:10])}"
        if known
        else f"there is none yet: '{command(home, 'agent.py')}' boots one"
    )
    if len(digits) < 4:
        raise IdentityError(
            f"{prefix!r} is too short: give at least 4 digits of an identity ({listed})"
        )
    if not found:
        raise IdentityError(f"no identity begins with {prefix[:70]!r} ({listed})")
    if len(found) > 1:
        raise IdentityError(
            f"{prefix} fits {len(found)} identities: give more digits of {', '.join(found)}"
        )
    return found[0]


def agents(home: Path) -> list[AgentInfo]:
    """Every identity, the one active last first."""
    everyone = [_resident(home, folder) for folder in folders(home)]
    return sorted(
        everyone, key=lambda one: one.last_active or datetime.fromtimestamp(0, UTC), reverse=True
    )


def listening(home: Path, room: str) -> list[AgentInfo]:
    """Those that run and are subscribed to ``room``."""
    return [one for one in agents(home) if one.pid is not None and room in one.rooms]


def last_active(home: Path, room: str) -> AgentInfo | None:
    """The one subscribed to ``room`` that was active last, running or not."""
    return next((one for one in agents(home) if room in one.rooms and not one.trouble), None)


@cache
def _soul_line(home: Path, hash: str) -> str:
    """A blob never changes, and a chat looks at the roster ten times a second."""
    return Blobs(home / "blobs").get(hash).gist


def _resident(home: Path, folder: Path) -> AgentInfo:
    pid = locks.holder(folder)
    record = folder / "state.json"
    try:
        current = state.load(record)
        soul = _soul_line(home, folder.name)
    except (DoryError, OSError) as error:
        return AgentInfo(
            folder.name,
            folder.name[:8],
            folder,
            "",
            None,
            0,
            0,
            files.size(folder / life.NAME),
            pid,
            False,
            {},
            str(error),
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
    )
