"""A life in the real loop: somebody speaks, the agent answers, its context fades at its limit. What
its prompts have as they are sent.

The person's next line is in the room before the agent has answered, so turn follows turn, and
nobody waits for the cascade. The lines of LIFE come as the loop makes them: what is heard,
responses, what tools did, compactions, changed summaries.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent import Agent
from bench.cascade.life import PERSON, ROOM, Size, measured, rest, sentences
from bench.forgetting.meter import Meter, rates
from dory.clock import utc
from dory.config.settings import Config
from dory.control import Control
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.types import Model, Prompt, Purpose, Reply

LIMIT = 8000
"""Tokens of context."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The size of each turn's prompt, the ``events`` at the end, and all calls."""

    sizes: Sequence[Size]
    events: int
    meter: Meter


class Silent(Agent):
    """An agent at whose terminal nobody sits."""

    def say(self, text: str) -> None:
        """Into the void."""


class Person:
    """A ``Model``: the one it is given, whose turns are measured and followed by the next line,
    until there are so many events.
    """

    def __init__(
        self, model: Model, me: Identity, events: int, seed: int, stop: ShutdownSignal
    ) -> None:
        self.name = model.name
        self.sizes = list[Size]()
        self._model = model
        self._me = me
        self._events = events
        self._stop = stop
        self._sentences = sentences(seed)
        self._chance = random.Random(seed)

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """As the model's own."""
        if purpose == "turn":
            self.sizes.append(measured(self._me.life.remembered, prompt))
            self._stop.asked = self.sizes[-1].events >= self._events
            self.speak()
        return self._model.complete(prompt, purpose, control)

    def speak(self) -> None:
        """Say something in the room."""
        self._me.rooms.say(
            ROOM, "USER", PERSON, self._chance.choice(self._sentences), self._me.now()
        )


def live(home: Path, events: int, seed: int) -> Spoken:
    """Boot an agent in ``home`` and let it live until there are so many events."""
    me, stop = Identity(home, boot(home, "dory", ROOM, utc), utc), ShutdownSignal()
    meter = Meter(OfflineModel(), rates())
    person = Person(meter, me, events, seed, stop)
    me.begin()
    agent = Silent(me, Config(model=person.name, context_limit=LIMIT), person, False, stop)
    person.speak()
    agent.run()
    rest(agent.extensions)
    return Spoken(
        person.sizes,
        me.life.remembered,
        meter,
    )
