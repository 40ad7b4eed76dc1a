"""A Dream by rule: the changes of USER and MEMORY that the blocks of its prompt call for, in this
order.

1. What a person takes back in the history ("forget …", "… is no longer true") after the line was
   last changed: the line goes.
2. A fact that a person tells there, newer than every line on its subject, standing or removed: it
   replaces that line, or goes to the others of its kind, what somebody is or has into USER, all
   else into MEMORY.
3. A line of MEMORY that tells what somebody is or has: it goes into USER, where the newer of two on
   the same subject stays; unless it was removed from there since MEMORY has it.

The history tells when a stretch began and not when each sentence in it was said. A line that was
changed or removed since then is left to the agent, who heard the same. The first phase lists the
changes with their reasons; the second finds the same ones, and makes each by a tool line.
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
_DATED = re.compile(r"(.*?)(?:  ← (\d{4}-\d\d-\d\d \d\d:\d\d))?")
_STRETCH = re.compile(r"- (\d{4}-\d\d-\d\d \d\d:\d\d) .*")
_QUOTED = re.compile(r"  ([^\W\d_]+): “(.*[^…])”")
_PERSONAL = re.compile(r"[^\W\d_]+['’]s (?!.* \(\S+\)$).+|I(?:['’]m)? .+ \(\S+\)")


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done to the file ``name``, whose lines are ``before`` and shall be ``after``,
    and why.
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
    if "revise" not in reading.sections:
        listed = [
            f"{at}. {change.name}: {change.what}. Reason: {change.reason}."
            for at, change in enumerate(changes, 1)
        ]
        return "\n".join(listed) or "NOTHING"
    edits = [
        (change.reason, memory.edit(change.name, change.before, change.after)) for change in changes
    ]
    return "\n\n".join(
        f"{reason[:1].upper()}{reason[1:]}.\n{tool_calls.render([edit])}"
        for reason, edit in edits
        if edit
    )


class _Study:
    """The rules, over one prompt. A line that they write themselves has no date: whatever is told
    next is newer.
    """

    def __init__(self, reading: Reading) -> None:
        known = {
            name: list(_dated(reading, section))
            for name, section in ((USER, "user"), (MEMORY, "memory"))
        }
        self._files = {name: [line for line, _ in lines] for name, lines in known.items()}
        self._dates = {line: date for lines in known.values() for line, date in lines}
        self._removed = dict[str, str]()
        self._moved = dict[str, str]()
        for named, date in _dated(reading, "removed"):  # the newest first
            name, _, line = named.partition(": ")
            if line not in self._dates:
                self._removed.setdefault(line, date)
            elif name == USER:
                self._moved[line] = date
        self._limit = reading.memory_limit
        self.changes: list[Change] = []
        for since, speaker, text in sorted(_told(reading), key=lambda one: one[0]):
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
        """Unless what fits best has been removed already."""
        standing = [line for lines in self._files.values() for line in lines]
        line = memory.matching([*standing, *self._removed], subject, speaker)
        if line in standing and since > self._dates[line]:
            self._drop(
                memory.place(self._files, line),
                line,
                f"{speaker} took it back in the stretch from {since} on",
            )

    def _note(self, since: str, speaker: str, line: str) -> None:
        rivals = [
            memory.alike(lines, line) for lines in (*self._files.values(), list(self._removed))
        ]
        dates = [self._dates.get(rival, self._removed.get(rival, "")) for rival in rivals if rival]
        if line not in rivals[:2] and all(since > date for date in dates):
            name = (
                memory.place(self._files, line)
                if any(rivals[:2])
                else USER
                if _PERSONAL.fullmatch(line)
                else MEMORY
            )
            self._put(name, line, f"{speaker} told it in the stretch from {since} on")

    def _move(self, line: str) -> None:
        if line in self._moved and self._moved[line] >= self._dates[line]:
            return
        rival = memory.alike(self._files[USER], line)
        if not rival or (rival != line and self._dates[rival] < self._dates[line]):
            self._put(USER, line, "it is about a person")
        self._drop(MEMORY, line, "it is about a person, and USER.md tells it")

    def _put(self, name: str, line: str, reason: str) -> None:
        """Among the lines of a file, or in the place of the one on its subject; the oldest go when
        there is no room.
        """
        after, old = memory.noted(self._files[name], line, self._limit)
        fallen = len(self._files[name]) + (not old) - len(after)
        room = f", and remove the {fallen} oldest lines, for it is full" if fallen else ""
        self._change(
            name, after, (f"replace “{old}” by “{line}”" if old else f"add “{line}”") + room, reason
        )
        self._dates.setdefault(line, "")

    def _drop(self, name: str, line: str, reason: str) -> None:
        self._change(
            name, [kept for kept in self._files[name] if kept != line], f"remove “{line}”", reason
        )

    def _change(self, name: str, after: list[str], what: str, reason: str) -> None:
        self.changes.append(Change(name, self._files[name], after, what, reason))
        self._files[name] = after


def _dated(reading: Reading, section: str) -> Iterator[tuple[str, str]]:
    """The lines of a block with the minute in which each was last changed."""
    for line in reading.lines(section):
        if found := _DATED.fullmatch(line):
            yield found[1], found[2] or ""


def _told(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """What people are quoted with: when the stretch began, who, what."""
    since = ""
    for line in reading.lines("history"):
        if stretch := _STRETCH.fullmatch(line):
            since = stretch[1]
        elif quoted := _QUOTED.fullmatch(line):
            yield since, quoted[1], quoted[2]
