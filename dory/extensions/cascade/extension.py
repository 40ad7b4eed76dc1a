"""The cascade: a whole life in constant space, at three scales. The newest events stand verbatim in
the prompt, those before them are one short-term summary, and everything older is a long-term
summary. Each run merges the short-term summary into the long-term one and writes a new short-term
one.

The events are lines of LIFE.md, and the summaries' files tell how far they go. Nothing else is
counted, so a kill at any instant loses nothing and repeats no summary. An event has the number of
its line, so READ_FILE leads from the range of a summary to the lines, and from there to originals.
Lines that are bookkeeping have numbers, but count for no window (``identity/life.py``). A run
starts between turns when it is due (``extensions/cascade/schedule.py``), asks the model beside the
loop (``extensions/cascade/rolling.py``), and is written between turns
(``extensions/cascade/store.py``). A run that fails changes nothing; the next instant of the
schedule tries again.

Events that have left the immediate window and wait for the next run, at most 64, have no line in
the prompt: lines of LIFE are paid in full with every turn, and what they tell is still in the
context, or behind a reference there. If a run is late by more, as after two failures or while a
long life is read, the section says from which line on to read LIFE.md.
"""

from collections.abc import Callable

from dory.errors import DoryError, ModelError
from dory.extensions.cascade import rolling
from dory.extensions.cascade.event_texts import EventTexts
from dory.extensions.cascade.life_reader import LifePosition, LifeReader
from dory.extensions.cascade.related import Related
from dory.extensions.cascade.rolling import Task
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.status import Counts, counted, status, too_few
from dory.extensions.cascade.store import Summaries, Summary
from dory.identity.identity import Identity
from dory.text import prompt_files, references
from dory.turn.extension import (
    Apply,
    Command,
    Extension,
    Outcome,
    Postponed,
    Tool,
    Work,
    WorkFailed,
)
from dory.turn.lessons import taught
from dory.types import Call, Model

_COUNTING = "the events are being counted; ask again in a moment"
AT_ONCE = 1 << 18
"""Bytes of LIFE whose events are counted in the loop's own thread, some milliseconds' work."""


class CascadeExtension(Extension):
    """The cascade of one identity. ``model`` writes the summaries of ``texts``, of which it reads
    at most ``event_limit`` characters each; ``log`` gets a line for each step of a run.

    The windows are counted in events behind those that are summed up. Their count goes on from the
    number of the last line that a summary covers, so nothing before it is ever counted.
    """

    name = "cascade"
    freshness = "opening"
    pauses = (0.0, 0.0)

    def __init__(
        self,
        identity: Identity,
        windows: Windows,
        event_limit: int,
        texts: EventTexts,
        model: Model,
        related: Related,
        log: Callable[[str], None],
    ) -> None:
        self._identity = identity
        self._windows = windows
        self._event_limit = event_limit
        self._texts = texts
        self._model = model
        self._related = related
        self._log: Callable[[str], None] = lambda text: log(f"cascade: {text}")
        self._reader = LifeReader(identity.life.path, lambda: identity.life.bookkeeping)
        self._summaries: Summaries | None = None
        self._covered = LifePosition(0, 0, 0)
        self._counted = 0  # events up to the byte self._counted_to of LIFE
        self._lines = 0  # lines up to there
        self._counted_to = 0
        self._wanted = 0  # the last event that somebody, or the batch before, wants covered
        self._awaited = False  # the agent itself wants to be told of the end of a run
        self._tried = 0  # the newest instant of the schedule that was tried
        self._under_way = False
        self._refused = False  # the files could not be read; the next turn looks again
        self._failure = ""
        identity.life.window = windows.immediate

    def section(self) -> str:
        """Both summaries, and where to read what stands neither in them nor verbatim. What is
        summed up within an epoch stays before the model until its end, so nobody tells it then.
        """
        summaries = self._opened()
        scales = [("Older", summaries.longterm), ("Recent past", summaries.recent)]
        parts = [
            f"{scale}, {_range(summary)}: {references.escape(summary.text)}"
            for scale, summary in scales
            if summary
        ]
        count = self._count()
        if count is None or self._windows.behind(self._covered.number, count):
            first = self._covered.number + 1
            parts.append(prompt_files.prompt("unsummed").format(first=first))
        return "\n".join(parts)

    def background(self) -> Work | None:
        """A run, when one is due or was asked for."""
        self._under_way = False  # the host asks only when the work before has ended
        if self._refused:
            return None
        summaries = self._opened()
        count = self._count()
        if count is None:
            return self._count_beside()
        target = self._target(count)
        if not target:
            return None
        if summaries.begun is None:
            self._log(
                f"{self._lines} lines of LIFE, {target - self._covered.number} events to sum up,"
                f" the newest {count - target} stay"
            )
        task = Task(
            summaries.longterm,
            summaries.recent,
            summaries.begun,
            self._covered,
            target - self._covered.number,
            self._windows.recent + 1,
            self._event_limit,
        )
        self._under_way = True
        return lambda: self._run(task, target)

    def newest(self) -> int:
        """The last event of the short-term summary; 0 when there is none."""
        recent = self._opened().recent
        return recent.last if recent else 0

    def progress(self) -> str:
        """How much of a long life is read."""
        begun = self._summaries.begun if self._summaries else None
        return f"cascade {begun.last:,} of {self._lines:,}" if begun else ""

    def force(self, _: str) -> str:
        """A run now, whatever the windows say. Raises ``DoryError`` when there is nothing to sum
        up, or a run is under way.
        """
        told = "/memory-status tells"
        return f"{self._begin(told)}; {told} when it is done"

    def compact(self, _: Call) -> Outcome:
        """The same for the agent, which is told of the end, also of a run that is under way."""
        told = "a notice tells you"
        self._awaited = self._awaited or self._under_way
        begun = self._begin(told)
        self._awaited = True
        return Outcome(f"{begun}; {told} when it is done")

    def status(self, _: str) -> str:
        """Counts, windows, both summaries."""
        summaries = self._opened()
        count = self._count()
        if count is None:
            return _COUNTING
        due = self._windows.next_run(summaries.covered.number)
        while due <= self._tried:
            due += self._windows.recent
        behind = count - summaries.covered.number
        counts = Counts(self._lines, behind, max(0, due - count))
        shown = status(self._windows, summaries, counts, self._related.status())
        now = "the events are being summed up now" if self._under_way else self._failure
        return "\n".join(filter(None, [shown, now]))

    def _begin(self, told: str) -> str:
        """Want a run now; returns what it will do. Raises ``DoryError``."""
        covered = self._opened().covered.number
        count = self._count()
        if self._under_way:
            raise DoryError(f"the events are being summed up already; {told} when it is done")
        if count is None:
            raise DoryError(_COUNTING)
        if self._windows.missing(covered, count):
            raise DoryError(too_few(self._windows, covered, count - covered))
        self._wanted = count - self._windows.immediate
        return f"summing up {counted(self._wanted - covered)}, from event {covered + 1} on"

    def _opened(self) -> Summaries:
        """The summaries, read and repaired once, and where in LIFE they end. Raises
        ``FormatError``.
        """
        if self._summaries is None:
            self._refused = True
            summaries = Summaries(self._identity.folder)
            summaries.mend()
            if summaries.passed_over:
                self._log(
                    f"what is read so far of a long life is read again: {summaries.passed_over}"
                )
            covered = summaries.covered
            if not self._reader.holds(covered):
                covered = self._reader.find(covered.number)
            self._covered = covered
            self._counted = covered.number
            self._lines = covered.number
            self._counted_to = covered.end
            self._summaries = summaries
            self._refused = False
        return self._summaries

    def _count(self) -> int | None:
        """How many events there are; None when LIFE is so long that they have to be counted beside
        the loop first.
        """
        state = self._identity.state
        end = state.life_bytes + len(state.life_lines.encode())
        if end - self._counted_to > AT_ONCE:
            return None
        if end != self._counted_to:
            lines, events = self._reader.events(self._counted_to, end)
            self._lines += lines
            self._counted += events
            self._counted_to = end
        return self._counted

    def _count_beside(self) -> Work:
        start, end = self._counted_to, self._identity.state.life_bytes

        def work() -> Apply:
            lines, events = self._reader.events(start, end)

            def apply() -> None:
                if self._counted_to == start:
                    self._lines += lines
                    self._counted += events
                    self._counted_to = end

            return apply

        return work

    def _target(self, count: int) -> int:
        """The last event that a run now has to cover; 0 when no run is due. Each instant of the
        schedule is tried once.
        """
        covered, wanted = self._covered.number, self._wanted
        self._wanted = 0
        if wanted > covered:
            return wanted
        instant = self._windows.reached(covered, count)
        if instant <= self._tried:
            return 0
        self._tried = instant
        return self._windows.target(covered, count)

    def _run(self, task: Task, target: int) -> Apply:
        """Beside the loop."""
        try:
            outcome = rolling.run(
                self._model, self._reader, self._texts, task, self._identity.redact
            )
        except ModelError as error:
            reason = str(error)
            return lambda: self._failed(reason)
        return lambda: self._apply(task, target, outcome)

    def _failed(self, reason: str) -> None:
        self._under_way = False
        self._failure = f"the last run failed: {reason}"
        self._log(f"failed: {reason}; the summaries stay as they are")
        text = (
            f"the events of your life could not be summed up: {reason}. The summaries stay as they"
            " are, and it is tried again later."
        )
        if self._awaited:
            self._awaited = False
            self._identity.notice(f"COMPACT_MEMORIES: {text}")
            self._identity.commit()
            raise Postponed(reason)
        raise WorkFailed(text)

    def _apply(self, task: Task, target: int, outcome: rolling.Outcome) -> None:
        summaries = self._opened()
        model = self._model.name
        self._failure = ""
        self._tried = 0  # instants that were missed meanwhile are due now
        at = summaries.moment(self._identity.now())
        recent = Summary(task.covered.number + 1, outcome.place, at, model, outcome.recent)
        if outcome.draft:
            summaries.keep(recent)
            self._wanted = target  # it goes on at once
            return
        longterm = (
            Summary(1, task.covered, at, model, outcome.longterm) if outcome.longterm else None
        )
        self._summaries = None  # if the disk refuses, the files are read anew
        summaries.save(longterm, recent)
        self._summaries = summaries
        # from here on events are counted behind the new summary
        self._counted -= task.covered.number + task.events - recent.last
        self._covered = recent.place
        if longterm:
            self._log(f"long-term updated ({len(longterm.text)} chars)")
        self._log(f"short-term updated ({len(recent.text)} chars)")
        self._log(f"complete ({'waterfall' if summaries.longterm else 'first summary'})")
        self._related.add(recent.text, recent.first, recent.last, recent.at)
        if self._awaited:
            self._awaited = False
            self._identity.notice(f"Summed up: {_range(recent)}: {recent.text}")
            self._identity.commit()

    TOOLS = taught(
        __file__, Tool("COMPACT_MEMORIES", compact, quiet=True, doing="sums up its life")
    )
    COMMANDS = (
        Command(
            "/memory-status  the summaries of the agent's life, and when they are next made",
            status,
            called=True,
            private=True,
        ),
        Command(
            "/compact-memories  sum up now what has left the immediate window",
            force,
            called=True,
        ),
    )


def _range(summary: Summary) -> str:
    """Which events a summary covers, and how to read them."""
    first, last = summary.first, summary.last
    return f"events {first}–{last} of your life (READ_FILE LIFE.md {first}-{last})"
