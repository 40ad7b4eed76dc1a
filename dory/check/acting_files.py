"""Files in an agent's folders that make other programs run something: a warning beside the check.
An agent cannot write them now, but it may have done so in an older Dory, or the home comes from
elsewhere. Or the person has put them there, as a ``.env``, and nothing is wrong.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from dory.text import file_names, formatting

_LOOKED_AT = ("workspace", "notes")
_OF_DESKTOPS = (
    *(".DS_Store", ".localized", "._*", ".directory", ".Trash*", ".trash", ".nfs*"),
    *(".*.sw?", ".~lock.*", ".#*", ".gitkeep", ".gitignore"),
)
"""What desktops and editors leave, and no program runs."""
_VAULT = "notes/.obsidian"
"""It is there when somebody opens the notes with Obsidian, which itself asks before it runs what
stands there.
"""
_TOLD = 20


def warnings(folder: Path) -> Iterator[str]:
    """One line for each such file or folder of the agent in ``folder``, and one for the rest."""
    found = list(_acting(folder))
    for path in found[:_TOLD]:
        yield (
            f"{formatting.one_line(path)}: git, a shell or an editor may run what stands there;"
            " unless you have put it there, remove it"
        )
    if len(found) > _TOLD:
        yield f"{len(found) - _TOLD} more files of such names"


def _acting(folder: Path) -> Iterator[str]:
    folders = [name for name in _LOOKED_AT if not (folder / name).is_symlink()]
    while folders:
        inner = folders.pop()
        try:
            entries = sorted(os.scandir(folder / inner), key=lambda entry: entry.name)
        except OSError:  # there is none, or it was just removed
            continue
        for entry in entries:
            path = f"{inner}/{entry.name}"
            if path == _VAULT or any(fnmatchcase(entry.name, name) for name in _OF_DESKTOPS):
                continue
            if file_names.acts(entry.name):
                yield path
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
