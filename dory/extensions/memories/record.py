"""A long-term memory as the store, a link and people hand it around."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from dory import clock
from dory.errors import FormatError
from dory.search.passages import Document
from dory.text import formatting
from dory.text.formatting import encodable

Kind = Literal["Memory", "Summary"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXT_LIMIT = 2_000
"""Characters of a memory."""
NARRATIVE_LIMIT = 8_000
"""Characters of a summary."""
ORIGIN_LIMIT = 100
"""Characters of an origin."""
PERSON = "a person"
"""The origin of a memory that a person has written or corrected."""
_ID = re.compile(r"(?:(?:memory|summary)\b)?\s*#?\s*(\d{1,18})[.:]?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory or a summary.

    ``origin`` is empty if it is the agent's own, ``PERSON`` if a person has written or corrected
    it, else the name of the agent that first had it and its id there. ``summary`` is the id of the
    summary that stands for it, None while it is active.
    """

    id: int
    kind: Kind
    text: str
    at: datetime
    origin: str = ""
    summary: int | None = None

    @property
    def title(self) -> str:
        """Kind, id, day, origin and summary: ``memory 17 of 2026-03-02, from dory-5d41402a 9, in
        summary 501``.
        """
        archived = f", in summary {self.summary}" if self.summary else ""
        return f"{self.kind.lower()} {self.id} of {clock.day(self.at)}{self.source}{archived}"

    @property
    def source(self) -> str:
        """From whom it is; empty if it is the agent's own."""
        return f", from {formatting.one_line(self.origin, ORIGIN_LIMIT)}" if self.origin else ""

    def copied_from(self, name: str) -> str:
        """The origin of a copy of it, which the agent ``name`` gives away. It stays the same when
        the text is corrected.
        """
        return f"{name} {self.id}" if self.origin in ("", PERSON) else self.origin

    @property
    def document(self) -> Document:
        """The memory as it is indexed."""
        return Document(self.kind, self.id, self.at, self.text)


def sound(memory: Memory) -> bool:
    """Whether a memory can be written and read again unchanged, whoever has filled it in."""
    if not isinstance(memory.text, str) or not isinstance(memory.origin, str):
        return False
    if not isinstance(memory.at, datetime) or memory.at.utcoffset() != timedelta(0):
        return False
    return (
        memory.kind in KINDS
        and encodable(memory.text) == memory.text
        and memory.text.strip() != ""
        and len(memory.text) <= NARRATIVE_LIMIT
    )


def check(copies: Iterable[Memory]) -> None:
    """Raise a ``FormatError`` unless a store can have sent these memories."""
    for memory in copies:
        if not (_named(memory.origin) and sound(memory)):
            origin = formatting.one_line(str(memory.origin))
            raise FormatError(
                f"{origin!r} is no memory of a bank, or says not whose it is: nothing was copied"
            )


def _named(origin: object) -> bool:
    """Whether an ``origin`` says whose a memory is. No other agent's is of a ``PERSON`` here."""
    return (
        isinstance(origin, str)
        and origin != PERSON
        and 0 < len(origin) <= ORIGIN_LIMIT
        and origin.isprintable()
        and not set("◱◲") & set(origin)
    )


def numbered(text: str) -> int | None:
    """The id that somebody has written, as ``17``, ``#17`` or ``memory 17``; None if it is none."""
    match = _ID.fullmatch(text.strip())
    return int(match[1]) if match else None
