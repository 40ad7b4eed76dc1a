"""The live context: entries with stable ids, and what may be done to them. ``context.md`` holds
exactly what the prompt shows.

    [dory-context 1 epoch 3]
    [#1-9 compacted ◱hash=5d41402abc4b2a76 gist=Ada plans her trip to Lisbon◲]
    Ada plans a trip to Lisbon in May; flights and a hotel were chosen.
    [#10 heard dev]
    [USER:ada 2026-11-21T07:38:02Z] what was my hotel called?

An entry is a header line and a body. Bodies are kept in their escaped form, so a stretch of entries
is a byte-exact slice of the file, and the blob of a compacted stretch can be parsed back into the
entries it replaced. Ids only rise; an entry that replaces a stretch covers its ids. Between two
epochs entries are only added at the end; ``replace`` makes a new epoch.

Kinds: ``notice`` from the harness, ``heard`` in a room, ``response``, ``result`` and ``error`` of a
tool line, ``compacted`` (reference and summary in place of a stretch), ``uncompacted`` (an original
put back).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dory.constants import ABOUT_LIMIT
from dory.errors import FormatError, UnknownVersion
from dory.text import formatting, references
from dory.types import Call

_HEADER = re.compile(r"\[#([0-9]{1,15})(?:-([0-9]{1,15}))? ([a-z]+)(?: (.*))?\]")
_HEADING = re.compile(r"\[dory-context (0|[1-9][0-9]{0,14}) epoch (0|[1-9][0-9]{0,14})\]\n")
VERSION = 1
CHANGED = "A part of what stands above has changed and reads now:\n"
"""How a notice begins that tells a section of the system message anew. It is looked for in contexts
that stand: a mark, not a text to edit.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``first`` and ``last`` are the ids it covers, ``about`` what its header says,
    ``body`` is escaped.
    """

    first: int
    last: int
    kind: str
    about: str
    body: str

    @property
    def ids(self) -> str:
        """``12`` or ``12-19``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def header(self) -> str:
        """Its first line."""
        about = f" {self.about}" if self.about else ""
        return f"[#{self.ids} {self.kind}{about}]\n"

    @property
    def text(self) -> str:
        """The entry as it stands in the prompt."""
        return f"{self.header}{self.body}\n"

    @property
    def size(self) -> int:
        """Characters of its text."""
        return len(self.header) + len(self.body) + 1

    @property
    def hash(self) -> str | None:
        """The blob that a compacted or uncompacted entry stands for."""
        found = references.live(self.about) if self.kind in ("compacted", "uncompacted") else []
        return found[0][0] if found else None

    @property
    def gist(self) -> str:
        """The gist of that blob; empty for other entries."""
        return references.live(self.about)[0][1] if self.hash else ""


def compacted(first: int, last: int, hash: str, gist: str, summary: str) -> Entry:
    """The entry that stands in place of ``first`` to ``last``."""
    return Entry(
        first, last, "compacted", references.reference(hash, gist), references.escape(summary)
    )


def render(entries: Iterable[Entry]) -> str:
    """The entries as one text; ``parse`` reads it back."""
    return "".join(entry.text for entry in entries)


def parse(text: str) -> list[Entry]:
    """The entries in ``text``, which ``render`` gives back byte for byte. Raises ``FormatError``
    for another form, or ids out of order.
    """
    entries: list[Entry] = []
    for block in re.split(r"^(?=\[#)", text, flags=re.MULTILINE):
        header, _, body = block.partition("\n")
        found = _HEADER.fullmatch(header)
        if not block:
            continue
        entry = found and Entry(
            int(found[1]), int(found[2] or found[1]), found[3], found[4] or "", body[:-1]
        )
        if not entry or entry.text != block:
            raise FormatError(f"the context has a damaged entry at {header[:60]!r}")
        if entry.last < entry.first or (entries and entry.first <= entries[-1].last):
            raise FormatError(f"the context's ids do not rise at {header[:60]!r}")
        entries.append(entry)
    return entries


def heading(epoch: int) -> str:
    """The first line of ``context.md``."""
    return f"[dory-context {VERSION} epoch {epoch}]\n"


def read_epoch(content: bytes) -> tuple[int, str]:
    """The epoch of a ``context.md`` and the text of its entries. Raises ``FormatError`` for a
    version not known here.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"context.md is damaged: {error}") from error
    found = _HEADING.match(text)
    if not found or int(found[1]) != VERSION:
        first_line = text.partition("\n")[0]
        raise UnknownVersion("context.md", first_line, VERSION, "put the right file back")
    return int(found[2]), text[found.end() :]


class Context:
    """The entries in order, and the text that they make, which is needed far more often than it
    changes. Nothing here touches the disk.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        """The oldest first. Changed by ``add`` and ``replace`` alone."""
        self._text: str | None = None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def text(self) -> str:
        """The rendered context."""
        if self._text is None:
            self._text = render(self.entries)
        return self._text

    @property
    def characters(self) -> int:
        """The size of the rendered context."""
        return len(self.text)

    def add(self, entry: Entry) -> None:
        """Put ``entry`` at the end."""
        self._text = self.text + entry.text
        self.entries.append(entry)

    def replace(self, old: Sequence[Entry], new: Sequence[Entry]) -> None:
        """Put ``new`` where the neighbouring entries ``old`` stand. Raises ``ValueError`` when they
        do not stand there so.
        """
        at = self.entries.index(old[0])
        if self.entries[at : at + len(old)] != list(old):
            raise ValueError("those entries do not stand together")
        self.entries[at : at + len(old)] = new
        self._text = None

    def find(self, hash: str, kind: str) -> Entry | None:
        """The newest entry of that kind that stands for the blob ``hash``."""
        return next(
            (
                entry
                for entry in reversed(self.entries)
                if entry.kind == kind and entry.hash == hash
            ),
            None,
        )

    def summary_of(self, hash: str) -> str | None:
        """The summary that stands for ``hash``, as it was written, or None."""
        entry = self.find(hash, "compacted")
        return references.unescape(entry.body) if entry else None


def eligible(entries: Sequence[Entry], pinned: Iterable[int]) -> list[list[Entry]]:
    """What a compaction may touch: the entries within the first two thirds of the characters, as
    runs between pinned ones.
    """
    allowance = sum(entry.size for entry in entries) * 2 // 3
    stays = set(pinned)
    runs: list[list[Entry]] = [[]]
    for entry in entries:
        allowance -= entry.size
        if allowance < 0:
            break
        if entry.first in stays:
            runs.append([])
        else:
            runs[-1].append(entry)
    return [run for run in runs if run]


def about(call: Call, veiled: bool = False) -> str:
    """What the header of a result says of its call: the tool and the first word, as the rest stands
    in the response just above, and headers are paid for like all else. Of a ``veiled`` one it says
    the tool alone.
    """
    return formatting.one_line(f"{call.tool} {'' if veiled else call.named[0]}", ABOUT_LIMIT)


def titles(calls: Iterable[Call]) -> str:
    """What a notice calls these tool lines."""
    return "; ".join(formatting.one_line(call.title, ABOUT_LIMIT) for call in calls) or "none"
