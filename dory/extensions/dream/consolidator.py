"""The consolidator: what a compaction removed becomes a line of the history, one bullet for each
stretch.

    - 2026-04-01 09:14 to 2026-04-01 10:02 (#3-9, 5d41402abc4b2a76): Ada plans her trip to Lisbon
      Ada plans a trip to Lisbon in May; flights and a hotel were chosen.

The times are those of what was said and done in the stretch, the ids those of its entries, and the
hash names the original. Stretches are taken as the compaction tells of them and written between two
turns, the oldest first. What a kill withheld is found at the next start: LIFE tells of every
stretch that ever left the context, the newest lines of the history name those that were written
last. What stood in a line that cannot be read any more is written again, what stands in one that
can is not.
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
"""Lines of LIFE that are searched for what a kill withheld, or for what faded while nobody wrote a
history.
"""
_NEWEST = 50
"""Lines of the history that are searched for what is written already: some may be damaged."""
_STEP = 256
_HASH = re.compile(r"^- [\w :-]* \(#[\d-]+, ([0-9a-f]+)\): ", re.MULTILINE)
_MINUTES = len("2026-04-01 09:14")


class Consolidator:
    """Writes the history of one identity, in the loop's thread; ``log`` is told what it could not
    look at.
    """

    def __init__(self, identity: Identity, history: History, log: Callable[[str], None]) -> None:
        self._identity = identity
        self._history = history
        self._log = log
        self._taken: list[Compacted] = []
        self._looked = False

    def take(self, record: Compacted) -> None:
        """A stretch has left the context, and that is on disk."""
        self._taken.append(record)

    def flush(self) -> None:
        """Write what was taken, as one entry; first of all, once, what a kill withheld."""
        if not self._looked:
            known = {record.hash for record in self._taken}
            self._taken = [
                *(record for record in self._withheld() if record.hash not in known),
                *self._taken,
            ]
            self._looked = True
        if self._taken:
            content = "\n".join(
                self._bullet(record)
                for record in sorted(self._taken, key=lambda record: record.first)
            )
            self._history.add(self._identity.now(), self._identity.redact(content))
            self._taken = []
            self._history.note()

    def _withheld(self) -> list[Compacted]:
        """The stretches that LIFE tells of behind the last one that is written, in order."""
        written = {
            hash for item in self._history.newest(_NEWEST) for hash in _HASH.findall(item.content)
        }
        path, count = self._identity.life.path, _STEP
        while True:
            lines = files.tail(path, count)
            told = [(hash, gist) for _, hash, gist in life.references(lines, "compacted")]
            last = max((at for at, (hash, _) in enumerate(told) if hash in written), default=-1)
            if last >= 0 or len(lines) < count or count >= LOOKED_BACK:
                break
            count *= 4
        if last < 0 and len(lines) == LOOKED_BACK:
            self._log(
                f"what faded before the last {LOOKED_BACK} lines of LIFE is passed over: it enters no history"
            )
        return [self._record(*one) for one in told[last + 1 :]]

    def _record(self, hash: str, gist: str) -> Compacted:
        """What a compaction told of a stretch, as far as it is still to be had."""
        entry = self._identity.context.find(hash, "compacted")
        if entry:
            return Compacted(
                entry.first, entry.last, hash, entry.gist, references.unescape(entry.body), 0
            )
        inside = self._inside(hash)
        return Compacted(
            inside[0].first if inside else 0, inside[-1].last if inside else 0, hash, gist, "", 0
        )

    def _bullet(self, record: Compacted) -> str:
        times = sorted(self._times(record.hash))
        span = f"{times[0]} to {times[-1]}" if times else "some time"
        gist = formatting.one_line(record.gist)
        summary = [
            f"  {formatting.one_line(line, 2000)}"
            for line in record.summary.splitlines()
            if line.strip()
        ]
        return "\n".join(
            [f"- {span} (#{record.first}-{record.last}, {record.hash}): {gist}", *summary]
        )

    def _times(self, hash: str) -> Iterator[str]:
        """When what stands in a stretch was said or done, its beginning and its end down to the
        originals.
        """
        entries = self._inside(hash)
        yield from _times(entries)
        for edge in (0, -1):
            inside = entries
            while inside and inside[edge].kind == "compacted":
                inside = self._inside(inside[edge].hash or "")
                yield from _times(inside)

    def _inside(self, hash: str) -> list[Entry]:
        """The entries of a stretch; none if it cannot be read, which the check tells."""
        try:
            return context.parse(self._identity.blobs.get(hash).body)
        except DoryError:
            return []


def _times(entries: list[Entry]) -> Iterator[str]:
    """When what stands in the entries was said or done, to the minute."""
    for entry in entries:
        at = (
            heard_entry.read(entry.body).at.replace("T", " ")
            if entry.kind == "heard"
            else entry.about
        )
        if entry.kind in ("heard", "response", "notice") and re.match(
            r"\d{4}-\d\d-\d\d \d\d:\d\d", at
        ):
            yield at[:_MINUTES]
