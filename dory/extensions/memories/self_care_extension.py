"""Self-care: the tool that begins it, and the work beside the loop that turns memories into
narratives.

It is a wish that stays until it is done (``extensions/memories/self_care.py``). Batch after batch
is read by the model beside the loop (``extensions/memories/narrative.py``) and put in its place
between two turns, in one transaction, so a kill loses what the model was just saying and nothing
else. What else is to be cared for comes behind the memories: ``sources`` give the next batch of
theirs. A batch that fails stays as it is; of the first the agent is told at once, of all when
self-care has ended. While the model is away, or nothing may be spent, everything waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dory import clock
from dory.errors import ModelAway, ModelError, SpendingLimit, ToolError
from dory.extensions.memories.narrative import narrate
from dory.extensions.memories.self_care import HELD, LEAST, SelfCare, SelfCareRun
from dory.extensions.memories.store import MemoryStore
from dory.identity.identity import Identity
from dory.identity.state import HOME
from dory.text import formatting
from dory.turn.extension import Apply, Extension, Outcome, Tool, Work, counted
from dory.types import Batch, Call, Model

BATCH = 500
"""Memories, or records of what was said, that become one narrative."""
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 4, 15, 60))
"""After tries for which the model was away; the last one after all further tries."""
Source = Callable[[int], Batch | None]


@dataclass(slots=True)
class _Course:
    """What this process remembers of a self-care: the batches of others that failed, whether one of
    theirs is summed up, whether anything has failed, whether the end is told; and when the model
    was away, one time after the other, each with the turn that it was in.
    """

    passed: set[str] = field(default_factory=set)
    others: bool = False
    failing: bool = False
    ended: bool = False
    away: list[tuple[datetime, int]] = field(default_factory=list)


class SelfCareExtension(Extension):
    """The self-care of one identity. ``model`` writes the narratives; ``log`` gets a line about
    each batch. With ``places`` to be at it needs to be at home.
    """

    name = "self-care"

    def __init__(
        self,
        me: Identity,
        bank: MemoryStore,
        care: SelfCare,
        sources: Sequence[Source],
        model: Model,
        log: Callable[[str], None],
        places: bool,
    ) -> None:
        self._identity = me
        self._bank = bank
        self._care = care
        self._sources = sources
        self._model = model
        self._log = log
        self._places = places
        self._caring = True  # it may have been killed in the midst of it
        self._tried: int | None = None
        self._progress = ""
        self._course = _Course()

    def tools(self) -> Sequence[Tool]:
        """Beginning it."""
        return [counted("SELF_CARE", self.care, lambda _: self._care.wish is not None)]

    def care(self, call: Call) -> Outcome:
        """Begin to sum up all memories that there are, and what else is due."""
        place = self._identity.state.place
        if self._places and place != HOME:
            raise ToolError(
                f"self-care needs the quiet of home, and you are at {formatting.one_line(place)!r}: GO_HOME first, then SELF_CARE"
            )
        wish = self._care.begin(others=self._other() is not None)
        self._caring, self._tried = True, None
        what = f"{wish.due:,} memories, {BATCH} at a time."
        if not wish.last:
            what = f"what was said, {BATCH} lines at a time. Your memories are fewer than {LEAST} and stay as they are."
        return Outcome(
            f"self-care has begun: {what} It goes on beside you; you are told when it has ended."
        )

    def progress(self) -> str:
        """How far it has come."""
        return self._progress

    def background(self) -> Work | None:
        """The next batch, if there is a wish. What fails in another way than by its call is not
        tried again before there was a turn.
        """
        wish = self._care.wish if self._caring else None
        self._caring = bool(wish)
        if not wish or self._tried == self._identity.state.turn or self._waits():
            return None
        self._tried = self._identity.state.turn
        self._progress = (
            f"self-care {self._care.done(wish):,} of {wish.due:,}" if wish.last else "self-care"
        )
        batch = self._care.batch(BATCH) or self._other()
        if not batch:
            self._finish(wish)
            return None
        self._log(f"{self._progress}: {batch.name}")
        return lambda: self._narrated(batch)

    def _other(self) -> Batch | None:
        """The next one that is due beside the memories. Where one has failed nothing comes behind
        it.
        """
        found = (source(BATCH) for source in self._sources)
        return next(
            (batch for batch in found if batch and batch.name not in self._course.passed), None
        )

    def _narrated(self, batch: Batch) -> Apply:
        """Beside the loop."""
        try:
            text = narrate(self._model, batch.lines, self._identity.redact)
            return lambda: self._keep(batch, text)
        except SpendingLimit:  # it goes on with a turn that may be paid
            return lambda: None
        except ModelAway as error:
            away = str(error)
            return lambda: self._pause(batch, away)
        except ModelError as error:
            why = str(error)
            return lambda: self._failed(batch, why)

    def _keep(self, batch: Batch, narrative: str) -> None:
        batch.keep(narrative, self._identity.now())
        self._course.others = self._course.others or not batch.skip
        self._tried, self._course.away = None, []

    def _pause(self, batch: Batch, why: str) -> None:
        """Try it again later. A batch that never has an answer, while the agent has its turns,
        fails for its own sake.
        """
        now, turn = self._identity.now(), self._identity.state.turn
        if len(self._course.away) >= len(PAUSES) and turn > self._course.away[0][1]:
            self._failed(batch, why)
            return
        self._course.away.append((now, turn))
        self._tried = None
        self._log(f"self-care waits until {clock.minute(now + self._length)}: {why}")

    def _waits(self) -> bool:
        """Whether a pause is not over; it is when the clock was put back."""
        return (
            bool(self._course.away)
            and self._course.away[-1][0]
            <= self._identity.now()
            < self._course.away[-1][0] + self._length
        )

    @property
    def _length(self) -> timedelta:
        return PAUSES[min(len(self._course.away), len(PAUSES)) - 1]

    def _failed(self, batch: Batch, why: str) -> None:
        if batch.skip:
            batch.skip()
        else:
            self._course.passed.add(batch.name)
        self._tried, self._course.away = None, []
        if not self._course.failing:
            self._course.failing = True
            self._say(
                f"Self-care: {batch.name} could not be summed up: {why}. They stay as they are, and it goes on with the rest."
            )
            self._identity.commit()

    def _finish(self, wish: SelfCareRun) -> None:
        """Tell of it once, whatever fails behind that, and fulfil the wish."""
        if not self._course.ended:
            self._course.ended = True
            self._say(self._outcome(wish))
        self._identity.commit()
        self._care.end()
        self._caring, self._tried, self._progress = False, None, ""
        self._course = _Course()

    def _outcome(self, wish: SelfCareRun) -> str:
        held, stayed = f"you hold {self._care.extent}", self._care.stayed(wish)
        told = [
            f"Self-care has ended: {wish.narrated:,} memories are summed up, and {held}."
            if wish.last
            else f"Self-care has ended: {held}."
        ]
        if self._course.others:
            told.append("What was said the longest ago is summed up as well.")
        left = (
            [f"{stayed:,} memories"] * (stayed > 0)
            + ["some summaries"] * (wish.summed > 0)
            + sorted(self._course.passed)
        )
        if left:
            told.append(
                f"Not all could be summed up: {', '.join(left)} stayed as they were, and the next SELF_CARE tries them again."
            )
            told += [f"At most {HELD:,} tokens were to be left."] * (self._bank.tokens > HELD)
        return " ".join(told)

    def _say(self, text: str) -> None:
        self._log(text)
        self._identity.notice(text)
