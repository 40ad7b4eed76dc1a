"""Settings: the defaults below, then ``dory.yaml``, then the agent's own (``config/kept.py``), then
``DORY_*`` in the environment, then flags. The later one wins; of a nested setting, each name for
itself.

This table is the one place where settings are documented; ``python agent.py --settings`` prints it.
An unknown key is an error that names the nearest known one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dory.config import dream_schedule, endpoint, loader, prices, profiles
from dory.config.dream_schedule import DreamSettings
from dory.config.loader import Layer, Value
from dory.config.prices import Price, Prices
from dory.config.profiles import (
    FORMER_OFFLINE,
    OFFLINE,
    CascadeSettings,
    Profile,
    Profiles,
)
from dory.constants import EXCHANGES, RESULT_LIMIT
from dory.errors import ConfigError


def _setting(default: Any, meaning: str) -> Any:
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Config:
    """Every setting. In the environment it is ``DORY_`` and the name in capitals, as a flag ``--``
    and the name with dashes for underscores.
    """

    model: str = _setting(
        "",
        "the model's name at its endpoint; empty: chosen by the key that is found,"
        " see docs/models.md",
    )
    base_url: str = _setting(
        "",
        "an OpenAI-compatible endpoint, such as http://localhost:11434/v1; "
        "empty: the one of the key that is found",
    )
    api_key: str = _setting(
        "",
        "the endpoint's key; better given in the environment than in dory.yaml; "
        "local servers need none",
    )
    name: str = _setting(
        "dory", "what the agent calls itself in rooms; the first digits of its identity are added"
    )
    room: str = _setting("dev", "the room that a freshly booted agent enters")
    context_limit: int = _setting(40_000, "tokens of live context beyond which a compaction starts")
    window: int = _setting(
        0, "tokens that the model can take at all, prompt and answer; 0: not known"
    )
    max_tokens: int = _setting(
        0, "tokens that one answer may have; 0: by what it is for, 4,096 for a turn"
    )
    slots: int = _setting(
        0,
        "calls that the endpoint answers at once; with 1, background work gives way to turns; "
        "0: a local server is asked",
    )
    temperature: float | None = _setting(None, "sampling temperature; empty: the endpoint's own")
    timeout: float = _setting(
        120.0,
        "seconds without a byte after which a call counts as failed; "
        "a whole answer may take ten times as long",
    )
    retries: int = _setting(
        4,
        "how often a call that failed for a passing reason is repeated within the timeout, "
        "with growing pauses",
    )
    heartbeat: float = _setting(
        0.0, "seconds of sleep after which the agent takes a turn by itself; 0: never"
    )
    workers: int = _setting(8, "model calls that a compaction may have under way at once")
    prices: Prices = _setting(  # noqa: RUF009 it is frozen
        Prices(),
        "dollars per million tokens by model, see docs/spending.md; wins over what is known",
    )
    spend_per_hour: float = _setting(
        0.0, "dollars that model calls may cost within an hour before the agent pauses; 0: no limit"
    )
    spend_per_day: float = _setting(
        0.0,
        "dollars that model calls may cost within 24 hours before the agent pauses; 0: no limit",
    )
    profiles: Profiles = _setting(  # noqa: RUF009 it is frozen
        Profiles(), "models beside the agent's own, by name, see docs/models.md"
    )
    embeddings: str = _setting(
        "",
        "the profile whose model makes vectors of summaries, so that similar ones are found; "
        "empty: by their words",
    )
    layout: str = _setting(
        "auto",
        "tail: each prompt ends with MEMORY and LIFE; "
        "ledger: it only grows between compactions, and costs less; "
        "auto: tail, or ledger if the provider's cache does not serve tail",
    )
    prompt: str = _setting(
        "auto",
        "full; lean: a short prompt, as a chat, for small models; auto: lean for a window of at "
        "most 16384",
    )
    extensions: str = _setting(
        "notes, recall, cascade, dream, soul, memories, diary, conversations, relationships, link",
        "the extensions in use beside the core tools, in the order of their tools; empty: none",
    )
    cascade: CascadeSettings = _setting(  # noqa: RUF009 it is frozen
        CascadeSettings(),
        "how a whole life is summed up: events that stand verbatim, events of a summary, "
        "and the profile",
    )
    dream: DreamSettings = _setting(  # noqa: RUF009 it is frozen
        DreamSettings(),
        "when and how durable knowledge is distilled from what faded, and whose model does it",
    )
    plain_answers: str = _setting(
        "deliver",
        "deliver: an answer without a tool line goes to the room in which a person waits; "
        "ask: the model is asked to say it with SAY",
    )
    exchanges: int = _setting(
        EXCHANGES,
        "how many lines of other agents the agent answers in a room before a person speaks there",
    )
    cues: bool = _setting(
        True,
        "on or off: beside a person's message one line that names what of the past it clearly "
        "belongs to",
    )

    @property
    def own(self) -> Profile:
        """The agent's own model, as a profile."""
        return Profile(
            self.model,
            self.base_url,
            self.api_key,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
        )

    def with_own(self, own: Profile) -> "Config":
        """The same with another model, endpoint and key."""
        return replace(self, model=own.model, base_url=own.base_url, api_key=own.api_key)

    @property
    def lean(self) -> bool:
        """Whether prompts are short, for a small window."""
        if self.prompt == "auto":
            return 0 < self.window <= LEAN_WINDOW
        return self.prompt == "lean"

    def profile(self, name: str) -> Profile:
        """The profile of that name; the agent's own model if there is none."""
        return self.profiles.of(name) or self.own

    @property
    def dreamer(self) -> Profile:
        """The model that dreams: a profile, or another model at the agent's own endpoint; the
        agent's own if none is named.
        """
        name = self.dream.model_override
        if not name:
            return self.own
        return self.profiles.of(name) or replace(self.own, model=name)

    def used(self) -> Iterator[Profile]:
        """The agent's own model, and those that the settings name for some work."""
        yield self.own
        if self.has("cascade"):
            for name in (self.cascade.profile, self.embeddings):
                if profile := self.profiles.of(name):
                    yield profile
        if self.has("dream"):
            yield self.dreamer

    def has(self, extension: str) -> bool:
        """Whether that extension is in use."""
        return extension in self.wanted

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of the extensions in use, in their order."""
        return tuple(name for part in self.extensions.split(",") if (name := part.strip()))

    @property
    def offline(self) -> bool:
        """Whether the agent's own model is the offline model in this process."""
        return self.own.offline

    @property
    def shown_url(self) -> str:
        """The endpoint as it may be shown."""
        return self.own.shown_url

    def price(self, at: datetime, profile: Profile | None = None) -> Price | None:
        """What a model costs at that time: the agent's own, or that of a profile. None if neither
        a person nor its provider says.
        """
        model = profile or self.own
        if model.offline:
            return prices.FREE
        return self.prices.of(model.model) or prices.published(model.base_url, model.model, at)

    @property
    def hard_limit(self) -> int:
        """Tokens of context at which a turn waits for the compaction: twice the limit, or the
        model's window if that is smaller.
        """
        return min(2 * self.context_limit, self.window or 2 * self.context_limit)

    @property
    def result_limit(self) -> int:
        """Characters that one tool result may have. In a small context at most about a quarter of
        that context.
        """
        return min(RESULT_LIMIT, self.context_limit)


NAMES = tuple(setting.name for setting in fields(Config))
LAYOUTS = ("tail", "ledger")
"""Of a prompt, see turn/prompt.py."""
_CHOICES = {
    "layout": ("auto", *LAYOUTS),
    "prompt": ("auto", "full", "lean"),
    "plain_answers": ("deliver", "ask"),
}
"""The settings that are one of a few words: see turn/prompt.py and turn/delivery.py."""
LEAN_WINDOW = 16_384
"""Tokens of a window up to which prompts are lean, unless the setting says otherwise."""
_LEAST = {"context_limit": 1000, "timeout": 0.001, "workers": 1}
"""The smallest values of numbers; of all others it is 0."""
_NESTED = {
    "prices": prices.read,
    "profiles": profiles.read,
    "cascade": profiles.read_cascade,
    "dream": dream_schedule.read,
}
"""What reads the settings that are more than one text."""


def _ignore(text: str) -> None:
    """Nobody is there to be told."""


def load(
    file: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None] = _ignore,
    own: Layer | None = None,
) -> Config:
    """Put the sources together. ``flags`` holds only those that were given. ``own`` are an agent's
    own settings. ``warn`` gets a line for each former name that is used. Raises ``ConfigError``.
    """
    return made(given(file, environment, flags, warn, own), environment, warn)


def given(
    file: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None] = _ignore,
    own: Layer | None = None,
) -> list[Value]:
    """What each source gives, as ``load`` reads them. Raises ``ConfigError``."""
    sources = [
        loader.home_layer(file),
        *([own] if own else []),
        loader.environment_layer(environment),
        loader.flags_layer(flags),
    ]
    return endpoint.consistent(list(loader.values(NAMES, sources, warn)))


def made(
    values: Sequence[Value],
    environment: Mapping[str, str],
    warn: Callable[[str], None] = _ignore,
) -> Config:
    """The settings that these values make. ``environment`` may hold providers' keys. Raises
    ``ConfigError``.
    """
    config = _with_current_names(Config(**read(values)), warn)
    try:
        own = endpoint.completed(config.own, config.profiles, environment)
        return _checked(_with_profiles(config.with_own(own), environment))
    except ValueError as error:
        raise ConfigError(str(error)) from None


def read(values: Sequence[Value]) -> dict[str, Any]:
    """Each setting that is given, of its type. Raises ``ConfigError``, which names the place."""
    typed: dict[str, Any] = {}
    nested: dict[str, object] = {}
    defaults = Config()
    for name, value, where, _ in values:
        try:
            if name in _NESTED:
                nested[name] = loader.merged(nested.get(name), parsed(name, value))
                typed[name] = _NESTED[name]({} if nested[name] is None else nested[name])
            else:
                typed[name] = loader.typed(name, getattr(defaults, name), value)
        except ValueError as error:
            raise ConfigError(f"{where}: {error}") from None
    return typed


def parsed(name: str, value: object) -> object:
    """What one layer gives for a setting. A setting that has parts may be a text of YAML; None if
    it is empty, which takes away what other layers hold. Raises ``ValueError``.
    """
    if name not in _NESTED:
        return value
    try:
        content = loader.read_yaml(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"{name} is not YAML ({error})") from None
    return dream_schedule.respelled(content) if name == "dream" else content


def _with_current_names(config: Config, warn: Callable[[str], None]) -> Config:
    """Replace the former name of the offline model wherever a setting means that model."""
    model, dream = config.model, config.dream
    if model == FORMER_OFFLINE and not config.base_url:
        model = OFFLINE
    if dream.model_override == FORMER_OFFLINE and not config.profiles.of(FORMER_OFFLINE):
        dream = replace(dream, model_override=OFFLINE)
    rows = tuple((name, profile.with_current_name()) for name, profile in config.profiles.rows)
    current = replace(config, model=model, dream=dream, profiles=Profiles(rows))
    if current != config:
        warn(f"model {FORMER_OFFLINE!r} is called {OFFLINE!r} now")
    return current


def _with_profiles(config: Config, environment: Mapping[str, str]) -> Config:
    """Complete the profiles. The settings must name each of them, and no other."""
    own = {config.base_url.rstrip("/"): config.api_key} if config.base_url else {}
    completed = config.profiles.completed(config.own, profiles.keys(environment) | own)
    named = (config.embeddings, config.cascade.profile, config.dream.model_override)
    config.profiles.check_names(*named)
    return replace(config, profiles=completed)


def _checked(config: Config) -> Config:
    """The settings themselves, if they fit together. Raises ``ConfigError`` or ``ValueError``."""
    for name, choices in _CHOICES.items():
        value = getattr(config, name)
        if value not in choices:
            raise ConfigError(f"{name} must be {' or '.join(choices)}, not {value[:70]!r}")
    for setting in fields(Config):
        if type(setting.default) in (int, float):
            value = getattr(config, setting.name)
            loader.bounded(setting.name, value, _LEAST.get(setting.name, 0))
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
