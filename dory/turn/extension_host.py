"""The host of the extensions in use.

It keeps the failure of one extension from the others and from the turn (``turn/boundary.py``). It
reports each failure once, and it retries failed background work after a pause that grows, so an
extension only raises.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from dory.clock import utc
from dory.errors import NoRoom, SpendingLimit
from dory.process.failures import Backoff, TellOnce
from dory.process.jobs import Job
from dory.turn.boundary import Boundary
from dory.turn.extension import (
    Apply,
    Command,
    Extension,
    Freshness,
    PartlyDone,
    Postponed,
    Tool,
    WorkFailed,
)
from dory.types import Compacted, Event, Line


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
        if self.extension.freshness not in ("epoch", "opening"):
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
        self._tell_no_room = TellOnce(report, kind=lambda text: "")
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
                except NoRoom as error:  # all of them fail alike
                    self._tell_no_room(f"{error}: what works beside the loop waits for it")
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
