"""The folders that this process has locked, and whether they still stand where they stood.

The lock is on the folder itself, so it goes along when somebody moves the folder away. A copy put
in its place is another folder, which another process may lock and run. Whatever this process wrote
by path from then on would go into that copy. So every durable write asks ``check`` first: a process
that has lost a folder writes nothing more anywhere.
"""

import os
from pathlib import Path

from dory.errors import Displaced

_held: dict[Path, tuple[int, int]] = {}
"""By path, which folder was locked there: device and inode."""


def claim(folder: Path, fd: int) -> None:
    """Note that the open and locked directory ``fd`` is ``folder``. Raises ``Displaced`` if another
    one stands there by now.
    """
    status = os.fstat(fd)
    _held[folder] = status.st_dev, status.st_ino
    try:
        check()
    except Displaced:
        release(folder)
        raise


def release(folder: Path) -> None:
    """Forget a folder whose lock is given up."""
    _held.pop(folder, None)


def check() -> None:
    """Raise ``Displaced`` unless every locked folder is at its path."""
    for folder, locked in list(_held.items()):
        try:
            status = os.stat(folder)
        except (FileNotFoundError, NotADirectoryError):
            raise Displaced(f"{folder} {_MOVED}") from None
        if (status.st_dev, status.st_ino) != locked:
            raise Displaced(f"{folder} {_REPLACED}")


_MOVED = (
    "was moved away while its agent ran: the agent stops, and what it had not saved is undone; wake"
    " it where the folder is now"
)
_REPLACED = (
    "was replaced by another folder while its agent ran: the agent stops, and what it had not saved"
    " is undone; wake the one that is to live on"
)
