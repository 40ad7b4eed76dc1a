"""What passes between two agents of one home, one of which asks the other for its memories: two
files, each written and removed by one of them.

    links/<asker>-<sharer>.request.json    {"version": 1, "asked": "2026-03-02T12:00:00.000000Z"}
    links/<asker>-<sharer>.answer.json     {"version": 1, "asked": "…", "shared": "…", "blob": "5d41402abc4b2a76"}

The request is the asker's, the answer the sharer's. An answer names the request that it is for by
its time, and says with an empty ``blob`` that the memories are on their way. The asker removes the
request when the memories are its own, or when it waits no longer; then the sharer removes the
answer. So a kill at any instant leaves files that tell how to go on.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from dory import clock
from dory.errors import FormatError
from dory.storage import files, json_file
from dory.storage.watched_files import FileStamp
from dory.text import formatting

FOLDER = "links"
PATIENCE = timedelta(minutes=2)
"""For which a request may be answered."""
_VERSION = 1
_NAME = re.compile(r"([0-9a-f]{16,64})-([0-9a-f]{16,64})\.(request|answer)\.json")


@dataclass(frozen=True, slots=True)
class LinkMessage:
    """A request, or the answer to it, which has ``shared``; its ``blob`` is empty as long as the
    memories are on their way.
    """

    asked: datetime
    shared: datetime | None = None
    blob: str = ""

    def in_time(self, now: datetime) -> bool:
        """Whether a request may still be answered. One from the future is late: nobody knows when
        the clock was put back.
        """
        return timedelta(0) <= now - self.asked <= PATIENCE


@dataclass(frozen=True, slots=True)
class LinkFiles:
    """What passes between an asker and a sharer, named by their hashes, below ``folder``."""

    folder: Path
    asker: str
    sharer: str

    @property
    def request(self) -> LinkMessage | None:
        """As it stands now. Raises ``FormatError``, here and below."""
        return _read(self._path("request"))

    @property
    def answer(self) -> LinkMessage | None:
        """As it stands now, whichever request it is for."""
        return _read(self._path("answer"))

    def ask(self, at: datetime) -> None:
        """The asker's: a new request takes the place of an old one."""
        self._write("request", LinkMessage(at))

    def share(self, answer: LinkMessage) -> None:
        """The sharer's."""
        self._write("answer", answer)

    def withdraw(self) -> None:
        """The asker's: it waits no longer."""
        self._remove("request")

    def clear(self) -> None:
        """The sharer's: nobody waits for its answer."""
        self._remove("answer")

    def _path(self, kind: str) -> Path:
        return self.folder / f"{self.asker}-{self.sharer}.{kind}.json"

    def _write(self, kind: str, letter: LinkMessage) -> None:
        if not self.folder.exists():
            self.folder.mkdir(exist_ok=True)
            files.sync_folder(self.folder.parent)
        told = {"version": _VERSION, "asked": clock.exact(letter.asked)}
        if letter.shared:
            told |= {"shared": clock.exact(letter.shared), "blob": letter.blob}
        files.replace(self._path(kind), json.dumps(told).encode())

    def _remove(self, kind: str) -> None:
        self._path(kind).unlink(missing_ok=True)
        files.sync_folder(self.folder)


def links(folder: Path, own: str) -> list[LinkFiles]:
    """Those of one agent."""
    pairs = {
        (found[1], found[2])
        for path in folder.glob("*.json")
        if (found := _NAME.fullmatch(path.name))
    }
    return [LinkFiles(folder, *pair) for pair in sorted(pairs) if own in pair]


def changed(folder: Path) -> int | None:
    """When something was last put into ``folder`` or taken out, in nanoseconds since 1970; 0 when
    there is none, None when that was a moment ago, as another change may have the same time.
    """
    stamp = FileStamp.at(folder)
    if stamp is None:
        return 0
    return stamp.modified if stamp.settled else None


def problems(folder: Path, known: Collection[str]) -> Iterator[str]:
    """What is wrong with these files, one line each, if the agents ``known`` are all. What waits
    for one that sleeps is in order.
    """
    for path in sorted(folder.glob("[!.]*")):
        name, found = f"{FOLDER}/{formatting.one_line(path.name)}", _NAME.fullmatch(path.name)
        if not found:
            yield f"{name} is no message between agents: remove it"
        elif gone := next((hash for hash in (found[1], found[2]) if hash not in known), ""):
            yield f"{name} is stale: there is no agent {gone}; remove it"
        else:
            try:
                _read(path)
            except (FormatError, OSError) as error:
                yield str(error)


def _read(path: Path) -> LinkMessage | None:
    return json_file.read(
        path, _VERSION, _letter, "remove it, and the agents ask again", f"{FOLDER}/{path.name}"
    )


def _letter(told: dict[str, Any]) -> LinkMessage:
    shared, blob = told.get("shared"), told.get("blob", "")
    if not isinstance(blob, str):
        raise TypeError("blob must be text")
    return LinkMessage(clock.moment(told["asked"]), clock.moment(shared) if shared else None, blob)
