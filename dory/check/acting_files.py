"""Files in an agent's folder that make other programs run something: a warning beside the check.
An agent cannot write them now, but it may have done so in an older Dory, or the home comes from
elsewhere. Or the person has put them there, as a ``.env``, and nothing is wrong.

The agent's own ``.git`` is a repository on purpose: only what git would run of it is told, and the
links in it.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from dory import regular_files
from dory.extensions.dream import repository
from dory.text import file_names, formatting

_OF_DESKTOPS = (
    *(".DS_Store", ".localized", "._*", ".directory", ".Trash*", ".trash", ".nfs*"),
    *(".*.sw?", ".~lock.*", ".#*", ".gitkeep", ".gitignore"),
)
"""What desktops and editors leave, and no program runs."""
_OF_KILLS = (".salvage-*", f".{'[0-9a-f]' * 16}.tmp")
_OF_DORY = (".cursor", ".dream_cursor", "subs", "notes/.obsidian")
"""What Dory makes. The last is there when somebody opens the notes with Obsidian, which itself asks
before it runs what stands there.
"""
_VERSIONS = ".git"
_RUN_BY_GIT = ("commondir", "config.worktree", "modules", "worktrees")
_TOLD = 20


def warnings(folder: Path) -> Iterator[str]:
    """One line for each such file or folder of the agent in ``folder``, and one for the rest."""
    found = sorted([*_acting(folder), *_in_versions(folder / _VERSIONS)])
    for path in found[:_TOLD]:
        yield (
            f"{formatting.one_line(path)}: git, a shell or an editor may run what stands there;"
            " unless you have put it there, remove it"
        )
    if len(found) > _TOLD:
        yield f"{len(found) - _TOLD} more files of such names"


def _acting(folder: Path) -> Iterator[str]:
    folders = [""]
    while folders:
        inner = folders.pop()
        try:
            entries = list(os.scandir(folder / inner))
        except OSError:  # it was just removed
            continue
        for entry in entries:
            path = f"{inner}{entry.name}"
            if path == _VERSIONS or path in _OF_DORY or _is_left(entry.name):
                continue
            if file_names.acts(entry.name):
                yield path
            elif entry.is_dir(follow_symlinks=False):
                folders.append(f"{path}/")


def _is_left(name: str) -> bool:
    return any(fnmatchcase(name, left) for left in (*_OF_DESKTOPS, *_OF_KILLS))


def _in_versions(git: Path) -> Iterator[str]:
    if git.is_symlink() or not git.is_dir():
        return
    yield from (f"{_VERSIONS}/{name}" for name in _RUN_BY_GIT if os.path.lexists(git / name))
    with suppress(OSError):  # there are none
        for hook in os.listdir(git / "hooks"):
            if not hook.endswith(".sample"):
                yield f"{_VERSIONS}/hooks/{hook}"
    with suppress(OSError):  # it is made anew when the agent wakes; a link is told below
        if regular_files.content(git / "config") != repository.CONFIG.encode():
            yield f"{_VERSIONS}/config"
    yield from (f"{_VERSIONS}/{path}" for path in regular_files.links(git))
