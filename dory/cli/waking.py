"""Which agent wakes, with which settings, and what it remembers of them.

A new agent remembers what was chosen for it, and the model in force. A resumed one has what it
remembers; flags change that, with one line that says so; the environment wins over it for this run.
An agent from before there was ``settings.yaml`` gets one from what is in force. If its last turns
were a real model's and only the offline model could answer now, it wakes as that real model's and
waits: the offline model takes nobody's place without a person's word.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from dory.cli import consent, local_model
from dory.cli.agent_options import AgentOptions, parse
from dory.clock import utc
from dory.config import endpoint, kept, secrets
from dory.config import sources as config_sources
from dory.config.loader import ENVIRONMENT, FLAGS, HOME, Value
from dory.config.profiles import FORMER_OFFLINE, OFFLINE, PROVIDERS
from dory.config.settings import Config
from dory.errors import ConfigError
from dory.extensions import checked
from dory.identity import listing
from dory.identity.create import boot
from dory.llm import usage_log
from dory.process.failures import TellOnce
from dory.text.typed_commands import command

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Sources:
    """Where the settings of one agent come from. ``folder`` is the agent's; None for one that is
    not booted yet. ``content`` is what it remembers; None if it has no such file.
    """

    options: AgentOptions
    folder: Path | None = None
    content: kept.Content | None = None

    def values(self, warn: Tell, without: Sequence[str] = ()) -> list[Value]:
        """What each source gives; nothing from the layers ``without``. Raises ``ConfigError``."""
        own = None
        if self.folder and self.content is not None:
            own = kept.layer(self.folder, self.content)
        return config_sources.given(
            self.options.home / "dory.yaml",
            {} if ENVIRONMENT in without else os.environ,
            {} if FLAGS in without else self.options.given,
            warn,
            own,
        )

    def config(self, warn: Tell, without: Sequence[str] = ()) -> Config:
        """The settings in force. Raises ``ConfigError``."""
        return config_sources.made(self.values(warn, without), os.environ, warn)


@dataclass(frozen=True)
class Waking:
    """An agent that is about to wake. ``content`` is what it shall remember; None if that is left
    as it is. ``lines`` are for the person, below the greeting.
    """

    hash: str
    config: Config
    content: kept.Content | None = None
    lines: list[str] = field(default_factory=list)


def sources(options: AgentOptions) -> Sources:
    """The sources of the agent that is meant. Raises ``ConfigError``, or ``IdentityError`` when it
    names nobody.
    """
    if options.identity is None:
        return Sources(options)
    if options.given.get("room") or options.given.get("name"):
        raise ConfigError(
            "--room and --name are for a new agent: an identity keeps its name, and enters rooms "
            "by JOIN or a link in its subs/"
        )
    folder = options.home / "agents" / listing.find(options.home, options.identity)
    return Sources(options, folder, kept.load(folder))


def agreed(options: AgentOptions, warn: Tell) -> tuple[Sources, list[Value], Config]:
    """The sources of the agent that is meant, what they give, and the settings in force, once the
    person has agreed to what they should be asked. Raises ``DoryError``.
    """
    once = TellOnce(warn)
    consent.of_home(options, once)
    source = sources(options)
    values = source.values(warn)
    config = checked(config_sources.made(values, os.environ, warn))
    consent.of_keys(options, values, config, once)
    local_model.make_ready(config)
    return source, values, config


def agreed_in_chat(home: Path, room: str, flags: Sequence[str]) -> None:
    """Ask the person at a chat what the agent, which the chat starts in the background for ``room``
    with these ``flags``, could not ask. Raises ``DoryError`` if they do not agree.
    """
    known = listing.last_active(home, room)
    which = [known.hash] if known else []
    agreed(parse.main([*which, "--home", str(home), *flags]), _ignore)


def prepared(options: AgentOptions) -> Waking:
    """The agent that is meant, booted if none is named. Raises ``DoryError``."""
    lines: list[str] = []
    source, values, config = agreed(options, lines.append)
    if source.folder is None:
        hash = booted(options, source, config)
        if not config.owners and options.booted_by:
            config = replace(config, owners=(options.booted_by,))
        return Waking(hash, config, None, lines)
    if source.content is None:
        return _first(source.folder, values, config, lines)
    lines += _told(source, config)
    content = kept.changed(source.content, values, config)
    return Waking(source.folder.name, config, content if content != source.content else None, lines)


def booted(options: AgentOptions, source: Sources, config: Config) -> str:
    """Boot an agent that remembers its settings; its hash. Who boots it is its owner, unless the
    settings say who is.
    """
    content = kept.at_boot(source.values(_ignore), config)
    if not config.owners and options.booted_by:
        content["owners"] = [options.booted_by]
    hidden = secrets.secrets(config, os.environ)
    return boot(options.home, config.name, config.room, utc, hidden, content)


def _ignore(text: str) -> None:
    """The person was told when the settings were read first."""


def _first(folder: Path, values: Sequence[Value], config: Config, lines: list[str]) -> Waking:
    """An agent that was booted before settings were remembered."""
    chosen = any(value.name == "model" and value.value for value in values)
    last = usage_log.last_model(folder / usage_log.NAME)
    if config.offline and not chosen and last not in ("", OFFLINE, FORMER_OFFLINE):
        url = next((url for url, model in PROVIDERS.values() if model == last), "")
        return Waking(folder.name, replace(config, model=last, base_url=url), None, lines)
    if not config.offline:
        lines.append(f"{kept.shown_path(folder)} remembers from now on: {config.own.shown}")
    return Waking(folder.name, config, kept.at_boot(values, config), lines)


def _told(source: Sources, config: Config) -> Iterator[str]:
    """What the person should know about the sources of a resumed agent's settings."""
    folder = source.folder
    assert folder is not None
    path = kept.shown_path(folder)
    unflagged = _possible(source, (FLAGS,))
    if unflagged and (changes := ", ".join(_changes(unflagged, config))):
        yield f"{changes}; {path} remembers it"
    remembered = _possible(source, (FLAGS, ENVIRONMENT))
    if not unflagged or not remembered:
        return
    if config.own.shown == unflagged.own.shown != remembered.own.shown:
        variables = [name for name in ("DORY_MODEL", "DORY_BASE_URL") if os.environ.get(name)]
        yield (
            f"model is {config.own.shown} for this run, because of {' and '.join(variables)};"
            f" {path} remembers {remembered.own.shown}"
        )


def _possible(source: Sources, without: Sequence[str]) -> Config | None:
    """What the settings would be without these layers; None if they would not fit together."""
    try:
        return source.config(_ignore, without)
    except ConfigError:
        return None


def _changes(before: Config, after: Config) -> Iterator[str]:
    """Each setting that differs, and how."""
    if before.own.shown != after.own.shown:
        yield f"model is {after.own.shown} now (was {before.own.shown})"
    for setting in fields(Config):
        name = setting.name
        old, new = _text(getattr(before, name)), _text(getattr(after, name))
        if old != new and name not in (*endpoint.CHOICE, *kept.NEVER):
            yield f"{name} is {new} now (was {old})"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        value = ", ".join(value)
    return "empty" if value in (None, "") else str(value)


def alternative(options: AgentOptions, config: Config) -> str:
    """One line if a new agent would have another model here, and this one has the offline model or
    ``dory.yaml`` names that other model: how to give it to this agent. Otherwise empty.
    """
    try:
        fresh = Sources(options)
        values, other = fresh.values(_ignore), fresh.config(_ignore).own
    except ConfigError:
        return ""
    named = any(value.name in ("model", "base_url") and value.layer == HOME for value in values)
    own = config.own
    if other.offline or own.shown == other.shown or not (own.offline or named):
        return ""
    mine = "the offline model" if own.offline else own.shown
    return (
        f"this agent goes on with {mine}. A new one would have {other.shown}; to give that to this"
        f" one, type: /model {other.model} {other.shown_url}"
        f"   ('{command(options.home, 'agent.py')}' boots another)"
    )


def origins(values: Sequence[Value], config: Config) -> dict[str, str]:
    """Where each setting that is no default comes from."""
    places = {value.name: value.where for value in values}
    if config.base_url and "base_url" not in places:
        variable = endpoint.key_source(config.base_url, os.environ)
        places |= {name: variable for name in endpoint.CHOICE if name not in places and variable}
    return places
