"""Times and how they are written. All are UTC, but for what people count by: a day, and the time of
the day, are those of the clock on the wall (``wall``).

A clock is any callable that returns an aware ``datetime``, so tests and simulations bring their
own.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime

Clock = Callable[[], datetime]
_SECOND = "%Y-%m-%dT%H:%M:%SZ"
_MINUTE = "%Y-%m-%d %H:%M"


def utc() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def wall(at: datetime) -> datetime:
    """The same time as the clock on the wall shows it: in the zone of this machine, or the one that
    the environment names, such as ``TZ=Europe/Lisbon``.
    """
    return at.astimezone()


def day(at: datetime) -> date:
    """The day on which it was for the people here."""
    return wall(at).date()


def exact(at: datetime) -> str:
    """Microseconds, for blobs: the same SOUL at two times must give two hashes."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def second(at: datetime) -> str:
    """Seconds, for room lines: ``2026-11-21T07:38:02Z``."""
    return at.strftime(_SECOND)


def moment(text: str) -> datetime:
    """A time as ``exact`` or ``second`` wrote it, in UTC. Raises ``ValueError`` if it is none, has
    no zone, or is none in UTC, as the first hour of all years east of it.
    """
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time must be in UTC")
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("there is no such time") from error


def of_minute(text: str) -> datetime:
    """A time as ``minute`` wrote it. Raises ``ValueError``."""
    return datetime.strptime(text, _MINUTE).replace(tzinfo=UTC)


def of_second(text: str) -> datetime:
    """A time as ``second`` wrote it. Raises ``ValueError``."""
    return datetime.strptime(text, _SECOND).replace(tzinfo=UTC)


def parsed(text: str, otherwise: datetime) -> datetime:
    """A time as a tag or a header gives it, in UTC if it has no zone; ``otherwise`` if it is
    none.
    """
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return otherwise


def minute(at: datetime) -> str:
    """Minutes, for LIFE and entry headers: every digit there is paid for in every prompt."""
    return at.strftime(_MINUTE)
