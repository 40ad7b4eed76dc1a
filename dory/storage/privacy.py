"""Who on this machine may read what Dory writes: you alone, or also the group of a shared home.

The mask of the process decides it for every file that the process makes, also for those that SQLite
or another library makes. A home is shared if its folder has the set-group-ID bit (``chmod g+s``):
with it the system gives each new file in the folder to the folder's group. Others never may.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o007
_GROUP_AND_OTHERS = 0o077


def keep(home: Path) -> None:
    """Whatever this process makes from now on is for those only who may read ``home``."""
    os.umask(_mask(home))


def tighten(home: Path, folders: Iterable[Path]) -> str:
    """Take the rights from all others at what an older Dory has left in the ``folders`` of a home;
    a line that says so, or nothing.
    """
    mask = _mask(home)
    closed = [folder.name for folder in folders if _tightened(folder, mask)]
    if not closed:
        return ""
    who = "you and its group" if mask == _OTHERS else "you"
    return (
        f"others on this machine could read {', '.join(closed)} in {home}: from now on only {who}"
        " can (docs/files.md says how a group shares a home)"
    )


def _mask(home: Path) -> int:
    with suppress(OSError):
        if home.stat().st_mode & stat.S_ISGID:
            return _OTHERS
    return _GROUP_AND_OTHERS


def _tightened(folder: Path, mask: int) -> bool:
    """Whether a folder was open, and everything in it is closed now. The folder itself comes last:
    as long as it is open, the rest is looked at again.
    """
    if folder.is_symlink() or not folder.stat().st_mode & mask:
        return False
    for path in _below(folder):
        _close(path, mask)
    _close(folder, mask)
    return not folder.stat().st_mode & mask


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            yield Path(parent, name)


def _close(path: Path, mask: int) -> None:
    # a file may have gone meanwhile, and one of another person is theirs to close
    with suppress(FileNotFoundError, PermissionError):
        mode = path.lstat().st_mode
        if mode & mask and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~mask)
