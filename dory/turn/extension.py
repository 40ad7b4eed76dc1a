"""What a part of the mind offers to the loop: tools, commands, a section of the prompt, and work
beside the loop.

An extension is one file, its line in the table and its tools in the list of
``extensions/__init__.py``, and its name in the setting ``extensions``. ``Extension`` has a default
for everything, so each says only what it does. ``Extensions`` is the list in use, behind a
boundary: whatever a extension raises is reported to the person and the agent, and the turn goes on.

The boundary around the extensions, which keeps the failure of one from the others and from the
turn: here alone any exception is caught.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from dory.errors import DoryError, ToolError
from dory.identity.state import Opened
from dory.process.jobs import Job
from dory.types import Call, Compacted, Event, Line

T = TypeVar("T")
R = TypeVar("R")


class Boundary:
    """What is caught goes to ``report``, in a line that says whose failure it was; the same one
    once, for an extension may fail at every event, and what is reported is an event itself.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._told: set[str] = set()

    @contextmanager
    def around(self, name: str, where: str) -> Iterator[None]:
        """Catch and report whatever the extension ``name`` raises within the block."""
        try:
            yield
        except Exception as error:
            told = f"the extension {name} failed at its {where}: {type(error).__name__}: {error}"
            if told not in self._told:
                self._told.add(told)
                self._report(told)

    def guarded(self, name: str, where: str, run: Callable[[T], R]) -> Callable[[T], R]:
        """``run``, whose unforeseen failure is one that whoever called it can be told of."""

        def guarded(argument: T) -> R:
            failure: Exception = ToolError(
                f"{where} failed inside; it is reported, go on without it"
            )
            with self.around(name, where):
                try:
                    return run(argument)
                except (
                    DoryError,
                    OSError,
                ) as foreseen:  # whoever called knows what to do with these
                    failure = foreseen
            raise failure

        return guarded


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a tool gave: raw text. ``hash`` and ``opened`` are set when the text is an original put
    back, whose blob exists already.
    """

    text: str
    hash: str | None = None
    opened: Opened | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool line. ``run`` raises ``ToolError`` when nothing was changed.

    For the crash rule a tool with an effect leaves a ``mark`` before it runs and can tell from it
    afterwards whether it ``acted``. ``quiet``: its result need not be seen, so no further turn
    follows. ``hidden``: it keeps what it is given in a place of its own, and nothing else shall
    hold it; run again with the same, it changes nothing more. What it could not keep waits in the
    state's ``drafts``. ``veiled``: what it is given may quote that, so nothing of it but an id
    stands in anything that is kept.
    """

    name: str
    usage: str
    run: Callable[[Call], Outcome]
    mark: Callable[[Call], str] = lambda call: ""
    acted: Callable[[Call, str], bool] = lambda call, mark: False
    quiet: bool = False
    hidden: bool = False
    veiled: bool = False


def counted(usage: str, run: Callable[[Call], Outcome], count: Callable[[Call], object]) -> Tool:
    """A tool that acted if ``count`` gives something else than before it ran, as the number of
    writes to a table does.
    """

    def mark(call: Call) -> str:
        try:
            return str(count(call))
        except (DoryError, OSError):  # the tool itself will say what is wrong with the file
            return ""

    return Tool(
        usage.partition(" ")[0],
        usage,
        run,
        mark,
        lambda call, before: bool(before) and mark(call) not in ("", before),
    )


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types with a slash, or with an ``@`` if ``called``. ``run`` takes the rest of
    the line and returns the answer; a ``DoryError`` is an answer too.
    """

    name: str
    usage: str
    run: Callable[[str], str]
    called: bool = False


Apply = Callable[[], None]
Work = Callable[[], Apply]
"""Work beside the loop: reads what it was given, calls a model, and returns what the loop shall do
with the result between two turns.
"""


class Extension:
    """One part of the mind. ``live`` sections are rendered each turn and paid in full, others,
    whose names are single words, once per epoch.
    """

    name = "extension"
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

    def heading(self) -> str:
        """What its section's header says: its name, and perhaps some words about the section."""
        return self.name

    def on_event(self, event: Event) -> None:
        """Something happened and is on disk."""

    def on_compacted(self, record: Compacted) -> None:
        """A stretch left the context and is on disk."""

    def cue(self, line: Line) -> str:
        """One line of what of the past a person's message may belong to; empty for nothing. It
        enters the context with the message.
        """
        return ""

    def background(self) -> Work | None:
        """Work that is due now, or None. Asked between turns; one work of an extension runs at a
        time.
        """
        return None

    def progress(self) -> str:
        """How far its work beside the loop has come, in a few words; empty for nothing but its
        name.
        """
        return ""


class EpochSection:
    """A section as it stood when the epoch began, though what it tells of changes; ``epoch`` is the
    one that it was made in, -1 before.
    """

    def __init__(self) -> None:
        self.epoch = -1
        self._text = ""

    def at(self, epoch: int, make: Callable[[], str]) -> str:
        """The text for that epoch; ``make`` is asked once for each, and again if it raised."""
        if epoch != self.epoch:
            self._text = make()
            self.epoch = epoch
        return self._text


class ExtensionHost:
    """The extensions in order, with the boundary that keeps one's failure from the others."""

    def __init__(self, members: Sequence[Extension], report: Callable[[str], None]) -> None:
        self.members = list(members)
        self._boundary = Boundary(report)
        self._jobs: dict[str, Job[Apply]] = {}

    def tools(self) -> list[Tool]:
        """All tools, in order."""
        return [
            replace(tool, run=self._boundary.guarded(member.name, tool.name, tool.run))
            for member in self.members
            for tool in member.tools()
        ]

    def commands(self) -> list[Command]:
        """All commands, in order."""
        offered = [(member, command) for member in self.members for command in member.commands()]
        return [
            replace(
                command, run=self._boundary.guarded(member.name, f"/{command.name}", command.run)
            )
            for member, command in offered
        ]

    def sections(self, live: bool) -> dict[str, str]:
        """The sections that are (not) live, in order, by name, each under its header; without empty
        ones.
        """
        found: dict[str, str] = {}
        for member in self.members:
            if member.live == live:
                with self._boundary.around(member.name, "section"):
                    text = member.section()
                    found |= {member.name: f"[#{member.heading()}]\n{text}"} if text else {}
        return found

    def on_event(self, event: Event) -> None:
        """Tell all what happened; one that fails at it keeps it from no other."""
        for member in self.members:
            with self._boundary.around(member.name, "event"):
                member.on_event(event)

    def on_compacted(self, record: Compacted) -> None:
        """Tell all what left the context, likewise."""
        for member in self.members:
            with self._boundary.around(member.name, "compacted stretch"):
                member.on_compacted(record)

    def cue(self, line: Line) -> str:
        """The first cue that one of them has for a message."""
        for member in self.members:
            with self._boundary.around(member.name, "cue"):
                if cue := member.cue(line):
                    return cue
        return ""

    def step(self) -> None:
        """Between turns: apply what has ended, start what is due."""
        for member in self.members:
            with self._boundary.around(member.name, "background work"):
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
                with self._boundary.around(member.name, "progress"):
                    found.append(member.progress() or member.name)
        return found
