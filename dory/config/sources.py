"""The settings in force, from their sources: ``dory.yaml``, then the agent's own
(``config/kept.py``), then ``DORY_*`` in the environment, then flags. The later one wins; of a
nested setting, each name for itself. What is wrong with a value is raised with its place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dory.config import checks, dream_schedule, endpoint, loader, prices, profiles, unattended
from dory.config.loader import Layer, Value
from dory.config.profiles import FORMER_OFFLINE, OFFLINE, Profiles
from dory.config.settings import NAMES, Config
from dory.errors import ConfigError

_NESTED = {
    "prices": prices.read,
    "profiles": profiles.read,
    "cascade": profiles.read_cascade,
    "dream": dream_schedule.read,
    "unattended": unattended.read,
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
        return checks.checked(_with_profiles(config.with_own(own), environment))
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
