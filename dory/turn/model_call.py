"""Asking the model for a turn: beside the loop, with people's commands answered meanwhile, and with
patience when it fails.

A turn whose call failed is not lost: it stays to be taken, and is tried again at the next news, or
after a pause that doubles each time. How often it is tried is bounded by time alone, however much
is said meanwhile. The people are told of each trouble once.
"""

import re
import time
from collections.abc import Callable

from dory.errors import ModelError, SpendingLimit, WindowExceeded
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.cache_monitor import CacheMonitor
from dory.process.jobs import Job
from dory.process.signals import POLL
from dory.turn.compaction import Compaction
from dory.turn.inbox import Inbox, post
from dory.types import Model, Prompt, Reply

QUIET_PAUSES, NEWS_PAUSES = (30.0, 600.0), (1.0, 30.0)
"""Seconds after which a failed turn is tried again, the first and the longest: without news, and
when there are some.
"""
LEAST_HELP = 0.1
"""Of the prompt: what a fold must take from it to be worth another try when the prompt is too long
for the window.
"""

_VARYING = re.compile(r"\w*\d\w*")


class Backoff:
    """When a turn that failed may be tried again. Times are seconds by any clock that only rises."""

    def __init__(self) -> None:
        self._failures = 0
        self._failed_at = 0.0
        self._news = False

    @property
    def pause(self) -> float:
        """The seconds between the last failure and the next try, as things stand."""
        first, longest = NEWS_PAUSES if self._news else QUIET_PAUSES
        return min(first * 2.0 ** min(self._failures - 1, 10), longest) if self._failures else 0.0

    def ready(self, now: float, news: bool) -> bool:
        """Whether a try may be made; news that came too soon for one are kept in mind."""
        self._news = self._news or news
        return now >= self._failed_at + self.pause

    def failed(self, now: float) -> None:
        """A try failed; it knew all the news there were."""
        self._failures, self._failed_at, self._news = self._failures + 1, now, False

    def succeeded(self) -> None:
        """All is well again."""
        self._failures, self._news = 0, False


class ModelCall:
    """The model calls of one identity's turns."""

    def __init__(
        self, identity: Identity, model: Model, inbox: Inbox, log: Callable[[str], None]
    ) -> None:
        self._identity = identity
        self._model = model
        self._inbox = inbox
        self._log = log
        self._patience = Backoff()
        self._watch = CacheMonitor(self._missed)
        self._told: set[str] = set()
        self._oddity = ""
        identity.state.stuck = False  # this process has not tried yet

    def ready(self, news: bool) -> bool:
        """Whether a call may be tried: always, unless the last one failed and it is too early for
        another.
        """
        return self._patience.ready(time.monotonic(), news)

    def ask(self, prompt: Prompt, compaction: Compaction) -> Reply | None:
        """The reply; None when there was none, and the turn is still to be taken."""
        epoch = (
            self._identity.state.epoch
        )  # now: a command that is answered meanwhile may begin another
        job = Job(lambda: self._model.complete(prompt, "turn"), "turn")
        while not job.wait(POLL):
            self._inbox.serve()
        try:
            reply = job.result()
        except WindowExceeded as error:
            if not compaction.fold_oldest(round(len(prompt.text) * LEAST_HELP)):
                self._put_off(error)
            return None
        except SpendingLimit:  # the loop asks for it before the next one, and tells the people
            return None
        except ModelError as error:
            self._put_off(error)
            return None
        self._patience.succeeded()
        self._identity.state.stuck = False
        self._watch.look(prompt, epoch, reply.usage)
        self._weigh(reply)
        if (
            reply.usage.prompt > 100
        ):  # below that, what the provider adds of its own distorts the ratio
            state, now = self._identity.state, len(prompt.text) / reply.usage.prompt
            state.characters_per_token = (
                state.characters_per_token + min(max(now, 1.0), 8.0)
            ) / 2  # one odd figure must not rule
        return reply

    def _missed(self, text: str) -> None:
        me = self._identity
        self._log(text)
        usage_log.missed(me.folder / usage_log.NAME, me.now(), me.redact(text))

    def _put_off(self, error: ModelError) -> None:
        self._patience.failed(time.monotonic())
        self._log(
            f"{error}; the turn is tried again at the next news, or in {self._patience.pause:.0f} s"
        )
        self._tell(f"I cannot think now: {error}")
        self._identity.state.stuck = True
        self._identity.commit()

    def _weigh(self, reply: Reply) -> None:
        """Two answers in a row of which nobody has anything are trouble, too."""
        empty = not (reply.text + reply.reasoning).strip()
        oddity = "was cut off at its length limit" if reply.cut else "was empty" if empty else ""
        if not oddity:
            self._told.clear()
        elif oddity == self._oddity:
            self._tell(f"I cannot think well now: again the answer of my model {oddity}")
        self._oddity = oddity

    def _tell(self, trouble: str) -> None:
        """Tell the people, each trouble once until all is well: numbers and ids that an endpoint
        puts into its words make no new one.
        """
        kind = _VARYING.sub("", trouble)
        if kind not in self._told:
            self._told.add(kind)
            post(self._identity, trouble)
