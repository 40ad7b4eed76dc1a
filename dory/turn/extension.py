"""The interface between the turn and its extensions, and the host that runs them.

An ``Extension`` adds tools, commands, a section of the prompt, reactions to events, and work beside
the loop. Every method has a default that does nothing, so an extension writes only what it needs.
Tools and commands are declared at the end of the class: whatever else is to be known of them (which
tools exist, which results are indexed, which lines are look-ups, what the chat completes) is read
from these declarations, also while the extension is not in use.

The ``ExtensionHost`` holds the extensions in use and keeps the failure of one from the others and
from the turn (``turn/boundary.py``). It reports each failure once, and it retries failed background
work after a pause that grows, so an extension only raises.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Literal

from dory.clock import utc
from dory.errors import DoryError, SpendingLimit
from dory.identity.state import Opened
from dory.process.failures import Backoff, TellOnce
from dory.process.jobs import Job
from dory.turn.boundary import Boundary
from dory.types import Call, Compacted, Event, Line

Freshness = Literal["epoch", "change", "turn"]
"""When a section of the prompt is rendered.

``epoch``: once, when an epoch begins; a change in between shows in the next epoch. ``change``: the
same, but a change in between is told once, as an entry. ``turn``: in the tail of every prompt; its
tokens are paid in full each turn.
"""


class WorkFailed(DoryError):
    """Background work failed in a way that the extension foresaw. The text is for the agent; until
    the work succeeds, only the first one is told.
    """


class Postponed(DoryError):
    """Background work has to wait, and nobody need be told."""


class PartlyDone(DoryError):
    """Background work is done but for a damaged part, which is the ``__cause__``. That is reported
    once; the work goes on without a pause.
    """


@dataclass(frozen=True, slots=True)
class Outcome:
    """The raw result of a tool. If the tool put an original back, ``hash`` is the original's blob
    and ``opened`` is what the state keeps of it.
    """

    text: str
    hash: str | None = None
    opened: Opened | None = None


def _no_mark(*_: object) -> str:
    return ""


def _never_acted(*_: object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool line. ``usage`` begins with the tool's name. ``run`` takes the call and raises
    ``ToolError`` if it changed nothing; in a declaration the extension comes before the call.

    A tool with an effect returns a ``mark`` before it runs. After a crash, ``acted`` tells from the
    call and that mark whether the tool had its effect.

    ``quiet``: its result tells nothing new, so no further turn follows for it beside a SAY.
    ``looks_up``: it only searches or waits, so its line is not indexed. ``indexed``: its results
    enter the search index; most results only repeat what stands elsewhere. ``hidden``: it keeps its
    argument in a place of its own, and nothing else keeps it. To run a hidden tool twice with the
    same argument must change nothing.

    ``lesson``: what the prompt says below its usage, see ``turn/lessons.py``. ``everyday``: a
    prompt for a small window lists it with its usage, and of the others only the names. ``doing``:
    what people see meanwhile, such as ``recalls {}``, with the first argument in place of the
    braces; empty: the name in lower case.
    """

    usage: str
    run: Callable[..., Outcome]
    mark: Callable[..., str] = _no_mark
    acted: Callable[..., bool] = _never_acted
    quiet: bool = False
    looks_up: bool = False
    indexed: bool = False
    hidden: bool = False
    lesson: str = ""
    everyday: bool = False
    doing: str = ""

    @property
    def name(self) -> str:
        """The first word of its line."""
        return self.usage.partition(" ")[0]

    @property
    def acts(self) -> bool:
        """Whether it changes something: a mark tells then whether it has, or it is hidden."""
        return self.hidden or getattr(self.mark, "func", self.mark) is not _no_mark

    def bound(self, extension: "Extension") -> "Tool":
        """The declared tool as ``extension`` runs it."""
        return replace(
            self,
            run=partial(self.run, extension),
            mark=partial(self.mark, extension),
            acted=partial(self.acted, extension),
        )


def counted(
    usage: str,
    run: Callable[[Any, Call], Outcome],
    count: Callable[[Any, Call], object],
    quiet: bool = False,
    everyday: bool = False,
    doing: str = "",
) -> Tool:
    """A declared tool that acted if ``count`` differs from before, such as the number of writes to
    a table.
    """

    def mark(extension: object, call: Call) -> str:
        try:
            return str(count(extension, call))
        except (DoryError, OSError):  # the tool itself will say what is wrong with the file
            return ""

    def acted(extension: object, call: Call, before: str) -> bool:
        return bool(before) and mark(extension, call) not in ("", before)

    return Tool(usage, run, mark, acted, quiet=quiet, everyday=everyday, doing=doing)


@dataclass(frozen=True, slots=True)
class Command:
    """What a person types with a slash, or also with an ``@`` if ``called``. ``usage`` begins with
    the slash and the name. ``run`` takes the rest of the line and returns the answer; a
    ``DoryError`` is an answer, too. In a declaration the extension comes before the line.
    """

    usage: str
    run: Callable[..., str]
    called: bool = False

    @property
    def name(self) -> str:
        """The first word, without its slash."""
        return self.usage.split()[0].removeprefix("/")

    def bound(self, extension: "Extension") -> "Command":
        """The declared command as ``extension`` runs it."""
        return replace(self, run=partial(self.run, extension))


Apply = Callable[[], None]
Work = Callable[[], Apply]
"""Work beside the loop. It reads what it was given, calls a model, and returns what the loop has to
do with the result between two turns.
"""


class Extension:
    """One part of the mind."""

    name = "extension"
    """Also the header of its section. Unless the section is of the freshness ``turn``, one word."""
    freshness: Freshness = "change"
    pauses: tuple[float, float] = (2.0, 60.0)
    """Seconds until failed background work is tried again: after the first failure, and at most.
    With zeros the work has a schedule of its own.
    """
    doing = ""
    """What people see while its background work is under way, such as ``dreams``; empty: nothing.
    """
    GUIDANCE: ClassVar[str] = ""
    """What the prompt says of it beside the lessons of its tools."""
    TOOLS: ClassVar[tuple[Tool, ...]] = ()
    COMMANDS: ClassVar[tuple[Command, ...]] = ()

    def tools(self) -> Sequence[Tool]:
        """The tools it adds, in the order in which the prompt lists them."""
        return [tool.bound(self) for tool in self.TOOLS]

    def commands(self) -> Sequence[Command]:
        """The commands it adds, in the order in which ``/help`` lists them."""
        return [command.bound(self) for command in self.COMMANDS]

    def section(self) -> str:
        """Its part of the prompt; empty for none."""
        return ""

    def heading(self) -> str:
        """The header of its section: its name, and perhaps some words about the section."""
        return self.name

    def on_event(self, event: Event) -> None:
        """Something happened and is on disk."""

    def on_compacted(self, record: Compacted) -> None:
        """A stretch left the context and is on disk."""

    def cue(self, line: Line) -> str:
        """One line that names what a person's message may refer to; empty for none. It enters the
        context with the message.
        """
        return ""

    def background(self) -> Work | None:
        """Work that is due now, or None. Asked between turns, one work of an extension at a
        time.
        """
        return None

    def progress(self) -> str:
        """How far its background work is, in a few words; empty if its name says enough."""
        return ""

    def undo(self, number: int) -> str | None:
        """Take one of its logged changes back; None if the number is of none of them."""
        return None


class _Member:
    """What the host keeps of one extension: its work beside the loop, and its section."""

    def __init__(self, extension: Extension, report: Callable[[str], object]) -> None:
        self.extension = extension
        self.job: Job[Apply] | None = None
        self.backoff = Backoff(*extension.pauses)
        self.tell_failure = TellOnce(report, kind=lambda text: extension.name)
        self._epoch: int | None = None
        self._section = ""

    def section(self, epoch: int) -> str:
        """Its section as it has to stand in a prompt of ``epoch``, with its header."""
        if self.extension.freshness != "epoch":
            return self._rendered()
        if self._epoch != epoch:
            self._section = self._rendered()
            self._epoch = epoch
        return self._section

    def step(self, now: float) -> None:
        """Apply work that has ended; start work that is due. Raises what either raises."""
        try:
            if self.job and self.job.done:
                job = self.job
                self.job = None
                job.result()()
                self._succeeded()
            if not self.job and self.backoff.ready(now) and (work := self.extension.background()):
                self.job = Job(work, self.extension.name)
        except PartlyDone:
            self._succeeded()
            raise
        except SpendingLimit:  # no failure: the pause does not grow
            self.backoff.succeeded()
            self.backoff.failed(now)
            raise
        except Exception:
            self.backoff.failed(now)
            raise

    def _succeeded(self) -> None:
        self.backoff.succeeded()
        self.tell_failure.forget()

    def _rendered(self) -> str:
        text = self.extension.section()
        return f"[#{self.extension.heading()}]\n{text}" if text else ""


class ExtensionHost:
    """The extensions in use: ``members``, in order. ``report`` tells a failure to the person and
    the agent; ``now`` is the clock by which failed work pauses.
    """

    def __init__(
        self,
        members: Sequence[Extension],
        report: Callable[[str], object],
        now: Callable[[], datetime] = utc,
    ) -> None:
        self.members = list(members)
        self._report = report
        self._now = now
        self._boundary = Boundary(report)
        self._kept: dict[str, _Member] = {}

    def tools(self) -> list[Tool]:
        """All tools, in order."""
        return [
            replace(tool, run=self._boundary.guarded(extension.name, tool.name, tool.run))
            for extension in self.members
            for tool in extension.tools()
        ]

    def guidance(self) -> list[str]:
        """What the prompt says of them beside the lessons of their tools, in order."""
        return [extension.GUIDANCE for extension in self.members if extension.GUIDANCE]

    def commands(self) -> list[Command]:
        """All commands, in order."""
        return [
            replace(
                command,
                run=self._boundary.guarded(extension.name, f"/{command.name}", command.run),
            )
            for extension in self.members
            for command in extension.commands()
        ]

    def sections(self, *freshness: Freshness, epoch: int) -> dict[str, str]:
        """The sections of this ``freshness`` for a prompt of ``epoch``, in order, by name, each
        under its header; empty ones are left out.
        """
        sections: dict[str, str] = {}
        for extension in self.members:
            if extension.freshness in freshness:
                with self._boundary.around(extension.name, "section"):
                    if section := self._member(extension).section(epoch):
                        sections[extension.name] = section
        return sections

    def on_event(self, event: Event) -> None:
        """Tell all extensions what happened."""
        for extension in self.members:
            with self._boundary.around(extension.name, "event"):
                extension.on_event(event)

    def on_compacted(self, record: Compacted) -> None:
        """Tell all extensions what left the context."""
        for extension in self.members:
            with self._boundary.around(extension.name, "compacted stretch"):
                extension.on_compacted(record)

    def cue(self, line: Line) -> str:
        """The first cue that an extension has for a message."""
        for extension in self.members:
            with self._boundary.around(extension.name, "cue"):
                if cue := extension.cue(line):
                    return cue
        return ""

    def step(self) -> None:
        """Between turns: apply work that has ended, start work that is due.

        Nobody is told of a spending limit here: the loop does that.
        """
        now = self._now().timestamp()
        for extension in self.members:
            member = self._member(extension)
            with self._boundary.around(extension.name, "background work"):
                try:
                    member.step(now)
                except (SpendingLimit, Postponed):
                    pass
                except WorkFailed as failure:
                    member.tell_failure(str(failure))
                except PartlyDone as done:
                    raise (done.__cause__ or done) from None

    def under_way(self) -> list[str]:
        """The extensions that work beside the loop now, by name or in their own words."""
        working: list[str] = []
        for extension in self.members:
            if self._member(extension).job:
                with self._boundary.around(extension.name, "progress"):
                    working.append(extension.progress() or extension.name)
        return working

    def doing(self) -> list[str]:
        """What people see of the work beside the loop."""
        return [
            extension.doing
            for extension in self.members
            if extension.doing and self._member(extension).job
        ]

    def _member(self, extension: Extension) -> _Member:
        if extension.name not in self._kept:
            self._kept[extension.name] = _Member(extension, self._report)
        return self._kept[extension.name]
