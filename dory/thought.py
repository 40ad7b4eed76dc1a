"""Asking the model for a turn: beside the loop, with people's commands answered meanwhile, and with patience when it fails.

A turn whose call failed is not lost: it stays to be taken, and is tried again at the next news, or after a pause that doubles each time.
"""

import time
from collections.abc import Callable

from dory.compact import Compaction
from dory.errors import ModelError, WindowExceeded
from dory.identity import Identity
from dory.inbox import Inbox
from dory.records import Model, Prompt, Reply, Usage
from dory.work import Job

POLL = 0.05
"""Seconds between two looks at the rooms; a look costs some microseconds."""
FIRST_PAUSE, LAST_PAUSE = 30.0, 600.0
"""Seconds until a failed turn is tried again without news: the first and the longest."""


class Thought:
    """The model calls of one identity's turns."""

    def __init__(self, identity: Identity, model: Model, inbox: Inbox, on_usage: Callable[[Usage], None], log: Callable[[str], None]) -> None:
        self._identity, self._model, self._inbox, self._on_usage, self._log = identity, model, inbox, on_usage, log
        self._trouble = ""
        self._pause = FIRST_PAUSE
        self._retry_at = 0.0

    def ready(self, news: bool) -> bool:
        """Whether a call may be tried: always, unless the last one failed and neither news nor time has come."""
        return news or time.monotonic() >= self._retry_at

    def ask(self, prompt: Prompt, compaction: Compaction) -> Reply | None:
        """The reply; None when there was none, and the turn is still to be taken."""
        job = Job(lambda: self._model.complete(prompt, "turn"), "turn")
        while not job.wait(POLL):
            self._inbox.serve()
        try:
            reply = job.result()
        except WindowExceeded as error:
            if not compaction.fold_oldest():
                self._put_off(error)
            return None
        except ModelError as error:
            self._put_off(error)
            return None
        self._trouble, self._pause, self._retry_at = "", FIRST_PAUSE, 0.0
        self._identity.state.stuck = False
        self._on_usage(reply.usage)
        if reply.usage.prompt > 100:  # below that, what the provider adds of its own distorts the ratio
            state, now = self._identity.state, len(prompt.text) / reply.usage.prompt
            state.characters_per_token = (state.characters_per_token + min(max(now, 1.0), 8.0)) / 2  # one odd figure must not rule
        return reply

    def _put_off(self, error: ModelError) -> None:
        """Tell the people once, and wait."""
        if str(error) != self._trouble:
            self._trouble = str(error)
            self._log(self._trouble)
            self._inbox.post(f"I cannot think now: {self._trouble}")
        self._identity.state.stuck = True
        self._identity.commit()
        self._retry_at, self._pause = time.monotonic() + self._pause, min(2 * self._pause, LAST_PAUSE)
