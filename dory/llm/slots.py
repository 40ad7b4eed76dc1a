"""The slots of an endpoint: how many calls it answers at once, and who goes first.

A server on the person's own machine often has one slot. Whatever else the agent asks there, a
person who waits for an answer would wait for it, too. So a turn takes precedence: with one slot it
ends the calls of background work, which are made again when the turn is over. With more slots, one
is kept free for turns. How many there are, the settings say, or the server (llama.cpp does).
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from dory.config.profiles import Profile
from dory.control import Control
from dory.errors import Cancelled
from dory.llm.llama_cpp import is_local, properties
from dory.process.jobs import Job

T = TypeVar("T")

REST = 0.5
"""Seconds after a turn in which background work does not begin: another turn often follows."""
_LEAVING = 1.0
"""Seconds that a turn waits at most for the calls that it has ended."""
_TIMEOUT = 5.0
"""Seconds that a server has to say how many slots it has."""


class Slots:
    """The slots of the endpoint of ``profile``: ``count`` of them, or as many as the server says if
    that is 0. Any number of threads may use it.
    """

    def __init__(self, profile: Profile, count: int = 0) -> None:
        self._changed = threading.Condition()
        self.serve(profile, count)
        self._turns: list[Control] = []
        self._last_turn = Control()
        self._background: list[Control] = []
        self._rest_until = 0.0
        self._next_is_ended = False

    def serve(self, profile: Profile, count: int = 0) -> None:
        """The calls go to another endpoint from now on."""
        with self._changed:
            self._profile = profile
            self._count = count
            """0: not known, so nobody has to wait."""
            self._asked = bool(count) or not is_local(profile.base_url)
            self._changed.notify_all()

    def end_turn(self, next_one: bool = False) -> bool:
        """Cancel the call of the turn; whether there was one. ``next_one``: if there is none yet,
        the next is cancelled as it begins.
        """
        with self._changed:
            under_way = bool(self._turns)
            self._next_is_ended = next_one and not under_way
        # its call may have ended a moment ago, and its answer is not used yet
        self._last_turn.cancel()
        return under_way or next_one

    def turn(self, call: Callable[[], T], control: Control) -> T:
        """Make the call of a turn, before all others. ``control`` is that call's."""
        self._ask()
        with self._changed:
            self._turns.append(control)
            self._last_turn = control
            if self._next_is_ended:
                control.cancel()
            self._next_is_ended = False
            in_the_way = list(self._background) if self._count == 1 else []
        try:
            control.check()
            for other in in_the_way:
                other.cancel()
            with self._changed:
                self._changed.wait_for(
                    lambda: not any(other in self._background for other in in_the_way), _LEAVING
                )
            return call()
        finally:
            with self._changed:
                self._turns.remove(control)
                self._rest_until = time.monotonic() + REST
                self._changed.notify_all()

    def beside(self, call: Callable[[Control], T], control: Control) -> T:
        """Make a call of background work when there is room for it, and again if a turn has ended
        it. ``control`` is the caller's.
        """
        self._ask()
        while True:
            own = Control()
            with control.ended_by(own.cancel), suppress(Cancelled), self._taken(own):
                return call(own)
            control.check()

    @contextmanager
    def _taken(self, own: Control) -> Iterator[None]:
        with self._changed:
            while not self._is_free():
                own.check()
                self._changed.wait(REST)
            self._background.append(own)
        try:
            yield
        finally:
            with self._changed:
                self._background.remove(own)
                self._changed.notify_all()

    def _is_free(self) -> bool:
        if not self._count:
            return True
        if self._count == 1 and (self._turns or time.monotonic() < self._rest_until):
            return False
        return len(self._background) < max(1, self._count - 1)

    def _ask(self) -> None:
        """Begin to ask the server, once, and do not wait for what it says."""
        with self._changed:
            if self._asked:
                return
            self._asked = True
            profile = self._profile
        Job(lambda: self._learn(profile), "slots")

    def _learn(self, profile: Profile) -> None:
        count = properties(profile, _TIMEOUT).slots
        with self._changed:
            if profile is not self._profile:
                return
            self._count = count
            self._changed.notify_all()
            in_the_way = list(self._background) if count == 1 and self._turns else []
        for other in in_the_way:
            other.cancel()
