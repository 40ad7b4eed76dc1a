"""The budget: every model call of a life is priced by its model, and refused when a spending limit
is reached, or when the agent has made too many since a person last spoke (``llm/unattended.py``).

The limits hold over the last hour and the last 24 hours, whichever process made the calls. A new
process reads the end of ``usage.jsonl``, in which each call is noted before its answer is used. A
limit that was reached stays closed until a tenth of it is free again. The loop asks ``open`` before
a turn and before a compaction. A call from a background thread is refused with an error. Calls that
are running when a limit is reached are still paid, so it can be exceeded by these, and not by more.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TypeVar

from dory.clock import minute
from dory.config.prices import Price
from dory.config.profiles import Profile
from dory.config.settings import Config
from dory.errors import ModelError, SpendingLimit
from dory.identity.identity import Identity
from dory.llm import usage_log
from dory.llm.unattended import BESIDE, TURNS, Unattended, kind_of
from dory.text.formatting import money
from dory.types import Embedded, Purpose, Reply, Usage

T = TypeVar("T", Reply, Embedded)

_SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_MINUTE = timedelta(minutes=1)
USUAL = " (spend_per_day changes it; none: no limit)"
"""Behind a limit that nobody has set: what does that."""
_RESTS = {TURNS: "you wait", BESIDE: "your context is folded without summaries, and Dreams wait"}
FREE = 0.1
"""The share of a limit that must be free again before the next call."""


class Budget:
    """The spending of one identity. Any number of threads may call ``pay`` and ``check``.

    ``announce`` is given a line when a limit is reached, ``tell`` a line about each call.
    """

    def __init__(
        self,
        identity: Identity,
        config: Config,
        announce: Callable[[str], None],
        tell: Callable[[str], None] | None,
    ) -> None:
        self._identity = identity
        self._config = config
        self._announce = announce
        self._path = identity.folder / usage_log.NAME
        self._usage_log = usage_log.UsageLog(self._path, identity.now, tell)
        self._limits = _limits(config)
        self._lock = threading.Lock()
        self._minute = datetime.min.replace(tzinfo=UTC)
        """The minute in which the file was last read."""
        self._spent: Counter[datetime] = Counter()
        """Dollars by the end of the minute in which they were spent. Read again each minute."""
        self._sums = dict.fromkeys(self._limits, 0.0)
        self._closed: set[str] = set()
        """The limits that are reached."""
        self._reached: tuple[str, str] | None = ("", "")
        """What ``_reached_limit`` returns; None if it must be determined anew."""
        self._announced = ""
        """The limit that was announced last; empty if none is reached."""
        self._unattended = Unattended(self._path, config.unattended, identity.state.attended)
        identity.state.attended = self._unattended.start
        self._stuck = False
        """Whether the identity was stuck for another reason before a limit was reached."""

    def priced_by(self, config: Config) -> None:
        """Take the prices and limits from these settings from now on."""
        with self._lock:
            self._config = config
            self._limits = _limits(config)
            self._closed &= set(self._limits)
            self._minute = datetime.min.replace(tzinfo=UTC)

    def pay(self, profile: Profile, purpose: Purpose, call: Callable[[], T]) -> T:
        """Make one call of a profile's model. When this returns, its usage is noted, with
        ``dollars``; so is that of a failure that was billed. Raises what the call raises, and
        ``SpendingLimit``.
        """
        self.check(purpose)
        try:
            result = call()
        except ModelError as error:
            if error.usage:
                self._note(error.usage, profile)
            raise
        return replace(result, usage=self._note(result.usage, profile))

    def check(self, purpose: Purpose) -> None:
        """Raise ``SpendingLimit`` if no call may be made now for this purpose."""
        _, line = self._reached_limit()
        with self._lock:
            reached = self._unattended.reached(kind_of(purpose))
        if line or reached:
            raise SpendingLimit(line or _waits(reached))

    def attended(self) -> None:
        """A person has spoken. Only the loop's thread calls this; the next commit keeps it."""
        with self._lock:
            self._unattended.attended()
            self._identity.state.attended = self._unattended.start
        self._identity.state.waits_for_people = []

    def _goes_on(self, purpose: Purpose) -> bool:
        """Whether the agent may go on with this although no person has spoken for so long. If not,
        people are told once, and it takes no turn until one speaks.
        """
        me, kind = self._identity, kind_of(purpose)
        with self._lock:
            reached = self._unattended.reached(kind)
        if not reached:
            return True
        if kind == TURNS:
            me.state.awake = False
        if kind not in me.state.waits_for_people:
            me.state.waits_for_people.append(kind)
            me.notice(f"You have made {_since(reached)}: {_RESTS[kind]} until one speaks.")
            me.commit()
            self._announce(_waits(reached))
        return False

    def unattended(self) -> str:
        """How much was done since a person last spoke, on one line."""
        with self._lock:
            return self._unattended.status()

    def open(self, purpose: Purpose = "turn") -> bool:
        """Whether the loop may begin something that costs. Only its thread calls this.

        When a limit is reached, and when it is another one than before, people are told.
        """
        return self._affordable() and self._goes_on(purpose)

    def _affordable(self) -> bool:
        """Whether no limit of spending is reached."""
        name, line = self._reached_limit()
        if name != self._announced:
            if not self._announced:
                self._stuck = self._identity.state.stuck
            self._announced = name
            self._identity.state.stuck = bool(name) or self._stuck
            self._identity.commit()
            if name:
                self._announce(line)
        return not name

    def status(self) -> str:
        """Return the prices and the limits as they are now, one line each."""
        now = self._identity.now()
        rates = {
            profile.model: _rates(self._config.price(now, profile))
            for profile in self._config.used()
        }
        lines = [f"price of {model} now: {rate}" for model, rate in rates.items()]
        return "\n".join([*lines, *self._spent_lines()])

    def spending(self) -> str:
        """What was spent, and of how much, on one line."""
        usual = USUAL if self._config.spend_per_day is None and "day" in self._limits else ""
        if self._limits:
            return "; ".join(self._spent_lines()) + usual
        unknown = [
            profile.model
            for profile in self._config.used()
            if self._config.price(self._identity.now(), profile) is None
        ]
        if unknown:
            return (
                f"no limit, as the price of {unknown[0]} is not known: the setting prices gives it"
            )
        return "no limit"

    def _spent_lines(self) -> list[str]:
        self._reached_limit()  # drops what is too old
        with self._lock:
            return [
                f"in the last {name}: {money(sum(self._within(name).values()))} of {money(limit)}"
                for name, limit in self._limits.items()
            ]

    def _note(self, used: Usage, profile: Profile) -> Usage:
        """Count one call, write it down, and return it with its price."""
        now = self._identity.now()
        price = self._config.price(now, profile)
        dollars = price.cost(used.prompt, used.cached, used.completion) if price else None
        priced = replace(used, dollars=dollars)
        with self._lock:  # so that the file is not read in between
            try:
                self._usage_log.record(priced)
            finally:
                self._spent[_end_of_minute(now)] += dollars or 0.0  # type: ignore[assignment]
                self._unattended.count(priced)
                for name in self._sums:
                    self._sums[name] += dollars or 0.0
                self._reached = None
        return priced

    def _noted(self, now: datetime) -> Counter[datetime]:
        """What the file says was spent, by the end of the minute: some 1441 figures for a day. If
        the clock was put back by more than a day, what was spent before counts for a day from now
        on: nobody knows when that was, and nobody shall get past a limit so.
        """
        spent: Counter[datetime] = Counter()
        if self._limits:
            usage_log.settle(self._path, now)
            for call in usage_log.since(self._path, now - _SPANS["day"], now):
                spent[_end_of_minute(call.at)] += call.usage.dollars or 0.0  # type: ignore[assignment]
        return spent

    def _within(self, name: str) -> dict[datetime, float]:
        """What was spent in the last hour or day, by the minute."""
        start = self._minute - _SPANS[name]
        return {at: dollars for at, dollars in self._spent.items() if at >= start}

    def _reached_limit(self) -> tuple[str, str]:
        """The limit that is reached (hour or day), and a line about it; two empty texts if none is.
        It changes with the minute, or when something is spent.
        """
        now = self._identity.now()
        with self._lock:
            if self._minute != _end_of_minute(now):
                self._minute = _end_of_minute(now)
                self._reached = None
                # others may have noted calls, such as those that ran when a disk failed
                self._spent = self._noted(now)
                self._sums = {name: sum(self._within(name).values()) for name in self._limits}
            if self._reached is None:
                ends = {name: end for name in self._limits if (end := self._end(name))}
                self._closed = set(ends)
                last = max(ends, key=lambda name: ends[name], default="")
                self._reached = last, self._line(last, ends[last]) if last else ""
            return self._reached

    def _end(self, name: str) -> datetime | None:
        """When a limit that is reached opens again; None if it is not reached."""
        limit = self._limits[name]
        total = round(self._sums[name], 9)
        reopens_at = round(limit * (1 - FREE), 9)
        is_open = total <= reopens_at if name in self._closed else total < limit
        if is_open:  # nearly always: then the figures of a day need not be added up
            return None
        spent = self._within(name)
        newest_first = sorted(spent, reverse=True)
        sums = accumulate(spent[at] for at in newest_first)
        for at, dollars in zip(newest_first, sums, strict=True):
            if round(dollars, 9) > reopens_at:
                return at + _SPANS[name]
        return None

    def _line(self, name: str, until: datetime) -> str:
        article = "an" if name == "hour" else "a"
        total = sum(self._within(name).values())
        return (
            f"the limit of {money(self._limits[name])} {article} {name} is reached"
            f" ({money(total)}): next turn at {minute(until)} UTC; /usage shows what it went for;"
            f" raise spend_per_{name} to go on earlier"
        )


def _limits(config: Config) -> dict[str, float]:
    """The limits of spending that there are, by name."""
    limits = {"hour": config.spend_per_hour, "day": config.daily_limit}
    return {name: limit for name, limit in limits.items() if limit}


def _since(reached: str) -> str:
    return f"{reached} since a person last spoke to you"


def _waits(reached: str) -> str:
    """What people are told of a limit that is ``reached``."""
    return (
        f"{reached} since a person last spoke to me: I go on when somebody says something"
        " (the setting unattended says how many)"
    )


def _end_of_minute(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(second=0, microsecond=0) + _MINUTE


def _rates(price: Price | None) -> str:
    """A price in words."""
    if price is None:
        return "unknown, dory.yaml may give it"
    if not any((price.prompt, price.cached, price.completion)):
        return "free"
    return (
        f"${price.prompt:g} per million tokens of prompts, ${price.cached:g} of those from the"
        f" cache, ${price.completion:g} of answers"
    )
