"""Long-term memories: the tools with which the agent keeps what must not fade. They are in
``extensions/memories/store.py``; how people see and mend them is in
``extensions/memories/mending.py``.

Copies that a link has brought are indexed between turns, some at a time.
"""

import re

from dory.errors import ToolError
from dory.extensions.memories.record import NARRATIVE_LIMIT, Memory, numbered
from dory.extensions.memories.store import CEILING, MemoryStore
from dory.identity.identity import Identity
from dory.text import formatting, references
from dory.turn.extension import Extension, Outcome, Tool, counted
from dory.turn.lessons import taught
from dory.types import Call

ROOM = 2_000
"""Tokens of the narratives in the prompt, unless the context is small."""
_NARRATIVES = 20
"""Narratives in the prompt at most."""
_LEAST = 200
"""Characters of a narrative that is cut, at least."""
_HEADING = (
    "What you remember of long ago, as self-care has retold it."
    " RETRIEVE_SPECIFIC_MEMORIES <id> shows all of one."
)
HITS = 10
"""Memories in one answer."""
_REST = "… and {} more, for which there is no room here: take other keywords, or an id"
_PAGED = re.compile(r"(?:memory |summary )?#?(\d{1,18}) page (\d{1,9})", re.ASCII | re.IGNORECASE)
_BESIDE = 250
"""Characters of a result that are left for ``_REST`` or ``_NEXT``."""
_NEXT = "… page {} of {}: RETRIEVE_SPECIFIC_MEMORIES {} page {} goes on"
_INDEXED = 100
"""Copies that are indexed between two turns."""
_NEARLY = 0.9
"""The share of the ceiling from which on the agent is told of it."""


class MemoryExtension(Extension):
    """The memories of one identity; ``limit`` is how many characters fit into one result, ``room``
    how many tokens the narratives in the prompt may have.
    """

    name = "memories"
    freshness = "opening"

    def __init__(self, identity: Identity, bank: MemoryStore, limit: int, room: int = ROOM) -> None:
        self._identity = identity
        self._bank = bank
        self._limit = limit
        self._room = room

    def section(self) -> str:
        """The newest narratives of self-care, oldest first, as many as there is room for."""
        left = self._room
        lines: list[str] = []
        for summary in self._bank.active("Summary", _NARRATIVES, newest=True):
            line = f"{summary.title}: {formatting.one_line(summary.text, NARRATIVE_LIMIT)}"
            size = formatting.tokens(line)
            if size > left:  # as much of it as still says something
                characters = len(line) * left // size
                if characters >= _LEAST:
                    lines.insert(0, formatting.bounded(line, characters))
                break
            lines.insert(0, line)
            left -= size
        if not lines:
            return ""
        return "\n".join([_HEADING, *map(references.escape, lines)])

    def add(self, call: Call) -> Outcome:
        """A new memory."""
        made = self._bank.add(self._identity.redact(call.given), self._identity.now())
        tokens = self._bank.tokens
        nearly = (
            f"; your memories hold {tokens:,} of {CEILING:,} tokens: care for yourself soon"
            if tokens > _NEARLY * CEILING
            else ""
        )
        return Outcome(f"remembered as memory {made.id}{nearly}")

    def remove(self, call: Call) -> Outcome:
        """A memory, for good."""
        id = numbered(call.given)
        if id is None:
            raise ToolError(
                "which one? write REMOVE_FROM_MEMORY <id>; RETRIEVE_SPECIFIC_MEMORIES <keywords>"
                " tells the ids"
            )
        removed = self._bank.remove(id)
        return Outcome(f"removed {removed.title}: {formatting.one_line(removed.text)}")

    def retrieve(self, call: Call) -> Outcome:
        """The memories and summaries that fit best, word for word, as many as one result holds."""
        query = call.given.strip()
        if not query:
            raise ToolError(
                "which memories? write RETRIEVE_SPECIFIC_MEMORIES <keywords>: names, things, a"
                " month"
            )
        if named := _PAGED.fullmatch(query):
            return Outcome(self._page(self._bank.get(int(named[1])), int(named[2])))
        hits = self._bank.search(query, HITS)
        if not hits:
            return Outcome(
                f'no memories for "{formatting.one_line(query)}"; try other words, or RECALL, which'
                " searches more"
            )
        first, *others = [self._page(hits[0]), *map(_shown, hits[1:])]
        shown = [first]
        size = len(first)
        for text in others:
            size += len(text)
            if size > self._limit - len(_REST):
                shown.append(_REST.format(len(hits) - len(shown)))
                break
            shown.append(text)
        return Outcome("\n".join(shown))

    def _page(self, memory: Memory, number: int = 1) -> str:
        """The memory, or a page of it if one result does not hold the whole."""
        text = _shown(memory)
        length = self._limit - _BESIDE
        pages = [text[at : at + length] for at in range(0, len(text), length)]
        if not 0 < number <= len(pages):
            raise ToolError(
                f"there is no page {number} of {memory.title}: page {len(pages)} is its last"
            )
        page = pages[number - 1]
        if number < len(pages):
            page += "\n" + _NEXT.format(number, len(pages), memory.id, number + 1)
        return page

    def background(self) -> None:
        """Index some of the copies that wait for it."""
        if self._bank.behind:
            self._bank.catch_up(_INDEXED)

    def _stamp(self, _: Call) -> object:
        return self._bank.stamp

    TOOLS = taught(
        __file__,
        counted(
            "ADD_TO_LONGTERM_MEMORY <text>",
            add,
            _stamp,
            quiet=True,
            everyday=True,
            doing="remembers",
        ),
        counted("REMOVE_FROM_MEMORY <id>", remove, _stamp, quiet=True, doing="forgets a memory"),
        Tool("RETRIEVE_SPECIFIC_MEMORIES <keywords>", retrieve, looks_up=True, doing="recalls {}"),
    )


def _shown(memory: Memory) -> str:
    """Word for word. Its further lines are indented, so none looks like another memory."""
    return f"{memory.title}: " + "\n    ".join(memory.text.splitlines())
