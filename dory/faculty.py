"""What a part of the mind offers to the loop: tools, commands, a section of the prompt, and work beside the loop.

A faculty is one file and one line in the list that ``agent.py`` holds. ``Faculty`` has a default for everything, so each says only what it
does. ``Faculties`` is the list in use, and the boundary: whatever a faculty raises is reported to the person and the agent, and the turn
goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from dory.errors import DoryError, ToolError
from dory.records import Call, Compacted, Event, Line
from dory.state import Opened
from dory.work import Job

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool gave: raw text. ``hash`` and ``opened`` are set when the text is an original put back, whose blob exists already."""

    text: str
    hash: str | None = None
    opened: Opened | None = None


def _no_mark(call: Call) -> str:
    return ""


def _never(call: Call, mark: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool line. ``run`` raises ``ToolError`` when nothing was changed.

    For the crash rule a tool with an effect leaves a ``mark`` before it runs and can tell from it afterwards whether it ``acted``.
    ``quiet``: its result need not be seen, so no further turn follows.
    """

    name: str
    usage: str
    run: Callable[[Call], Outcome]
    mark: Callable[[Call], str] = _no_mark
    acted: Callable[[Call, str], bool] = _never
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types with a slash, or with an ``@`` if ``called``. ``run`` takes the rest of the line and returns the answer; a
    ``DoryError`` is an answer too.
    """

    name: str
    usage: str
    run: Callable[[str], str]
    called: bool = False


Apply = Callable[[], None]
Work = Callable[[], Apply]
"""Work beside the loop: reads what it was given, calls a model, and returns what the loop shall do with the result between two turns."""


class Faculty:
    """One part of the mind. ``live`` sections are rendered each turn and paid in full, others once per epoch."""

    name = "faculty"
    live = False

    def tools(self) -> Sequence[Tool]:
        """The tool lines it adds."""
        return ()

    def commands(self) -> Sequence[Command]:
        """The commands it adds."""
        return ()

    def section(self) -> str:
        """Its part of the prompt; empty for none."""
        return ""

    def on_event(self, event: Event) -> None:
        """Something happened and is on disk."""

    def on_compacted(self, record: Compacted) -> None:
        """A stretch left the context and is on disk."""

    def cue(self, line: Line) -> str:
        """One line of what of the past a person's message may belong to; empty for nothing. It enters the context with the message."""
        return ""

    def background(self) -> Work | None:
        """Work that is due now, or None. Asked between turns; one work of a faculty runs at a time."""
        return None

    def progress(self) -> str:
        """How far its work beside the loop has come, in a few words; empty for nothing but its name."""
        return ""


class Faculties:
    """The faculties in order, with the boundary that keeps one's failure from the others."""

    def __init__(self, members: Sequence[Faculty], report: Callable[[str], None]) -> None:
        self.members = list(members)
        self._report = report
        self._jobs: dict[str, Job[Apply]] = {}
        self._told: set[str] = set()

    def tools(self) -> list[Tool]:
        """All tools, in order."""
        return [replace(tool, run=self._guarded(member, tool.name, tool.run)) for member in self.members for tool in member.tools()]

    def commands(self) -> list[Command]:
        """All commands, in order."""
        offered = [(member, command) for member in self.members for command in member.commands()]
        return [replace(command, run=self._guarded(member, f"/{command.name}", command.run)) for member, command in offered]

    def sections(self, live: bool) -> dict[str, str]:
        """The sections that are (not) live, in order, by name, each under a header with that name; without empty ones."""
        found: dict[str, str] = {}
        for member in self.members:
            if member.live == live:
                with self._boundary(member, "section"):
                    text = member.section()
                    found |= {member.name: f"[#{member.name}]\n{text}"} if text else {}
        return found

    def on_event(self, event: Event) -> None:
        """Tell all."""
        for member in self.members:
            with self._boundary(member, "event"):
                member.on_event(event)

    def on_compacted(self, record: Compacted) -> None:
        """Tell all."""
        for member in self.members:
            with self._boundary(member, "compacted stretch"):
                member.on_compacted(record)

    def cue(self, line: Line) -> str:
        """The first cue that one of them has for a message."""
        for member in self.members:
            with self._boundary(member, "cue"):
                if cue := member.cue(line):
                    return cue
        return ""

    def step(self) -> None:
        """Between turns: apply what has ended, start what is due."""
        for member in self.members:
            with self._boundary(member, "background work"):
                job = self._jobs.get(member.name)
                if job and job.done:
                    del self._jobs[member.name]
                    job.result()()
                if member.name not in self._jobs and (work := member.background()):
                    self._jobs[member.name] = Job(work, member.name)

    def under_way(self) -> list[str]:
        """Those that work beside the loop now, by name or in their own words."""
        found: list[str] = []
        for member in self.members:
            if member.name in self._jobs:
                with self._boundary(member, "progress"):
                    found.append(member.progress() or member.name)
        return found

    def _guarded(self, member: Faculty, where: str, run: Callable[[T], R]) -> Callable[[T], R]:
        """``run``, whose unforeseen failure is one that whoever called it can be told of."""

        def guarded(argument: T) -> R:
            failure: Exception = ToolError(f"{where} failed inside; it is reported, go on without it")
            with self._boundary(member, where):
                try:
                    return run(argument)
                except (DoryError, OSError) as foreseen:  # whoever called knows what to do with these
                    failure = foreseen
            raise failure

        return guarded

    @contextmanager
    def _boundary(self, member: Faculty, where: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            told = f"the faculty {member.name} failed at its {where}: {type(error).__name__}: {error}"
            if told not in self._told:  # once: the notice is an event itself, and a faculty may fail at every event
                self._told.add(told)
                self._report(told)
