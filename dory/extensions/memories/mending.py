"""How people see and mend the long-term memories: lists, one memory in full, and commands that add,
remove, correct and bring back.

The agent is told of each change by a notice. While self-care is under way only additions are
possible: what a narrative is just being made of must not change. A command that a kill cut short is
run again, so each of them does nothing more if its change is there already, and tells of it.
"""

import re

from dory.errors import ToolError
from dory.extensions.memories.log import LAYER
from dory.extensions.memories.record import PERSON, Memory, numbered
from dory.extensions.memories.self_care import SelfCare
from dory.extensions.memories.store import MemoryStore
from dory.identity.identity import Identity
from dory.text import formatting, pages
from dory.turn import change_log
from dory.turn.extension import Command, Extension

_SHOWN = 100
"""Characters of a memory in a list."""
_TOLD = 200
"""Characters of a memory in a notice to the agent."""
_NAMED = re.compile(r"(?:(?:memory|summary)\s+)?#?(\d+)[.:]?(?:\s+(.*))?", re.DOTALL | re.I | re.A)


class MendingExtension(Extension):
    """The commands about the memories of one identity."""

    name = "mending"

    def __init__(self, identity: Identity, bank: MemoryStore, care: SelfCare) -> None:
        self._identity = identity
        self._bank = bank
        self._care = care

    def listed(self, argument: str) -> str:
        """Counts, and a page of all that is active."""
        words, number = pages.wanted(argument)
        if words:
            raise ToolError("write /memories, or /memories and a page; /memory <id> shows one")
        summaries = self._bank.within(0, self._bank.newest, "Summary")
        total = self._bank.count + summaries
        if not total:
            return "there are no long-term memories yet"

        def lines(offset: int, length: int) -> list[str]:
            return [_line(memory) for memory in self._bank.page(offset, length)]

        return f"{self._care.extent}\n{pages.page('/memories', total, number, lines)}"

    def shown(self, argument: str) -> str:
        """One in full; for a summary also a page of what it stands for."""
        id, rest = _named(argument, "which memory? write /memory and its id; /memories lists them")
        if rest and not (rest.isascii() and rest.isdecimal() and len(rest) < 10):
            raise ToolError(f"write /memory {id}, or /memory {id} and a page of what it stands for")
        memory = self._found(id)
        text = f"{memory.title}:\n{memory.text}"
        if not (total := self._bank.stands_for(id)):
            return text

        def lines(offset: int, length: int) -> list[str]:
            return [_line(original) for original in self._bank.originals(id, offset, length)]

        page = pages.page(f"/memory {id}", total, int(rest or 1), lines)
        stands = f"it stands for {total:,} others (/restore-memories {id} brings them back):"
        return f"{text}\n\n{stands}\n{page}"

    def remember(self, text: str) -> str:
        """A memory that a person gives the agent."""
        text = self._identity.redact(text.strip())
        memory = self._bank.written_by_person(text)
        if memory:  # from before a kill, or it was said twice
            self._tell(f"wants you to remember memory {memory.id}", text)
            return f"it is remembered as {memory.title}"
        memory = self._bank.add(text, self._identity.now(), PERSON)
        self._tell(f"has added memory {memory.id}", text)
        return f"remembered as memory {memory.id}"

    def forget(self, argument: str) -> str:
        """A memory less."""
        id, rest = _named(argument, "which one? write /forget and its id; /memories lists them")
        if rest:
            raise ToolError(f"write /forget {id} alone, or /correct {id} and the right text")
        self._quiet()
        if not self._bank.find(id) and id <= self._bank.ever:
            self._tell(f"has removed memory {id}")
            return f"memory {id} is gone"
        self._found(id)
        removed = self._bank.remove(id)
        # without its text, which would stand in the context again
        self._tell(f"has removed {removed.title}")
        undo = f"/undo {self._bank.log.changes.last} takes that back"
        return f"removed {_line(removed)}; {undo}"

    def correct(self, argument: str) -> str:
        """A memory or a summary with the right text."""
        id, text = _named(
            argument, "which one? write /correct, its id and the right text; /memories lists them"
        )
        text = self._identity.redact(text)
        self._quiet()
        before = self._found(id)
        if before.text != text:
            self._bank.correct(id, text)
        now = f"{before.kind.lower()} {id}"
        self._tell(f"has corrected {now}; it says now", text)
        answer = f"{now} says that now"
        if before.summary:
            answer += (
                f"; summary {before.summary} stands for it and says what it said:"
                f" /memory {before.summary}"
            )
        return answer

    def restore(self, argument: str) -> str:
        """The originals of a summary in its place."""
        id, rest = _named(
            argument, "which summary? write /restore-memories and its id; /memories lists them"
        )
        self._quiet()
        if rest or not self._bank.find(id):
            raise ToolError(f"there is no summary {argument.strip()[:40]}: /memories lists them")
        restored = formatting.plural(self._bank.restore(id), "memory is", "memories are")
        self._identity.notice(
            f"{restored} active again in the place of summary {id}: a person has brought them back."
        )
        return f"{restored} active again in the place of summary {id}; {self._care.extent}"

    def log(self, argument: str) -> str:
        """A page of the changes of all memories, or of one."""
        changes = self._bank.log.changes
        given, page = pages.wanted(argument)
        if not given:
            return change_log.listed(changes, LAYER, "/memory-log", page)
        id = numbered(given)
        if id is None:
            raise ToolError("which one? write /memory-log #17 and the memory's id, or a page")
        return change_log.told(changes, LAYER, f"/memory-log #{id}", page, [id], "text")

    def undo(self, number: int) -> str | None:
        """Take a change back. Raises ``ToolError`` while self-care sums the memories up."""
        changes = self._bank.log.changes
        if changes.find(LAYER, number):
            self._quiet()
        return change_log.undone(self._identity, changes, LAYER, number, self._bank.log)

    def _found(self, id: int) -> Memory:
        memory = self._bank.find(id)
        if not memory:
            raise ToolError(f"there is no memory {id}: /memories lists them")
        return memory

    def _quiet(self) -> None:
        """Raise unless nothing is being summed up."""
        if self._care.wish:
            raise ToolError(
                "self-care is under way: /status tells how far it is; say it again when it has"
                " ended"
            )

    def _tell(self, what: str, text: str = "") -> None:
        """Tell the agent what a person has done."""
        said = f": {formatting.one_line(text, _TOLD)}" if text else "."
        self._identity.notice(f"A person {what}{said}")

    COMMANDS = (
        Command(
            "/memories [page]  the agent's long-term memories and their summaries, the newest"
            " first",
            listed,
            private=True,
        ),
        Command(
            "/memory <id> [page]  all of one memory; of a summary also what it stands for",
            shown,
            private=True,
        ),
        Command("/remember <text>  add a long-term memory", remember),
        Command(
            "/forget <id>  remove a long-term memory; /undo brings it back", forget, private=True
        ),
        Command(
            "/correct <id> <text>  replace the text of a memory or a summary", correct, private=True
        ),
        Command(
            "/restore-memories <summary id>  bring back the memories for which a summary stands",
            restore,
            private=True,
        ),
        Command(
            "/memory-log [#id] [page]  every change of the memories, or of one: when, by whom, what"
            " was before and after",
            log,
            private=True,
        ),
    )


def _line(memory: Memory) -> str:
    return f"{memory.title}: {formatting.one_line(memory.text, _SHOWN)}"


def _named(argument: str, otherwise: str) -> tuple[int, str]:
    """The id that a person has written, and what stands behind it. Raises a ``ToolError`` with
    ``otherwise`` if there is no id.
    """
    match = _NAMED.fullmatch(argument.strip())
    id = numbered(match[1]) if match else None
    if match is None or id is None:
        raise ToolError(otherwise)
    return id, (match[2] or "").strip()
