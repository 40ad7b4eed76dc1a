"""Turns in this process: the real loop with a model that answers at once, and the processor time
between its answer and the next request.
"""

import statistics
import time
from pathlib import Path

from agent import Agent
from bench.store.noise import Noise
from bench.turn.homes import LIMIT, LINE, PERSON, PRICE, ROOM
from dory.clock import utc
from dory.config.prices import Prices
from dory.config.settings import Config
from dory.control import Control
from dory.extensions import NAMES
from dory.identity.identity import Identity
from dory.process.signals import ShutdownSignal
from dory.storage.rooms import Rooms
from dory.types import Prompt, Purpose, Reply, Usage

ALL = ", ".join(NAMES)
WARM = 50
"""Turns that are not counted: in the first ones after a start NumPy is imported, and how common a
word is, is asked for the first time.
"""

BESIDE: dict[Purpose, str] = {"cascade": "It went on.", "care": "It went on.", "dream": "NOTHING"}
"""What is answered to what extensions ask beside the loop."""


class Metronome:
    """A ``Model``: a person's next line is in the room before it has answered, so turn follows
    turn. ``between`` are processor seconds.
    """

    name = "metronome"

    def __init__(self, rooms: Rooms, turns: int, stop: ShutdownSignal) -> None:
        self.between: list[float] = []
        self._rooms = rooms
        self._turns = turns + WARM
        self._stop = stop
        self._answered = 0.0
        self._noise = Noise(2)

    def complete(self, prompt: Prompt, purpose: Purpose, control: Control | None = None) -> Reply:
        """Answer at once. What is asked beside the loop is no turn."""
        if purpose in BESIDE:
            return Reply(
                BESIDE[purpose], "", Usage(purpose, self.name, len(prompt.text) // 4, None, 3, 0.0)
            )
        self.between.append(time.process_time() - self._answered)
        number = len(self.between)
        self._stop.asked = number > self._turns
        self._rooms.say(ROOM, "USER", PERSON, f"{self._noise.text(LINE)} {number}", utc())
        text = f"SAY {ROOM} this is answer {number}"
        self._answered = time.process_time()
        return Reply(
            text, "", Usage(purpose, self.name, len(prompt.text) // 4, None, len(text) // 4, 0.0)
        )


def take(home: Path, hash: str, turns: int, extensions: str = ALL) -> dict[str, float]:
    """Milliseconds of processor time that the harness takes for a turn, from one answer to the next
    request.
    """
    me, stop = Identity(home, hash, utc), ShutdownSignal()
    model = Metronome(me.rooms, turns, stop)
    me.begin()
    prices = Prices(((model.name, PRICE),))
    config = Config(
        model=model.name,
        context_limit=1_000_000,
        prices=prices,
        spend_per_hour=LIMIT,
        spend_per_day=LIMIT,
        extensions=extensions,
    )
    agent = Agent(me, config, model, False, stop)
    model.complete(agent.prompts.build(), "turn")
    agent.run()
    counted = [seconds * 1000 for seconds in model.between[1 + WARM :]]
    return {"turn_ms": statistics.median(counted), "turn_ms_worst": max(counted)}
