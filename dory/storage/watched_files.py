"""The files of which versions are kept, on the disk: their bytes, which were touched, how one is
written that somebody may be editing.
"""

import errno
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from dory.errors import VersionError
from dory.storage import files
from dory.storage.files import open_regular
from dory.text.prompt_files import DURABLE

_SETTLED = 2.0
"""Seconds after which a file that was changed again would show another time of change, on any file
system.
"""

Contents = dict[str, bytes | None]
"""What files hold, by name; None for one that is not there."""
_Sign = tuple[int, int, int] | None


class Worktree:
    """USER.md, MEMORY.md and VOICE.md in one folder. Raises ``VersionError`` for what is no regular
    file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compared, self._same = (
            "",
            dict[str, _Sign](),
        )  # the files that are as this version has them, and by what a change would show

    def contents(self) -> Contents:
        """All of them."""
        return {name: self._content(name) for name in DURABLE}

    def differing(self, version: str, known: Callable[[], Mapping[str, bytes | None]]) -> Contents:
        """Those that are not what is ``known`` as of a version; that is asked for when one was
        touched or the version is another.
        """
        if version != self._compared:
            self._compared, self._same = version, {}
        signs = {
            name: self._sign(name) for name in DURABLE
        }  # before the content: what is written after it shows next time
        suspects = [
            name for name in DURABLE if name not in self._same or self._same[name] != signs[name]
        ]
        held = known() if suspects else {}
        found = {name: self._content(name) for name in suspects}
        differing = {name: content for name, content in found.items() if content != held.get(name)}
        self._same |= {
            name: signs[name]
            for name in suspects
            if name not in differing and _settled(signs[name])
        }
        return differing

    def write(self, name: str, before: bytes, after: bytes) -> None:
        """Write a file that holds ``before`` right now. Raises ``VersionError`` when it does not. A
        missing one is empty.
        """

        def sure() -> None:
            if (self._content(name) or b"") != before:
                raise VersionError(
                    f"somebody has just saved {name}, and it was left as it is: try again"
                )

        files.replace(self._folder / name, after, sure=sure)

    def go_over(self, before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
        """Write those that are as ``before``, and leave alone those that somebody has saved
        meanwhile; the names of those written.
        """
        now = self.contents()
        found = [name for name in DURABLE if (now[name] or b"") == before[name] != after[name]]
        for name in found:
            self.write(name, before[name], after[name])
        return found

    def _content(self, name: str) -> bytes | None:
        try:
            with open(open_regular(self._folder / name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR, errno.EINVAL):
                raise VersionError(
                    f"{name} is no regular file: put a text file in its place"
                ) from error
            raise

    def _sign(self, name: str) -> _Sign:
        """By what one sees, without reading it, that a file has been touched; None when there is
        none.
        """
        try:
            found = os.stat(self._folder / name, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def _settled(sign: _Sign) -> bool:
    return sign is None or abs(time.time() - sign[2] / 1e9) > _SETTLED
