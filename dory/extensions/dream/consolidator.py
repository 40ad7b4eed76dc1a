"""Writes what a compaction removed as a line of the history, with one bullet for each stretch.

    - 2026-04-01 09:14 to 2026-04-01 10:02 (#3-9, 5d41402abc4b2a76): Ada plans her trip to Lisbon
      Ada plans a trip to Lisbon in May; flights and a hotel were chosen.

The times are those of what was said and done in the stretch, the ids those of its entries, and the
hash names the original. Stretches are taken as the compaction reports them, and written between two
turns, the oldest first. What a kill kept from being written is found at the next start: LIFE names
every stretch that ever left the context, and the newest lines of the history name those that were
written last. A stretch whose line is damaged is written again; one whose line can be read is not.
"""

import re
from collections.abc import Callable, Iterator

from dory.errors import DoryError
from dory.extensions.dream.history import History
from dory.identity import context, heard_entry, life
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
_HASH = re.compile(r"^- [\w :-]* \(#[\d-]+, ([0-9a-f]+)\): ", re.MULTILINE)
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

    def take(self, record: Compacted) -> None:
        """A stretch has left the context, and that is on disk."""
        self._taken.append(record)

    def flush(self) -> None:
        """Write what was taken, as one entry. The first time also what a kill kept from being
        written.
        """
        if not self._searched:
            taken = {record.hash for record in self._taken}
            missed = [record for record in self._missed() if record.hash not in taken]
            self._taken = [*missed, *self._taken]
            self._searched = True
        if self._taken:
            records = sorted(self._taken, key=lambda record: record.first)
            content = "\n".join(map(self._bullet, records))
            self._history.add(self._identity.now(), self._identity.redact(content))
            self._taken = []
            self._history.note()

    def _missed(self) -> list[Compacted]:
        """The stretches that LIFE names after the last one that is written, in order."""
        written = {
            digest
            for item in self._history.newest(_NEWEST)
            for digest in _HASH.findall(item.content)
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
