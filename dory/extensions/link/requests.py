"""The two files with which one agent of a home asks another for its memories.

    links/<asker>-<sharer>.request.json
        {"version": 1, "asked": "2026-03-02T12:00:00.000000Z"}
    links/<asker>-<sharer>.answer.json
        {"version": 1, "asked": "…", "shared": "…", "blob": "5d41402abc4b2a76"}

Only the asker writes and removes the request, only the sharer the answer. An answer names its
request by its time; an empty ``blob`` says that the memories are being prepared. The asker removes
the request when it has taken the memories, or waits no longer; then the sharer removes the answer.
So a kill at any instant leaves files that tell how to continue.
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
TIME_TO_ANSWER = timedelta(minutes=2)
"""How long a request may be answered."""
_VERSION = 1
_NAME = re.compile(r"([0-9a-f]{16,64})-([0-9a-f]{16,64})\.(request|answer)\.json")


@dataclass(frozen=True, slots=True)
class LinkMessage:
    """A request, or the answer to it, which has ``shared``.

    The ``blob`` of an answer is empty while the memories are being prepared.
    """

    asked: datetime
    shared: datetime | None = None
    blob: str = ""

    def in_time(self, now: datetime) -> bool:
        """Whether a request may still be answered.

        A request from the future is too late: nobody knows when the clock was put back.
        """
        return timedelta(0) <= now - self.asked <= TIME_TO_ANSWER


@dataclass(frozen=True, slots=True)
class LinkFiles:
    """The files of an asker and a sharer, named by their hashes, in ``folder``."""

    folder: Path
    asker: str
    sharer: str

    @property
    def request(self) -> LinkMessage | None:
        """The request that is there now. Raises ``FormatError``, as ``answer`` does."""
        return _read(self._path("request"))

    @property
    def answer(self) -> LinkMessage | None:
        """The answer that is there now, whichever request it is for."""
        return _read(self._path("answer"))

    def ask(self, at: datetime) -> None:
        """Write a request, in place of an older one. For the asker."""
        self._write("request", LinkMessage(at))

    def share(self, answer: LinkMessage) -> None:
        """Write an answer. For the sharer."""
        self._write("answer", answer)

    def withdraw(self) -> None:
        """Remove the request. For the asker, when it waits no longer."""
        self._remove("request")

    def clear(self) -> None:
        """Remove the answer. For the sharer, when nobody waits for it."""
        self._remove("answer")

    def _path(self, kind: str) -> Path:
        return self.folder / f"{self.asker}-{self.sharer}.{kind}.json"

    def _write(self, kind: str, message: LinkMessage) -> None:
        if not self.folder.exists():
            self.folder.mkdir(exist_ok=True)
            files.sync_folder(self.folder.parent)
        fields = {"version": _VERSION, "asked": clock.exact(message.asked)}
        if message.shared:
            fields["shared"] = clock.exact(message.shared)
            fields["blob"] = message.blob
        files.replace(self._path(kind), json.dumps(fields).encode())

    def _remove(self, kind: str) -> None:
        self._path(kind).unlink(missing_ok=True)
        files.sync_folder(self.folder)


def links(folder: Path, own: str) -> list[LinkFiles]:
    """All pairs of agents of which the agent ``own`` is one."""
    pairs = {
        (name[1], name[2]) for path in folder.glob("*.json") if (name := _NAME.fullmatch(path.name))
    }
    return [LinkFiles(folder, *pair) for pair in sorted(pairs) if own in pair]


def changed(folder: Path) -> int | None:
    """When a file was last added to ``folder`` or removed, in nanoseconds since 1970.

    0 if there is no folder; None if that was a moment ago, as a further change may have the same
    time.
    """
    stamp = FileStamp.at(folder)
    if stamp is None:
        return 0
    return stamp.modified if stamp.settled else None


def problems(folder: Path, known: Collection[str]) -> Iterator[str]:
    """What is wrong with these files, one line each. ``known`` are the hashes of all agents.

    A request to an agent that sleeps is no problem.
    """
    for path in sorted(folder.glob("[!.]*")):
        name = f"{FOLDER}/{formatting.one_line(path.name)}"
        hashes = _NAME.fullmatch(path.name)
        if not hashes:
            yield f"{name} is no message between agents: remove it"
            continue
        gone = [hash for hash in (hashes[1], hashes[2]) if hash not in known]
        if gone:
            yield f"{name} is stale: there is no agent {gone[0]}; remove it"
            continue
        try:
            _read(path)
        except (FormatError, OSError) as error:
            yield str(error)


def _read(path: Path) -> LinkMessage | None:
    return json_file.read(
        path, _VERSION, _message, "remove it, and the agents ask again", f"{FOLDER}/{path.name}"
    )


def _message(fields: dict[str, Any]) -> LinkMessage:
    shared = fields.get("shared")
    blob = fields.get("blob", "")
    if not isinstance(blob, str):
        raise TypeError("blob must be text")
    asked = clock.moment(fields["asked"])
    return LinkMessage(asked, clock.moment(shared) if shared else None, blob)
