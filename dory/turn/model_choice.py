"""``/model``: which model thinks, and another one from the next call on.

A choice is checked like any setting before it takes effect, and the agent remembers it. A key goes
only to the endpoint that it was given for: anybody in the room may type an address.
"""

import os
from collections.abc import Iterator, Mapping

from dory.config import endpoint, kept, loader, profiles, sources
from dory.config.loader import FLAGS, Value
from dory.config.profiles import FORMER_OFFLINE, LOCAL, OFFLINE, PROVIDERS
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.identity.identity import Identity
from dory.llm.local import server
from dory.turn.models import Models, fitted, way_out

_USAGE = "/model <name> <base_url>, /model <name> at the same endpoint, /model <profile>, or "
_USAGE += f"/model {OFFLINE}"
_BARE_KEY = PROVIDERS["DEEPSEEK_API_KEY"][0]
"""The endpoint of an ``api_key`` beside which no endpoint stands."""


class ModelChoice:
    """The model of one identity, as people see and change it. ``environment`` is what the process
    was started with.
    """

    def __init__(
        self, identity: Identity, models: Models, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._identity = identity
        self._models = models
        self._environment = environment
        began, key = models.settings, environment.get("DORY_API_KEY", "")
        of_key = began.base_url if began.api_key == key else _BARE_KEY
        self._key_url = environment.get("DORY_BASE_URL") or of_key

    def shown(self) -> str:
        """The model in force, and what else could be chosen, one line each."""
        own, settings = self._models.settings.own, self._models.settings
        lines = [f"model: {way_out(own) if own.lacks else own.shown}"]
        for name, profile in settings.profiles.rows:
            lines.append(f"profile {name}: {profile.shown}")
        for variable, (url, model) in PROVIDERS.items():
            if self._environment.get(variable):
                lines.append(f"{variable} is set: {model} at {url}")
        return "\n".join([*lines, f"to change it: {_USAGE}"])

    def choose(self, argument: str) -> str:
        """Think with another model from the next call on. Raises ``ConfigError`` if it cannot be
        asked; then nothing is changed.
        """
        me, before = self._identity, self._models.settings
        chosen = self._chosen(argument.split())
        content = kept.with_model(kept.load(me.folder) or {}, chosen)
        settings = self._settings(content, chosen)
        if settings.own.lacks:
            raise ConfigError(f"nothing was changed: {way_out(settings.own)}")
        kept.save(me.folder, content)
        self._models.switch(settings)
        me.state.stuck = False  # a turn that failed with the model before is tried at once
        me.notice(f"Your model is {settings.own.shown} now; it was {before.own.shown}.")
        lines = [
            f"my model is {settings.own.shown} now (was {before.own.shown});"
            f" {kept.shown_path(me.folder)} remembers it"
        ]
        return "\n".join([*lines, *_unfitted(settings), *self._overruled()])

    def _chosen(self, words: list[str]) -> dict[str, str]:
        """The settings that a person's words mean."""
        if len(words) > 2:
            raise ConfigError(f"that is more than a name and an address: {_USAGE}")
        name, url = words[0], words[1] if len(words) == 2 else ""
        if name in (OFFLINE, FORMER_OFFLINE) and not url:
            return {"model": OFFLINE}
        settings = self._models.settings
        if url:
            chosen = {"model": name, "base_url": url}
        elif profile := settings.profiles.of(name):
            chosen = _of_profile(name, profile)
        else:
            chosen = {"model": name, "base_url": self._endpoint(name)}
        if chosen.get("base_url") == LOCAL and not server.runs(chosen["model"]):
            raise ConfigError(
                "a model on this machine starts with me: end me, and wake me with --local NAME"
            )
        if endpoint.without_secrets(chosen.get("base_url", "")) != chosen.get("base_url", ""):
            raise ConfigError(
                "an address with a password or a key is not remembered: give it as DORY_BASE_URL"
                " at the start"
            )
        return chosen

    def _endpoint(self, model: str) -> str:
        """The endpoint of a model that was named alone."""
        keys = {url: known for url, known in PROVIDERS.values() if self._key(url)}
        for url, known in keys.items():
            if known == model:
                return url
        if own := self._models.settings.base_url:
            return own
        if keys:
            return next(iter(keys))
        raise ConfigError(
            f"model {loader.quoted(model)} needs an endpoint, such as"
            f" /model {loader.quoted(model)[1:-1]} http://localhost:11434/v1"
        )

    def _settings(self, content: kept.Content, chosen: Mapping[str, str]) -> Config:
        """The settings with that model: it wins over the environment, because a person has just
        said so.
        """
        me = self._identity
        overruled = {f"DORY_{name.upper()}" for name in (*endpoint.CHOICE, *chosen)}
        environment = {
            variable: value
            for variable, value in self._environment.items()
            if variable not in overruled
        }
        own = kept.layer(me.folder, content)
        given = sources.given(me.home / "dory.yaml", environment, {}, own=own)
        values = [value for value in given if value.name != "api_key"]
        if key := self._key(chosen.get("base_url", "")):
            values.append(Value("api_key", key, "api_key", FLAGS))
        return sources.made(values, environment)

    def _key(self, url: str) -> str:
        """The key that was given for an endpoint; empty if none was."""
        return endpoint.key_for(url, self._keys()) if url else ""

    def _keys(self) -> Iterator[tuple[str, str]]:
        settings, environment = self._models.settings, self._environment
        yield settings.base_url, settings.api_key
        yield from profiles.keys(environment).items()
        yield from settings.profiles.keys()
        home = loader.home_layer(self._identity.home / "dory.yaml").content
        yield str(home.get("base_url") or _BARE_KEY), str(home.get("api_key") or "")
        yield self._key_url, environment.get("DORY_API_KEY", "")

    def _overruled(self) -> Iterator[str]:
        """A warning if the environment chooses another model whenever the agent wakes."""
        variables = [f"DORY_{name.upper()}" for name in ("model", "base_url")]
        names = [variable for variable in variables if self._environment.get(variable)]
        if names:
            yield f"{' and '.join(names)} in the environment will win again when I wake"


def _unfitted(settings: Config) -> Iterator[str]:
    """What is left to do if the prompts of this process are too long for the model."""
    window = fitted(settings).window
    if window and not settings.window:
        yield f"its window is {window} tokens: stop me and wake me again, and my prompts fit it"


def _of_profile(name: str, profile: profiles.Profile) -> dict[str, str]:
    if profile.api != "chat":
        raise ConfigError(
            f"the profile {loader.quoted(name)} continues plain texts ({profile.api}); a turn needs"
            " a model that chats"
        )
    if profile.offline:
        return {"model": OFFLINE}
    limits = {"max_tokens": profile.max_tokens or "", "temperature": profile.temperature}
    if profile.tools != "auto":
        limits["tools"] = profile.tools
    given = {limit: str(value) for limit, value in limits.items() if value not in ("", None)}
    return {"model": profile.model, "base_url": profile.base_url, **given}
