"""Agents in this process, each with the parts of the real loop, by a clock that only moves when it
is looked at or set. They are stepped until they have nothing left to do, so that what comes of a
life does not depend on the machine.
"""

import time
from collections.abc import Iterable
from datetime import datetime, timedelta

from agent import Agent
from dory.errors import DoryError

_LOOK, _REST = timedelta(milliseconds=20), 0.001
_MOST = 20_000
"""Steps within which all must have come to rest."""
_PATIENCE = 20.0
"""Seconds that work beside the loop may take on the offline model."""


class Hourglass:
    """A clock that moves on a little with every look, and to any later moment."""

    def __init__(self, begins: datetime) -> None:
        self.at = begins

    def __call__(self) -> datetime:
        """Now."""
        self.at += _LOOK
        return self.at


class Alone(Agent):
    """An agent at whose terminal nobody sits."""

    def say(self, text: str) -> None:
        """Nobody is there."""


def rest(agents: Iterable[Agent], patience: float = _PATIENCE) -> None:
    """Step until nobody has anything left to do; work beside the loop may take ``patience``
    seconds. Raises ``DoryError`` if somebody always has something to do.
    """
    stepped = list(agents)
    for _ in range(_MOST):
        working = [_step(agent, patience) for agent in stepped]
        if not any(working):
            return
    raise DoryError(f"after {_MOST} steps somebody is still busy")


def _step(agent: Agent, patience: float) -> bool:
    """As the loop does, but it waits for what goes on beside. Whether there was anything to do."""
    news = agent.inbox.receive()
    agent.compaction.step(agent.budget.open("segment"))
    if due := agent.me.state.awake and agent.model_call.ready(news):
        agent.turn()
    agent.extensions.step()
    waited = False
    deadline = time.monotonic() + patience
    while agent.extensions.under_way() or agent.compaction.under_way:
        waited = True
        if time.monotonic() > deadline:
            raise DoryError(
                f"{agent.me.name} does not come to an end: {agent.extensions.under_way()}"
            )
        time.sleep(_REST)
        agent.compaction.step(agent.budget.open("segment"))
        agent.extensions.step()
    return bool(news or due or waited)
