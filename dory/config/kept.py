"""settings.yaml: what one agent remembers of its settings, ``agents/<hash>/settings.yaml``.

    # What this agent remembers of its settings. Flags and /model change it, and so may you.
    version: 1
    model: qwen3
    base_url: http://localhost:11434/v1
    context_limit: 20000

It is a layer between ``dory.yaml`` and the environment, and is read as strictly: an unknown name is
an error that names the nearest one. It never holds a key, nor an address with one. Only the process
that holds the agent's lock writes it, as a whole and atomically.

What was chosen at boot by flags or in the environment is remembered, and so is the model in force,
wherever that came from. Later, flags and ``/model`` change it. The environment wins over it for one
run and leaves it alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dory.config import endpoint, loader, sources
from dory.config.loader import ENVIRONMENT, FLAGS, OWN, Layer, Value
from dory.config.settings import NAMES, Config
from dory.errors import ConfigError, DoryError, UnknownVersion
from dory.storage import files

NAME, VERSION = "settings.yaml", 1
NEVER = ("api_key", "name", "room")
"""Settings that do not belong there: a key is never kept, and name and room are only for a boot."""
_HEADING = (
    "# What this agent remembers of its settings. Flags and /model change it, and so may you.\n"
)
_WORD = r"[^\W_][\w./+-]*"
_PLAIN = re.compile(rf"{_WORD}(?:(?:://|:|, ?| ){_WORD})*")
"""A text that means the same in YAML with and without quotes."""

Content = dict[str, Any]
"""Settings by name, as they are written: texts, and mappings and lists of them."""


def shown_path(folder: Path) -> str:
    """What messages call the file of the agent in ``folder``."""
    return f"agents/{folder.name[:8]}…/{NAME}"


def load(folder: Path) -> Content | None:
    """What the agent in ``folder`` remembers; None if it has no such file yet. Raises
    ``ConfigError`` if the file is damaged, ``UnknownVersion`` if a later Dory wrote it.
    """
    path, shown = folder / NAME, shown_path(folder)
    content = {str(name): value for name, value in loader.from_file(path, shown).items()}
    if not content and not path.exists():
        return None
    version = content.pop("version", None)
    if version is None:
        raise ConfigError(f"{shown} must begin with 'version: {VERSION}'")
    if version != str(VERSION):
        raise UnknownVersion(shown, version, str(VERSION))
    for name in NEVER:
        if name in content:
            way = "give a key in the environment" if name == "api_key" else "it is for a new agent"
            raise ConfigError(f"{shown}: {name} does not belong there: {way}")
    return content


def layer(folder: Path, content: Mapping[str, Any]) -> Layer:
    """The layer of the settings that such a content is."""
    return Layer(OWN, content, shown_path(folder))


def save(folder: Path, content: Mapping[str, Any]) -> None:
    """Replace the file. Raises ``ConfigError`` for a value that no file of settings can hold."""
    lines = [f"{name}: {_written(value)}\n" for name, value in content.items()]
    text = "".join([_HEADING, f"version: {VERSION}\n", *lines])
    try:
        if loader.read_yaml(text) != {"version": str(VERSION), **content}:
            raise ValueError("it would be read as something else")
        encoded = text.encode()
    except ValueError as error:
        raise ConfigError(f"a setting cannot be kept in {shown_path(folder)} ({error})") from error
    files.replace(folder / NAME, encoded)


def at_boot(values: Sequence[Value], config: Config) -> Content:
    """What a new agent remembers: what was chosen by flags and environment, and its model."""
    return {**_own_model(config), **changed({}, values, config, (ENVIRONMENT, FLAGS))}


def changed(
    before: Mapping[str, Any],
    values: Sequence[Value],
    config: Config,
    layers: Sequence[str] = (FLAGS,),
) -> Content:
    """What an agent remembers after these values were chosen in the ``layers``. ``config`` is what
    all values make. The parts of a nested setting are remembered one by one.
    """
    content = dict(before)
    for name, value, _, source in values:
        if source not in layers or name in NEVER or name in endpoint.CHOICE:
            continue
        part = sources.parsed(name, value)
        if name == "profiles":
            part = _without_keys(part)
        merged = loader.merged(content.get(name), part)
        content[name] = "" if merged is None else merged
    if any(value.name in ("model", "base_url") and value.layer in layers for value in values):
        content = {**_own_model(config), **_rest(content)}
    return content


def with_model(before: Mapping[str, Any], chosen: Mapping[str, str]) -> Content:
    """What an agent remembers after another model was chosen. ``chosen`` are the settings that say
    which, and how it is asked.
    """
    return {
        **chosen,
        **{name: value for name, value in _rest(before).items() if name not in chosen},
    }


def endpoints(content: Mapping[str, Any]) -> set[str]:
    """The endpoints that such a content names, without secrets."""
    profiles = sources.parsed("profiles", content.get("profiles", ""))
    rows = [content, *(profiles.values() if isinstance(profiles, Mapping) else ())]
    urls = [str(row.get("base_url") or "") for row in rows if isinstance(row, Mapping)]
    return {endpoint.plain(url) for url in urls if url}


def problems(folder: Path) -> Iterator[str]:
    """What is wrong with the file of the agent in ``folder``, for the check."""
    try:
        content = load(folder)
        if content is not None:
            sources.read(list(loader.values(NAMES, [layer(folder, content)], lambda line: None)))
    except (DoryError, OSError) as error:
        yield str(error)


def _own_model(config: Config) -> Content:
    content = {"model": config.model}
    if config.base_url:
        content["base_url"] = endpoint.without_secrets(config.base_url)
    return content


def _rest(content: Mapping[str, Any]) -> Content:
    return {name: value for name, value in content.items() if name not in endpoint.CHOICE}


def _without_keys(profiles: object) -> object:
    """The profiles without their keys, and without those in their addresses."""
    if not isinstance(profiles, Mapping):
        return profiles
    rows: dict[str, object] = {}
    for name, row in profiles.items():
        rows[name] = row
        if isinstance(row, Mapping):
            rows[name] = {
                field: endpoint.without_secrets(str(value)) if field == "base_url" else value
                for field, value in row.items()
                if field != "api_key"
            }
    return rows


def _written(value: object, inside: bool = False) -> str:
    """A value as YAML; ``inside`` a mapping or list on one line."""
    if isinstance(value, Mapping):
        parts = {_written(name, True): _written(part, True) for name, part in value.items()}
        return loader.flow(parts)
    if isinstance(value, list):
        return f"[{', '.join(_written(part, True) for part in value)}]"
    text = str(value)
    plain = re.fullmatch(_WORD, text) if inside else _PLAIN.fullmatch(text)
    return text if plain else loader.written(text)
