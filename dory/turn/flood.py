"""Which lines an agent reads when far more was said than it can take in. Pure.

Between two turns it takes in at most ``LINES`` lines, and a part of its context. Of a room in which
more was said it reads the newest lines, those with which people address it, and the newest line of
everybody else. The others are passed over: they stay in the room's file, and one notice tells how
many there are, by whom, and where.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice

from dory.storage.room_parts import Part, Span
from dory.text import addressing, formatting

LINES = 1000
"""Lines that are taken in between two turns: they cost a second, and more would hide each other."""
MESSAGES = 8
"""So many of the longest messages are taken in between two turns, counted in characters: with them
a context of the usual size is full.
"""
NEWEST = 40
"""Lines of a room that are read in any case, the newest."""
PICKED = 20
"""Older lines that are read beside them at most."""
SCANNED = 4
"""Parts of a room that are looked at in one step: some 50,000 lines, a third of a second."""
_EACH = 3
"""Older lines of one person that are read because they address the agent."""
_LOOKED_AT = 2000
"""So many of the lines that name the agent are looked at, the newest: whether a line is said to it
takes much longer to find out.
"""
_NAMED = 3
"""People and agents that the notice names."""


_STRAY = re.compile(rb"^(?!\[(?:USER|AGENT|NOTICE):)\S[^\n]*\n", re.MULTILINE)


class Batch:
    """What was said in a room: the next ``parts`` of its file."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.start = parts[0].start
        self.end = parts[-1].end
        self._parts = {
            span: part for part in parts for span in part.spans() if span.kind != b"NOTICE"
        }
        self.said = list(self._parts)

    def chosen(self, own: str, names: Collection[str], newest: int) -> list[Span]:
        """The messages that the agent called ``own`` reads, in order. ``names`` are those of all
        agents in the room.
        """
        count = max(0, len(self.said) - newest)
        older, last = self.said[:count], self.said[count:]
        known = {span[:2] for span in last}
        others = (span for span in _newest_of_each(older) if span[:2] not in known)
        picked = chain(self._addressed(older, own, names), others)
        kept = {*last, *islice(dict.fromkeys(picked), PICKED)}
        return [span for span in self.said if span in kept]

    def message(self, span: Span) -> Part:
        """A message, without the stray lines behind it."""
        message = self._parts[span].within(span.start, span.end)
        stray = _STRAY.search(message.content, 1)
        return message.within(span.start, span.start + stray.start()) if stray else message

    def _addressed(self, spans: Sequence[Span], own: str, names: Collection[str]) -> Iterator[Span]:
        """The lines of people that address the agent, the newest first, a few of each person."""
        signs = [sign.lower().encode() for sign in _signs(own)]
        of_each: Counter[bytes] = Counter()
        looked_at = 0
        for span in reversed(spans):
            if span.kind != b"USER" or of_each[span.name] == _EACH or looked_at == _LOOKED_AT:
                continue
            text = self._parts[span].within(span.text, span.end).content
            folded = text.lower()
            if any(sign in folded for sign in signs):
                looked_at += 1
                if own in addressing.addressed(text.decode("utf-8", "replace").strip(), names):
                    of_each[span.name] += 1
                    yield span


def stray(parts: Sequence[Part]) -> Part | None:
    """The first line that has no tag and belongs to no message."""
    for part in parts:
        for found in _STRAY.finditer(part.content):
            if part.start + found.start():  # what stands there is the heading
                return part.within(part.start + found.start(), part.start + found.end())
    return None


def characters(parts: Sequence[Part], limit: int) -> int:
    """At most so many of them enter the context: of a long message, ``limit``."""
    return sum(min(span.end - span.start, limit) for part in parts for span in part.spans())


def wakes(parts: Sequence[Part], own: str, asked: Collection[str]) -> bool:
    """Whether a line in these parts may wake the agent called ``own``, which has ``asked`` these
    agents something.
    """
    signs = ["[USER:", *_signs(own), *(f"[AGENT:{name} " for name in asked)]
    folded = [part.content.lower() for part in parts]
    return any(sign.lower().encode() in content for sign in signs for content in folded)


def gaps(batch: Batch, kept: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """The parts of a batch in which nothing was ``kept``: for each the first byte, and the one
    behind the last.
    """
    start = batch.start
    for span in kept:
        if span.start > start:
            yield start, span.start
        start = span.end
    if batch.end > start:
        yield start, batch.end


def notice(room: str, passed: Sequence[str], first: int, last: int) -> str:
    """What the agent is told about the messages that were ``passed`` over, of each who said it.
    They stand between these lines of the room's file; 0: nobody has counted so far.
    """
    by = Counter(passed).most_common()
    who = [f"{count:,} by {name}" for name, count in by[:_NAMED]]
    if rest := sum(count for _, count in by[_NAMED:]):
        who.append(f"{rest:,} by {formatting.plural(len(by) - _NAMED, 'other')}")
    where = f"chats/{room}.md"
    read = f"READ_FILE {where}"
    if last:
        where += f", lines {first}-{last}"
        read += f" {first}-{min(first + NEWEST, last)}"
    return (
        f"{formatting.plural(len(passed), 'line')} in {room} were too many for you and not read:"
        f" {', '.join(who)}. They stand in {where}. {read} shows the first of them, RECALL finds"
        " them by their words. The newest, and those that were said to you, follow."
    )


def _signs(own: str) -> tuple[str, str]:
    """Two texts of which each line that names the agent holds one."""
    base, _, digits = own.rpartition("-")
    return base, digits[:4]


def _newest_of_each(spans: Sequence[Span]) -> Iterator[Span]:
    """The newest line of each person, then of each agent, the newest first."""
    newest = {(span.kind, span.name): span for span in spans}
    for kind in (b"USER", b"AGENT"):
        mine = (span for span in newest.values() if span.kind == kind)
        yield from sorted(mine, key=lambda span: span.start, reverse=True)
