"""Settings as people write them: each value read from its text, YAML, and the layers ``dory.yaml``,
environment and flags, of which the later wins. What the settings mean is decided by
``config/settings.py``.

Whatever is wrong with a value is raised as a ``ValueError`` of a few words. They never quote a key
or an address, which may hold one. They also quote nothing after a colon: in ``api_key:sk-…``, with
its space forgotten, a key is part of a name.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field
from pathlib import Path
from typing import Any

from dory.config.command_line import program
from dory.errors import ConfigError

MOST = 10**9
"""The largest number that a setting may have: a clock of the system, or a program in C behind an
endpoint, surely takes it.
"""

FORMER_SETTINGS = {"faculties": "extensions"}
"""Settings that had another name before. The old name is still read, and the person is told."""

_HIDDEN = ("api_key", "base_url")
_SWITCH = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def typed(name: str, default: object, value: object) -> Any:
    """The value of a setting from its text, of the type of its default; an empty text is the
    default. Numbers must be finite, and text must be encodable. Raises ``ValueError``.
    """
    if isinstance(default, tuple):
        return _texts(name, value)
    read, kind = _reader(default)
    try:
        if not isinstance(value, str):
            raise ValueError
        if not value and read is not str:
            return default
        value.encode()
        result = read(value)
        if isinstance(result, float) and not math.isfinite(result):
            raise ValueError
        return result
    except (ValueError, KeyError):
        shown = f", not {quoted(value)}" if isinstance(value, str) and name not in _HIDDEN else ""
        raise ValueError(f"{name} must be {kind}{shown}") from None


def _reader(default: object) -> tuple[Callable[[str], Any], str]:
    """The function that reads a setting with this default, and what it takes in words."""
    if isinstance(default, bool):
        return lambda text: _SWITCH[text.lower()], "on or off"
    if isinstance(default, str):
        return str, "text"
    if isinstance(default, int):
        return int, "a whole number"
    return float, "a number"


def _texts(name: str, value: object) -> tuple[str, ...]:
    """One text, or a list of texts; empty ones are left out."""
    if isinstance(value, str) and value:
        return (typed(name, "", value),)
    texts = value or []
    if not isinstance(texts, list):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(typed(name, "", text) for text in texts if text)


def filled(given: object, known: Collection[Field[Any]]) -> dict[str, Any]:
    """The fields that a mapping of texts names, each of its type. Raises ``ValueError``."""
    if not isinstance(given, Mapping):
        names = ", ".join(field.name for field in known)
        raise ValueError(f"must hold {names}, each with its value")
    defaults = {field.name: field.default for field in known}
    for key in given:
        if key not in defaults:
            near = nearest(str(key), defaults)
            raise ValueError(f"unknown key {quoted(str(key))}; did you mean {near!r}?")
    return {name: typed(name, defaults[name], value) for name, value in given.items()}


def merged(below: object, above: object) -> object:
    """A nested setting from two layers. In two mappings ``above`` wins name by name, so a part may
    be given alone.
    """
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{name: merged(below.get(name), value) for name, value in above.items()}}


def quoted(text: str) -> str:
    """The beginning of what somebody wrote, for an error; nothing of what follows a colon."""
    before, colon, _ = text.partition(":")
    return repr(f"{before}:…"[:70] if colon else text[:70])


def flow(shown: Mapping[str, str]) -> str:
    """A mapping as it may stand in dory.yaml, on one line; names and values are written already."""
    return f"{{{', '.join(f'{name}: {value}' for name, value in shown.items())}}}"


def written(value: object) -> str:
    """A text, a number or a list of texts as it may stand in dory.yaml."""
    import json  # not for --help

    return json.dumps(value, ensure_ascii=False)


def nearest(given: str, known: Collection[str]) -> str:
    """The known name that somebody may have meant."""
    import difflib  # not for --help

    return difflib.get_close_matches(given, known, n=1, cutoff=0.0)[0]


def bounded(name: str, number: float, least: float = 0, most: float = MOST) -> None:
    """Raise ``ValueError`` when a number is too small or too large."""
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, not {number}")


def read_yaml(text: str) -> Any:
    """What ``text`` holds, every value as text: a name may be 'no', a model 4.10, a key 0123.
    Raises ``ValueError`` with a few words that quote nothing, because a line may hold a key.
    """
    import yaml

    class UniqueLoader(yaml.BaseLoader):
        """Refuses a name that stands twice: the first value would be ignored silently."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            mapping = super().construct_mapping(node, deep)
            if len(mapping) < len(node.value):
                line = node.start_mark.line + 1
                raise ValueError(f"a name stands twice in what begins in line {line}")
            return mapping

    try:
        return yaml.load(text, UniqueLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"line {line}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        # a character that does not exist, a thousand brackets
        raise ValueError(" ".join(str(error).split())) from error


def layers(
    known: Collection[str],
    file: Path,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
    warn: Callable[[str], None],
) -> Iterator[tuple[str, object, str]]:
    """Every setting that is given: its name, its value, and where it stands. A later one wins.
    ``warn`` gets one line for each former name. Raises ``ConfigError`` for a name that is not
    ``known``, or that stands beside its former name.
    """
    variables = {
        variable: text
        for variable, text in environment.items()
        if variable.startswith("DORY_") and variable != "DORY_HOME"
    }
    content = {str(key): value for key, value in _from_file(file).items()}
    for spelling, name in _named(content, f"{file.name}: unknown setting", known, str, warn):
        yield name, content[spelling], file.name
    for spelling, name in _named(variables, "unknown environment variable", known, _variable, warn):
        yield name, variables[spelling], spelling
    for spelling, name in _named(flags, "unknown flag", known, str, warn):
        yield name, str(flags[spelling]), f"--{spelling.replace('_', '-')}"


def _variable(name: str) -> str:
    return f"DORY_{name.upper()}"


def _named(
    given: Collection[str],
    complaint: str,
    known: Collection[str],
    spell: Callable[[str], str],
    warn: Callable[[str], None],
) -> Iterator[tuple[str, str]]:
    """Each spelling in one layer, and the setting that it means. ``spell`` writes a setting as this
    layer does.
    """
    settings = {spell(name): name for name in known}
    former = {spell(old): new for old, new in FORMER_SETTINGS.items() if new in known}
    for spelling in given:
        if spelling in settings:
            yield spelling, settings[spelling]
        elif spelling in former:
            current = spell(former[spelling])
            if current in given:
                raise ConfigError(f"{spelling} is called {current} now: remove the former name")
            warn(f"setting {spelling!r} is called {current!r} now")
            yield spelling, former[spelling]
        else:
            near = nearest(spelling, settings)
            listing = f"{program('agent.py')} --settings"
            raise ConfigError(
                f"{complaint} {quoted(spelling)}; did you mean {near!r}? ('{listing}' lists all)"
            )


def _from_file(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}  # whoever writes first will say that the home is no folder
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name} cannot be read ({error}): mend it or remove it") from error
    try:
        content = read_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{file.name} is not YAML ({error}): mend it or remove it") from error
    if isinstance(content, dict | None):
        return content or {}
    raise ConfigError(f"{file.name} must hold lines such as 'context_limit: 40000'")
