"""Dream: what faded from the context becomes durable knowledge, slowly and by the smallest honest
edit.

Every compaction adds to the history (``extensions/dream/consolidator.py``). While there is new
history, a Dream is started between turns when it is due (``config/dream_schedule.py``) or asked
for, runs beside the loop on a snapshot (``extensions/dream/session.py``), and is applied between
turns (``extensions/dream/apply.py``). One that fails changes nothing and is tried again at the next
regular time; of failures in a row the agent is told once, a person who asked of each. One that
fails while it is applied is completed. A clock that was put back delays a Dream by no more than the
interval: what is dated ahead of it counts as just now.

Before anything else happens in a process, what a kill has left of a revision is completed: what
stands in the files by then must not be taken for the edit of somebody else. So this stands before
the extension that commits those.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from dory import clock
from dory.config import dream_schedule
from dory.errors import DoryError, FormatError, SpendingLimit
from dory.extensions.dream import prompt, session
from dory.extensions.dream.apply import Revision
from dory.extensions.dream.consolidator import Consolidator
from dory.extensions.dream.history import HISTORY, History
from dory.extensions.dream.prompt import Guide
from dory.extensions.dream.session import DreamResult, DreamTask
from dory.extensions.dream.versions import Versions
from dory.identity.identity import Identity
from dory.text import formatting
from dory.text.prompt_files import DURABLE
from dory.turn.extension import Apply, Command, Extension, Work
from dory.turn.inbox import post
from dory.types import Compacted, Event, Model


class DreamExtension(Extension):
    """The Dreams of one identity, which ``model`` has with at most ``room`` characters of history
    before it; ``log`` gets a line for each.
    """

    name = "dream"

    def __init__(
        self,
        me: Identity,
        settings: dream_schedule.DreamSettings,
        model: Model,
        versions: Versions,
        history: History,
        room: int,
        log: Callable[[str], None],
    ) -> None:
        self._me = me
        self._settings = settings
        self._model = model
        self._versions = versions
        self._history = history
        self._room = room
        self._log: Callable[[str], None] = lambda text: log(f"dream: {text}")
        self._consolidator = Consolidator(me, history, self._log)
        self._revision = Revision(me, versions, history)
        self._guide = Guide(me)
        self._whole = self._refused = (
            False  # whether nothing that was begun is left; whether that could not be brought about
        )
        self._mending = False  # what is mended is an event, which this extension is told of, too
        self._told = set[str]()  # what the agent was told of its history
        self._dreamed, self._under_way = (
            0,
            0,
        )  # the last entry that was dreamed of; how many the Dream that runs is of
        self._wanted = self._awaited = (
            # whether a person wants the next Dream at once; whether one waits for the outcome of
            # this one
            False
        )
        self._tried: datetime | None = None
        self._due: datetime | None = None
        self._looked = me.now()
        self._outcome = ""
        self._failing = False

    def commands(self) -> Sequence[Command]:
        """A Dream now, and how Dreams are guided."""
        return [
            Command(
                "dream", "/dream  dream now of what has faded since the last Dream", self.force
            ),
            Command(
                "dream-prompt",
                "/dream-prompt [init]  how Dreams are guided; init makes a guide of its own",
                self._guide.command,
            ),
        ]

    def on_event(self, event: Event) -> None:
        """Files that were refused are looked at again with the next turn."""
        if not self._mending:
            self._refused = self._refused and event.kind != "response"
            self._mend()

    def on_compacted(self, record: Compacted) -> None:
        """It belongs into the history."""
        self._consolidator.take(record)

    def background(self) -> Work | None:
        """What is missing of the history and of a revision that was begun, at once; a Dream, when
        one is due or was asked for.
        """
        # as nobody asks before the work so far has ended, well or badly, and its outcome is applied
        self._under_way = 0
        whole = self._mend()
        self._consolidator.flush()
        waiting, now = self._history.last - self._dreamed if whole else 0, self._me.now()
        if not waiting or not (self._wanted or self._is_due(now)):
            return None
        try:
            return self._start(waiting, now)
        except (DoryError, OSError) as error:
            self._begin(now)
            self._failed(error)
            return None

    def progress(self) -> str:
        """How much is dreamed of."""
        return f"dream of {self._under_way} entries" if self._under_way else ""

    def force(self, _: str) -> str:
        """A Dream now. Raises ``DoryError`` when there is nothing new, or one is under way."""
        if not self._mend():
            raise DoryError(
                "no Dream before its files are mended; what is wrong with them was told in the agent's terminal, and to the agent"
            )
        waiting = self._history.last - self._dreamed
        if self._under_way or self._wanted:
            raise DoryError(
                f"a Dream is under way already, {waiting} entries of the history wait; /status tells when it is done"
            )
        if not waiting:
            often = (
                f"at {self._settings.cron} (cron)"
                if self._settings.cron
                else f"{self._settings.interval_h:g} hours later"
            )
            raise DoryError(
                f"nothing new has faded since the last Dream; when something does, it is dreamed of {often}{self._last()}"
            )
        self._wanted = True
        taken = min(waiting, self._settings.max_batch_size)
        return f"dreaming of {taken} of {waiting} entries; /status tells when it is done, /dream-log what has changed{self._last()}"

    def _mend(self) -> bool:
        """Complete what a kill or a failure has left, once; whether all is well."""
        if self._whole or self._refused:
            return self._whole
        self._refused = self._mending = True
        try:
            for told in [*self._versions.open(), *self._revision.resume(), *self._revision.end()]:
                self._log(told)
            for told in self._history.mend():
                if told not in self._told:
                    self._told.add(told)
                    self._log(told)
                    self._me.notice(told)
            self._dreamed, self._due = self._history.dreamed, None
            self._whole, self._refused = True, False
        finally:
            self._mending = False
        return True

    def _start(self, waiting: int, now: datetime) -> Work | None:
        """A Dream of the newest version; none while the files differ from it, for whose that is the
        extension of the versions knows.
        """
        if self._versions.changed():
            return None
        head = self._versions.head()
        known = self._versions.contents(head)
        self._begin(now)
        self._under_way = min(waiting, self._settings.max_batch_size)
        return partial(self._work, head, known)

    def _begin(self, now: datetime) -> None:
        self._wanted, self._awaited = False, self._wanted
        self._tried, self._due = now, None

    def _is_due(self, now: datetime) -> bool:
        """Worked out anew only after a Dream, and when the clock was put back."""
        if self._due is None or now < self._looked:
            since, tried = self._written(now), self._tried and min(self._tried, now)
            self._due = dream_schedule.due(self._settings, since, tried)
        self._looked = now
        return now >= self._due

    def _written(self, now: datetime) -> datetime:
        """When the oldest entry was written that was not dreamed of; now, if it does not say or is
        dated ahead.
        """
        oldest = self._history.after(self._dreamed, 1)
        try:
            return min(now, clock.of_minute(oldest[0].timestamp))
        except (IndexError, ValueError):
            return now

    def _work(self, head: str, known: dict[str, str]) -> Apply:
        """Beside the loop, on the texts of the version ``head``."""
        try:
            dreamt = session.dream(self._model, self._task(head, known), self._me.redact)
            return lambda: self._apply(dreamt)
        except (DoryError, OSError) as error:
            return partial(self._failed, error)

    def _task(self, head: str, known: dict[str, str]) -> DreamTask:
        """The rest of the snapshot. Raises ``FormatError`` when the history is not what it was."""
        if not (items := self._history.after(self._dreamed, self._settings.max_batch_size)):
            raise FormatError(
                f"{HISTORY} has no entry behind {self._dreamed}: put it back from a backup"
            )
        ages = {name: self._versions.ages(name) for name in DURABLE}
        if self._versions.head() != head:  # the agent has just edited one
            ages = {}
        gone = prompt.removed(self._versions)
        return DreamTask(
            self._me.soul,
            self._guide.text(),
            known,
            ages,
            items,
            self._settings.max_iterations,
            self._room,
            gone,
        )

    def _apply(self, dreamt: DreamResult) -> None:
        try:
            told = self._revision.apply(dreamt)
        except (DoryError, OSError) as error:
            self._whole = False
            self._failed(error)
            return
        self._dreamed, self._failing = self._history.dreamed, False
        for line in told:
            self._log(line)
        self._ended(told[-1])

    def _failed(self, error: DoryError | OSError) -> None:
        left = (
            "what it has begun to change is completed as soon as that works"
            if self._revision.begun
            else "all stays as it was"
        )
        why = f"failed: {error}; {left}"
        if not self._failing and not isinstance(error, SpendingLimit):
            self._me.notice(
                f"your Dream {why}{'' if self._revision.begun else ', and it is tried again later'}."
            )
            self._failing = True
        self._log(why)
        self._ended(why)

    def _ended(self, outcome: str) -> None:
        """What came of it; a person who asked for the Dream is told in the rooms."""
        if self._awaited:
            post(self._me, f"the Dream has ended: {formatting.one_line(outcome, 400)}")
        self._awaited, self._outcome, self._due = False, outcome, None

    def _last(self) -> str:
        return f". The last Dream: {self._outcome}" if self._outcome else ""
