"""Writes what a compaction removed as a line of the history, with one bullet for each stretch.

    - 2026-04-01 09:14 to 2026-04-01 10:02 (#3-9, 5d41402abc4b2a76): Ada plans her trip to Lisbon
      Ada plans a trip to Lisbon in May; flights and a hotel were chosen.

The times are those of what was said and done in the stretch, the ids those of its entries, and the
hash names the original. Stretches are taken as the compaction reports them, and written between two
turns, the oldest first. What a kill kept from being written is found at the next start: LIFE names
every stretch that ever left the context, and the newest lines of the history name those that were
written last. A stretch whose line is damaged is written again; one whose line can be read is not.

Each thing is told once. A stretch is left out if all its entries were told before: because its
compaction was taken back and made again, or because it only joins stretches that left the context
earlier, or repeats originals that were put back (what stands behind a reference was told when it
left).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from dory.errors import DoryError, Held
from dory.extensions.dream.history import History
from dory.identity import context, expand, heard_entry, life
from dory.identity.context import Entry
from dory.identity.identity import Identity
from dory.storage import files
from dory.text import formatting, references
from dory.types import Compacted

LOOKED_BACK = 4096
"""Lines of LIFE that are searched for stretches that a kill kept from being written, or that left
the context while no history was written.
"""
_NEWEST = 50
"""Lines of the history that are searched for what is written already: some may be damaged."""
_FIRST_STEP = 256
"""Lines of LIFE that are read first. Four times as many are read next."""
_SUMMARY_LINE_LIMIT = 2000
"""Characters."""
_HEAD = re.compile(r"^- [\w :-]* \(#(\d+)-(\d+), ([0-9a-f]+)\): ", re.MULTILINE)
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
_TIMED_KINDS = ("heard", "response", "notice")


class Consolidator:
    """Writes the history of one identity, in the loop's thread. ``log`` gets a line about what
    could not be looked at.
    """

    def __init__(self, identity: Identity, history: History, log: Callable[[str], None]) -> None:
        self._identity = identity
        self._history = history
        self._log = log
        self._taken: list[Compacted] = []
        self._searched = False
        self._told: _Told | None = None

    def take(self, record: Compacted) -> None:
        """A stretch has left the context, and that is on disk."""
        self._taken.append(record)

    def flush(self) -> None:
        """Write what was taken, as one entry. The first time also what a kill kept from being
        written. While another program holds the file, it waits for the next time.
        """
        if not self._searched:
            taken = {record.hash for record in self._taken}
            missed = [record for record in self._missed() if record.hash not in taken]
            self._taken = [*missed, *self._taken]
            self._searched = True
        new = self._untold(self._taken) if self._taken else []
        if new:
            records = sorted(new, key=lambda record: record.first)
            content = "\n".join(map(self._bullet, records))
            try:
                self._history.add(self._identity.now(), self._identity.redact(content))
            except Held as error:  # the turn goes on: nothing is lost by then
                self._log(f"{error}: what left the context is written later")
                return
            for record in records:
                self._known.add(record.first, record.last, record.hash)
        self._taken = []
        if new:
            self._history.note()

    @property
    def _known(self) -> "_Told":
        """What the history tells, read once in a process, when something leaves the context."""
        if self._told is None:
            self._told = _Told()
            for content in self._history.contents():
                for first, last, digest in _HEAD.findall(content):
                    self._told.add(int(first), int(last), digest)
        return self._told

    def _untold(self, records: Sequence[Compacted]) -> list[Compacted]:
        """Those of the records that tell something new, each once, in the order in which they left
        the context: an inner stretch leaves before the one that contains it.
        """
        new: list[Compacted] = []
        told = self._known.copy()
        for record in records:
            if not self._is_told(told, record.first, record.last, record.hash):
                new.append(record)
                told.add(record.first, record.last, record.hash)
        return new

    def _is_told(self, told: "_Told", first: int, last: int, digest: str) -> bool:
        """Whether the history tells of all entries of a stretch."""
        if digest in told.hashes:
            return True
        entries = self._entries(digest)
        if not entries:  # it cannot be read
            return bool(first) and told.covers(first, last)
        covered = all(self._is_entry_told(told, entry) for entry in entries)
        if covered:
            told.hashes.add(digest)
        return covered

    def _is_entry_told(self, told: "_Told", entry: Entry) -> bool:
        """Whether the history tells of an entry, or the entry only repeats an original that was put
        back and stands behind a reference of its own.
        """
        match entry.kind:
            case "uncompacted":
                return True
            case "compacted" if entry.hash not in told.hashes:
                try:
                    original = not expand.behind(entry, self._identity.blobs)
                except DoryError:  # the check reports it
                    return told.covers(entry.first, entry.last)
                return original or self._is_told(told, entry.first, entry.last, entry.hash or "")
            case "compacted":
                return True
        return told.covers(entry.first, entry.last)

    def _missed(self) -> list[Compacted]:
        """The stretches that LIFE names after the last one that is written, in order."""
        written = {
            digest
            for item in self._history.newest(_NEWEST)
            for _, _, digest in _HEAD.findall(item.content)
        }
        count = _FIRST_STEP
        while True:
            lines = files.tail(self._identity.life.path, count)
            compacted = [(digest, gist) for _, digest, gist in life.references(lines, "compacted")]
            last = max(
                (place for place, (digest, _) in enumerate(compacted) if digest in written),
                default=-1,
            )
            if last >= 0 or len(lines) < count or count >= LOOKED_BACK:
                break
            count *= 4
        if last < 0 and len(lines) == LOOKED_BACK:
            self._log(
                f"what faded before the last {LOOKED_BACK} lines of LIFE is passed over:"
                " it enters no history"
            )
        return [self._record(digest, gist) for digest, gist in compacted[last + 1 :]]

    def _record(self, digest: str, gist: str) -> Compacted:
        """What a compaction reported of a stretch, as far as it can still be found."""
        entry = self._identity.context.find(digest, "compacted")
        if entry:
            summary = references.unescape(entry.body)
            return Compacted(entry.first, entry.last, digest, entry.gist, summary, 0)
        entries = self._entries(digest)
        first = entries[0].first if entries else 0
        last = entries[-1].last if entries else 0
        return Compacted(first, last, digest, gist, "", 0)

    def _bullet(self, record: Compacted) -> str:
        times = sorted(self._times(record.hash))
        span = f"{times[0]} to {times[-1]}" if times else "some time"
        gist = formatting.one_line(record.gist)
        lines = [f"- {span} (#{record.first}-{record.last}, {record.hash}): {gist}"]
        for line in record.summary.splitlines():
            if line.strip():
                lines.append(f"  {formatting.one_line(line, _SUMMARY_LINE_LIMIT)}")
        return "\n".join(lines)

    def _times(self, digest: str) -> Iterator[str]:
        """The times of what was said or done in a stretch. Its first and its last entry are
        followed down to the originals.
        """
        entries = self._entries(digest)
        yield from _times(entries)
        for edge in (0, -1):
            inner = entries
            while inner and inner[edge].kind == "compacted":
                inner = self._entries(inner[edge].hash or "")
                yield from _times(inner)

    def _entries(self, digest: str) -> list[Entry]:
        """The entries of a stretch; none if it cannot be read, which the check reports."""
        try:
            return context.parse(self._identity.blobs.get(digest).body)
        except DoryError:
            return []


class _Told:
    """The ids of entries that the history tells of, and the hashes of their stretches."""

    def __init__(self) -> None:
        self.hashes: set[str] = set()
        self._spans: list[tuple[int, int]] = []  # in order, apart from each other

    def copy(self) -> "_Told":
        """Another one that tells the same."""
        other = _Told()
        other.hashes = set(self.hashes)
        other._spans = list(self._spans)
        return other

    def add(self, first: int, last: int, digest: str) -> None:
        """The history tells of a stretch."""
        self.hashes.add(digest)
        if not first:  # its blob could not be read
            return
        left = bisect_left(self._spans, first - 1, key=lambda span: span[1])
        right = bisect_right(self._spans, last + 1, key=lambda span: span[0])
        if left < right:
            first = min(first, self._spans[left][0])
            last = max(last, self._spans[right - 1][1])
        self._spans[left:right] = [(first, last)]

    def covers(self, first: int, last: int) -> bool:
        """Whether it tells of all ids from ``first`` to ``last``."""
        at = bisect_right(self._spans, first, key=lambda span: span[0]) - 1
        return at >= 0 and last <= self._spans[at][1]


def _times(entries: list[Entry]) -> Iterator[str]:
    """The times, to the minute, of what was said or done in the entries."""
    for entry in entries:
        if entry.kind not in _TIMED_KINDS:
            continue
        if entry.kind == "heard":
            at = heard_entry.read(entry.body).at.replace("T", " ")
        else:
            at = entry.about
        if match := _MINUTE.match(at):
            yield match[0]
