"""The names of the agents of a home, running or not: those that share a room, and all."""

import os
from functools import lru_cache
from pathlib import Path

from dory.errors import DoryError
from dory.identity import listing, state


def names(home: Path, room: str) -> list[str]:
    """Return the names of all agents of ``home`` that are in ``room``, in order of their hash. An
    agent whose state cannot be read has none.
    """
    present: list[str] = []
    with os.scandir(home / "agents") as folders:
        for folder in sorted(folders, key=lambda entry: entry.name):
            link = os.path.join(folder.path, "subs", f"{room}.md")
            if not folder.name.startswith(".") and os.path.lexists(link):
                try:
                    present.append(_name(folder.path))
                except (DoryError, OSError):
                    continue
    return present


def all_names(home: Path) -> list[str]:
    """Return the names of all agents of ``home``, wherever they are."""
    found: list[str] = []
    for folder in listing.folders(home):
        try:
            found.append(_name(str(folder)))
        except (DoryError, OSError):
            continue
    return found


@lru_cache(maxsize=1024)
def _name(folder: str) -> str:
    """Cached: an agent keeps its name for life."""
    return state.load(Path(folder) / "state.json").name
