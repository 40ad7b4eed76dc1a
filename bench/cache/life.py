"""One life of so many turns, by the real loop, and every request of it as it arrived at the
endpoint.
"""

import itertools
import statistics
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent import Agent
from bench.cache.script import PERSON, ROOM, Asked, Script
from dory.clock import Clock
from dory.config.dream_schedule import DreamSettings
from dory.config.settings import Config
from dory.extensions.cascade.extension import CascadeExtension
from dory.extensions.dream.extension import DreamExtension
from dory.identity.create import boot
from dory.identity.identity import Identity
from dory.llm.completions import Endpoint
from dory.offline.server import Server, faults
from dory.process.signals import ShutdownSignal
from dory.text.formatting import CHARACTERS_PER_TOKEN
from dory.types import Event

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
OFTEN = DreamSettings(interval_h=0.25)
"""Eight times as often as agents are shipped with: 500 turns take some hours here, and USER and
VOICE shall change again and again.
"""


@dataclass(frozen=True)
class Lived:
    """The requests in the order in which they came in, the tokens by which a turn made the context
    grow, and the lines of LIFE.
    """

    asked: Sequence[Asked]
    growth: float
    events: int


class Watch:
    """Follows a life and ends it after so many turns."""

    def __init__(self, me: Identity, turns: int, stop: ShutdownSignal) -> None:
        self._me = me
        self._turns = turns
        self._stop = stop
        self.sizes = [me.context.characters]

    def on_event(self, event: Event) -> None:
        """A turn has its response."""
        if event.kind == "response":
            self.sizes.append(self._me.context.characters)
            self._stop.asked = self._me.state.turn >= self._turns

    @property
    def growth(self) -> float:
        """Tokens a turn, those aside in which a compaction was applied."""
        grown = [
            after - before for before, after in itertools.pairwise(self.sizes) if after > before
        ]
        return statistics.mean(grown) / CHARACTERS_PER_TOKEN


def live(
    turns: int,
    context_limit: int,
    layout: str,
    extensions: str = Config.extensions,
    dreams: DreamSettings = OFTEN,
    cache: Callable[[Callable[[], Sequence[Asked]]], faults.Cache] | None = None,
) -> Lived:
    """Boot an agent and let it live until it has taken so many turns. ``cache`` makes the
    endpoint's own from the requests that were answered so far.
    """
    clock, stop = ticking(), ShutdownSignal()
    with tempfile.TemporaryDirectory(prefix="dory-cache-") as folder:
        home = Path(folder)
        me = Identity(home, boot(home, "dory", ROOM, clock), clock)
        script = Script(lambda text: me.rooms.say(ROOM, "USER", PERSON, text, clock()), working)
        known = cache(lambda: list(script.asked)) if cache else None
        with Server(script, cache=known) as server:
            config = Config(
                model=script.name,
                base_url=server.base_url,
                layout=layout,
                context_limit=context_limit,
                extensions=extensions,
                dream=dreams,
            )
            me.begin()
            agent = Agent(me, config, Endpoint(config), False, stop)
            watch = Watch(me, turns, stop)
            me.listeners.append(watch.on_event)
            script.person()
            agent.run()
            script.wait()  # a run of the cascade or a Dream that began with the last turn
        return Lived(script.asked, watch.growth, me.life.remembered)


def working() -> bool:
    """Whether the thread of a compaction's calls lives, of the cascade's or of a Dream's."""
    return any(
        thread.name in ("compaction", CascadeExtension.name, DreamExtension.name)
        for thread in threading.enumerate()
    )


def ticking() -> Clock:
    """A clock that moves on by two seconds with every look."""
    looks = itertools.count()
    return lambda: NOON + timedelta(seconds=2 * next(looks))
