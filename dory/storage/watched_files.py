"""Files that other programs may edit: has one changed since it was last read (``FileStamp``), and
reading and writing the durable texts while somebody may be editing them (``Worktree``).
"""

import errno
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from dory import regular_files
from dory.errors import VersionError
from dory.storage import files
from dory.text.prompt_files import DURABLE

_SETTLED = 2 * 10**9
"""Nanoseconds after which another change shows another time of change, on any file system."""

Contents = dict[str, bytes | None]
"""The contents of files by name; None for a missing file."""


class FileStamp(NamedTuple):
    """What changes when a file or folder is edited or replaced, known without reading it."""

    device: int
    inode: int
    size: int
    modified: int
    """Nanoseconds since 1970."""

    @classmethod
    def of(cls, status: os.stat_result) -> "FileStamp":
        """The stamp in the answer of ``stat``."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    @classmethod
    def at(cls, path: Path, follow_symlinks: bool = True) -> "FileStamp | None":
        """The stamp of what is at ``path`` now; None if there is nothing."""
        try:
            return cls.of(os.stat(path, follow_symlinks=follow_symlinks))
        except FileNotFoundError:
            return None

    @property
    def file(self) -> tuple[int, int]:
        """Which file it is, whatever its content."""
        return self.device, self.inode

    @property
    def settled(self) -> bool:
        """Whether a change from now on is sure to change the stamp.

        A file system counts time in steps, so two changes within one step have the same time.
        """
        return abs(time.time_ns() - self.modified) > _SETTLED


class Worktree:
    """USER.md, MEMORY.md and VOICE.md in one folder. Raises ``VersionError`` if one of them is no
    regular file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._version = ""
        self._unchanged = dict[str, FileStamp | None]()
        """The files that are as ``_version`` has them, each with its stamp."""

    def contents(self) -> Contents:
        """The contents of all of them."""
        return {name: self._content(name) for name in DURABLE}

    def differing(self, version: str, known: Callable[[], Mapping[str, bytes | None]]) -> Contents:
        """Return the contents of the files that differ from what is ``known`` as of ``version``.

        ``known`` is called only if a file has changed since the last call, or the version has.
        """
        if version != self._version:
            self._version = version
            self._unchanged = {}
        suspects: dict[str, FileStamp | None] = {}
        for name in DURABLE:
            # before the content is read, so that a write in between shows next time
            stamp = FileStamp.at(self._folder / name, follow_symlinks=False)
            if name not in self._unchanged or self._unchanged[name] != stamp:
                suspects[name] = stamp
        versioned = known() if suspects else {}
        differing: Contents = {}
        for name, stamp in suspects.items():
            content = self._content(name)
            if content != versioned.get(name):
                differing[name] = content
            elif stamp is None or stamp.settled:
                self._unchanged[name] = stamp
        return differing

    def write(self, name: str, before: bytes, after: bytes) -> None:
        """Write a file that holds ``before`` right now, and raise ``VersionError`` if it does not.
        A missing file counts as an empty one.
        """

        def sure() -> None:
            if (self._content(name) or b"") != before:
                raise VersionError(
                    f"somebody has just saved {name}, and it was left as it is: try again"
                )

        files.replace(self._folder / name, after, sure=sure)

    def go_over(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
        """Write the files that still hold ``before``, leave alone those that somebody has saved
        meanwhile, and return the names of those that were written.
        """
        now = self.contents()
        names = [name for name in DURABLE if (now[name] or b"") == before[name] != after[name]]
        for name in names:
            self.write(name, before[name], after[name])
        return names

    def _content(self, name: str) -> bytes | None:
        try:
            return regular_files.content(self._folder / name)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.EINVAL):
                raise VersionError(
                    f"{name} is no regular file: put a text file in its place"
                ) from error
            raise
