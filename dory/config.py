"""Settings: the defaults below, then ``dory.yaml``, then ``DORY_*`` in the environment, then flags; the later wins.

This table is the one place where settings are documented; ``python agent.py --settings`` prints it. An unknown key is an error that names
the nearest known one.
"""

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dory import notation, prices
from dory.errors import ConfigError
from dory.prices import Price, Prices


def _setting(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Config:
    """Every setting. In the environment ``DORY_`` and the name in capitals, as a flag ``--`` and dashes for underscores."""

    model: str = _setting("", "the model's name at its endpoint; empty: chosen by the key that is found, see README")
    base_url: str = _setting("", "an OpenAI-compatible endpoint, such as http://localhost:11434/v1; empty: the one of the key that is found")
    api_key: str = _setting("", "the endpoint's key; better given in the environment than in dory.yaml; local servers need none")
    name: str = _setting("dory", "what the agent calls itself in rooms; the first digits of its identity are added")
    room: str = _setting("dev", "the room that a freshly booted agent enters")
    context_limit: int = _setting(40_000, "tokens of live context beyond which a compaction starts")
    window: int = _setting(0, "tokens that the model can take at all, prompt and answer; 0: not known")
    max_tokens: int = _setting(0, "tokens that one answer may have; 0: the endpoint's own limit")
    temperature: float | None = _setting(None, "sampling temperature; empty: the endpoint's own")
    timeout: float = _setting(120.0, "seconds without a byte after which a call counts as failed; a whole answer may take ten times as long")
    retries: int = _setting(4, "how often a call that failed for a passing reason is repeated within the timeout, with growing pauses")
    heartbeat: float = _setting(0.0, "seconds of sleep after which the agent takes a turn by itself; 0: never")
    workers: int = _setting(8, "model calls that a compaction may have under way at once")
    prices: Prices = _setting(Prices(), "dollars per million tokens by model, see README; wins over what is known")  # noqa: RUF009 it is frozen
    spend_per_hour: float = _setting(0.0, "dollars that model calls may cost within an hour before the agent pauses; 0: no limit")
    spend_per_day: float = _setting(0.0, "dollars that model calls may cost within 24 hours before the agent pauses; 0: no limit")
    layout: str = _setting("tail", "tail: each prompt ends with MEMORY and LIFE; ledger: it only grows between compactions, and costs less")
    faculties: str = _setting("notes, recall", "the parts of the mind in use beside the core tools, in the order of their tools; empty: none")
    cues: bool = _setting(True, "on or off: beside a person's message one line that names what of the past it clearly belongs to")

    @property
    def offline(self) -> bool:
        """Whether the stand-in in this process does the thinking."""
        return self.model == STAND_IN and not self.base_url

    def price(self, at: datetime) -> Price | None:
        """What the model costs at that time, as a person or its provider says; None when that is not known."""
        return prices.FREE if self.offline else self.prices.of(self.model) or prices.published(self.base_url, self.model, at)

    @property
    def shown_url(self) -> str:
        """The endpoint as it may be shown: without user, password and query, any of which may be a key."""
        return re.sub(r"^(.*?//)?[^/?#]*@", r"\1", self.base_url).partition("?")[0]

    @property
    def hard_limit(self) -> int:
        """Tokens of context at which a turn waits for the compaction: twice the limit, or the model's window if that is smaller."""
        return min(2 * self.context_limit, self.window or 2 * self.context_limit)


PROVIDERS = {
    "DEEPSEEK_API_KEY": ("https://api.deepseek.com", "deepseek-v4-pro"),
    "OPENAI_API_KEY": ("https://api.openai.com/v1", "gpt-5-mini"),
    "OPENROUTER_API_KEY": ("https://openrouter.ai/api/v1", "deepseek/deepseek-v4-pro"),
}
"""Where a key in the environment leads when no endpoint and no model is named: (base URL, model). The first key found wins."""

_LEAST = {"context_limit": 1000, "timeout": 0.001, "workers": 1}  # of all other numbers: 0
_MOST = 10**9
"""Of each: what a clock of the system, or a program in C behind an endpoint, surely takes."""

_SWITCH = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}

LAYOUTS = ("tail", "ledger")  # of a prompt, see prompt.py
STAND_IN = "stand-in"
"""The model name that asks for the offline stand-in even when a key is there."""


def load(file: Path, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Config:
    """Put the four sources together. ``flags`` holds only those that were given. Raises ``ConfigError``."""
    given: dict[str, Any] = {}
    for name, value in _from_file(file).items():
        given[_known(str(name), f"{file.name}: unknown setting", str)] = _typed(str(name), value, file.name)
    for variable, text in environment.items():
        if variable.startswith("DORY_") and variable != "DORY_HOME":
            name = _known(variable, "unknown environment variable", lambda key: f"DORY_{key.upper()}")
            given[name] = _typed(name, text, variable)
    for name, value in flags.items():
        given[name] = _typed(name, str(value), f"--{name.replace('_', '-')}")
    return _checked(_with_endpoint(replace(Config(), **given), environment))


def _from_file(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name} cannot be read ({error}): mend it or remove it") from error
    try:
        content = notation.read(text)
    except ValueError as error:
        raise ConfigError(f"{file.name} is not YAML ({error}): mend it or remove it") from error
    if isinstance(content, dict | None):
        return content or {}
    raise ConfigError(f"{file.name} must hold lines such as 'context_limit: 40000'")


def _known(given: str, complaint: str, spelling: Any) -> str:
    for known in fields(Config):
        if given == spelling(known.name):
            return known.name
    nearest = difflib.get_close_matches(given, [spelling(known.name) for known in fields(Config)], n=1, cutoff=0.0)
    raise ConfigError(f"{complaint} {given[:70]!r}; did you mean {nearest[0]!r}? ('python agent.py --settings' lists all)")


def _typed(name: str, value: object, where: str) -> Any:
    """A setting from its text; an empty one is the default. Only numbers one can count with, and text that can be sent and shown."""
    if name == "prices":
        return _prices(value, where)
    read, words = _kind(name)
    try:
        if not isinstance(value, str):
            raise ValueError
        if not value and read is not str:
            return getattr(Config(), name)
        value.encode()
        made = read(value)
        if made in (math.inf, -math.inf) or made != made:
            raise ValueError
        return made
    except (ValueError, KeyError):
        shown = f", not {value[:70]!r}" if isinstance(value, str) and name not in ("api_key", "base_url") else ""
        raise ConfigError(f"{where}: {name} must be {words}{shown}") from None


def _prices(value: object, where: str) -> Prices:
    try:
        given = notation.read(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ConfigError(f"{where}: prices is not YAML ({error})") from None
    try:
        return prices.read({} if given is None else given)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from None


def _kind(name: str) -> tuple[Callable[[str], Any], str]:
    """What reads a setting from its text, and what that must be in words."""
    default = getattr(Config(), name, "")
    if isinstance(default, bool):
        return lambda text: _SWITCH[text.lower()], "on or off"
    if isinstance(default, str):
        return str, "text"
    return (int, "a whole number") if isinstance(default, int) else (float, "a number")


def _with_endpoint(config: Config, environment: Mapping[str, str]) -> Config:
    """Fill in endpoint, model and key from the first key found, unless endpoint or model was chosen."""
    if config.offline:
        return config
    if config.base_url:
        keys = {url: environment.get(variable, "") for variable, (url, _) in PROVIDERS.items()}
        return replace(config, api_key=config.api_key or keys.get(config.base_url.rstrip("/"), ""))
    for variable, (url, model) in PROVIDERS.items():
        key = environment.get(variable, "")
        if key or (config.api_key and variable == "DEEPSEEK_API_KEY"):
            return replace(config, base_url=url, model=config.model or model, api_key=config.api_key or key)
    if config.model:
        raise ConfigError(f"model {config.model!r} needs an endpoint: give --base-url, or a key such as DEEPSEEK_API_KEY in the environment")
    return replace(config, model=STAND_IN)


def _checked(config: Config) -> Config:
    if config.layout not in LAYOUTS:
        raise ConfigError(f"layout must be {' or '.join(LAYOUTS)}, not {config.layout[:70]!r}")
    for name in (one.name for one in fields(Config) if type(one.default) in (int, float)):
        least = _LEAST.get(name, 0)
        if not least <= getattr(config, name) <= _MOST:
            bound = f"at least {least}" if getattr(config, name) < least else f"at most {_MOST}"
            raise ConfigError(f"{name} must be {bound}, not {getattr(config, name)}")
    if config.window and config.context_limit > config.window * 3 // 4:
        most = config.window * 3 // 4
        raise ConfigError(f"a context_limit of {config.context_limit} does not fit a window of {config.window}: set it to at most {most}")
    if config.base_url and not config.base_url.startswith(("http://", "https://")):
        raise ConfigError(f"base_url must begin with http:// or https://, not {config.shown_url!r}")
    if config.base_url and not config.model:
        raise ConfigError(f"base_url {config.shown_url!r} needs a model: give --model, or model in dory.yaml")
    if (config.spend_per_hour or config.spend_per_day) and not config.price(datetime.now(UTC)):
        example = f"prices: {{{config.model}: {{prompt: …, cached: …, completion: …}}}}"
        raise ConfigError(f"a limit of spending needs the price of {config.model!r}, which is not known: give it in dory.yaml as {example}")
    return config
