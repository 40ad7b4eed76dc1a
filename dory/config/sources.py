"""Where settings come from: ``dory.yaml``, the environment, flags; the later wins. What they mean is decided by ``config/settings.py``."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dory.config import loader, notation
from dory.errors import ConfigError


def layers(known: Collection[str], file: Path, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Every setting that is given, its value, and where it stands; of two the later wins. Raises ``ConfigError`` for any not ``known``."""
    for key, value in _from_file(file).items():
        yield _named(str(key), f"{file.name}: unknown setting", {name: name for name in known}), value, file.name
    for variable, text in environment.items():
        if variable.startswith("DORY_") and variable != "DORY_HOME":
            yield _named(variable, "unknown environment variable", {f"DORY_{name.upper()}": name for name in known}), text, variable
    for name, value in flags.items():
        yield name, str(value), f"--{name.replace('_', '-')}"


def _from_file(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):  # whoever writes first will say that the home is no folder
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


def _named(given: str, complaint: str, known: Mapping[str, str]) -> str:
    """The setting of a spelling."""
    if given in known:
        return known[given]
    nearest = loader.nearest(given, known)
    raise ConfigError(f"{complaint} {loader.quoted(given)}; did you mean {nearest!r}? ('python agent.py --settings' lists all)")
