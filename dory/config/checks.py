"""Whether the settings fit together. Pure."""

from dataclasses import fields
from datetime import UTC, datetime

from dory.config import loader
from dory.config.profiles import TOOLS
from dory.config.settings import LEAST_CONTEXT, Config
from dory.errors import ConfigError
from dory.storage.rooms import is_id

_CHOICES = {
    "compaction": ("two-phase", "one-call"),
    "layout": ("auto", "tail", "ledger"),
    "prompt": ("auto", "full", "lean"),
    "grammar": ("auto", "on", "off"),
    "plain_answers": ("deliver", "ask"),
    "tools": TOOLS,
}
"""The settings that are one of a few words: see turn/prompt.py, turn/delivery.py and
turn/tools_mode.py.
"""
_LEAST = {"context_limit": LEAST_CONTEXT, "timeout": 0.001, "workers": 1}
"""The smallest values of numbers; of all others it is 0."""


def checked(config: Config) -> Config:
    """The settings themselves, if they fit together. Raises ``ConfigError`` or ``ValueError``."""
    for name, choices in _CHOICES.items():
        value = getattr(config, name)
        if value not in choices:
            raise ConfigError(f"{name} must be {' or '.join(choices)}, not {value[:70]!r}")
    for setting in fields(config):
        if type(setting.default) in (int, float):
            value = getattr(config, setting.name)
            loader.bounded(setting.name, value, _LEAST.get(setting.name, 0))
    loader.bounded("spend_per_day", config.spend_per_day or 0.0)
    for room in config.private_rooms:
        if not is_id(room):
            raise ConfigError(
                f"private_rooms: {room[:70]!r} is no room: a room id has 1 to 64 of a-z, 0-9, _"
                " and -"
            )
    _check_window(config)
    if config.has("cascade"):
        config.cascade.check_size(config.context_limit)
    config.own.check_address()
    if config.offline and not config.dreamer.offline and not config.dreamer.base_url:
        raise ConfigError(
            f"dream: model_override {config.dream.model_override[:70]!r} needs an endpoint: "
            "name a profile, or give --base-url"
        )
    if config.base_url and not config.model:
        raise ConfigError(
            f"base_url {config.shown_url!r} needs a model: give --model, or model in dory.yaml"
        )
    _check_prices(config)
    return config


def _check_window(config: Config) -> None:
    most = config.window * 3 // 4
    if not config.window or config.context_limit <= most:
        return
    if most >= _LEAST["context_limit"]:
        way = f"set it to at most {most}"
    else:
        way = "that is too small a window"
    raise ConfigError(
        f"a context_limit of {config.context_limit} does not fit a window of {config.window}: {way}"
    )


def _check_prices(config: Config) -> None:
    """A spending limit needs the price of every model that is used."""
    if not (config.spend_per_hour or config.spend_per_day):
        return
    now = datetime.now(UTC)
    for profile in config.used():
        if not config.price(now, profile):
            example = f"prices: {{{profile.model}: {{prompt: …, cached: …, completion: …}}}}"
            raise ConfigError(
                f"a limit of spending needs the price of {profile.model!r}, which is not known: "
                f"give it in dory.yaml as {example}"
            )
