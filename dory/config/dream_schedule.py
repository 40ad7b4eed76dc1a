"""When the agent dreams, and how: the settings ``dream``, and the next time by them. Pure; its
library is loaded for a cron expression only.

    dream: {interval_h: 2, max_batch_size: 20, max_iterations: 10, model_override: null, cron: "0 3 * * *"}

The names may be in camelCase, and ``model`` is another one for ``model_override``: a profile, or a
model of the agent's own endpoint. A cron expression wins over the interval. All times are UTC, here
as everywhere.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from dory.config import loader

LEAST_INTERVAL, LONGEST_INTERVAL = 0.01, 366 * 24
"""Hours."""
_SYNONYMS = {"model": "model_override"}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


@dataclass(frozen=True)
class DreamSettings:
    """How often the agent dreams, of how many entries of its history at once, with how many tool
    calls, and whose model does it: its own if none is named.
    """

    interval_h: float = 2.0
    max_batch_size: int = 20
    max_iterations: int = 10
    model_override: str = ""
    cron: str = ""

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line."""
        return loader.flow(
            {one.name: loader.written(getattr(self, one.name) or None) for one in fields(self)}
        )


def read(given: object) -> DreamSettings:
    """The settings from a mapping of texts. Raises ``ValueError`` with one line that says what is
    wrong.
    """
    respelt = respelled(given)
    try:
        made = DreamSettings(**loader.filled(respelt, fields(DreamSettings)))
        loader.bounded("interval_h", made.interval_h, LEAST_INTERVAL, LONGEST_INTERVAL)
        loader.bounded("max_batch_size", made.max_batch_size, 1)
        loader.bounded("max_iterations", made.max_iterations, 1)
        if made.cron and _next(made.cron, datetime(2000, 1, 1)) is None:
            raise ValueError(
                f"cron must be an expression of five fields that comes true, such as '0 3 * * *', not {loader.quoted(made.cron)}"
            )
    except ValueError as error:
        raise ValueError(f"dream: {error}") from None
    return made


def due(dream: DreamSettings, since: datetime, tried: datetime | None = None) -> datetime:
    """When the next Dream is due, given when the oldest of the history that was not dreamed of was
    written, and when a Dream was last tried.
    """
    after = max(since, tried or since)
    by_interval = after + timedelta(hours=dream.interval_h)
    return (_next(dream.cron, after) or by_interval) if dream.cron else by_interval


def respelled(given: object) -> object:
    """A mapping whose names are the settings' own, as one layer of them gives it. Of two spellings
    of one name neither would be passed over in silence. Raises ``ValueError``.
    """
    if not isinstance(given, Mapping):
        return given
    found: dict[str, object] = {}
    for key, value in given.items():
        plain = _CAPITAL.sub(r"_\1", str(key)).lower()
        name = _SYNONYMS.get(plain, plain)
        if name in found:
            raise ValueError(f"dream: {loader.quoted(str(key))} gives {name} a second time")
        found[name] = "" if value in (None, "null", "~") else value
    return found


def _next(cron: str, after: datetime) -> datetime | None:
    """The first time of a cron expression behind ``after``; None when it is no expression of five
    fields, or never comes true.
    """
    from cronsim import CronSim, CronSimError

    if len(cron.split()) != 5:  # a sixth would be seconds
        return None
    try:
        return next(CronSim(cron, after), None)
    except CronSimError:
        return None
