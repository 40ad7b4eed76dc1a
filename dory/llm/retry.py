"""Asking again: a call that failed for a reason that may pass is repeated within ``timeout``
seconds, with growing pauses.

It stands in front of what notes and bounds the calls, so each try is a call of its own there: one
that was billed is known before the next.
"""

import random
import time
from collections.abc import Callable

from dory.config.settings import Config
from dory.llm.errors import TransientError
from dory.types import Model, Prompt, Purpose, Reply

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds before the first repetition, doubled for each further one up to a limit; unless the
endpoint says how long to wait.
"""


class RetryingModel:
    """A ``Model``: the one it is given, asked again when that may help. Any number of threads may
    call it.
    """

    def __init__(
        self,
        model: Model,
        config: Config,
        log: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.name = model.name
        self._model = model
        self._config = config
        self._log = log
        self._sleep = sleep
        self._away = False

    def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's answer. Raises what the model raises, ``Passing`` only when repeating does
        not help.

        After a call that ended so, others are tried once each until one succeeds: whoever calls
        knows when it is worth another. An empty answer counts as a passing failure once; a second
        one is what the model has to say.
        """
        deadline = time.monotonic() + self._config.timeout
        attempt, was_empty = 0, False
        while True:
            last, reply = attempt == self._config.retries or self._away, None
            try:
                reply = self._model.complete(prompt, purpose)
                self._away = False
                if was_empty or reply.cut or (reply.text + reply.reasoning).strip():
                    return reply
                was_empty, failure = True, TransientError(f"{self.name} sent an empty answer")
            except TransientError as passing:
                failure = passing
            pause = _pause(failure, attempt)
            attempt += 1
            if last or time.monotonic() + pause > deadline:
                if reply:
                    return reply
                self._away = True
                raise failure
            self._log(
                f"{failure}; trying again in {pause:.1f} s ({attempt} of {self._config.retries})"
            )
            self._sleep(pause)


def _pause(failure: TransientError, attempt: int) -> float:
    own = min(FIRST_PAUSE * 2.0 ** min(attempt, 10), LONGEST_PAUSE) * random.uniform(0.5, 1.0)
    return own if failure.pause is None else failure.pause
