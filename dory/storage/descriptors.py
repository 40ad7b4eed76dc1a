"""Opening what others may have put something else in place of. Regular files only: a pipe would make the house wait, a device never come to
its end, and a symlink lead to a file that is nobody's to read or write here. The kind is asked of the open file: nothing can be swapped.
"""

import errno
import os
import stat
from pathlib import Path


def regular(path: Path | str, flags: int = os.O_RDONLY, folder: int | None = None) -> int:
    """A descriptor of the regular file ``path``, below the open directory ``folder`` if given; the caller closes it. Else an ``OSError``."""
    fd = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, 0o666, dir_fd=folder)
    kind = os.fstat(fd).st_mode
    if not stat.S_ISREG(kind):
        os.close(fd)
        number, words = (errno.EISDIR, "Is a directory") if stat.S_ISDIR(kind) else (errno.EINVAL, "Not a regular file")
        raise OSError(number, words, str(path))
    return fd
