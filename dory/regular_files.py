"""Opening a file of a home: only if it is a regular one.

Somebody else may have put anything in its place. Opening a pipe would wait for good, a device may
never end, and a symlink may lead to a file that must not be read or written here. The kind is
checked on the open file, so it cannot be exchanged in between.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path | str, flags: int = os.O_RDONLY, folder: int | None = None) -> int:
    """Open the regular file ``path``, below the open directory ``folder`` if given, and return its
    descriptor. Raises ``OSError`` if it is no regular file.
    """
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        fd = os.open(path, flags, 0o666, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:  # in the words of the system, "too many levels" of them
            raise OSError(errno.ELOOP, "Is a symbolic link", str(path)) from None
        if error.errno == errno.ENXIO:  # a pipe that nobody reads, or a socket
            raise _unfit(path) from None
        raise
    kind = os.fstat(fd).st_mode
    if not stat.S_ISREG(kind):
        os.close(fd)
        if stat.S_ISDIR(kind):
            raise OSError(errno.EISDIR, "Is a directory", str(path))
        raise _unfit(path)
    return fd


def opened(path: Path | str) -> BinaryIO:
    """The regular file ``path``, open for reading."""
    return open(open_regular(path), "rb")


def content(path: Path | str) -> bytes:
    """The whole content of the regular file ``path``."""
    with opened(path) as file:
        return file.read()


def overwrite(path: Path | str, content: bytes) -> None:
    """Make ``content`` the whole content of the regular file ``path``, in place: for what others
    hold a lock on, and for what a crash may damage.
    """
    with open(open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
        file.write(content)


def refuse_links(*folders: Path) -> None:
    """Raise ``OSError`` if one of the ``folders`` is a symlink: what is written or removed there
    would be somebody's own.
    """
    for folder in folders:
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "Is a symbolic link", str(folder))


def links(folder: Path) -> Iterator[str]:
    """The symlinks in a folder and the folders in it, as paths below it."""
    for root, folders, names in os.walk(folder):
        for path in (Path(root, name) for name in (*folders, *names)):
            if path.is_symlink():
                yield path.relative_to(folder).as_posix()


def _unfit(path: Path | str) -> OSError:
    return OSError(errno.EINVAL, "Not a regular file", str(path))
