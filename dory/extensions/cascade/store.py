"""The summaries of a life, ``agents/<self>/summaries/``: texts that stand for memories, each with
the range of those that it covers.

    longterm.md                    everything before the short-term summary, from the first memory on
    recent.md                      the short-term summary
    recent-20261121-073802.md      a copy of each short-term summary there was; together they cover what both others do
    draft.md                       how far a run has come that has very much to read

Each is front matter and one line of text:

    ---
    dory: summary 1
    memories: 66-129
    at: 2026-11-21T07:38:02Z
    model: "offline"
    bytes: 11324
    check: 1203948
    ---
    Ada planned a trip to Lisbon. …

``bytes`` and ``check`` are the place in LIFE behind the last of the memories (see
``extensions/cascade/life_reader.py``), so the next run goes on there. What was covered when is told
by these ranges alone; there is no other counter. ``save`` writes long-term first, then the copy,
then ``recent.md``, each atomically. A kill after the first leaves a ``recent.md`` whose memories
the long-term summary holds already: it counts no more, and the next run makes the missing one. A
kill after the second leaves a copy that goes on where the long-term summary ends: ``mend`` makes it
``recent.md``. A damaged draft is passed over, as its memories are still to be summed up; any other
damage is refused, as nothing may be covered twice.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dory import clock
from dory.errors import FormatError, UnknownVersion
from dory.extensions.cascade.life_reader import BEGINNING, LifePosition
from dory.storage import files
from dory.text import front_matter

FOLDER = "summaries"
LONGTERM, RECENT, DRAFT, _COPY = "longterm.md", "recent.md", "draft.md", "recent-%Y%m%d-%H%M%S.md"
_OF_ONE = "put it back from a backup, or remove this one file: what it held is made anew, or stands in another"
_OF_ALL = "put it back from a backup; without one, remove the folder, and the whole life is summed up anew"
_VERSION = "dory: summary 1"
_FIELDS = ("dory", "memories", "at", "model", "bytes", "check")
_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of text that stands for the memories ``first`` to ``place.number``."""

    first: int
    place: LifePosition
    at: datetime
    model: str
    text: str

    @property
    def last(self) -> int:
        """The newest memory that it covers."""
        return self.place.number

    @property
    def content(self) -> bytes:
        """The file."""
        fields = {
            "dory": _VERSION.removeprefix("dory: "),
            "memories": f"{self.first}-{self.last}",
            "at": clock.second(self.at),
            "model": json.dumps(self.model, ensure_ascii=False),
            "bytes": self.place.end,
            "check": self.place.check,
        }
        return front_matter.join(fields, f"{self.text}\n").encode("utf-8", "replace")


class Summaries:
    """Those of one identity, as they stand in its folder. Only the loop's thread calls what writes."""

    def __init__(self, identity: Path) -> None:
        """Read them. Raises ``FormatError`` when one is damaged, of a version not known here, or
        does not go on where the other ends.
        """
        self.folder = identity / FOLDER
        self.longterm, self.recent = (read(self.folder / name) for name in (LONGTERM, RECENT))
        self.passed_over = ""
        """What is wrong with the draft; empty for nothing."""
        try:
            self.draft = read(self.folder / DRAFT)
        except FormatError as error:
            self.draft, self.passed_over = None, str(error)
        behind = self.longterm.last if self.longterm else 0
        newest = copies(identity)[-1:]
        copy = read(newest[0]) if newest else None
        self._newest = copy.at if copy else datetime.min.replace(tzinfo=UTC)
        known = self.recent.last if self.recent else 0
        self._unnamed = copy if copy and copy.first == behind + 1 and copy.last != known else None
        if self._unnamed or known <= behind:
            self.recent = self._unnamed
        if (self.recent and self.recent.first != behind + 1) or (
            self.longterm and self.longterm.first != 1
        ):
            raise FormatError(f"{self.folder} has a gap behind memory {behind}: {_OF_ALL}")

    @property
    def covered(self) -> LifePosition:
        """Behind the last memory that a summary covers."""
        newest = self.recent or self.longterm
        return newest.place if newest else BEGINNING

    @property
    def begun(self) -> Summary | None:
        """How far the next short-term summary has come, if a run has left one half done."""
        return self.draft if self.draft and self.draft.first == self.covered.number + 1 else None

    def moment(self, now: datetime) -> datetime:
        """When a summary that is saved now was made, in whole seconds: after the newest copy."""
        return max(now.replace(microsecond=0), self._newest + timedelta(seconds=1))

    def mend(self) -> None:
        """Complete what a kill has left: the copy that counts gets its place, half-written files
        go.
        """
        if self.folder.exists():
            files.sweep(self.folder)
        if self._unnamed:
            files.replace(self.folder / RECENT, self._unnamed.content)
            self._unnamed = None

    def keep(self, draft: Summary) -> None:
        """Note how far a run has come."""
        self._open()
        files.replace(self.folder / DRAFT, draft.content)
        self.draft = draft

    def save(self, longterm: Summary | None, recent: Summary) -> None:
        """One run's outcome; durable when this returns. ``longterm`` is None when the summary so
        far stays.
        """
        self._open()
        if longterm:
            files.replace(self.folder / LONGTERM, longterm.content)
            self.longterm, self.recent = longterm, None
        files.replace(self.folder / recent.at.strftime(_COPY), recent.content)
        self._newest = recent.at
        files.replace(self.folder / RECENT, recent.content)
        self.recent, self.draft = recent, None
        (self.folder / DRAFT).unlink(missing_ok=True)

    def _open(self) -> None:
        if not self.folder.exists():
            self.folder.mkdir()
            files.sync_folder(self.folder.parent)


def copies(identity: Path) -> list[Path]:
    """The time-stamped copies, oldest first: no two have the same second, and a later one has a
    later second whatever the clock says.
    """
    return sorted((identity / FOLDER).glob("recent-*.md"))


def second_of(copy: Path) -> int:
    """When a copy was made, by its name, in seconds since 1970; 0 for what is no copy's name."""
    try:
        return int(datetime.strptime(copy.name, _COPY).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return 0


def read(path: Path) -> Summary | None:
    """The summary in a file; None when there is none. Raises ``FormatError``."""
    content = files.read_from(path, 0).decode("utf-8", "replace")
    if not content:
        return None
    version = content.removeprefix("---\n").partition("\n")[0]
    if version != _VERSION and version.startswith("dory: summary "):
        raise UnknownVersion(path, version, _VERSION)
    try:
        fields, body = front_matter.split(content, _FIELDS)
        covered = _RANGE.fullmatch(fields["memories"])
        if not covered or int(covered[1]) > int(covered[2]):
            raise ValueError("its form is another")
        place = LifePosition(int(covered[2]), int(fields["bytes"]), int(fields["check"]))
        at = clock.of_second(fields["at"])
        model, text = json.loads(fields["model"]), body.removesuffix("\n")
        summary = Summary(int(covered[1]), place, at, model, text)
        if not isinstance(model, str) or "\n" in text or summary.content.decode() != content:
            raise ValueError("its form is another")
        return summary
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"{path} is damaged ({error}): {_OF_ALL if path.name == LONGTERM else _OF_ONE}"
        ) from error
