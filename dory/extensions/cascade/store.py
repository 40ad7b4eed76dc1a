"""The summaries of a life, ``agents/<self>/summaries/``: texts that each cover a range of events.

    longterm.md                    everything before the short-term summary, from the first event on
    recent.md                      the short-term summary
    recent-20261121-073802.md      a copy of each short-term summary that was made; together the
                                   copies cover what both summaries cover
    draft.md                       how far a run has come that has very much to read

Each file is front matter and one line of text:

    ---
    dory: summary 1
    memories: 66-129
    at: 2026-11-21T07:38:02Z
    model: "offline"
    bytes: 11324
    check: 1203948
    ---
    Ada planned a trip to Lisbon. …

``memories`` is the range of events. ``bytes`` and ``check`` are the position in LIFE behind the
last of them (``life_reader.py``), where the next run continues. These ranges alone say what is
covered; there is no other counter.

``save`` writes the long-term summary first, then the copy, then ``recent.md``, each atomically:

* After a kill behind the first write, ``recent.md`` covers events that the long-term summary covers
  already. It then does not count, and the next run makes the missing summary.
* After a kill behind the second write, the newest copy continues where the long-term summary ends.
  ``mend`` writes it to ``recent.md``.

A damaged draft is ignored, as its events are still to be summed up. Any other damage is refused, as
no event may be covered twice.
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
LONGTERM, RECENT, DRAFT = "longterm.md", "recent.md", "draft.md"
_COPY = "recent-%Y%m%d-%H%M%S.md"
_WITHOUT_ONE = (
    "put it back from a backup, or remove this one file: "
    "what it held is made anew, or stands in another"
)
_WITHOUT_ALL = (
    "put it back from a backup; "
    "without one, remove the folder, and the whole life is summed up anew"
)
_VERSION = "dory: summary 1"
_FIELDS = ("dory", "memories", "at", "model", "bytes", "check")
_RANGE = re.compile(r"(\d+)-(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of text that sums up the events ``first`` to ``place.number``."""

    first: int
    place: LifePosition
    at: datetime
    model: str
    text: str

    @property
    def last(self) -> int:
        """The newest event that it covers."""
        return self.place.number

    @property
    def content(self) -> bytes:
        """The content of the file."""
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
    """The summaries in the folder of one identity. Only the loop's thread calls what writes."""

    def __init__(self, identity: Path) -> None:
        """Read them.

        Raises ``FormatError`` if one is damaged, has an unknown version, or does not continue where
        the other ends.
        """
        self.folder = identity / FOLDER
        self.longterm = read(self.folder / LONGTERM)
        self.recent = read(self.folder / RECENT)
        self.draft: Summary | None = None
        self.passed_over = ""
        """What is wrong with the draft; empty if nothing is."""
        try:
            self.draft = read(self.folder / DRAFT)
        except FormatError as error:
            self.passed_over = str(error)
        behind = self.longterm.last if self.longterm else 0
        known = self.recent.last if self.recent else 0
        paths = copies(identity)
        copy = read(paths[-1]) if paths else None
        self._newest = copy.at if copy else datetime.min.replace(tzinfo=UTC)
        self._unnamed: Summary | None = None  # the copy that ``mend`` writes to ``recent.md``
        if copy and copy.first == behind + 1 and copy.last != known:
            self._unnamed = copy
        if self._unnamed or known <= behind:
            self.recent = self._unnamed
        gap = self.recent is not None and self.recent.first != behind + 1
        headless = self.longterm is not None and self.longterm.first != 1
        if gap or headless:
            raise FormatError(f"{self.folder} has a gap behind event {behind}: {_WITHOUT_ALL}")

    @property
    def covered(self) -> LifePosition:
        """The position behind the last event that a summary covers."""
        newest = self.recent or self.longterm
        return newest.place if newest else BEGINNING

    @property
    def begun(self) -> Summary | None:
        """The draft of the next short-term summary, if a run has left one."""
        return self.draft if self.draft and self.draft.first == self.covered.number + 1 else None

    def moment(self, now: datetime) -> datetime:
        """The time of a summary that is saved now, in whole seconds: after the newest copy's."""
        return max(now.replace(microsecond=0), self._newest + timedelta(seconds=1))

    def mend(self) -> None:
        """Finish what a kill has left: write the copy that counts to ``recent.md``, remove
        half-written files.
        """
        if self.folder.exists():
            files.sweep(self.folder)
        if self._unnamed:
            files.replace(self.folder / RECENT, self._unnamed.content)
            self._unnamed = None

    def keep(self, draft: Summary) -> None:
        """Write the draft of a run that has not read everything yet."""
        self._create_folder()
        files.replace(self.folder / DRAFT, draft.content)
        self.draft = draft

    def save(self, longterm: Summary | None, recent: Summary) -> None:
        """Write the outcome of a run; durable when this returns.

        ``longterm`` is None if the long-term summary stays as it is.
        """
        self._create_folder()
        if longterm:
            files.replace(self.folder / LONGTERM, longterm.content)
            self.longterm = longterm
            self.recent = None
        files.replace(self.folder / recent.at.strftime(_COPY), recent.content)
        self._newest = recent.at
        files.replace(self.folder / RECENT, recent.content)
        self.recent = recent
        self.draft = None
        (self.folder / DRAFT).unlink(missing_ok=True)

    def _create_folder(self) -> None:
        if not self.folder.exists():
            self.folder.mkdir()
            files.sync_folder(self.folder.parent)


def copies(identity: Path) -> list[Path]:
    """The time-stamped copies, oldest first.

    No two have the same second, and a later copy has a later second whatever the clock says.
    """
    return sorted((identity / FOLDER).glob("recent-*.md"))


def second_of(copy: Path) -> int:
    """When a copy was made, by its name, in seconds since 1970; 0 if the name is no copy's."""
    try:
        return int(datetime.strptime(copy.name, _COPY).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return 0


def read(path: Path) -> Summary | None:
    """The summary in a file; None if there is no file. Raises ``FormatError``."""
    content = files.read_from(path, 0).decode("utf-8", "replace")
    if not content:
        return None
    version = content.removeprefix("---\n").partition("\n")[0]
    if version != _VERSION and version.startswith("dory: summary "):
        raise UnknownVersion(path, version, _VERSION)
    try:
        summary = _summary(content)
        if "\n" in summary.text or summary.content.decode() != content:
            raise ValueError("its form is another")
        return summary
    except (ValueError, RecursionError) as error:
        way_out = _WITHOUT_ALL if path.name == LONGTERM else _WITHOUT_ONE
        raise FormatError(f"{path} is damaged ({error}): {way_out}") from error


def _summary(content: str) -> Summary:
    """The summary that a file holds. Raises ``ValueError``."""
    fields, body = front_matter.split(content, _FIELDS)
    events = _RANGE.fullmatch(fields["memories"])
    model = json.loads(fields["model"])
    if not events or int(events[1]) > int(events[2]) or not isinstance(model, str):
        raise ValueError("its form is another")
    return Summary(
        int(events[1]),
        LifePosition(int(events[2]), int(fields["bytes"]), int(fields["check"])),
        clock.of_second(fields["at"]),
        model,
        body.removesuffix("\n"),
    )
