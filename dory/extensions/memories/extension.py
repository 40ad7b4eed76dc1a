"""Long-term memories: the tools with which the agent keeps what must not fade, and what people see
of them. They are in ``extensions/memories/store.py``.

Copies that a link has brought are indexed between turns, some at a time.
"""

import re

from dory.errors import ToolError
from dory.extensions.memories.log import LAYER
from dory.extensions.memories.self_care import SelfCare
from dory.extensions.memories.store import CEILING, KINDS, Memory, MemoryStore
from dory.identity.identity import Identity
from dory.text import formatting, pages
from dory.turn import change_log
from dory.turn.extension import Command, Extension, Outcome, Tool, counted
from dory.turn.lessons import taught
from dory.types import Call

HITS = 10
"""Memories in one answer."""
LISTED = 20
"""Memories of each kind in the list for people."""
_SHOWN = 100
"""Characters of each in that list."""
_REST = "… and {} more, for which there is no room here: take other keywords, or an id"
_PAGED = re.compile(r"#?(\d{1,18}) page (\d{1,9})", re.ASCII | re.IGNORECASE)
_BESIDE = 250
"""Characters of a result that are left for ``_REST`` or ``_NEXT``."""
_NEXT = "… page {} of {}: RETRIEVE_SPECIFIC_MEMORIES {} page {} goes on"
_INDEXED = 100
"""Copies that are indexed between two turns."""
_NEARLY = 0.9
"""The share of the ceiling from which on the agent is told of it."""


class MemoryExtension(Extension):
    """The memories of one identity; ``limit`` is how many characters fit into one result."""

    name = "memories"
    freshness = "epoch"

    def __init__(self, identity: Identity, bank: MemoryStore, care: SelfCare, limit: int) -> None:
        self._identity = identity
        self._bank = bank
        self._care = care
        self._limit = limit

    def section(self) -> str:
        """How many memories there are. They change often, so it stays for an epoch."""
        if not self._bank.newest:
            return ""
        return f"Your long-term memory: {self._care.extent}; RETRIEVE_SPECIFIC_MEMORIES finds them."

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
        id = _number(
            call.given,
            "which one? write REMOVE_FROM_MEMORY <id>; RETRIEVE_SPECIFIC_MEMORIES <keywords> tells"
            " the ids",
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

    def listed(self, _: str) -> str:
        """Counts, and a line for each of the newest."""
        lines = [
            f"{memory.title}: {formatting.one_line(memory.text, _SHOWN)}"
            for kind in reversed(KINDS)
            for memory in self._bank.active(kind, LISTED, newest=True)
        ]
        if not lines:
            return "there are no long-term memories yet"
        return "\n".join([self._care.extent, *lines])

    def restore(self, argument: str) -> str:
        """The originals of a summary in its place. Raises ``ToolError`` when nothing stands behind
        it, or self-care is under way.
        """
        id = _number(
            argument, "which summary? write /restore-memories and its id; /memories lists them"
        )
        if self._care.wish:
            raise ToolError(
                "self-care is under way: /status tells how far it is; restore when it has ended"
            )
        if not self._bank.find(id):
            raise ToolError(f"there is no summary {id}: /memories lists them")
        restored = self._bank.restore(id)
        self._identity.notice(
            f"{restored:,} memories are active again in the place of summary {id}: a person has"
            " brought them back."
        )
        return (
            f"{restored:,} memories are active again in the place of summary {id};"
            f" {self._care.extent}"
        )

    def log(self, argument: str) -> str:
        """A page of the changes of all memories, or of one."""
        changes = self._bank.log.changes
        given, page = pages.wanted(argument)
        if not given:
            return change_log.listed(changes, LAYER, "/memory-log", page)
        id = _number(given, "which one? write /memory-log #17 and the memory's id, or a page")
        return change_log.told(changes, LAYER, f"/memory-log #{id}", page, [id], "text")

    def undo(self, number: int) -> str | None:
        """Take a change back. Raises ``ToolError`` while self-care sums the memories up."""
        changes = self._bank.log.changes
        if changes.find(LAYER, number) and self._care.wish:
            raise ToolError(
                "self-care is under way: /status tells how far it is; undo this when it has ended"
            )
        return change_log.undone(self._identity, changes, LAYER, number, self._bank.log)

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
    COMMANDS = (
        Command(
            "/memories  the agent's long-term memories and their summaries, the newest first",
            listed,
        ),
        Command(
            "/restore-memories <summary id>  bring back the memories for which a summary stands",
            restore,
        ),
        Command(
            "/memory-log [#id] [page]  every change of the memories, or of one: when, by whom, what"
            " was before and after",
            log,
        ),
    )


def _number(text: str, otherwise: str) -> int:
    """The id that somebody has written, also with a ``#``. Raises a ``ToolError`` with
    ``otherwise`` if it is none.
    """
    digits = text.strip().removeprefix("#")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 19):
        raise ToolError(otherwise)
    return int(digits)


def _shown(memory: Memory) -> str:
    """Word for word. Its further lines are indented, so none looks like another memory."""
    return f"{memory.title}: " + "\n    ".join(memory.text.splitlines())
