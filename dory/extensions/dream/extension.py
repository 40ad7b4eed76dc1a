"""Dream: what faded from the context becomes durable knowledge, slowly and by small edits.

Every compaction adds to the history (``extensions/dream/consolidator.py``). While there is new
history, a Dream starts between turns when it is due (``config/dream_schedule.py``) or a person asks
for it. It runs beside the loop on a snapshot (``extensions/dream/session.py``) and is applied
between turns (``extensions/dream/apply.py``). A Dream that fails changes nothing and is tried again
at the next regular time; the agent is told of the first failure in a row, a person who asked of
each. One whose list was not made has failed, too: LIFE names a record of it. A Dream that fails
while it is applied is completed later. If the clock is put back, a Dream is late by at most the
interval: what is dated ahead of the clock counts as just now.

Before anything else happens in a process, a revision that a kill left half applied is completed:
otherwise the next extension, which commits the versions, would take it for somebody's edit.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Literal

from dory import clock
from dory.config import dream_schedule
from dory.errors import DoryError, FormatError, SpendingLimit
from dory.extensions.dream import deliberate, prompt, session
from dory.extensions.dream.apply import Revision
from dory.extensions.dream.consolidator import Consolidator
from dory.extensions.dream.history import HISTORY, History, Item
from dory.extensions.dream.prompt import Guide
from dory.extensions.dream.session import DreamResult, DreamTask
from dory.extensions.dream.versions import Versions
from dory.identity.identity import Identity
from dory.process.failures import TellOnce
from dory.text import formatting
from dory.text.prompt_files import DURABLE
from dory.turn import outbox
from dory.turn.extension import Apply, Command, Extension, Work, WorkFailed
from dory.turn.lessons import guidance
from dory.types import Compacted, Event, Model

_NOTHING = "nothing has faded yet (/compact lets something fade)"
_NOTHING_NEW = "nothing new has faded since the last Dream"


class _Timing:
    """When the next Dream is due."""

    def __init__(self, settings: dream_schedule.DreamSettings, now: datetime) -> None:
        self._settings = settings
        self._tried: datetime | None = None
        self._due: datetime | None = None
        self._asked_at = now

    def begin(self, now: datetime) -> None:
        """A Dream begins, or could not begin."""
        self._tried = now
        self._due = None

    def forget(self) -> None:
        """The oldest entry of the history may be another one now."""
        self._due = None

    def is_due(self, now: datetime, oldest: Callable[[datetime], datetime]) -> bool:
        """``oldest`` returns when the oldest entry was written that no Dream has read. It is slow,
        so it is asked only after a Dream, and when the clock was put back.
        """
        if self._due is None or now < self._asked_at:
            tried = min(self._tried, now) if self._tried else None
            self._due = dream_schedule.due(self._settings, oldest(now), tried)
        self._asked_at = now
        return now >= self._due


class DreamExtension(Extension):
    """The Dreams of one identity. ``model`` dreams, with at most ``room`` characters of history in
    its prompt; ``log`` gets a line for each Dream. ``tools`` are the names of the tools that the
    agent knows: a Dream says of them that they do not work there.
    """

    name = "dream"
    doing = "dreams"
    pauses = (0.0, 0.0)

    def __init__(
        self,
        me: Identity,
        settings: dream_schedule.DreamSettings,
        model: Model,
        versions: Versions,
        history: History,
        room: int,
        log: Callable[[str], None],
        tools: Collection[str] = (),
    ) -> None:
        self._me = me
        self._tools = tools
        self._settings = settings
        self._model = model
        self._versions = versions
        self._history = history
        self._room = room
        self._log: Callable[[str], None] = lambda text: log(f"dream: {text}")
        self._consolidator = Consolidator(me, history, self._log)
        self._revision = Revision(me, versions, history)
        self._guide = Guide(me)
        self._tell_damage = TellOnce(self._damaged)
        self._timing = _Timing(settings, me.now())
        self._files: Literal["unread", "mending", "refused", "whole"] = "unread"
        self._request: Literal["none", "waits", "runs"] = "none"  # what a person asked for
        self._anyway = False  # the person has said that more than a third of a file may go
        self._dreamed = 0  # the last entry of the history that a Dream has read
        self._dreaming_of = 0  # entries that the running Dream reads
        self._outcome = ""

    def on_event(self, event: Event) -> None:
        """Mend the files at a process's first event; files that were refused are looked at again
        with the next response.
        """
        if self._files == "refused" and event.kind == "response":
            self._files = "unread"
        self._mend()

    def on_compacted(self, record: Compacted) -> None:
        """It belongs into the history."""
        self._consolidator.take(record)

    def background(self) -> Work | None:
        """At once: what the history lacks, and a revision that was begun. Then a Dream, when one is
        due or was asked for.
        """
        self._dreaming_of = 0  # the host asks only when the Dream before has ended
        whole = self._mend()
        self._consolidator.flush()
        waiting = self._history.last - self._dreamed if whole else 0
        now = self._me.now()
        asked = self._request == "waits"
        if not waiting and not (whole and asked):
            return None
        if not asked and not self._timing.is_due(now, self._written):
            return None
        try:
            return self._start(now)
        except (DoryError, OSError) as error:
            self._begin(now)
            self._failed(error)
            return None

    def progress(self) -> str:
        """How much it dreams of."""
        return f"dream of {self._dreaming_of} entries" if self._dreaming_of else ""

    def force(self, argument: str) -> str:
        """A Dream now. With ``anyway`` it may remove more than a third of a file, and without new
        history it dreams again of the newest entries. Raises ``DoryError`` when there is nothing
        new, or one is under way.
        """
        anyway = argument.strip() == "anyway"
        if argument.strip() and not anyway:
            raise DoryError(
                "write /dream, or /dream anyway to let the Dream remove more than a third of a file"
            )
        if not self._mend() and self._files == "refused":
            raise DoryError(
                "no Dream before its files are mended; what is wrong with them was told in the"
                " agent's terminal, and to the agent"
            )
        if obstacle := self._versions.obstacle():
            raise DoryError(f"no Dream now: {obstacle}")
        waiting = self._history.last - self._dreamed
        if self._dreaming_of or self._request == "waits":
            raise DoryError(
                f"a Dream is under way already, {waiting} entries of the history wait; /status"
                " tells when it is done"
            )
        entries = self._entries(anyway)
        if not entries:
            hours = f"{self._settings.interval_h:g} hours later"
            often = f"at {self._settings.cron} (cron)" if self._settings.cron else hours
            nothing = _NOTHING_NEW if self._dreamed else _NOTHING
            raise DoryError(
                f"{nothing}; when something does, it is dreamed of {often}{self._last()}"
            )
        self._request = "waits"
        self._anyway = anyway
        number = f"{len(entries)} of {waiting}" if waiting else f"the newest {len(entries)}"
        return (
            f"dreaming of {number} entries; /status tells when it is done, /dream-log what has"
            f" changed{self._last()}"
        )

    def _entries(self, anyway: bool) -> list[Item]:
        """The entries that one Dream takes: as many as fit into its prompt of those that no Dream
        has read. A person who says ``anyway`` gets the newest ones that were read if all were.
        """
        most = self._settings.max_batch_size
        if entries := self._history.after(self._dreamed, most):
            return prompt.fitting(entries, self._room)
        if not anyway:
            return []
        newest = self._history.after(max(0, self._dreamed - most), most)
        return prompt.fitting(newest[::-1], self._room)[::-1] if newest else []

    def guide(self, argument: str) -> str:
        """How Dreams are guided."""
        return self._guide.command(argument)

    def _mend(self) -> bool:
        """Complete what a kill or a failure has left, once; returns whether all is well. What is
        mended is an event, which this extension is told of while it mends.
        """
        if self._files != "unread":
            return self._files == "whole"
        self._files = "mending"
        try:
            if self._versions.obstacle():  # the versions tell of it; it is looked at again
                self._files = "unread"
                return False
            for line in [*self._versions.open(), *self._revision.resume(), *self._revision.end()]:
                self._log(line)
            for damage in self._history.mend():
                self._tell_damage(damage)
            self._dreamed = self._history.dreamed
            self._timing.forget()
            self._files = "whole"
        finally:
            if self._files == "mending":
                self._files = "refused"
        return True

    def _damaged(self, text: str) -> None:
        self._log(text)
        self._me.notice(text)

    def _start(self, now: datetime) -> Work | None:
        """A Dream on the newest version; None while the files differ from it: the extension of the
        versions has to say first whose change that is.
        """
        if self._versions.obstacle() or self._versions.changed():
            return None
        head = self._versions.head()
        texts = self._versions.contents(head)
        anyway = self._request == "waits" and self._anyway
        entries = self._entries(anyway)
        if not entries:
            raise FormatError(
                f"{HISTORY} has no entry behind {self._dreamed}: put it back from a backup"
            )
        self._begin(now)
        self._dreaming_of = len(entries)
        return partial(self._work, head, texts, entries, anyway)

    def _begin(self, now: datetime) -> None:
        if self._request == "waits":
            self._request = "runs"
        self._timing.begin(now)

    def _written(self, now: datetime) -> datetime:
        """When the oldest entry was written that no Dream has read; now, if it does not say or is
        dated ahead.
        """
        oldest = self._history.after(self._dreamed, 1)
        try:
            return min(now, clock.of_minute(oldest[0].timestamp))
        except (IndexError, ValueError):
            return now

    def _work(
        self, head: str, texts: dict[str, str], entries: Sequence[Item], anyway: bool
    ) -> Apply:
        """Beside the loop, on the ``texts`` of the version ``head``."""
        try:
            task = self._task(head, texts, entries, anyway)
            result = session.dream(self._model, task, self._me.redact)
        except (DoryError, OSError) as error:
            return partial(self._failed, error)
        return lambda: self._apply(result)

    def _task(
        self, head: str, texts: dict[str, str], entries: Sequence[Item], anyway: bool
    ) -> DreamTask:
        """The whole snapshot. Raises ``FormatError`` for a guide that cannot be read."""
        ages = {name: self._versions.ages(name) for name in DURABLE}
        if self._versions.head() != head:  # the agent has just edited one
            ages = {}
        return DreamTask(
            self._me.soul,
            self._guide.text(),
            texts,
            ages,
            entries,
            self._settings.max_iterations,
            self._room,
            deliberate.known(self._versions),
            self._tools,
            anyway,
        )

    def _apply(self, result: DreamResult) -> None:
        try:
            if result.failure:
                record = self._revision.record_failure(result)
                raise DoryError(f"{result.failure}; /show {record} tells all")
            lines = self._revision.apply(result, asked=self._request == "runs")
        except (DoryError, OSError) as error:
            self._files = "unread"
            self._failed(error)
            return
        self._dreamed = self._history.dreamed
        for line in lines:
            self._log(line)
        self._request = "none"  # the rooms are owed a line about it
        self._ended(lines[-1])

    def _failed(self, error: DoryError | OSError) -> None:
        """Raises ``WorkFailed``, or the spending limit itself."""
        if self._revision.begun:
            left, later = "what it has begun to change is completed as soon as that works", ""
        else:
            left, later = "all stays as it was", ", and it is tried again later"
        reason = f"failed: {error}; {left}"
        self._log(reason)
        self._ended(reason)
        if isinstance(error, SpendingLimit):
            raise error
        raise WorkFailed(f"your Dream {reason}{later}.")

    def _ended(self, outcome: str) -> None:
        """A person who asked for the Dream is told in the rooms what came of it."""
        if self._request == "runs":
            outbox.post(self._me, f"the Dream has ended: {formatting.one_line(outcome, 400)}")
            self._request = "none"
        self._dreaming_of = 0
        self._outcome = outcome
        self._timing.forget()

    def _last(self) -> str:
        return f". The last Dream: {self._outcome}" if self._outcome else ""

    GUIDANCE = guidance(__file__)
    COMMANDS = (
        Command(
            "/dream [anyway]  dream now of what has faded since the last Dream; anyway lets it"
            " remove more than a third of a file",
            force,
        ),
        Command(
            "/dream-prompt [init]  how Dreams are guided; init makes a guide of its own", guide
        ),
    )
