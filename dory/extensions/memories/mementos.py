"""What stands in a memory bank: its entries, how long they may be, and what of them is indexed. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from dory import clock
from dory.errors import FormatError
from dory.llm.openai_format import encodable
from dory.search.passages import Document
from dory.text import references

Kind = Literal["Memory", "Summary"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEXT_LIMIT, NARRATIVE_LIMIT, ORIGIN_LIMIT = 2_000, 8_000, 100
"""Characters of a memory, of a summary, and of an origin."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry. ``origin`` is empty for what is the agent's own, else the name of who first had it, and its id there; ``summary`` is the id of
    what stands for it, None while it is active.
    """

    id: int
    kind: Kind
    text: str
    at: datetime
    origin: str = ""
    summary: int | None = None

    @property
    def title(self) -> str:
        """What it is, of when, from whom, and where it stands: ``memory 17 of 2026-03-02, from dory-5d41402a 9, in summary 501``."""
        archived = f", in summary {self.summary}" if self.summary else ""
        return f"{self.kind.lower()} {self.id} of {clock.minute(self.at)[:10]}{self.source}{archived}"

    @property
    def source(self) -> str:
        """From whom it was copied; empty for what is the agent's own."""
        return f", from {references.one_line(self.origin, ORIGIN_LIMIT)}" if self.origin else ""

    @property
    def document(self) -> Document:
        """As it is indexed."""
        return Document(self.kind, self.id, self.at, self.text)


def sound(one: Memory) -> bool:
    """Whether it can be written into a bank and read again as it is, whoever has filled it in."""
    readable = isinstance(one.text, str) and encodable(one.text) == one.text and isinstance(one.origin, str)
    dated = isinstance(one.at, datetime) and one.at.utcoffset() == timedelta(0)
    return readable and dated and one.kind in KINDS and one.text.strip() != "" and len(one.text) <= NARRATIVE_LIMIT


def check(copies: Iterable[Memory]) -> None:
    """Raise a ``FormatError`` unless a bank could have sent these."""
    for one in copies:
        named = (
            isinstance(one.origin, str) and 0 < len(one.origin) <= ORIGIN_LIMIT and one.origin.isprintable() and not set("◱◲") & set(one.origin)
        )
        if not (named and sound(one)):
            raise FormatError(f"{references.one_line(str(one.origin))!r} is no memory of a bank, or says not whose it is: nothing was copied")
