"""A Dream by rule: the changes of USER and MEMORY that follow from the blocks of its prompt, in
this order.

1. A person takes something back in the history ("forget …", "… is no longer true"), after the line
   was last changed: the line is removed.
2. A person tells a fact in the history that is newer than every line on the same subject, standing
   or removed: it replaces the standing line. Without one it goes into USER if it says what somebody
   is or has, else into MEMORY.
3. A line of MEMORY says what somebody is or has: it moves to USER, where the newer of two lines on
   one subject stays. The line does not move if it was removed from USER after MEMORY got it.

The history gives the time when a stretch began, not when each sentence in it was said. So a line
that was changed or removed since that time is left as it is: the agent heard the same. The first
phase lists the changes with their reasons. The second phase finds the same changes again, and makes
each by a tool line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dory.offline import memory
from dory.offline.intents import as_fact, intent
from dory.offline.prompt_reader import Reading
from dory.text import tool_calls
from dory.text.prompt_files import MEMORY, USER

_OUTCOMES = {"changed", "refused", "read"}
"""The sections that tell what came of an edit."""
_DATED = re.compile(r"(.*?)(?:  ← (\d{4}-\d\d-\d\d \d\d:\d\d))?")
_STRETCH = re.compile(r"- (\d{4}-\d\d-\d\d \d\d:\d\d) .*")
_QUOTED = re.compile(r"  ([^\W\d_]+): “(.*[^…])”")
_PERSONAL = re.compile(r"[^\W\d_]+['’]s (?!.* \(\S+\)$).+|I(?:['’]m)? .+ \(\S+\)")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the file ``name`` from the lines ``before`` to the lines ``after``: ``what`` it
    is in words, and the ``reason``.
    """

    name: str
    before: list[str]
    after: list[str]
    what: str
    reason: str


def dream(reading: Reading) -> str:
    """The answer to one request of a Dream."""
    if _OUTCOMES & reading.sections.keys():
        return "DONE"
    changes = _Study(reading).changes
    if "revise" in reading.sections:
        return "\n\n".join(_tool_lines(changes))
    listed = [
        f"{number}. {change.name}: {change.what}. Reason: {change.reason}."
        for number, change in enumerate(changes, 1)
    ]
    return "\n".join(listed) or "NOTHING"


def _tool_lines(changes: list[Change]) -> Iterator[str]:
    """Each change as its reason and a tool line."""
    for change in changes:
        edit = memory.edit(change.name, change.before, change.after)
        if edit:
            reason = change.reason[:1].upper() + change.reason[1:]
            yield f"{reason}.\n{tool_calls.render([edit])}"


class _Study:
    """The rules, applied to one prompt. A line that they write has no date, so whatever is told
    next is newer.
    """

    def __init__(self, reading: Reading) -> None:
        dated = {USER: list(_dated(reading, "user")), MEMORY: list(_dated(reading, "memory"))}
        self._files = {name: [line for line, _ in lines] for name, lines in dated.items()}
        self._dates = {line: date for lines in dated.values() for line, date in lines}
        self._removed: dict[str, str] = {}  # lines that stand nowhere: when they were removed
        self._moved: dict[str, str] = {}  # lines of USER that stand in MEMORY: when they were moved
        for named_line, date in _dated(reading, "removed"):  # the newest first
            name, _, line = named_line.partition(": ")
            if line not in self._dates:
                self._removed.setdefault(line, date)
            elif name == USER:
                self._moved[line] = date
        self._limit = reading.memory_limit
        self.changes: list[Change] = []
        for since, speaker, text in sorted(_quotations(reading), key=lambda quoted: quoted[0]):
            self._hear(since, speaker, text)
        for line in filter(_PERSONAL.fullmatch, list(self._files[MEMORY])):
            self._move(line)

    def _hear(self, since: str, speaker: str, text: str) -> None:
        wish = intent(text)
        if wish.name == "forget":
            self._take_back(since, speaker, wish.subject[0])
        elif wish.name == "remember":
            for fact in wish.subject:
                self._note(since, speaker, memory.as_line(as_fact(fact), speaker))

    def _take_back(self, since: str, speaker: str, subject: str) -> None:
        """Remove the line that fits best, unless that one has been removed already."""
        standing = [line for lines in self._files.values() for line in lines]
        line = memory.matching([*standing, *self._removed], subject, speaker)
        if line in standing and since > self._dates[line]:
            reason = f"{speaker} took it back in the stretch from {since} on"
            self._drop(memory.place(self._files, line), line, reason)

    def _note(self, since: str, speaker: str, line: str) -> None:
        """Put a fact where it belongs, if it is newer than all lines on its subject."""
        standing = [rival for lines in self._files.values() if (rival := memory.alike(lines, line))]
        removed = memory.alike(list(self._removed), line)
        dates = [self._dates.get(rival, self._removed.get(rival, "")) for rival in standing]
        if removed:
            dates.append(self._dates.get(removed, self._removed[removed]))
        if line in standing or any(since <= date for date in dates):
            return
        if standing:
            name = memory.place(self._files, line)
        elif _PERSONAL.fullmatch(line):
            name = USER
        else:
            name = MEMORY
        self._put(name, line, f"{speaker} told it in the stretch from {since} on")

    def _move(self, line: str) -> None:
        """Move a line from MEMORY to USER."""
        if line in self._moved and self._moved[line] >= self._dates[line]:
            return
        rival = memory.alike(self._files[USER], line)
        if not rival or (rival != line and self._dates[rival] < self._dates[line]):
            self._put(USER, line, "it is about a person")
        self._drop(MEMORY, line, "it is about a person, and USER.md tells it")

    def _put(self, name: str, line: str, reason: str) -> None:
        """Put a line into a file: in place of the one on its subject, else at the end. The oldest
        lines go when the file is full.
        """
        before = self._files[name]
        after, old = memory.noted(before, line, self._limit)
        what = f"replace “{old}” by “{line}”" if old else f"add “{line}”"
        expected = len(before) if old else len(before) + 1
        fallen = expected - len(after)
        if fallen:
            what += f", and remove the {fallen} oldest lines, for it is full"
        self._change(name, after, what, reason)
        self._dates.setdefault(line, "")

    def _drop(self, name: str, line: str, reason: str) -> None:
        kept = [other for other in self._files[name] if other != line]
        self._change(name, kept, f"remove “{line}”", reason)

    def _change(self, name: str, after: list[str], what: str, reason: str) -> None:
        self.changes.append(Change(name, self._files[name], after, what, reason))
        self._files[name] = after


def _dated(reading: Reading, section: str) -> Iterator[tuple[str, str]]:
    """The lines of a section, each with the minute in which it was last changed."""
    for line in reading.lines(section):
        if match := _DATED.fullmatch(line):
            yield match[1], match[2] or ""


def _quotations(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """What people are quoted with in the history: when the stretch began, who, what."""
    since = ""
    for line in reading.lines("history"):
        if stretch := _STRETCH.fullmatch(line):
            since = stretch[1]
        elif quotation := _QUOTED.fullmatch(line):
            yield since, quotation[1], quotation[2]
