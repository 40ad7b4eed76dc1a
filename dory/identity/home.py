"""A home: the folder with the agents, rooms, blobs and links of one machine. Its marker tells it
from any other folder that happens to have an ``agents/``, and whoever wipes it holds all its locks.

    .dory               "This folder is a home of Dory …", and an id of its own
    agents/<hash>/      one identity each
    chats/<room>.md     one room each
    blobs/<two digits>/ everything that was ever read or written
    links/              requests of agents for another's memories
"""

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dory import regular_files
from dory.errors import Busy, DoryError
from dory.identity import listing
from dory.storage import database, files, locks

MARKER = ".dory"
STATE = ("agents", "chats", "blobs", "links")
_TRASH = ".dory-wiped"
_CONTENT = b"This folder is a home of Dory: its agents, rooms and blobs stand beside this file.\n"
_ID = re.compile(rb"^id: ([0-9a-f]{32})$", re.MULTILINE)
_OWN = {
    "agents": re.compile(r"[0-9a-f]{16,64}|\.[0-9a-f]{16,64}\.(boot|replaced-\d+)|boot\.log"),
    "chats": re.compile(r"[^.].*\.md(\.torn)?|\.live|\.present"),
    "blobs": re.compile(r"[0-9a-f]{2}"),
    "links": re.compile(r"[0-9a-f]{16,64}-[0-9a-f]{16,64}\.(request|answer)\.json"),
}
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")
"""What a kill leaves of a file that was being replaced."""
_ROOM = b"[dory-room"
_MARKER_SIZE = 1000
_NAMED = 5
"""So much of what is foreign is named."""


def mark(home: Path) -> None:
    """Make ``home`` known as one, with an id by which it is told from any other."""
    if not id_of(home):
        home.mkdir(parents=True, exist_ok=True)
        files.replace(home / MARKER, _CONTENT + f"id: {secrets.token_hex(16)}\n".encode())


def id_of(home: Path) -> str:
    """The id in the marker of ``home``; empty if there is none, as in homes of an older Dory."""
    try:
        found = _ID.search(files.read_from(home / MARKER, 0, _MARKER_SIZE))
    except OSError:  # not a file
        return ""
    return found[1].decode() if found else ""


def present(home: Path) -> list[Path]:
    """The folders of state that there are, in order."""
    return [home / name for name in STATE if os.path.lexists(home / name)]


def check_own(home: Path) -> None:
    """Raise ``DoryError`` unless all that stands in the folders of state is Dory's own work."""
    for folder in present(home):
        if folder.is_symlink() or not folder.is_dir():
            raise DoryError(
                f"{folder} is no folder but a link or a file: Dory has not made it, so remove it"
                " yourself"
            )
    if not (home / MARKER).is_file() and not _has_identity(home):
        raise DoryError(
            f"{home} is no home of Dory: it has neither the file {MARKER} nor an identity"
        )
    foreign = sorted(_foreign(home))
    if foreign:
        named = ", ".join(foreign[:_NAMED])
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        raise DoryError(
            f"{named}{more} in {home}: Dory has not made that; move it away, then wipe the rest"
        )


def refuse_links(home: Path, *agents: str) -> None:
    """Raise ``DoryError`` if a folder of state, or one of these agents or a folder or database in
    it, is a symlink: Dory would write into what is somebody's own. The whole home may be one.
    """
    links = list(_links(home, STATE))
    for hash in agents:
        links += _in_agent(home, hash)
    if links:
        raise DoryError(
            f"{links[0]} is a link: put the folder or file itself there, as Dory writes only into"
            " its home"
        )


def _links(folder: Path, names: Iterable[str]) -> Iterator[Path]:
    return (folder / name for name in names if (folder / name).is_symlink())


def _in_agent(home: Path, hash: str) -> Iterator[Path]:
    yield from _links(home / "agents", [hash])
    folder = home / "agents" / hash
    for path in _links(folder, sorted(os.listdir(folder)) if folder.is_dir() else ()):
        if path.is_dir() or path.name.startswith(database.NAME):
            yield path


@contextmanager
def booting(home: Path) -> Iterator[None]:
    """Within the block a home is not wiped. Raises ``Busy`` while it is."""
    (home / "agents").mkdir(parents=True, exist_ok=True)
    with _locked(home / "agents", fcntl.LOCK_SH):
        yield


def wipe(home: Path) -> None:
    """Remove all state: first out of sight as a whole, then from the disk. What an earlier wipe has
    left behind goes, too. Raises ``Busy`` if an agent runs or is being booted, and ``DoryError`` if
    there is anything foreign; then nothing is removed.
    """
    with ExitStack() as held:
        if (home / "agents").is_dir() and not (home / "agents").is_symlink():
            held.enter_context(_locked(home / "agents", fcntl.LOCK_EX))
        for folder in listing.folders(home):
            held.enter_context(locks.held(folder))
        check_own(home)
        trash = home / _TRASH
        trash.mkdir(exist_ok=True)
        for folder in present(home):
            aside = trash / folder.name
            if aside.exists():
                shutil.rmtree(aside)
            folder.rename(aside)
        files.sync_folder(home)
        shutil.rmtree(trash)
        (home / MARKER).unlink(missing_ok=True)


def unfinished(home: Path) -> bool:
    """Whether a wipe was interrupted."""
    return (home / _TRASH).is_dir()


def _has_identity(home: Path) -> bool:
    return any((folder / "state.json").is_file() for folder in listing.folders(home))


def _foreign(home: Path) -> Iterator[str]:
    for folder in present(home):
        own = _OWN[folder.name]
        with os.scandir(folder) as entries:
            for entry in entries:
                if not (own.fullmatch(entry.name) or _DRAFT.fullmatch(entry.name)) or (
                    folder.name == "chats" and not _is_room(entry)
                ):
                    yield f"{folder.name}/{entry.name}"


def _is_room(entry: os.DirEntry[str]) -> bool:
    """Whether a file of ``chats/`` is a room, or empty, as after a kill; and not just some page."""
    if entry.name.startswith(".") or not entry.name.endswith(".md"):
        return True
    if not entry.is_file(follow_symlinks=False):
        return False
    with regular_files.opened(entry.path) as file:
        return file.read(len(_ROOM)) in (_ROOM, b"")


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        other = "wiped" if how == fcntl.LOCK_SH else "given a new agent"
        raise Busy(f"{folder.parent} is being {other} by another process: try again") from error
    finally:
        os.close(descriptor)
