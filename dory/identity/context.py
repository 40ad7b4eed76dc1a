"""The live context: entries with stable ids, and how they are added and replaced. ``context.md``
holds exactly what the prompt shows.

    [dory-context 1 epoch 3]
    [#1-9 compacted ◱hash=5d41402abc4b2a76 gist=Ada plans her trip to Lisbon◲]
    Ada plans a trip to Lisbon in May; flights and a hotel were chosen.
    [#10 heard dev]
    [USER:ada 2026-11-21T07:38:02Z] what was my hotel called?

An entry is a header line and a body. Bodies are kept escaped, so a stretch of entries is a
byte-exact slice of the file, and the blob of a compacted stretch can be parsed back into the
entries that it replaced. Ids only rise. An entry that replaces a stretch covers its ids. Between
two epochs entries are only added at the end; ``replace`` needs a new epoch.

Kinds: ``notice`` from the harness, ``heard`` in a room, ``response`` of the model, ``result`` and
``error`` of a tool line, ``compacted`` (reference and summary in place of a stretch),
``uncompacted`` (an original that was put back).
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
"""The beginning of a notice that repeats a changed section of the system message. Existing contexts
are searched for it, so it must not be edited.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``first`` and ``last`` are the ids that it covers, ``about`` is the end of its
    header, ``body`` is escaped.
    """

    first: int
    last: int
    kind: str
    about: str
    body: str

    @property
    def ids(self) -> str:
        """The ids as the header has them: ``12`` or ``12-19``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def header(self) -> str:
        """The first line."""
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
        """The blob that a compacted or uncompacted entry stands for; None for other entries."""
        if self.kind not in ("compacted", "uncompacted"):
            return None
        named = references.live(self.about)
        return named[0][0] if named else None

    @property
    def gist(self) -> str:
        """The gist of that blob; empty for other entries."""
        return references.live(self.about)[0][1] if self.hash else ""


def compacted(first: int, last: int, hash: str, gist: str, summary: str) -> Entry:
    """Return the entry that replaces the entries ``first`` to ``last``."""
    return Entry(
        first, last, "compacted", references.reference(hash, gist), references.escape(summary)
    )


def render(entries: Iterable[Entry]) -> str:
    """Return the entries as one text, which ``parse`` reads back."""
    return "".join(entry.text for entry in entries)


def parse(text: str) -> list[Entry]:
    """Return the entries in ``text``, which ``render`` gives back byte for byte.

    Raises ``FormatError`` if the text has another form, or the ids do not rise.
    """
    entries: list[Entry] = []
    for block in re.split(r"^(?=\[#)", text, flags=re.MULTILINE):
        if not block:
            continue
        header, _, body = block.partition("\n")
        parts = _HEADER.fullmatch(header)
        entry = None
        if parts:
            first = int(parts[1])
            last = int(parts[2] or parts[1])
            entry = Entry(first, last, parts[3], parts[4] or "", body[:-1])
        if not entry or entry.text != block:
            raise FormatError(f"the context has a damaged entry at {header[:60]!r}")
        if entry.last < entry.first or (entries and entry.first <= entries[-1].last):
            raise FormatError(f"the context's ids do not rise at {header[:60]!r}")
        entries.append(entry)
    return entries


def heading(epoch: int) -> str:
    """Return the first line of ``context.md``."""
    return f"[dory-context {VERSION} epoch {epoch}]\n"


def read_epoch(content: bytes) -> tuple[int, str]:
    """Return the epoch of a ``context.md`` and the text of its entries. Raises ``FormatError`` if
    it is damaged or of an unknown version.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"context.md is damaged: {error}") from error
    parts = _HEADING.match(text)
    if not parts or int(parts[1]) != VERSION:
        first_line = text.partition("\n")[0]
        raise UnknownVersion("context.md", first_line, VERSION, "put the right file back")
    return int(parts[2]), text[parts.end() :]


class Context:
    """The entries in order, and their text, which is read far more often than it changes. Does not
    touch the disk.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries = list(entries)
        """Oldest first. Only ``add`` and ``replace`` change the list."""
        self._text: str | None = None
        """None: to be made of all entries."""
        self._fresh: list[str] = []
        """Texts of entries that are not in ``_text`` yet: to join them one by one would copy the
        whole context for each of thousands of lines.
        """

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    @property
    def text(self) -> str:
        """The rendered context."""
        if self._text is None:
            self._text = render(self.entries)
        elif self._fresh:
            self._text += "".join(self._fresh)
        self._fresh.clear()
        return self._text

    @property
    def characters(self) -> int:
        """The size of the rendered context."""
        return len(self.text)

    def add(self, entry: Entry) -> None:
        """Add ``entry`` at the end."""
        self._fresh.append(entry.text)
        self.entries.append(entry)

    def replace(self, old: Sequence[Entry], new: Sequence[Entry]) -> None:
        """Replace the neighbouring entries ``old`` by ``new``. Raises ``ValueError`` if ``old`` are
        not there side by side.
        """
        start = self.entries.index(old[0])
        end = start + len(old)
        if self.entries[start:end] != list(old):
            raise ValueError("those entries do not stand together")
        self.entries[start:end] = new
        self._text = None

    def find(self, hash: str, kind: str) -> Entry | None:
        """Return the newest entry of that kind that stands for the blob ``hash``."""
        for entry in reversed(self.entries):
            if entry.kind == kind and entry.hash == hash:
                return entry
        return None

    def summary_of(self, hash: str) -> str | None:
        """Return the summary that stands for ``hash``, as it was written; None if there is none."""
        entry = self.find(hash, "compacted")
        return references.unescape(entry.body) if entry else None


def eligible(entries: Sequence[Entry], pinned: Iterable[int]) -> list[list[Entry]]:
    """Return what a compaction may replace: the entries within the first two thirds of the
    characters, as runs between the pinned ones.
    """
    characters_left = sum(entry.size for entry in entries) * 2 // 3
    pinned_ids = set(pinned)
    runs: list[list[Entry]] = [[]]
    for entry in entries:
        characters_left -= entry.size
        if characters_left < 0:
            break
        if entry.first in pinned_ids:
            runs.append([])
        else:
            runs[-1].append(entry)
    return [run for run in runs if run]


def about(call: Call) -> str:
    """Return what the header of a result says about its call: the tool and the first argument.

    The rest stands in the response just above, and each header costs tokens.
    """
    return formatting.one_line(f"{call.tool} {call.named[0]}", ABOUT_LIMIT)


def titles(calls: Iterable[Call]) -> str:
    """Return what a notice calls these tool lines."""
    return "; ".join(formatting.one_line(call.title, ABOUT_LIMIT) for call in calls) or "none"
