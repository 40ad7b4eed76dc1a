"""Asking the model for a turn: beside the loop, so that people's commands are answered meanwhile,
and see what it writes. One of the commands ends the call.

A turn whose call failed is not lost: it stays due, and is tried again at the next news, or after a
pause that doubles each time. However much is said meanwhile, the pauses bound how often it is
tried. The people are told of each kind of failure once.
"""

import re
import time
from collections.abc import Callable

from dory.control import Control
from dory.errors import (
    Cancelled,
    FunctionsRefused,
    ModelError,
    ModelRefused,
    SpendingLimit,
    WindowExceeded,
)
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.cache_monitor import CacheMonitor
from dory.process.failures import Backoff, TellOnce
from dory.process.jobs import Job
from dory.process.signals import POLL
from dory.turn import layouts, outbox
from dory.turn.activity import Activity
from dory.turn.compaction import Compaction
from dory.turn.tools_mode import ToolsMode
from dory.types import Model, Prompt, Reply

QUIET_PAUSES = (30.0, 600.0)
"""Seconds until a failed turn is tried again without news: after the first failure, and at most."""
NEWS_PAUSES = (1.0, 30.0)
"""The same when there are news."""
LEAST_HELP = 0.1
"""If the prompt is too long for the window, the share of it that folding must save to be worth
another try.
"""
_LEAVING = 1.0
"""Seconds that a call may take to end when it is told to. Then nobody waits for it any more."""
_LEAST_MEASURED = 100
"""Tokens of a prompt from which characters per token are measured. In a shorter one, what the
provider adds of its own distorts the ratio.
"""
_VARYING = re.compile(r"[\w.]*\d[\w.]*")


class TurnRetry:
    """When a turn that failed may be tried again."""

    def __init__(self) -> None:
        self._without_news = Backoff(*QUIET_PAUSES)
        self._with_news = Backoff(*NEWS_PAUSES)
        self._news = False

    @property
    def pause(self) -> float:
        """Seconds between the last failure and the next try, as things are now."""
        return self._backoff.pause

    def ready(self, now: float, news: bool) -> bool:
        """Whether a try may be made. News that came too soon for one are remembered."""
        self._news = self._news or news
        return self._backoff.ready(now)

    def failed(self, now: float) -> None:
        """A try failed; it knew all the news there were."""
        self._without_news.failed(now)
        self._with_news.failed(now)
        self._news = False

    def succeeded(self) -> None:
        """A try succeeded."""
        self._without_news.succeeded()
        self._with_news.succeeded()
        self._news = False

    @property
    def _backoff(self) -> Backoff:
        return self._with_news if self._news else self._without_news


class ModelCall:
    """The model calls of one identity's turns. ``meanwhile`` is done again and again while a call
    lasts; what it raises ends the call.
    """

    def __init__(
        self,
        identity: Identity,
        model: Model,
        meanwhile: Callable[[], object],
        log: Callable[[str], None],
        activity: Activity | None = None,
        mode: ToolsMode | None = None,
    ) -> None:
        self._mode = mode
        self._identity = identity
        self._model = model
        self._meanwhile = meanwhile
        self._log = log
        self._activity = activity or Activity(identity)
        self._retry = TurnRetry()
        self._cache_monitor = CacheMonitor(self._missed)
        self._tell = TellOnce(lambda text: outbox.post(identity, text), kind=self._kind)
        self._oddity = ""
        self._waited: list[tuple[str, str]] = []
        """Who waited last: the rooms and the names."""
        identity.state.stuck = False  # this process has not tried yet

    def ready(self, news: bool) -> bool:
        """Whether a call may be tried: yes, unless the last one failed a moment ago, and nobody has
        put right what was wrong since.
        """
        if not self._identity.state.stuck:
            self._retry.succeeded()
        return self._retry.ready(time.monotonic(), news)

    def ask(self, prompt: Prompt, compaction: Compaction) -> Reply | None:
        """The reply; None if there was none, and the turn is still due."""
        # the epoch of the prompt: a command that is answered meanwhile may begin another one
        epoch = self._identity.state.epoch
        reply = None
        try:
            reply = self._reply(prompt)
        except Cancelled:  # the command that ended it has told the people and the agent
            return None
        except WindowExceeded as error:
            if not compaction.fold_oldest(round(len(prompt.text) * LEAST_HELP)):
                self._put_off(error)
            return None
        except FunctionsRefused as error:
            if not (self._mode and self._mode.refused(error)):
                self._put_off(ModelRefused(f"{error}; tools: lines does without functions"))
            return None
        except SpendingLimit:  # the loop checks the budget before the next turn, and tells people
            return None
        except ModelError as error:
            self._put_off(error)
            return None
        finally:
            if not reply:
                self._activity.ends()
        self._retry.succeeded()
        self._identity.state.stuck = False
        ledger = self._identity.state.layout == "ledger"
        if served := self._cache_monitor.look(prompt, epoch, reply.usage, ledger):
            layouts.count(self._identity.state, served)
        self._check(reply)
        self._measure(prompt, reply)
        return reply

    def _reply(self, prompt: Prompt) -> Reply:
        """The model's answer. Meanwhile, people's commands are answered, and they see what it
        writes. Raises what the call raises.
        """
        control = Control()
        job = Job(lambda: self._model.complete(prompt, "turn", control), "turn")
        while not job.wait(POLL):
            self._activity.writes(control.text, self._model.name)
            try:
                self._meanwhile()
            except BaseException:  # nobody waits for the answer any more
                control.cancel()
                raise
            if control.cancelled:
                job.wait(_LEAVING)
                control.check()
        reply = job.result()
        self._activity.wrote(control.text, self._model.name)
        return reply

    def _missed(self, text: str) -> None:
        """The provider's cache did not serve what it could."""
        me = self._identity
        self._log(text)
        usage_log.missed(me.folder / usage_log.NAME, me.now(), me.redact(text))

    def _put_off(self, error: ModelError) -> None:
        self._retry.failed(time.monotonic())
        self._log(
            f"{error}; the turn is tried again at the next news, or in {self._retry.pause:.0f} s"
        )
        self._tell(f"I cannot think now: {error}")
        self._identity.state.stuck = True
        self._identity.commit()

    def _kind(self, text: str) -> str:
        """A kind of failure, to be told once. Numbers and ids that an endpoint puts into its
        message make no new kind; a person who did not wait yet when it was told does.
        """
        self._waited = self._identity.state.waiting() or self._waited
        return _without_numbers(text) + repr(self._waited)

    def _check(self, reply: Reply) -> None:
        """Two useless answers in a row are a failure that people are told of, too."""
        oddity = ""
        if reply.cut:
            oddity = "was cut off at its length limit"
        elif not (reply.text + reply.reasoning).strip():
            oddity = "was empty"
        if not oddity:
            self._tell.forget()
        elif oddity == self._oddity:
            self._tell(f"I cannot think well now: again the answer of my model {oddity}")
        self._oddity = oddity

    def _measure(self, prompt: Prompt, reply: Reply) -> None:
        """Characters per token, averaged with before so that one odd figure does not rule."""
        if reply.usage.prompt > _LEAST_MEASURED:
            state = self._identity.state
            measured = min(max(prompt.size / reply.usage.prompt, 1.0), 8.0)
            state.characters_per_token = (state.characters_per_token + measured) / 2


def _without_numbers(text: str) -> str:
    return _VARYING.sub("", text)
