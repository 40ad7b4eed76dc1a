"""Retry: a call that failed for a transient reason is repeated within ``timeout`` seconds, with
growing pauses.

Retries wrap the budget, so each try is a call of its own there: one that was billed is counted
before the next.
"""

import random
import time
from collections.abc import Callable

from dory.config.settings import Config
from dory.control import Control
from dory.llm.errors import TransientError
from dory.process.failures import Backoff
from dory.types import Model, Prompt, Purpose, Reply

FIRST_PAUSE = 0.5
"""Seconds before the first retry. Each further pause is twice as long, unless the endpoint says how
long to wait.
"""
LONGEST_PAUSE = 30.0
"""Seconds that a pause lasts at most, unless the endpoint asks for more."""


class RetryingModel:
    """A ``Model`` that calls another one, and calls it again when that may help. Any number of
    threads may call it.
    """

    def __init__(
        self,
        model: Model,
        config: Config,
        log: Callable[[str], None],
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        """``sleep`` pauses in place of the call's ``Control``."""
        self._model = model
        self._config = config
        self._log = log
        self._sleep = sleep
        self._exhausted = False
        """Whether the last call failed although it was retried."""

    @property
    def name(self) -> str:
        """The name of the model that is asked next."""
        return self._model.name

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Return the model's answer. Raises what the model raises; ``TransientError`` only when
        retries did not help, ``Cancelled`` also in a pause.

        After such a call, each further call is tried only once, until one succeeds: the caller
        decides when to try again. An empty answer is retried once; a second empty one is returned.
        """
        control = control or Control()
        deadline = time.monotonic() + self._config.timeout
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        was_empty = False
        while True:
            last = backoff.failures == self._config.retries or self._exhausted
            reply = None
            try:
                reply = self._model.complete(prompt, purpose, control)
                self._exhausted = False
                if was_empty or reply.cut or (reply.text + reply.reasoning).strip():
                    return reply
                was_empty = True
                failure = TransientError(f"{self.name} sent an empty answer")
            except TransientError as error:
                failure = error
            backoff.failed(time.monotonic())
            pause = failure.pause
            if pause is None:
                pause = backoff.pause * random.uniform(0.5, 1.0)
            if last or time.monotonic() + pause > deadline:
                if reply:
                    return reply
                self._exhausted = True
                raise failure
            self._log(
                f"{failure}; trying again in {pause:.1f} s"
                f" ({backoff.failures} of {self._config.retries})"
            )
            (self._sleep or control.wait)(pause)
