"""The cascade: a whole life in constant space, at three scales. The newest memories stand verbatim
in the prompt, those before them are one short summary, everything older another, into which the
short one is squashed at the next run.

LIFE.md is the memories, and the summaries' files tell how far they go: nothing else is counted, so
a kill at any instant loses nothing and repeats no summary. A run is started between turns when it
is due (``extensions/cascade/schedule.py``), asks the model beside the loop
(``extensions/cascade/rolling.py``), and is written between turns (``extensions/cascade/store.py``).
One that fails changes nothing, and the next instant tries again.

What has left the immediate window and waits for the next run, at most 64 memories, stands in
neither for so long: lines of LIFE are paid in full with every turn, and what they tell stands in
the context anyway. Should a run be late by more, as after two failures or while a long life is
taken in, the section says from where on to read LIFE.md. Of failures in a row the agent is told
once.
"""

from collections.abc import Callable, Sequence

from dory.errors import DoryError, ModelError
from dory.extensions.cascade import rolling
from dory.extensions.cascade.life_reader import LifePosition, LifeReader
from dory.extensions.cascade.related import Related
from dory.extensions.cascade.rolling import Outcome, Task
from dory.extensions.cascade.schedule import Windows
from dory.extensions.cascade.status import status, too_few
from dory.extensions.cascade.store import Summaries, Summary
from dory.identity.identity import Identity
from dory.text import prompt_files, references
from dory.turn.extension import Apply, Command, Extension, Work
from dory.types import Model

_COUNTING = "the events are being counted; ask again in a moment"
AT_ONCE = 1 << 20
"""Bytes of LIFE whose lines are counted in the loop's own thread, a millisecond's work."""


class CascadeExtension(Extension):
    """The cascade of one identity, whose runs ``model`` writes; ``log`` gets a line for each of
    their steps.
    """

    name = "cascade"

    def __init__(
        self,
        identity: Identity,
        windows: Windows,
        model: Model,
        related: Related,
        log: Callable[[str], None],
    ) -> None:
        self._identity = identity
        self._windows = windows
        self._model = model
        self._related = related
        self._log: Callable[[str], None] = lambda text: log(f"cascade: {text}")
        self._moments = LifeReader(identity.life.path)
        self._kept: Summaries | None = None
        self._covered = LifePosition(0, 0, 0)
        self._number = self._end = 0
        self._wanted = self._tried = (
            # the last memory that a person, or the batch before, wants covered; the newest instant
            # that was tried
            0
        )
        self._under_way = self._refused = False
        self._failure = ""
        identity.life.show(windows.immediate)

    def commands(self) -> Sequence[Command]:
        """How the summaries stand, and making them now; both may be called with an ``@``."""
        return [
            Command(
                "memory-status",
                "/memory-status  the summaries of the agent's life, and when they are next made",
                self.status,
                True,
            ),
            Command(
                "compact-memories",
                "/compact-memories  sum up now what has left the immediate window",
                self.force,
                True,
            ),
        ]

    def section(self) -> str:
        """Both summaries, and where to read what stands neither in them nor verbatim. It changes
        with them only: a change is told at length.
        """
        kept = self._opened()
        scales = [("Older", kept.longterm), ("Recent past", kept.recent)]
        told = [
            f"{scale}, events {one.first}–{one.last} of your life: {references.escape(one.text)}"
            for scale, one in scales
            if one
        ]
        count, first = self._count(), self._covered.number + 1
        if count is None or self._windows.behind(self._covered.number, count):
            told.append(prompt_files.prompt("unsummed").format(first=first, line=first + 1))
        return "\n".join(told)

    def background(self) -> Work | None:
        """A run, when one is due or was asked for. Files that were refused are looked at again with
        the next turn.
        """
        # as nobody asks before the work so far has ended, well or badly, and its outcome is applied
        self._under_way = False
        if self._refused:
            return None
        kept, count = self._opened(), self._count()
        if count is None:
            return self._counting()
        target = self._target(count)
        if not target:
            return None
        begun = kept.begun
        if begun is None:
            self._log(
                f"{count} events, {target - self._covered.number} to sum up, the newest {count - target} stay"
            )
        task = Task(
            kept.longterm, kept.recent, begun, self._covered, target, self._windows.recent + 1
        )
        self._under_way = True
        return lambda: self._run(task)

    def newest(self) -> int:
        """The last memory of the short-term summary; 0 when there is none."""
        recent = self._opened().recent
        return recent.last if recent else 0

    def progress(self) -> str:
        """How much of a long life is read."""
        begun = self._kept.begun if self._kept else None
        return f"cascade {begun.last:,} of {self._number:,}" if begun else ""

    def force(self, _: str) -> str:
        """A run now, whatever the windows say. Raises ``DoryError`` when there is nothing to sum
        up, or one is under way.
        """
        covered, count = self._opened().covered.number, self._count()
        if self._under_way:
            raise DoryError(
                "the events are being summed up already; /memory-status tells when it is done"
            )
        if count is None:
            raise DoryError(_COUNTING)
        if self._windows.missing(covered, count):
            raise DoryError(too_few(self._windows, covered, count))
        self._wanted = count - self._windows.immediate
        return (
            f"summing up events {covered + 1}–{self._wanted}; /memory-status tells when it is done"
        )

    def status(self, _: str) -> str:
        """Counts, windows, both summaries."""
        kept, count = self._opened(), self._count()
        if count is None:
            return _COUNTING
        due = self._windows.next_run(kept.covered.number)
        while due <= self._tried:
            due += self._windows.recent
        now = "the events are being summed up now" if self._under_way else self._failure
        return "\n".join(
            filter(None, [status(self._windows, kept, count, due, self._related.status()), now])
        )

    def _opened(self) -> Summaries:
        """The summaries, read and mended once, and where in LIFE they end. Raises ``FormatError``."""
        if self._kept is None:
            self._refused = True
            kept = Summaries(self._identity.folder)
            kept.mend()
            if kept.passed_over:
                self._log(f"what is read so far of a long life is read again: {kept.passed_over}")
            place = kept.covered
            self._covered = (
                place if self._moments.holds(place) else self._moments.find(place.number)
            )
            self._number, self._end, self._kept, self._refused = (
                self._covered.number,
                self._covered.end,
                kept,
                False,
            )
        return self._kept

    def _count(self) -> int | None:
        """How many memories there are; None when LIFE is so long that they have to be counted
        beside the loop first.
        """
        state = self._identity.state
        end = state.life_bytes + len(state.life_lines.encode())
        if end - self._end > AT_ONCE:
            return None
        if end != self._end:
            self._number, self._end = self._number + self._moments.count(self._end, end), end
        return self._number

    def _counting(self) -> Work:
        number, start, end = self._number, self._end, self._identity.state.life_bytes

        def work() -> Apply:
            counted = number + self._moments.count(start, end)
            return lambda: self._counted(counted, end)

        return work

    def _counted(self, number: int, end: int) -> None:
        self._number, self._end = number, end

    def _target(self, count: int) -> int:
        """The last memory that a run now has to cover; 0 when there is no reason for one. An
        instant that was tried is not tried again.
        """
        covered, wanted, self._wanted = self._covered.number, self._wanted, 0
        if wanted > covered:
            return wanted
        instant = self._windows.reached(covered, count)
        if instant <= self._tried:
            return 0
        self._tried = instant
        return self._windows.target(covered, count)

    def _run(self, task: Task) -> Apply:
        """Beside the loop."""
        try:
            outcome = rolling.run(self._model, self._moments, task, self._identity.redact)
            return lambda: self._apply(task, outcome)
        except ModelError as error:
            why = str(error)
            return lambda: self._failed(why)

    def _failed(self, why: str) -> None:
        if not self._failure:
            self._identity.notice(
                f"the events of your life could not be summed up: {why}. The summaries stay as they are, and it is tried again later."
            )
        self._failure = f"the last run failed: {why}"
        self._log(f"failed: {why}; the summaries stay as they are")

    def _apply(self, task: Task, outcome: Outcome) -> None:
        kept, name, first = self._opened(), self._model.name, task.covered.number + 1
        self._failure, self._tried = "", 0  # instants that were missed meanwhile are due now
        at = kept.moment(self._identity.now())
        recent = Summary(first, outcome.place, at, name, outcome.recent)
        if recent.last < task.target:
            kept.keep(recent)
            self._wanted = task.target  # it goes on at once
            return
        longterm = (
            Summary(1, task.covered, at, name, outcome.longterm) if outcome.longterm else None
        )
        self._kept = None  # should the disk refuse, what is there is read anew
        kept.save(longterm, recent)
        self._kept, self._covered = kept, recent.place
        if longterm:
            self._log(f"long-term updated ({len(longterm.text)} chars)")
        self._log(f"short-term updated ({len(recent.text)} chars)")
        self._log(f"complete ({'waterfall' if kept.longterm else 'first summary'})")
        self._related.add(recent.text, recent.first, recent.last, recent.at)
