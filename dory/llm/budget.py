"""The purse, from which all model calls of a life are paid: each at the price of its own model, and
none when a limit of spending is reached.

The limits hold over the last hour and the last 24, whichever process made the calls: a new one
reads the end of ``usage.jsonl``, where each call stands before its answer is used. One that is
reached stays so until a tenth of it is free again. The loop asks ``open`` before a turn and before
a compaction; a call that is made beside it is refused by an error. Calls that are under way when a
limit is reached are paid: it can be exceeded by those, not by more.
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
from dory.text.formatting import money
from dory.types import Embedded, Reply, Usage

T = TypeVar("T", Reply, Embedded)

_SPANS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_MINUTE = timedelta(minutes=1)
AHEAD = timedelta(minutes=5)
"""What is dated further ahead was noted by a clock that ran wrong: when it was spent nobody knows,
and it does not count.
"""
FREE = 0.1
"""Of a limit: so much of it must be free again before the next call."""


class Budget:
    """``announce`` gets a line when a limit is reached, ``tell`` one about each call. Any number of
    threads may pay from it.
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
        self._meter = usage_log.UsageLog(self._path, identity.now, tell)
        limits = {"hour": config.spend_per_hour, "day": config.spend_per_day}
        self._limits = {name: most for name, most in limits.items() if most}
        self._lock = threading.Lock()
        self._minute = datetime.min.replace(tzinfo=UTC)
        self._spent: Counter[datetime] = (
            Counter()
        )  # read with the first look, and each minute again
        self._sums = dict.fromkeys(self._limits, 0.0)
        self._closed: set[str] = set()
        self._reason: tuple[str, str] | None = ("", "")
        self._told = ""
        self._stuck = False

    def pay(self, profile: Profile, call: Callable[[], T]) -> T:
        """Make one call of a profile's model. What it used is noted when this returns, with
        ``dollars``; so is a failure that was billed. Raises what the call raises, and
        ``SpendingLimit``.
        """
        self.check()
        try:
            made = call()
        except ModelError as failure:
            if failure.usage:
                self._note(failure.usage, profile)
            raise
        return replace(made, usage=self._note(made.usage, profile))

    def check(self) -> None:
        """Raise ``SpendingLimit`` when no call may be made now."""
        _, reached = self._reached()
        if reached:
            raise SpendingLimit(reached)

    def open(self) -> bool:
        """Whether the loop may begin something that costs; only its thread calls this. The people
        are told when that ends, and when it is another limit that stands in the way.
        """
        name, reached = self._reached()
        if name != self._told:
            if not self._told:
                self._stuck = self._identity.state.stuck  # for another reason, which remains
            self._told, self._identity.state.stuck = name, bool(name) or self._stuck
            self._identity.commit()
            if name:
                self._announce(reached)
        return not name

    def status(self) -> str:
        """The prices and the limits as they are now, one line each."""
        now = self._identity.now()
        rates = {one.model: _rates(self._config.price(now, one)) for one in self._config.used()}
        self._reached()  # what is too old is forgotten
        with self._lock:
            limits = [
                f"in the last {name}: {money(sum(self._within(name).values()))} of {money(most)}"
                for name, most in self._limits.items()
            ]
        return "\n".join(
            [*(f"price of {model} now: {told}" for model, told in rates.items()), *limits]
        )

    def _note(self, used: Usage, profile: Profile) -> Usage:
        """Count and write down one call; returns it with its price."""
        now = self._identity.now()
        price = self._config.price(now, profile)
        priced = replace(
            used, dollars=price.cost(used.prompt, used.cached, used.completion) if price else None
        )
        with self._lock:  # no look at the file comes in between
            try:
                self._meter.record(priced)
            finally:
                self._spent[_ended(now)] += priced.dollars or 0.0  # type: ignore[assignment]
                self._sums = {
                    name: dollars + (priced.dollars or 0.0) for name, dollars in self._sums.items()
                }
                self._reason = None
        return priced

    def _noted(self, now: datetime) -> Counter[datetime]:
        """What was spent by the minute at whose end it was, so that a day is never more than some
        1441 figures.
        """
        spent: Counter[datetime] = Counter()
        for call in usage_log.since(self._path, now - _SPANS["day"]) if self._limits else ():
            if call.at <= now + AHEAD:
                spent[_ended(call.at)] += call.usage.dollars or 0.0  # type: ignore[assignment]
        return spent

    def _within(self, name: str) -> dict[datetime, float]:
        """What was spent in the last hour or day, by the minute."""
        return {
            at: dollars for at, dollars in self._spent.items() if at >= self._minute - _SPANS[name]
        }

    def _reached(self) -> tuple[str, str]:
        """The limit that is reached, hour or day, and a line about it; two empty texts when none
        is. It changes with the minute, or when something was spent.
        """
        now = self._identity.now()
        with self._lock:
            if self._minute != _ended(now):
                self._minute, self._reason = _ended(now), None
                self._spent = self._noted(
                    now
                )  # others may have noted calls, such as those under way when a disk failed
                self._sums = {name: sum(self._within(name).values()) for name in self._limits}
            if self._reason is None:
                until = {name: at for name in self._limits if (at := self._until(name))}
                self._closed = set(until)
                last = max(until, key=lambda name: until[name], default="")
                self._reason = last, self._line(last, until[last]) if last else ""
            return self._reason

    def _until(self, name: str) -> datetime | None:
        """When a limit that is reached is so no more; None when it is not."""
        most, total = self._limits[name], round(self._sums[name], 9)
        free = round(most * (1 - FREE), 9)
        if total <= free if name in self._closed else total < most:
            return None  # as nearly always: a day's figures are not gone through for it
        spent = self._within(name)
        newest = sorted(spent, reverse=True)
        sums = (round(dollars, 9) for dollars in accumulate(spent[at] for at in newest))
        return next(
            (at + _SPANS[name] for at, sum in zip(newest, sums, strict=True) if sum > free), None
        )

    def _line(self, name: str, until: datetime) -> str:
        a, most, total = (
            "an" if name == "hour" else "a",
            self._limits[name],
            sum(self._within(name).values()),
        )
        return (
            f"the limit of {money(most)} {a} {name} is reached ({money(total)}): next turn at {minute(until)} UTC; "
            f"/usage shows what it went for; raise spend_per_{name} to go on earlier"
        )


def _ended(at: datetime) -> datetime:
    """The end of the minute."""
    return at.astimezone(UTC).replace(second=0, microsecond=0) + _MINUTE


def _rates(price: Price | None) -> str:
    """A price for a person."""
    if price is None:
        return "unknown, dory.yaml may give it"
    if not any((price.prompt, price.cached, price.completion)):
        return "free"
    return f"${price.prompt:g} per million tokens of prompts, ${price.cached:g} of those from the cache, ${price.completion:g} of answers"
