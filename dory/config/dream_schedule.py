"""When the agent dreams, and how: the settings ``dream``, and the next time by them. Pure. The cron
library is loaded only for a cron expression.

    dream: {interval_h: 2, max_batch_size: 20, max_iterations: 10, model_override: null,
            cron: "0 3 * * *"}

The names may be in camelCase. ``model`` means ``model_override``: a profile, or a model of the
agent's own endpoint. A cron expression wins over the interval. All times are UTC.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from dory.config import loader

LEAST_INTERVAL = 0.01
LONGEST_INTERVAL = 366 * 24
"""Hours."""
_SYNONYMS = {"model": "model_override"}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


@dataclass(frozen=True)
class DreamSettings:
    """How often the agent dreams, how many entries of its history one Dream takes, how many tool
    calls it may make, and whose model does it: the agent's own if none is named.
    """

    interval_h: float = 2.0
    max_batch_size: int = 20
    max_iterations: int = 10
    model_override: str = ""
    cron: str = ""

    def __str__(self) -> str:
        """As it may stand in dory.yaml, on one line."""
        values = {field.name: getattr(self, field.name) or None for field in fields(self)}
        return loader.flow({name: loader.written(value) for name, value in values.items()})


def read(given: object) -> DreamSettings:
    """The settings from a mapping of texts. Raises ``ValueError`` with one line that says what is
    wrong.
    """
    content = respelled(given)
    try:
        dream = DreamSettings(**loader.filled(content, fields(DreamSettings)))
        loader.bounded("interval_h", dream.interval_h, LEAST_INTERVAL, LONGEST_INTERVAL)
        loader.bounded("max_batch_size", dream.max_batch_size, 1)
        loader.bounded("max_iterations", dream.max_iterations, 1)
        if dream.cron and _next(dream.cron, datetime(2000, 1, 1)) is None:
            raise ValueError(
                "cron must be an expression of five fields that comes true, such as '0 3 * * *', "
                f"not {loader.quoted(dream.cron)}"
            )
    except ValueError as error:
        raise ValueError(f"dream: {error}") from None
    return dream


def due(dream: DreamSettings, since: datetime, tried: datetime | None = None) -> datetime:
    """When the next Dream is due. ``since`` is when the oldest entry of the history that was not
    dreamed of was written, ``tried`` when a Dream was last tried.
    """
    after = max(since, tried or since)
    by_cron = _next(dream.cron, after) if dream.cron else None
    return by_cron or after + timedelta(hours=dream.interval_h)


def respelled(given: object) -> object:
    """What one layer of the settings gives, under the settings' own names. Raises ``ValueError`` if
    a name stands there in two spellings: one of them would be ignored silently.
    """
    if not isinstance(given, Mapping):
        return given
    content: dict[str, object] = {}
    for key, value in given.items():
        plain = _CAPITAL.sub(r"_\1", str(key)).lower()
        name = _SYNONYMS.get(plain, plain)
        if name in content:
            raise ValueError(f"dream: {loader.quoted(str(key))} gives {name} a second time")
        content[name] = "" if value in (None, "null", "~") else value
    return content


def _next(cron: str, after: datetime) -> datetime | None:
    """The first time after ``after`` that fits a cron expression. None if it is no expression of
    five fields, or no time ever fits it.
    """
    from cronsim import CronSim, CronSimError

    if len(cron.split()) != 5:  # a sixth would be seconds
        return None
    try:
        return next(CronSim(cron, after), None)
    except CronSimError:
        return None
