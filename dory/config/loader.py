"""Settings as people write them: numbers, switches, words and lists of words, each from its text.
Pure.

Whatever is wrong is told in a few words by ``ValueError``, which quote neither a key nor an
address: that may hold one. Nor do they quote what stands behind a colon: where its space is
forgotten, ``api_key:sk-…``, a key is part of a name.

YAML as people write it. Pure; its library is loaded when there is something to read.

Where settings come from: ``dory.yaml``, the environment, flags; the later wins. What they mean is
decided by ``config/settings.py``.
"""

import difflib
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import Field
from pathlib import Path
from typing import Any

MOST = 10**9
"""Of any number: what a clock of the system, or a program in C behind an endpoint, surely takes."""

_HIDDEN = ("api_key", "base_url")
_SWITCH = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def typed(name: str, default: object, value: object) -> Any:
    """A setting from its text, of the kind that its default has; an empty one is the default. Only
    numbers that one can count with, and text that can be sent and shown.
    """
    if isinstance(default, tuple):
        return _words(name, value)
    read, words = _kind(default)
    try:
        if not isinstance(value, str):
            raise ValueError
        if not value and read is not str:
            return default
        value.encode()
        made = read(value)
        if made in (math.inf, -math.inf) or made != made:
            raise ValueError
        return made
    except (ValueError, KeyError):
        shown = f", not {quoted(value)}" if isinstance(value, str) and name not in _HIDDEN else ""
        raise ValueError(f"{name} must be {words}{shown}") from None


def filled(given: object, known: Collection[Field[Any]]) -> dict[str, Any]:
    """The fields that a mapping of texts names, each of its kind."""
    if not isinstance(given, Mapping):
        raise ValueError(f"must hold {', '.join(one.name for one in known)}, each with its value")
    defaults = {one.name: one.default for one in known}
    for key in given:
        if key not in defaults:
            raise ValueError(
                f"unknown key {quoted(str(key))}; did you mean {nearest(str(key), defaults)!r}?"
            )
    return {name: typed(name, defaults[name], value) for name, value in given.items()}


def merged(below: object, above: object) -> object:
    """What is nested in a setting, ``above`` winning: of two mappings each name for itself, so a
    part may be given alone.
    """
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{name: merged(below.get(name), value) for name, value in above.items()}}


def quoted(text: str) -> str:
    """The beginning of what somebody wrote, for a complaint; of what stands behind a colon nothing."""
    before, colon, _ = text.partition(":")
    return repr(f"{before}:…"[:70] if colon else text[:70])


def flow(shown: Mapping[str, str]) -> str:
    """A mapping as it may stand in dory.yaml, on one line, its names and values as they are written
    there.
    """
    return f"{{{', '.join(f'{name}: {value}' for name, value in shown.items())}}}"


def written(value: object) -> str:
    """One text, number or list of texts as it may stand there."""
    import json  # not for --help

    return json.dumps(value, ensure_ascii=False)


def nearest(given: str, known: Collection[str]) -> str:
    """The one of the ``known`` names that somebody may have meant."""
    return difflib.get_close_matches(given, known, n=1, cutoff=0.0)[0]


def bounded(name: str, number: float, least: float = 0, most: float = MOST) -> None:
    """Refuse a number that is too small or too large."""
    if not least <= number <= most:
        bound = f"at least {least}" if number < least else f"at most {most}"
        raise ValueError(f"{name} must be {bound}, not {number}")


def _kind(default: object) -> tuple[Callable[[str], Any], str]:
    """What reads a setting from its text, and what that must be in words."""
    if isinstance(default, bool):
        return lambda text: _SWITCH[text.lower()], "on or off"
    if isinstance(default, str):
        return str, "text"
    return (int, "a whole number") if isinstance(default, int) else (float, "a number")


def _words(name: str, value: object) -> tuple[str, ...]:
    """One text or a list of them, none of them empty."""
    listed = [value] if isinstance(value, str) and value else value or []
    if not isinstance(listed, list):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(typed(name, "", one) for one in listed if one)


def read_yaml(text: str) -> Any:
    """What ``text`` holds, every value as it is written: a name may be 'no', a model 4.10, a key
    0123. Raises ``ValueError`` with a few words that quote nothing, for a line may hold a key.
    """
    import yaml

    class Once(yaml.BaseLoader):
        """Each name but once: of two values the first would be passed over in silence."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            made = super().construct_mapping(node, deep)
            if len(made) < len(node.value):
                raise ValueError(
                    f"a name stands twice in what begins in line {node.start_mark.line + 1}"
                )
            return made

    try:
        return yaml.load(text, Once)
    except yaml.MarkedYAMLError as error:
        raise ValueError(
            f"line {error.problem_mark.line + 1 if error.problem_mark else 1}"
        ) from error
    except (
        yaml.YAMLError,
        ValueError,
        OverflowError,
        RecursionError,
    ) as error:  # a character that there is not, a thousand brackets
        raise ValueError(" ".join(str(error).split())) from error


from dory.errors import ConfigError


def layers(
    known: Collection[str], file: Path, environment: Mapping[str, str], flags: Mapping[str, Any]
) -> Iterator[tuple[str, object, str]]:
    """Every setting that is given, its value, and where it stands; of two the later wins. Raises
    ``ConfigError`` for any not ``known``.
    """
    for key, value in _from_file(file).items():
        yield (
            _named(str(key), f"{file.name}: unknown setting", {name: name for name in known}),
            value,
            file.name,
        )
    for variable, text in environment.items():
        if variable.startswith("DORY_") and variable != "DORY_HOME":
            yield (
                _named(
                    variable,
                    "unknown environment variable",
                    {f"DORY_{name.upper()}": name for name in known},
                ),
                text,
                variable,
            )
    for name, value in flags.items():
        yield name, str(value), f"--{name.replace('_', '-')}"


def _from_file(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except (
        FileNotFoundError,
        NotADirectoryError,
    ):  # whoever writes first will say that the home is no folder
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file.name} cannot be read ({error}): mend it or remove it") from error
    try:
        content = read_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{file.name} is not YAML ({error}): mend it or remove it") from error
    if isinstance(content, dict | None):
        return content or {}
    raise ConfigError(f"{file.name} must hold lines such as 'context_limit: 40000'")


def _named(given: str, complaint: str, known: Mapping[str, str]) -> str:
    """The setting of a spelling."""
    if given in known:
        return known[given]
    near = nearest(given, known)
    raise ConfigError(
        f"{complaint} {quoted(given)}; did you mean {near!r}? ('python agent.py --settings' lists all)"
    )
