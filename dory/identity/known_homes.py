"""The homes that this person knows: those that were made here, and those whose SOUL and settings
they have looked at and agreed to. With each stand the endpoints that may get a key there.

What comes with a home cannot vouch for it. So this stands outside of all homes, in the person's own
folder ``~/.local/state/dory/homes/`` (or below XDG_STATE_HOME), one file for each home, which only
they can read:

    {"version": 1, "path": "/home/ada/dory", "id": "3f0c…", "endpoints": ["https://host/v1"]}

A home is known by its path and the id in its marker together. A copy elsewhere, and another home in
the same place, are not. The usual home is known without: whoever runs the program in a checkout
trusts what stands beside it, and their own data folder where it is installed. A record with an
empty id says that the home is not known any more, as something from elsewhere was put into it.
"""

import errno
import fcntl
import hashlib
import json
import os
import random
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dory import regular_files
from dory.config.endpoint import plain
from dory.identity import home as homes
from dory.identity import listing
from dory.storage import files
from dory.text.prompt_files import SEGMENT, SUMMARISE
from dory.text.typed_commands import default_home

OWN_TEXTS = ("dory.yaml", "SOUL.md", SEGMENT, SUMMARISE)
"""What of a home says how its agents are, beside the agents themselves."""
_VERSION = 1
_LOOKED_AT = 20


def knows(home: Path) -> bool:
    """Whether the person knows this home."""
    record = _read(home)
    if home.resolve() == default_home().resolve() and (record is None or record["id"]):
        return True
    if record is None or not record["id"]:
        return False
    id = homes.id_of(home)
    if not id and not listing.folders(home):  # it was wiped
        return home.is_dir() and home.stat().st_uid == os.geteuid()
    return bool(id) and record["id"] == id


def is_new(home: Path) -> bool:
    """Whether nobody has settled there, so that there is nothing to look at."""
    return not listing.folders(home) and not any(os.path.lexists(home / name) for name in OWN_TEXTS)


def endpoints(home: Path) -> frozenset[str]:
    """The endpoints of this home that may get a key which was not given in it."""
    record = _read(home)
    if record is None or record["id"] != homes.id_of(home):
        return frozenset()
    return frozenset(record["endpoints"])


def remember(home: Path, urls: Collection[str] = ()) -> None:
    """Let the person know this home, and that keys may go to these endpoints. Raises ``OSError``
    if that cannot be written.
    """
    with _alone(_folder()):  # or two who settle at once would give the home two ids
        homes.mark(home)
        _write(home, homes.id_of(home), endpoints(home) | {plain(url) for url in urls})


def forget(home: Path) -> None:
    """Let the person not know this home any more, nor where keys may go there: they are asked
    again. Raises ``OSError`` if that cannot be written.
    """
    with _alone(_folder()):
        _write(home, "", ())


def settle(home: Path) -> None:
    """Mark a home in which an agent is made. If it is new, the person knows it from now on."""
    if is_new(home) or knows(home):
        with suppress(OSError):  # then they are asked, as whoever looked at ``check`` was told
            remember(home)
    homes.mark(home)


def check() -> None:
    """Raise ``OSError`` if nothing can be written down about homes."""
    folder = _folder()
    with _alone(folder):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Within the block no other process writes there."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _folder() -> Path:
    """Where the records stand. Raises ``OSError`` if this user has no folder of their own: a
    relative one could stand in the very home that is in question.
    """
    for variable, below in (("XDG_STATE_HOME", ""), ("HOME", ".local/state")):
        if os.path.isabs(given := os.environ.get(variable, "")):
            return Path(given, below, "dory", "homes")
    state = os.path.expanduser("~/.local/state") if "HOME" not in os.environ else ""
    if not os.path.isabs(state):
        raise FileNotFoundError(errno.ENOENT, "neither XDG_STATE_HOME nor HOME names a folder")
    return Path(state, "dory", "homes")


def _path(home: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()
    return _folder() / f"{digest[:32]}.json"


def _read(home: Path) -> dict[str, Any] | None:
    """What is known of the home at that path; None if nothing is, or if it cannot be read: then the
    person is asked again.
    """
    try:
        record = json.loads(files.read_from(_path(home), 0))
        whole = (
            record["version"] == _VERSION
            and record["path"] == str(home.resolve())
            and isinstance(record["id"], str)
            and all(isinstance(url, str) for url in record["endpoints"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return record if whole else None


def _write(home: Path, id: str, urls: Collection[str]) -> None:
    path = _path(home)
    record = {
        "version": _VERSION,
        "path": str(home.resolve()),
        "id": id,
        "endpoints": sorted(urls),
    }
    if record != _read(home):
        files.replace(path, f"{json.dumps(record, ensure_ascii=False)}\n".encode())
        path.chmod(0o600)
        _forget_what_is_gone(path.parent)


def _forget_what_is_gone(folder: Path) -> None:
    """Remove records of homes that do not exist any more, as those of tests. A few are looked at
    each time, so that it costs the same however many there are.
    """
    there = list(folder.glob("*.json"))
    for path in random.sample(there, min(_LOOKED_AT, len(there))):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if not Path(json.loads(regular_files.content(path))["path"]).is_dir():
                path.unlink()
